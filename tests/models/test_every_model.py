"""What holds of every model that classifies graphs: shapes, gradients, names, batches, resuming, learning."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.entries import allowed
from epignn.errors import BadArgument
from epignn.learn.checkpoint import STATE, WEIGHTS, load_model
from epignn.learn.config import load_experiment
from epignn.learn.losses import cross_entropy
from epignn.learn.objectives.classify import Classify
from epignn.learn.run import train
from epignn.models import LINKS_ALONE, MODELS, REFINED
from epignn.models.api import Model, ModelConfig, build, device_of
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric
EXAMPLE = Path(__file__).parents[2] / "examples" / "model.py"
OWN = f"{EXAMPLE}:Path"
RELATIONS = len(load("rcc8"))
SMALL: dict[str, dict[str, int]] = {
    "edge-transformer": {"width": 32, "rounds": 3},
    "ncrl": {"width": 32},
    "nbfnet": {"width": 32},
    "ctp-l": {"width": 20},
    "ctp-a": {"width": 20},
    "ctp-m": {"width": 20, "memory": 32},
    "gntp": {"width": 20},
}
"""Settings that make a model of these tests small, where its own would take long."""


GRAPHS = tuple(name for name in MODELS.names() if name not in LINKS_ALONE | REFINED)
NAMES = (*GRAPHS, OWN)
COUNTED = tuple(name for name in GRAPHS if MODELS.get(name).count is not Model.count)
by_gradients = pytest.mark.parametrize("kind", [n for n in NAMES if n not in COUNTED], indirect=True)
by_counting = pytest.mark.parametrize("kind", [n for n in COUNTED if n != "majority"], indirect=True)


@pytest.fixture(params=NAMES, ids=lambda name: name.rpartition(":")[2])
def kind(request) -> type[Model]:
    return MODELS.get(request.param, allowed([EXAMPLE]))


@pytest.fixture
def config(kind, request) -> ModelConfig:
    name = request.node.callspec.params["kind"]
    return replace(kind.Config(), kind=name, **SMALL.get(name, {}))


@pytest.fixture
def model(kind, config) -> Model:
    """One of the seed 0 that answers: nothing is dropped."""
    return build(kind, RELATIONS, config, 0).eval()


def problems(per_label: int = 2) -> Dataset:
    """Chains and branches of several sizes; chains have one shortest path."""
    cells = ((2, 1), (3, 1), (4, 1), (3, 2))
    return Dataset.concat([generated(load("rcc8"), k, b, per_label, 5) for k, b in cells])


def scores(model: Model, data: Dataset) -> torch.Tensor:
    return model.scores(type(model).prepare(data, model.config))


def test_scores_are_a_number_for_every_relation(model):
    found = scores(model, problems())
    assert found.shape == (len(problems()), RELATIONS)
    assert torch.isfinite(found).all()


@by_gradients
def test_gradients_reach_every_parameter(model):
    data = problems()
    cross_entropy(scores(model, data), torch.from_numpy(data.label).long()).backward()
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None, name
        assert (parameter.grad != 0).any(), name


def test_names_of_nodes_and_the_order_of_graphs_change_nothing(model, rng):
    data = problems()
    source, target = data.edge_source.copy(), data.edge_target.copy()
    head, tail = data.query_head.copy(), data.query_tail.copy()
    for g in range(len(data)):
        edges = slice(data.edge_offset[g], data.edge_offset[g + 1])
        names = rng.permutation(data.node_count[g]).astype(np.int32)
        source[edges], target[edges] = names[source[edges]], names[target[edges]]
        head[g], tail[g] = names[head[g]], names[tail[g]]
    renamed = Dataset(
        data.relations, data.node_count, data.edge_offset, source, target, data.edge_label, head, tail, data.label
    )
    chains = np.flatnonzero(data.edge_count == data.node_count - 1)
    one, other = (scores(model, part.select(chains)) for part in (data, renamed))
    torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-4)
    order = rng.permutation(len(chains))
    torch.testing.assert_close(scores(model, data.select(chains[order])), one[order], rtol=1e-4, atol=1e-4)


def test_a_batch_of_one_equals_one_of_many(model):
    data = problems()
    graphs = type(model).prepare(data, model.config)
    whole = model.scores(graphs)
    alone = torch.cat([model.scores(graphs.slice(g, g + 1)) for g in range(len(graphs))])
    torch.testing.assert_close(whole, alone, rtol=1e-4, atol=1e-4)


@by_gradients
def test_the_seed_makes_the_model_and_nothing_else(kind, config):
    before = torch.random.get_rng_state()
    first, same, other = (build(kind, RELATIONS, config, seed) for seed in (3, 3, 4))
    assert torch.equal(torch.random.get_rng_state(), before)
    pairs = list(zip(first.parameters(), same.parameters(), other.parameters(), strict=True))
    assert all(torch.equal(a, b) for a, b, _ in pairs)
    assert not all(torch.equal(a, c) for a, _, c in pairs)


def test_a_run_resumes_to_the_same_bits_and_loads(kind, tmp_path, request):
    name = request.node.callspec.params["kind"]
    settings = [f'model.kind="{name}"', "training.epochs=3", "training.batch_size=8"]
    settings += [f"model.{key}={value}" for key, value in SMALL.get(name, {}).items()]
    experiment = load_experiment("rcc8", settings)
    data = problems(4)
    half = len(data) // 2
    objective = Classify(
        experiment.objective,
        data.select(np.arange(half)),
        data.select(np.arange(half, len(data))),
        lambda part: kind.prepare(part, experiment.model),
    )

    class Killed(Exception):
        pass

    def kill(epoch):
        if epoch.number == 2:
            raise Killed

    options = {"seed": 1, "code": [EXAMPLE]}
    whole = train(experiment, objective, out=tmp_path / "whole", **options)
    with pytest.raises(Killed):
        train(experiment, objective, out=tmp_path / "killed", report=kill, **options)
    train(experiment, objective, out=tmp_path / "killed", **options)
    for file in (WEIGHTS, STATE):
        assert (tmp_path / "whole" / file).read_bytes() == (tmp_path / "killed" / file).read_bytes()
    loaded = load_model(str(tmp_path / "whole"), code=[EXAMPLE])
    torch.testing.assert_close(
        loaded.model.scores(kind.prepare(data, loaded.model.config)),
        whole.trained.model.scores(kind.prepare(data, experiment.model)),
    )


@by_gradients
def test_eight_graphs_are_learnt_by_heart(model):
    data = generated(load("rcc8"), 3, 1, 1, 2)
    assert len(data) == RELATIONS
    graphs, label = type(model).prepare(data, model.config), torch.from_numpy(data.label).long()
    optimiser = torch.optim.Adam(model.parameters(), lr=0.003)
    for _ in range(400):
        found = model.scores(graphs)
        if (found.argmax(1) == label).all():
            return
        optimiser.zero_grad()
        cross_entropy(found, label).backward()
        optimiser.step()
    pytest.fail(f"after 400 steps {(found.argmax(1) == label).sum()} of {len(label)} graphs are known")


@by_counting
def test_eight_graphs_of_two_steps_are_counted(model):
    data = generated(load("rcc8"), 2, 1, 1, 2)
    graphs, label = type(model).prepare(data, model.config), torch.from_numpy(data.label).long()
    assert not (model.scores(graphs).argmax(1) == label).all()
    for epoch in range(3):
        model.count([graphs], epoch)
    assert (model.scores(graphs).argmax(1) == label).all()


def test_devices():
    assert device_of("cpu") == torch.device("cpu")
    assert device_of("auto").type in ("cpu", "cuda", "mps")
    if not torch.cuda.is_available():
        with pytest.raises(BadArgument, match="there is no device 'cuda' here; choose among"):
            device_of("cuda")


def test_a_model_without_links_says_so(tmp_path):
    own = build(MODELS.get(OWN, allowed([EXAMPLE])), 4, MODELS.get(OWN, allowed([EXAMPLE])).Config(), 0)
    with pytest.raises(BadArgument, match="Path does not predict links"):
        own.rank(None)
