"""Ranks and metrics against brute force, and what chance is worth."""

from itertools import permutations

import numpy as np
import pytest

from epignn.data.graph import Known, Side, both_sides
from epignn.learn.protocols import (
    draw_negatives,
    examine,
    full_ranks,
    load_negatives,
    measure,
    sampled_ranks,
    save_negatives,
    stored_negatives,
)
from epignn.learn.ranking import Ranks, analytic_hits, hits, metrics, reciprocal, stand
from epignn.models.baselines import BASELINES, Constant, PageRank, RelationFrequency
from tests.conftest import random_graph


@pytest.fixture
def side() -> Side:
    graph = random_graph(2, entities=60, facts=150)
    return Side(
        type(graph)(graph.entities, graph.relations, graph.facts[:110]), graph.facts[110:130], graph.facts[130:]
    )


def test_ties_are_averaged_over_all_orders():
    """Every order of the tied candidates, one by one."""
    scores = [1.0, 2.0, 2.0, 2.0, 3.0]
    answer = 2
    values = []
    for order in permutations(range(5)):
        ranked = sorted(order, key=lambda c: -scores[c])  # stable: ties stay in this order
        values.append(1 + ranked.index(answer))
    rank = np.array(values)
    rival = np.ones((1, 5), dtype=bool)
    rival[0, answer] = False
    ranks = stand(np.array([scores]), np.array([2.0]), rival)
    assert (int(ranks.better[0]), int(ranks.ties[0]), int(ranks.rivals[0])) == (1, 2, 4)
    assert reciprocal(ranks) == pytest.approx((1 / rank).mean())
    for at in (1, 2, 3, 4):
        assert hits(ranks, at) == pytest.approx((rank <= at).mean())


def test_not_a_number_is_worse_than_any():
    rival = np.array([[True, True, False]])
    ranks = stand(np.array([[np.nan, 9.0, 7.0]]), np.array([7.0]), rival)
    assert (ranks.better[0], ranks.ties[0]) == (1, 0)
    ranks = stand(np.array([[np.nan, 5.0, np.nan]]), np.array([np.nan]), rival)
    assert (ranks.better[0], ranks.ties[0]) == (1, 1)


@pytest.mark.parametrize(("better", "rivals"), [(0, 100), (17, 100), (30, 100), (99, 100)])
def test_analytic_hits_equal_simulation(better, rivals, rng):
    draws = rng.integers(0, rivals, (40_000, 50))
    simulated = ((draws < better).sum(1) < 10).mean()
    ranks = Ranks(np.array([better]), np.array([0]), np.array([rivals]))
    assert analytic_hits(ranks) == pytest.approx(simulated, abs=0.01)


def test_a_constant_scorer_gets_chance(side):
    found = measure(Constant(side.graph), side)
    entities = len(side.graph.entities)
    assert found["grail_hits@10"] == pytest.approx(10 / 51 if entities > 51 else 1, abs=0.02)
    known, asked = side.known(), both_sides(side.test, len(side.graph.relations))
    rivals = np.array([entities - len(known.answers(int(h), int(r))) for h, r, _ in asked])
    assert found["hits@10"] == pytest.approx((10 / (rivals + 1)).mean())
    assert found["hits@10_50"] == pytest.approx(10 / 51, abs=0.02)


def test_ranks_are_filtered(side):
    """Against a plain loop over all candidates."""
    scorer, known = RelationFrequency(side.graph), side.known()
    relations = len(side.graph.relations)
    asked = both_sides(side.test, relations)
    every = {
        tuple(t) for part in (side.graph.facts, side.valid, side.test) for t in both_sides(part, relations).tolist()
    }
    ranks = full_ranks(asked, scorer, known)
    for row, (head, relation, tail) in enumerate(asked.tolist()):
        (scores,) = scorer(head, np.array([relation], dtype=np.int32))
        others = [scores[c] for c in range(60) if c != tail and (head, relation, c) not in every]
        assert ranks.better[row] == sum(s > scores[tail] for s in others)
        assert ranks.ties[row] == sum(s == scores[tail] for s in others)
        assert ranks.rivals[row] == len(others)


def test_negatives_are_stored_and_reused(side, tmp_path):
    stored = stored_negatives(side, seed=5)
    assert np.array_equal(stored.drawn, stored_negatives(side, seed=5).drawn)
    assert not np.array_equal(stored.drawn, stored_negatives(side, seed=6).drawn)
    known = side.known()
    for (head, relation, _), drawn in zip(stored.questions.tolist(), stored.drawn, strict=True):
        real = drawn[drawn >= 0]
        assert len(np.unique(real)) == len(real)
        assert not np.isin(real, known.answers(head, relation)).any()
    path = tmp_path / "negatives.npz"
    save_negatives(path, stored)
    assert np.array_equal(load_negatives(path, stored.questions).drawn, stored.drawn)
    with pytest.raises(Exception, match="other questions"):
        load_negatives(path, stored.questions[1:])
    path.write_bytes(b"no archive")
    with pytest.raises(Exception, match="not a file of negatives"):
        load_negatives(path, stored.questions)


def test_few_candidates_give_few_negatives():
    graph = random_graph(0, entities=12, facts=20)
    questions = both_sides(graph.facts[:3], 3)
    known = Known([graph.facts], 12, 3)
    stored = draw_negatives(questions, known, 12, seed=0)
    counts = (stored.drawn >= 0).sum(1)
    assert counts.tolist() == [12 - len(known.answers(int(h), int(r))) for h, r, _ in questions]
    ranks = sampled_ranks(questions, stored.drawn, Constant(graph))
    assert ranks.rivals.tolist() == counts.tolist()


def test_pagerank_is_the_stationary_distribution(side):
    """Solved as a linear system."""
    graph = side.graph
    n, edges = len(graph.entities), graph.edges
    walk = np.zeros((n, n))
    np.add.at(walk, (np.repeat(np.arange(n), np.diff(edges.offset)), edges.source), 1)
    walk /= walk.sum(0).clip(1)
    start = np.eye(n)[7]
    exact = np.linalg.solve(np.eye(n) - 0.85 * walk, 0.15 * start)
    assert np.allclose(PageRank(graph, rounds=200).visits(7), exact)


def test_every_protocol_has_its_name(side):
    names = {"mrr", "hits@1", "hits@3", "hits@10", "hits@10_50", "grail_hits@10", "ultra_mrr", "ultra_hits@10"}
    assert names == set(measure(BASELINES["pagerank"](side.graph), side))
    assert set(metrics(Ranks(*np.zeros((3, 2), dtype=np.int64)))) == names - {
        "grail_hits@10", "ultra_mrr", "ultra_hits@10"
    }  # fmt: skip
    merged = Side(side.graph, side.valid[:0], np.concatenate([side.test, side.valid]))
    one, other = measure(PageRank(side.graph), side), measure(PageRank(merged.graph), merged)
    assert one["ultra_mrr"] == pytest.approx(other["mrr"])


def test_triples_add_up_to_the_metric(side):
    """The reciprocal rank of a triple is the mean of its two ends, each ranked by itself."""
    found = examine(PageRank(side.graph), side)
    by_triple = found.by_triple()
    assert by_triple.shape == (len(side.test),)
    assert by_triple.mean() == pytest.approx(found.metrics()["mrr"])
    for place in (0, 7, len(side.test) - 1):
        alone = both_sides(side.test[place : place + 1], len(side.graph.relations))
        ends = full_ranks(alone, PageRank(side.graph), side.known())
        assert by_triple[place] == pytest.approx(reciprocal(ends))
