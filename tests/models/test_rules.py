"""Path rules against brute force over all paths of a networkx graph."""

import math
from collections import Counter

import networkx as nx
import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.errors import BadArgument
from epignn.models.api import build
from epignn.models.rules import Rules, RulesConfig
from epignn.models.tally import body_of, distinct, relations_of, summed
from tests.links import family

pytestmark = pytest.mark.numeric


def dense(seed: int) -> Graph:
    """A small graph in which much is connected."""
    rng = np.random.default_rng(seed)
    facts = np.unique(
        np.stack([rng.integers(0, 12, 40), rng.integers(0, 3, 40), rng.integers(0, 12, 40)], 1), axis=0
    )
    return Graph(tuple("abcdefghijkl"), ("r", "s", "t"), facts[facts[:, 0] != facts[:, 2]].astype(np.int32))


def connected(graph: Graph, hops: int) -> dict[tuple[int, ...], dict[tuple[int, int], float]]:
    """By body, all pairs of entities that a path of its relations connects; no path visits an entity twice.

    With each pair, the chance that somebody who goes from the first along the body, at random, gets to the second.
    """
    net, relations = nx.MultiDiGraph(), len(graph.relations)
    for head, relation, tail in graph.facts.tolist():
        net.add_edge(head, tail, relation)
        net.add_edge(tail, head, relation + relations)
    ways = Counter((source, key) for source, _, key in net.edges(keys=True))
    found: dict[tuple[int, ...], dict[tuple[int, int], float]] = {}
    for source in net:
        for path in nx.all_simple_edge_paths(net, source, set(net) - {source}, cutoff=hops):
            chance = math.prod(1 / ways[at, key] for at, _, key in path)
            pairs = found.setdefault(tuple(key for _, _, key in path), {})
            pairs[path[0][0], path[-1][1]] = pairs.get((path[0][0], path[-1][1]), 0.0) + chance
    return found


def counted(graph: Graph, **settings: object) -> Rules:
    made = build(Rules, 2 * len(graph.relations), RulesConfig(**settings), 0)
    assert isinstance(made, Rules)
    made.count([graph.edges], 0)
    return made


def test_support_and_pairs_are_those_of_all_paths():
    graph = dense(3)
    every = connected(graph, 3)
    single = {relation: every.get((relation,), {}) for relation in range(2 * len(graph.relations))}
    expected = Counter()
    for body, pairs in every.items():
        for relation, held in single.items():
            support = len(pairs.keys() & held.keys())
            if support >= 2 and body != (relation,):
                expected[relation, body] = (support, len(pairs))
    found = kept_rules(counted(graph))
    assert len(found) > 50
    assert found == dict(expected)


def kept_rules(made: Rules) -> dict[tuple[int, tuple[int, ...]], tuple[int, int]]:
    """By relation and body, how many pairs a rule holds for and how many its body connects."""
    columns = (made.relation, made.body, made.held, made.seen)
    return {
        (relation, tuple(relations_of(body, made.relations))): (held, seen)
        for relation, body, held, seen in zip(*(column.tolist() for column in columns), strict=True)
    }


def expected_scores(
    sure: dict[tuple[int, tuple[int, ...]], float],
    graph: Graph,
    aggregate: str,
    head: int,
    asked: int,
    spread: float = 0.0,
) -> np.ndarray:
    """What the rules that reach each entity, of known confidence, make of it."""
    reached: dict[int, list[float]] = {}
    every = connected(graph, 3)
    for (relation, body), confidence in sure.items():
        if relation == asked:
            for (x, y), chance in every.get(body, {}).items():
                if x == head:
                    reached.setdefault(y, []).append(confidence * chance**spread)
    expected = np.zeros(len(graph.entities))
    for y, found in reached.items():
        best = [*sorted(found, reverse=True), 0.0]
        one = best[0] + 0.001 * best[1]
        expected[y] = one if aggregate == "max" else -np.log1p(-np.array(found)).sum()
    return expected


@pytest.mark.parametrize("backend", ["auto", "plain"])
@pytest.mark.parametrize("spread", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("aggregate", ["max", "noisy-or"])
def test_scores_are_those_of_all_rules_that_lead_to_an_entity(aggregate, spread, backend):
    graph, other = dense(3), dense(5)
    made = counted(graph, aggregate=aggregate, spread=spread)
    made.backend = backend
    sure = {rule: held / (seen + 5) for rule, (held, seen) in kept_rules(made).items()}
    for head in (0, 4, 9):
        for asked in (0, 5):
            expected = expected_scores(sure, other, aggregate, head, asked, spread)
            assert expected.any()
            np.testing.assert_allclose(made.scorer(other)(head, np.array([asked]))[0], expected, rtol=1e-5)


def test_what_is_counted_in_the_graph_that_is_asked_is_added():
    """The least support is that of training: what the asked graph shows once counts there."""
    graph, other = dense(3), dense(5)
    learnt, here = kept_rules(counted(graph)), kept_rules(counted(other, support=1))
    seen = [{body: seen for (_, body), (_, seen) in rules.items()} for rules in (learnt, here)]
    seen[1] |= {body: len(pairs) for body, pairs in connected(other, 3).items()}
    sure = {
        rule: (learnt.get(rule, (0, 0))[0] + here.get(rule, (0, 0))[0])
        / (seen[0].get(rule[1], 0) + seen[1].get(rule[1], 0) + 5)
        for rule in learnt.keys() | here.keys()
    }
    made, without = counted(graph, adapt=True), counted(graph)
    for head in (0, 4, 9):
        for asked in (0, 5):
            found = made.scorer(other)(head, np.array([asked]))[0]
            np.testing.assert_allclose(found, expected_scores(sure, other, "max", head, asked), rtol=1e-5)
            assert not np.allclose(found, without.scorer(other)(head, np.array([asked]))[0], atol=0.01)


def test_a_graph_that_was_counted_is_not_counted_again():
    made, heads = counted(dense(3), adapt=True), np.arange(6)
    same = Graph(dense(3).entities, dense(3).relations, dense(3).facts)
    np.testing.assert_array_equal(made.scorer(same)(2, heads), counted(dense(3)).scorer(same)(2, heads))
    again = build(Rules, 6, made.config, 0)
    again.load_state_dict(made.state_dict())
    np.testing.assert_array_equal(again.scorer(same)(2, heads), made.scorer(same)(2, heads))


def test_a_model_that_does_not_tell_which_graph_was_counted_is_loaded():
    made = counted(dense(3))
    again = build(Rules, 6, made.config, 0)
    again.load_state_dict({name: value for name, value in made.state_dict().items() if name != "digest"})
    np.testing.assert_array_equal(again.scorer(dense(5))(0, np.arange(6)), made.scorer(dense(5))(0, np.arange(6)))


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


@pytest.mark.parametrize(
    "settings", [{"hops": 0}, {"aggregate": "mean"}, {"unseen": 0.0}, {"spread": -1.0}, {"spread": float("nan")}]
)
def test_settings_that_make_no_model_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        RulesConfig(**settings)


def test_rows_of_columns_each_once():
    """As numpy's own, whether or not rows fit into one number each."""
    rng = np.random.default_rng(0)
    for largest in (5, 2**31):
        columns = [rng.integers(0, 5, 200) * (largest // 5) for _ in range(3)]
        expected = np.unique(np.stack(columns, 1), axis=0)
        np.testing.assert_array_equal(np.stack(distinct(*columns), 1), expected)
        rows, sums = summed(tuple(columns), np.ones(200))
        np.testing.assert_array_equal(np.stack(rows, 1), expected)
        assert sums.sum() == 200
        assert sums[0] == sum((row == expected[0]).all() for row in np.stack(columns, 1))
    none = (np.zeros(0, dtype=np.int64),) * 2
    assert [len(column) for column in distinct(*none)] == [0, 0]
    assert len(summed(none, np.zeros(0))[1]) == 0


def test_entities_with_more_walks_than_are_counted_are_passed_over():
    """Each entity of a star has 50 walks of two edges or more, so that one pair is left that shows s ← r."""
    star = [(0, 0, end) for end in range(1, 51)]
    graph = Graph(
        tuple(map(str, range(53))), ("r", "s"), np.array([*star, (51, 0, 52), (51, 1, 52)], dtype=np.int32)
    )
    for walks, pairs in ((20, 1), (10_000, 51)):
        assert kept_rules(counted(graph, hops=2, walks=walks, support=1))[1, (0,)] == (1, pairs)
