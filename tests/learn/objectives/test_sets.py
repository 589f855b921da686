"""Expressions and their sets, against the calculus itself; what a model learns of them."""

from functools import reduce

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.errors import BadArgument
from epignn.learn.config import TrainConfig, load_experiment
from epignn.learn.fit import fit
from epignn.learn.objectives.sets import Sets, SetsConfig, expressions
from epignn.learn.run import objective_of
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.models.prepare import prepare

pytestmark = pytest.mark.numeric
SMALL = SetsConfig(depth=4, expressions=640, larger=0)


def objective(name: str, config: SetsConfig = SMALL) -> Sets:
    return Sets(config, load(name), prepare)


@pytest.mark.parametrize("name", ["rcc8", "allen", "point"])
def test_sets_are_those_that_composition_and_intersection_of_masks_give(name):
    calculus, made = load(name), objective(name)
    levels = expressions(made.table, 50, SMALL, np.random.default_rng(0))
    bits = 1 << np.arange(len(calculus), dtype=object)
    known = [1 << r for r in range(len(calculus))]
    assert len(levels) == 1 + SMALL.depth
    assert {len(level.left) for level in levels} > {1}
    for left, right, sets in levels:
        masks = [
            reduce(int.__and__, (calculus.compose(known[x], known[y]) for x, y in zip(*pair, strict=True)))
            for pair in zip(left.T, right.T, strict=True)
        ]
        assert masks == [int(bits[row].sum()) for row in sets]
        known = [*(1 << r for r in range(len(calculus))), *masks]


def test_steps_depend_on_seed_and_epoch_alone():
    made = objective("rcc8")
    once, again, other = (list(made.batches(64, 5, epoch)) for epoch in (2, 2, 3))
    assert len(once) == 10
    assert all(np.array_equal(a.sets, b.sets) for a, b in zip(once[3], again[3], strict=True))
    assert not np.array_equal(once[3][1].left, other[3][1].left)


def agreement(model: EpiGNN, made: Sets) -> float:
    """For how many pairs of relations the likeliest results are those of the table."""
    vectors, table = model.algebra()
    composed = torch.einsum("xfi,yfj,fijk->xyfk", vectors, vectors, table).flatten(0, 1)
    order = model.state_scores(composed).argsort(1, descending=True).numpy()
    sets = made.table.reshape(order.shape)
    right = [set(row[: n.sum()]) == set(np.flatnonzero(n)) for row, n in zip(order, sets, strict=True)]
    return float(np.mean(right))


def test_a_model_learns_the_sets_of_a_calculus():
    made = objective("point", SetsConfig(depth=3, expressions=3200, larger=0))
    config = TrainConfig(epochs=3, batch_size=64, learning_rate=0.1, schedule="one_cycle")
    start = build(EpiGNN, 3, EpiGNNConfig(dim=16, facets=2, a_ij="coupled"), 0)
    before = agreement(start, made)
    after = agreement(fit(lambda seed: start, made, config, seed=0), made)
    assert before < 0.9
    assert after == 1.0


def test_the_objective_of_a_task_is_that_of_its_calculus():
    experiment = load_experiment("rcc8", ['objective.kind="sets"', "objective.larger=2"])
    made = objective_of(experiment, 0)
    assert isinstance(made, Sets)
    assert made.relations == load("rcc8").relations
    assert len(made.valid) == 3 * 2 * 8
    assert made.digest() != objective("allen").digest()


def test_tasks_and_models_without_sets_are_refused():
    with pytest.raises(BadArgument, match="not about a calculus"):
        objective_of(load_experiment("links", ['objective.kind="sets"', 'data.task="nations"']), 0)
    made, ablated = objective("point"), build(EpiGNN, 3, EpiGNNConfig(dim=4, facets=2, constrained=False), 0)
    with pytest.raises(BadArgument, match="distributions"):
        made.loss(ablated, next(made.batches(8, 0, 0)))


@pytest.mark.parametrize("wrong", [{"depth": 0}, {"branches": 0}, {"expressions": 0}, {"larger": -1}])
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(BadArgument):
        SetsConfig(**wrong)
