"""Explanations of a model: its own states and probabilities, and a proof only of what its table proves."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.errors import BadArgument
from epignn.explain.checker import check
from epignn.explain.distilled import calculus_of, from_weights
from epignn.explain.document import as_dict
from epignn.explain.neural import chances_of, explain
from epignn.explain.symbolic import Status
from epignn.explain.text import lines
from epignn.learn.answer import ask, graph_of, probabilities
from epignn.learn.checkpoint import Trained, load_model
from epignn.learn.collate import collate, prepare_for
from epignn.learn.config import Experiment
from epignn.learn.sources import generated
from epignn.models.epignn import EpiGNN, ModelConfig
from tests.explain.conftest import given, network_of

RCC8 = load("rcc8")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def trained():
    return load_model("rcc8")


def untrained(**changes):
    experiment = Experiment(model=ModelConfig(**changes))
    model = EpiGNN(8, experiment.model, torch.Generator().manual_seed(0))
    return Trained("untrained", model, experiment, RCC8.relations, 0, {})


def test_the_harbour_is_proved_by_what_the_model_has_learnt(trained, harbour):
    found = explain(trained, calculus_of("rcc8"), harbour, "harbour", "city")
    assert (found.status, str(found), found.proved) == (Status.DETERMINED, "PO(harbour, city)", True)
    assert found.chances[found.likeliest] == pytest.approx(ask(trained, harbour, "harbour", "city").probability)
    assert found.chances.sum() == pytest.approx(1)
    document = json.loads(json.dumps(as_dict(found)))
    assert check(document["table"]["proof"], found.table.network.calculus, given(harbour))[1] == {"PO"}
    assert document["probabilities"]["PO"] == pytest.approx(found.chances[2], abs=1e-6)
    assert lines(found)[2] == "Proved: the calculus distilled from the model leaves the same."


def test_the_facts_that_matter_to_the_model_are_those_of_the_proof(trained, harbour):
    found = explain(trained, RCC8, harbour, "harbour", "city")
    order = np.argsort(-found.influence)
    assert set(order[:4].tolist()) == set(found.table.support.facts)
    without = harbour.select([f for f in range(len(harbour)) if f != 2])
    lost = found.chances[2] - chances_of(trained, [without], "harbour", "city")[0, 2]
    assert found.influence[2] == pytest.approx(lost)


@pytest.mark.parametrize("changes", [{}, {"rounds": "auto", "self_message": False}])
def test_states_are_those_of_the_forward_model(changes, harbour):
    trained = untrained(**changes)
    found = explain(trained, RCC8, harbour, "harbour", "city")
    graph = graph_of(trained, harbour, "harbour", "city")
    model = trained.model
    for number, chances in enumerate(found.states.chances, start=1):
        model.config = replace(trained.experiment.model, rounds=number)
        ahead, _ = model.states(collate(prepare_for(model.config, graph)))
        expected = torch.softmax(-model.scores(ahead).double(), -1).detach().numpy()
        for name, row in zip(found.states.entities, chances, strict=True):
            assert np.abs(expected - row).max(1).min() < 1e-6, name


def test_states_of_full_closure(harbour):
    trained = untrained(closure="full", rounds="auto")
    found = explain(trained, RCC8, harbour, "harbour", "city")
    city = found.states.chances[-1, found.states.entities.index("city")]
    data = graph_of(trained, harbour, "harbour", "city")
    np.testing.assert_allclose(city, probabilities(trained, data)[0], atol=1e-6)


def test_rounds_can_be_limited(trained, harbour):
    whole = explain(trained, RCC8, harbour, "harbour", "city").states.chances
    part = explain(trained, RCC8, harbour, "harbour", "city", rounds=1).states.chances
    assert len(part) == 1 < len(whole)
    np.testing.assert_allclose(part, whole[:1])


def test_where_table_and_model_differ_it_is_said(harbour):
    found = explain(untrained(), RCC8, harbour, "harbour", "city")
    assert not found.proved
    text = "\n".join(lines(found))
    assert "Not proved: the calculus distilled from the model leaves PO(harbour, city)" in text
    assert found.table.proof.mask == RCC8.parse("po") != found.mask


def test_not_determined_and_contradictory(trained):
    several = explain(trained, RCC8, network_of("ec(a, b) ec(b, c)"), "a", "c")
    assert several.status is Status.OPEN
    assert lines(several)[0].startswith("not determined: ")
    apart = explain(trained, RCC8, network_of("ec(a, b) ec(c, d)"), "a", "d")
    assert apart.mask == RCC8.universal
    assert apart.proved
    clash = explain(trained, RCC8, network_of("ntpp(a, b) dc(a, b)"), "a", "b")
    assert clash.status is Status.CONTRADICTORY
    assert not clash.proved
    assert lines(clash)[0].startswith("contradictory: ")
    assert clash.table.proof.mask == 0


def test_the_threshold_decides_what_may_hold(trained):
    network = network_of("ec(a, b) ec(b, c)")
    counts = [explain(trained, RCC8, network, "a", "c", t).mask.bit_count() for t in (0.001, 0.05, 0.9)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1
    with pytest.raises(BadArgument, match="between 0 and 1"):
        explain(trained, RCC8, network, "a", "c", 1.5)


@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_shipped_models_have_the_table_of_the_calculus(name):
    known, learnt = load(name), calculus_of(name)
    assert (learnt.composition, learnt.converses) == (known.composition, known.converses)


def test_proofs_for_benchmark_graphs(trained):
    """What the model answers on graphs larger than it was trained on is mostly what its table proves."""
    problems = generated(RCC8, 6, 2, 2, 3)
    proved = 0
    for g in range(len(problems)):
        example = problems.example(g)
        network = Network.of(RCC8, [(str(a), r, str(b)) for a, r, b in example.edges])
        found = explain(trained, calculus_of("rcc8"), network, *map(str, example.query), rounds=1)
        assert found.table.relations == (example.label,)
        proved += found.proved
    assert proved >= 14


def test_weights_alone_and_other_relations(trained, harbour):
    assert from_weights(trained).relations == RCC8.relations
    with pytest.raises(BadArgument, match="the model speaks of"):
        explain(trained, load("rcc5"), harbour, "harbour", "city")
