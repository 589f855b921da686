"""What rules say of a graph, by compiled kernels, against the plain twin; the oracle of both is in `test_rules`."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.kernels import native
from epignn.models import rule_scorer
from epignn.models.listed import Listed
from epignn.models.rule_scorer import Lookup, RuleScorer
from epignn.models.tally import tally

pytestmark = [
    pytest.mark.numeric,
    pytest.mark.skipif(native() is None, reason="nothing is compiled"),
]


def graph_of(seed: int, entities: int, relations: int, facts: int) -> Graph:
    """Facts at random; the last entity is in none, and some are loops."""
    rng = np.random.default_rng(seed)
    ends = rng.integers(0, entities - 1, (2, facts))
    triples = np.unique(np.stack([ends[0], rng.integers(0, relations, facts), ends[1]], 1), axis=0)
    return Graph(tuple(map(str, range(entities))), tuple(map(str, range(relations))), triples.astype(np.int32))


def counted(graph: Graph, hops: int, aggregate: str) -> Lookup:
    """All rules of a graph."""
    relations = 2 * len(graph.relations)
    found = tally(graph.edges, relations, hops, 10**6, 0)
    body = found.rule // relations
    confidence = found.held / (found.seen[np.searchsorted(found.body, body)] + 5)
    return Lookup.of(found.rule % relations, body, confidence, relations, aggregate)


def in_order(said: Listed) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Relations, entities and values; no entity stands twice for a relation."""
    relation = np.repeat(np.arange(len(said.offset) - 1), np.diff(said.offset))
    order = np.lexsort((said.entity, relation))
    pairs = np.stack([relation, said.entity], 1)[order]
    assert (np.diff(pairs, axis=0) != 0).any(1).all()
    return pairs[:, 0], pairs[:, 1], np.asarray(said.value)[order]


def agree(lookup: Lookup, graph: Graph, hops: int, spread: float, heads: list[int], asked: np.ndarray) -> int:
    """Kernels and numpy say the same of some heads; gives of how many answers."""
    compiled, plain = (RuleScorer(lookup, graph.edges, hops, spread, form) for form in ("compiled", "plain"))
    said = 0
    for head in heads:
        found, expected = in_order(compiled.reached(head, asked)), in_order(plain.reached(head, asked))
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        np.testing.assert_allclose(found[2], expected[2], rtol=1e-12)
        assert np.isin(found[0], asked).all()
        said += len(found[0])
    return said


@pytest.mark.parametrize("aggregate", ["max", "noisy-or"])
@pytest.mark.parametrize("spread", [0.0, 0.5, 0.7])
@pytest.mark.parametrize("hops", [1, 2, 3, 4])
def test_kernels_say_what_numpy_says(hops, spread, aggregate):
    learnt, other = graph_of(1, 20, 3, 40), graph_of(2, 25, 3, 50)
    lookup = counted(learnt, hops, aggregate)
    for asked in (np.arange(6), np.array([4, 1])):
        assert agree(lookup, other, hops, spread, [*range(12), 24], asked) > 10


def test_many_relations_are_joined_in_parts():
    """Rules lead to more pairs of an entity and a relation than the kernel joins together (`TOGETHER`)."""
    graph, asked = graph_of(3, 300, 120, 6000), np.arange(240)
    lookup = counted(graph, 2, "max")
    reached = RuleScorer(lookup, graph.edges, 2, 0.5).reached(0, asked)
    assert len(np.unique(reached.entity)) * len(asked) > 2**16
    assert agree(lookup, graph, 2, 0.5, [0, 7], asked) > 1_000
    assert agree(lookup, graph, 2, 0.5, [0, 7], asked[::3]) > 300


@pytest.mark.parametrize("most", [0, 10, 60, 200])
def test_walks_end_where_they_would_be_too_many(monkeypatch, most):
    monkeypatch.setattr(rule_scorer, "FROM_ONE", most)
    graph = graph_of(1, 20, 3, 40)
    said = agree(counted(graph, 4, "max"), graph, 4, 0.5, list(range(20)), np.arange(6))
    monkeypatch.setattr(rule_scorer, "FROM_ONE", 10**6)
    assert said < agree(counted(graph, 4, "max"), graph, 4, 0.5, list(range(20)), np.arange(6))


def test_no_rules_say_nothing():
    none = np.zeros(0, dtype=np.int64)
    graph = graph_of(1, 20, 3, 40)
    assert agree(Lookup.of(none, none, np.zeros(0), 6, "max"), graph, 3, 0.5, [0, 3], np.arange(6)) == 0


@pytest.mark.parametrize("form", ["compiled", "plain"])
@pytest.mark.parametrize("head", [20, 10**6, -21])
def test_an_entity_that_is_not_there(form, head):
    graph = graph_of(1, 20, 3, 40)
    scorer = RuleScorer(counted(graph, 2, "max"), graph.edges, 2, 0.5, form)
    with pytest.raises(IndexError):
        scorer.reached(head, np.arange(6))


def test_rules_may_come_in_any_order():
    graph = graph_of(1, 60, 3, 200)
    kept = counted(graph, 3, "max")
    body = np.repeat(kept.known, np.diff(kept.offset))
    shuffled = np.random.default_rng(0).permutation(len(body))
    again = Lookup.of(kept.relation[shuffled], body[shuffled], kept.confidence[shuffled], 6, "max")
    assert (shuffled != np.arange(len(body))).any()
    for form in ("compiled", "plain"):
        one, other = (RuleScorer(rules, graph.edges, 3, 0.5, form) for rules in (kept, again))
        for head in range(10):
            for found, expected in zip(
                *(in_order(of.reached(head, np.arange(6))) for of in (one, other)), strict=True
            ):
                np.testing.assert_array_equal(found, expected)


def test_eight_threads_on_one_scorer():
    graph, asked = graph_of(3, 300, 20, 3000), np.arange(40)
    scorer = RuleScorer(counted(graph, 3, "max"), graph.edges, 3, 0.5)
    heads = [head for head in range(20) for _ in range(4)]
    expected = {head: in_order(scorer.reached(head, asked)) for head in heads}
    with ThreadPoolExecutor(8) as pool:
        for head, found in zip(heads, pool.map(lambda head: scorer.reached(head, asked), heads), strict=True):
            for values, right in zip(in_order(found), expected[head], strict=True):
                np.testing.assert_array_equal(values, right)
