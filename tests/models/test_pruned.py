"""Pruned passes: what is followed by a matrix of walks, kernels against plain torch, whole passes as the limit."""

import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.errors import BadArgument
from epignn.learn.config import load_experiment, model_class
from epignn.models.api import build
from epignn.models.pruned import Pruning
from tests.rounding import close, in_passing

SETTINGS = ("model.dim=16", "model.facets=4", "model.rounds=4")


@pytest.fixture(scope="module")
def graph() -> Graph:
    rng = np.random.default_rng(0)
    facts = np.unique(rng.integers(0, [60, 3, 60], (90, 3)), axis=0).astype(np.int32)
    return Graph(tuple(map(str, range(62))), ("r", "s", "t"), facts)  # two entities are in no fact


def model_of(*settings: str):
    config = load_experiment("links", ('model.kind="epignn"', *SETTINGS, *settings)).model
    return build(model_class(config), 6, config, 0).double().eval()


def walks(graph: Graph, head: int, rounds: int) -> np.ndarray:
    """(V): the chances of a walk, added up over its steps, by a matrix."""
    count = len(graph.entities)
    matrix = np.zeros((count, count))
    for h, _, t in graph.facts.tolist():
        matrix[h, t] += 1
        matrix[t, h] += 1
    matrix /= np.maximum(matrix.sum(1, keepdims=True), 1)
    there, total = np.eye(count)[head], np.zeros(count)
    for _ in range(rounds):
        there = there @ matrix
        total += there
    return total


@pytest.mark.numeric
def test_the_entities_that_a_walk_reaches_likeliest_are_followed(graph):
    for head in (0, 7, 33, 61):
        total = walks(graph, head, 4)
        everything = Pruning(graph.edges, 1, 4).followed(head)
        assert set(everything.tolist()) == {head, *np.flatnonzero(total).tolist()}
        some = Pruning(graph.edges, 0.25, 2).followed(head)  # after two steps no beam has cut anything yet
        two = walks(graph, head, 2)
        two[head] = np.inf
        assert len(some) <= 16 and head in some
        left = np.setdiff1d(np.arange(62), some)
        assert two[left].max() <= two[some].min() + 1e-12
        assert (np.diff(some) > 0).all()


@pytest.mark.numeric
@pytest.mark.parametrize("settings", [(), ("model.silent=true",), ("model.counting=2",), ('model.pooling="mul"',)])
def test_the_kernel_follows_what_plain_torch_follows(graph, settings):
    model, asked = model_of(*settings), np.arange(6, dtype=np.int32)
    exact = model.scorer(graph)
    for share in (1.0, 0.3, 0.02):
        fast = model.pruned_scorer(graph, share)
        model.backend = "plain"
        plain = model.pruned_scorer(graph, share)
        model.backend = "auto"
        for head in (61, 0, 7, 33):
            scores = [scorer(head, asked) for scorer in (fast, plain, exact)]
            close(scores[0], scores[1], in_passing(4, 4, messages=40) + 40)
            assert np.array_equal(scores[0], scores[2]) or share < 1
    assert not np.allclose(scores[0], scores[2])


def test_what_is_not_followed_is_scored_as_if_there_were_no_head(graph):
    model = model_of()
    scorer, asked = model.pruned_scorer(graph, 0.2), np.arange(6, dtype=np.int32)
    one, other = scorer(0, asked), scorer(33, asked)
    apart = np.setdiff1d(np.arange(62), [*scorer.pruning.followed(0), *scorer.pruning.followed(33)])
    assert len(apart) > 10
    assert np.array_equal(one[:, apart], other[:, apart])


def test_what_cannot_be_pruned(graph):
    with pytest.raises(BadArgument, match="above 0 and at most 1"):
        Pruning(graph.edges, 0, 3)
    config = load_experiment("links", ('model.kind="nbfnet"',)).model
    with pytest.raises(BadArgument, match="NBFNet has no pruned passes"):
        build(model_class(config), 6, config, 0).pruned_scorer(graph, 0.5)
