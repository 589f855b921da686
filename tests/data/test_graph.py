"""Graphs as arrays: edges with inverses, questions from both sides, what is known; against sets of triples."""

import numpy as np
import pytest

from epignn.data.graph import Known, both_sides
from epignn.errors import UnknownName


def triples_of(edges) -> set[tuple[int, int, int]]:
    target = np.repeat(np.arange(len(edges.offset) - 1), np.diff(edges.offset))
    return set(zip(edges.source.tolist(), edges.label.tolist(), target.tolist(), strict=True))


def test_edges_are_facts_and_inverses(graph):
    expected = set()
    for h, r, t in graph.facts.tolist():
        expected |= {(h, r, t), (t, r + 3, h)}
    assert triples_of(graph.edges) == expected
    target = np.repeat(np.arange(30), np.diff(graph.edges.offset))
    for (h, r, t), (ahead, back) in zip(graph.facts.tolist(), graph.edges.of_fact.tolist(), strict=True):
        assert (graph.edges.source[ahead], graph.edges.label[ahead], target[ahead]) == (h, r, t)
        assert (graph.edges.source[back], graph.edges.label[back], target[back]) == (t, r + 3, h)


def test_edges_can_be_thinned_again(graph, rng):
    first, second = (rng.random(len(graph.facts)) < 0.6 for _ in range(2))
    twice, once = graph.edges.thinned(first).thinned(second), graph.edges.thinned(first & second)
    for name in ("offset", "source", "label", "of_fact"):
        np.testing.assert_array_equal(getattr(twice, name), getattr(once, name))
    assert (once.of_fact[~(first & second)] == -1).all()
    assert (first & ~second).any()


def test_known(graph, rng):
    known = Known([graph.facts[:10], graph.facts[5:]], 30, 3)
    expected = {tuple(q) for q in both_sides(graph.facts, 3).tolist()}
    asked = np.stack([rng.integers(0, n, 500) for n in (30, 6, 30)], 1).astype(np.int32)
    asked = np.concatenate([asked, both_sides(graph.facts, 3)])
    assert known.holds(*asked.T).tolist() == [tuple(q) in expected for q in asked.tolist()]
    for head in range(30):
        for relation in range(6):
            right = sorted(t for h, r, t in expected if (h, r) == (head, relation))
            assert known.answers(head, relation).tolist() == right


def test_names(graph):
    assert graph.entity("e7") == 7
    assert graph.relation("r1") == 1
    assert graph.relation("r1^-1") == 4
    assert [graph.relation_name(graph.relation(name)) for name in ("r2", "r0^-1")] == ["r2", "r0^-1"]
    with pytest.raises(UnknownName, match="Unknown relation 'r9'"):
        graph.relation("r9")
    with pytest.raises(UnknownName, match="Unknown entity 'x'"):
        graph.entity("x")


def test_questions_from_both_sides():
    triples = np.array([[1, 0, 2], [5, 2, 4]], dtype=np.int32)
    assert both_sides(triples, 3).tolist() == [[1, 0, 2], [5, 2, 4], [2, 3, 1], [4, 5, 5]]
