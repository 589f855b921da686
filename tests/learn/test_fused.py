"""Fused training steps: those of the plain loop within rounding, and the same bits on any number of threads."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.learn.checkpoint import STATE, load_tensors
from epignn.learn.config import Experiment, TrainConfig
from epignn.learn.fit import fit
from epignn.learn.fused import FusedSteps
from epignn.learn.group import Alone
from epignn.learn.objectives.classify import Classify, ClassifyConfig
from epignn.learn.run import train
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.tasks.star import Star, generated
from tests.models.conftest import random_graphs
from tests.rounding import close, in_passing

pytestmark = pytest.mark.numeric
SHARP = {"rounds": "auto", "self_message": False, "a_ij": "coupled"}
TRAINING = TrainConfig(epochs=2, batch_size=32, decay=0.01)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def stars() -> Dataset:
    return generated(load("rcc8"), 3, 2, 20, 1)


def objective_of(data: Dataset, model: EpiGNNConfig, **objective: object) -> Classify:
    config = ClassifyConfig(**objective)
    return Classify(config, data, data.select(slice(0)), lambda part: EpiGNN.prepare(part, model))


def fitted(objective, settings, training, backend, dtype=torch.float64):
    """The weights after training, and the loss of every epoch."""
    losses = []

    def make(seed):
        model = build(EpiGNN, objective.outputs, settings, seed).to(dtype)
        model.backend = backend
        return model

    model = fit(make, objective, training, seed=0, report=lambda epoch: losses.append(epoch.loss))
    return [*model.parameters()], losses


def agree(objective, settings, training):
    """In double precision, in which what Adam divides by is far above rounding."""
    (fused, told), (plain, expected) = (
        fitted(objective, settings, training, backend) for backend in ("compiled", "plain")
    )
    np.testing.assert_allclose(told, expected, rtol=1e-6)  # the mean is kept in single precision
    for one, other in zip(fused, plain, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "model",
    [
        {},
        SHARP,
        {**SHARP, "pooling": "mul"},
        {**SHARP, "a_ij": "free", "right_identity": True},
        {**SHARP, "right_identity": True, "forward_only": True},
        {**SHARP, "rounds": 2},
        {**SHARP, "silent": True},
        {"pooling": "mul", "rounds": 3, "right_identity": True},
        {"forward_only": True, "rounds": 4},
    ],
)
@pytest.mark.parametrize(
    "objective",
    [{"loss": "margin", "margin": 2.0}, {"loss": "cross_entropy", "temperature": 5.0, "random_path": False}],
)
def test_steps_equal_those_of_the_plain_loop(model, objective, stars):
    settings = EpiGNNConfig(dim=8, facets=2, **model)
    agree(objective_of(stars, settings, **objective), settings, TRAINING)


@pytest.mark.parametrize("size", [4, 5, 8, 16, 32])
def test_facets_of_every_size(size, stars):
    settings = EpiGNNConfig(dim=2 * size, facets=2, **SHARP)
    agree(objective_of(stars[:64], settings, loss="binary", temperature=3.0), settings, TRAINING)


@pytest.mark.parametrize(
    "training", [{"clip": 1e-6}, {"schedule": "one_cycle"}, {"average": 0.9}, {"decay": 0.0}, {"batch_size": 500}]
)
def test_every_way_to_update(training, stars):
    """A clip so small that what AdamW adds to the root of the second moment counts: else scale would not matter."""
    settings = EpiGNNConfig(dim=8, facets=2, **SHARP)
    agree(objective_of(stars, settings, loss="cross_entropy"), settings, replace(TRAINING, **training))


@pytest.mark.parametrize("self_message", [False, True])
@pytest.mark.parametrize("rounds", ["auto", 3])
def test_graphs_with_cycles(rounds, self_message):
    settings = EpiGNNConfig(dim=8, facets=2, rounds=rounds, self_message=self_message)
    graphs = random_graphs(np.random.default_rng(3), 60)
    objective = objective_of(graphs, settings, loss="cross_entropy")
    assert not objective.train.acyclic.all()
    agree(objective, settings, TRAINING)


@pytest.mark.parametrize("size", [4, 8, 16, 32, 6])
@pytest.mark.parametrize("pooling", ["min", "mul"])
def test_the_gradient_in_single_precision(size, pooling, stars):
    """After one step the first moment is a tenth of the gradient."""
    settings = EpiGNNConfig(dim=2 * size, facets=2, **{**SHARP, "pooling": pooling})
    objective = objective_of(stars, settings, loss="cross_entropy")
    found = [first_moments(objective, settings, dtype)[0] for dtype in (torch.float32, torch.float64)]
    # There and back, and summed over all edges.
    roundings = 2 * in_passing(3, size, messages=2) + int(objective.train.edge_offset[-1])
    for single, double in zip(*found, strict=True):
        close(single, double, roundings, dtype=np.float32)


def first_moments(objective, settings, dtype, threads=1):
    """Of AdamW after one fused step from its beginning, the model, and the weights before."""
    torch.set_num_threads(threads)
    model = build(EpiGNN, objective.outputs, settings, 0).to(dtype)
    for parameter in model.parameters():
        parameter.data.mul_(4)  # states far from uniform, so that little cancels
    before = {name: value.clone() for name, value in model.state_dict().items()}
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0, fused=True)
    steps = FusedSteps.of(model, objective, optimiser, replace(TRAINING, batch_size=len(objective)), Alone())
    assert len(list(steps.steps(0, 0))) == 1
    return [optimiser.state[p]["exp_avg"] for p in model.parameters()], model, before


@pytest.mark.parametrize("loss", ["margin", "cross_entropy", "binary"])
def test_the_gradient_equals_finite_differences(loss, stars):
    settings = EpiGNNConfig(dim=8, facets=2, **SHARP)
    objective = objective_of(stars[40:60], settings, loss=loss)
    moments, model, before = first_moments(objective, settings, torch.float64)
    model.load_state_dict(before)
    (batch,) = objective.batches(len(objective), 0, 0)
    rng, model.backend = np.random.default_rng(0), "plain"
    for parameter, moment in zip(model.parameters(), moments, strict=True):
        for at in rng.choice(parameter.numel(), 12, replace=False):
            losses = []
            for step in (1e-6, -1e-6):
                model.load_state_dict(before)
                parameter.data.view(-1)[at] += step
                losses.append(objective.loss(model, batch).item())
            assert 10 * float(moment.view(-1)[at]) == pytest.approx((losses[0] - losses[1]) / 2e-6, abs=1e-7)


def test_the_number_of_threads_changes_no_bit(stars):
    settings = EpiGNNConfig(dim=16, facets=2, **SHARP)
    objective = objective_of(stars, settings, loss="cross_entropy")
    assert int(objective.train.edge_offset[-1]) > 512  # several parts
    alone, *others = (first_moments(objective, settings, torch.float32, threads)[0] for threads in (1, 2, 3, 7))
    for moments in others:
        assert all(torch.equal(one, other) for one, other in zip(alone, moments, strict=True))


def test_a_checkpoint_is_that_of_the_plain_loop(stars, tmp_path, monkeypatch):
    settings = EpiGNNConfig(dim=8, facets=2, **SHARP)
    training = replace(TRAINING, schedule="one_cycle")
    experiment = Experiment("small", Star("star", "rcc8"), settings, ClassifyConfig(), training)
    states = []
    for name in ("fused", "plain"):
        if name == "plain":
            monkeypatch.setattr(FusedSteps, "of", lambda *arguments: None)
        train(experiment, objective_of(stars, settings), seed=0, out=tmp_path / name)
        states.append(load_tensors(tmp_path / name / STATE))
    fused, plain = ({key: (value.shape, value.dtype) for key, value in state.items()} for state in states)
    assert fused == plain
    assert any("exp_avg_sq" in key for key in fused)


def test_what_the_kernels_do_not_know_is_left_to_the_plain_loop(stars):
    settings = EpiGNNConfig(dim=8, facets=2)

    def chosen(
        objective=None, backend="auto", kind=EpiGNN, group=None, dtype=torch.float32, frozen=False, **changes
    ):
        config = replace(settings, **changes)
        model = build(kind, 8, config, 0).to(dtype)
        model.backend = backend
        model.relation_RFK.requires_grad_(not frozen)
        optimiser = torch.optim.AdamW(model.parameters(), fused=True)
        made = objective or objective_of(stars[:4], config)
        return FusedSteps.of(model, made, optimiser, TRAINING, group or Alone()) is not None

    class Own(EpiGNN):
        pass

    class OwnLoss(Classify):
        pass

    assert chosen()
    assert chosen(dtype=torch.float64)
    assert not chosen(backend="plain")
    assert not chosen(kind=Own)
    assert not chosen(OwnLoss(ClassifyConfig(), stars[:4], stars[:4], lambda part: EpiGNN.prepare(part, settings)))
    assert not chosen(group=object())
    assert not chosen(frozen=True)
    assert not chosen(dtype=torch.bfloat16)
    for changes in ({"closure": "full"}, {"constrained": False}, {"composition": "mlp"}, {"weighted": True}):
        assert not chosen(**changes)
