"""Path rules against brute force over all paths of a networkx graph."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.errors import BadArgument
from epignn.models.api import build
from epignn.models.rules import Rules, RulesConfig, body_of, relations_of
from tests.links import family

pytestmark = pytest.mark.numeric


def dense(seed: int) -> Graph:
    """A small graph in which much is connected."""
    rng = np.random.default_rng(seed)
    facts = np.unique(
        np.stack([rng.integers(0, 12, 40), rng.integers(0, 3, 40), rng.integers(0, 12, 40)], 1), axis=0
    )
    return Graph(tuple("abcdefghijkl"), ("r", "s", "t"), facts[facts[:, 0] != facts[:, 2]].astype(np.int32))


def connected(graph: Graph, hops: int) -> dict[tuple[int, ...], set[tuple[int, int]]]:
    """By body, all pairs of entities that a path of its relations connects; no path visits an entity twice."""
    net, relations = nx.MultiDiGraph(), len(graph.relations)
    for head, relation, tail in graph.facts.tolist():
        net.add_edge(head, tail, relation)
        net.add_edge(tail, head, relation + relations)
    found: dict[tuple[int, ...], set[tuple[int, int]]] = {}
    for source in net:
        for path in nx.all_simple_edge_paths(net, source, set(net) - {source}, cutoff=hops):
            found.setdefault(tuple(key for _, _, key in path), set()).add((path[0][0], path[-1][1]))
    return found


def counted(graph: Graph, **settings: object) -> Rules:
    made = build(Rules, 2 * len(graph.relations), RulesConfig(**settings), 0)
    assert isinstance(made, Rules)
    made.count([graph.edges], 0)
    return made


def test_support_and_pairs_are_those_of_all_paths():
    graph = dense(3)
    every = connected(graph, 3)
    single = {relation: every.get((relation,), set()) for relation in range(2 * len(graph.relations))}
    expected = Counter()
    for body, pairs in every.items():
        for relation, held in single.items():
            support = len(pairs & held)
            if support >= 2 and body != (relation,):
                expected[relation, body] = (support, len(pairs))
    made = counted(graph)
    columns = (made.relation, made.body, made.held, made.seen)
    found = {
        (relation, tuple(relations_of(body, made.relations))): (held, seen)
        for relation, body, held, seen in zip(*(column.tolist() for column in columns), strict=True)
    }
    assert len(found) > 50
    assert found == dict(expected)


@pytest.mark.parametrize("aggregate", ["max", "noisy-or"])
def test_scores_are_those_of_all_rules_that_lead_to_an_entity(aggregate):
    graph, other = dense(3), dense(5)
    made = counted(graph, aggregate=aggregate)
    every, columns = connected(other, 3), (made.relation, made.body, made.held, made.seen)
    rules = list(zip(*(column.tolist() for column in columns), strict=True))
    for head in (0, 4, 9):
        for asked in (0, 5):
            sure: dict[int, list[float]] = {}
            for relation, body, held, seen in rules:
                if relation == asked:
                    for x, y in every.get(tuple(relations_of(body, made.relations)), ()):
                        if x == head:
                            sure.setdefault(y, []).append(held / (seen + 5))
            expected = np.zeros(len(other.entities))
            for y, found in sure.items():
                best = [*sorted(found, reverse=True), 0.0]
                one = best[0] + 0.001 * best[1]
                expected[y] = one if aggregate == "max" else -np.log1p(-np.array(found)).sum()
            assert expected.any()
            np.testing.assert_allclose(made.scorer(other)(head, np.array([asked]))[0], expected, rtol=1e-5)


def test_the_rule_of_a_family_is_found_and_is_the_surest():
    """grandparent(x, y) ← parent(x, z), parent(z, y)."""
    made = counted(family(0).graph, hops=2)
    own = made.relation == 0
    confidence = made.held[own] / (made.seen[own] + 5)
    assert relations_of(int(made.body[own][confidence.argmax()]), 6) == [1, 1]


def test_where_walks_are_too_many_some_entities_are_counted():
    graph = family(0, people=200).graph
    whole, part = counted(graph, hops=2), counted(graph, hops=2, walks=300)
    assert 0 < part.seen.max() < whole.seen.max()
    assert set(part.body.tolist()) <= set(whole.body.tolist())


def test_bodies_as_numbers():
    for labels in ([0], [5, 0, 3], [5, 5, 5]):
        assert relations_of(body_of(labels, 6), 6) == labels


@pytest.mark.parametrize("settings", [{"hops": 0}, {"aggregate": "mean"}, {"unseen": 0.0}])
def test_settings_that_make_no_model_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        RulesConfig(**settings)
