"""Rules of link prediction models: bodies against brute force, and the one rule of a family tree."""

from itertools import product

import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.distil.bodies import Bodies
from epignn.distil.links import distil_links, save_rules
from epignn.errors import BadArgument
from epignn.models.tally import body_of
from tests.links import experiment, family, trained_on

pytestmark = pytest.mark.numeric


@pytest.fixture(scope="module")
def random_graph() -> Graph:
    rng = np.random.default_rng(0)
    facts = np.unique(rng.integers(0, [6, 2, 6], (12, 3)), axis=0).astype(np.int32)
    return Graph(tuple("abcdef"), ("r", "s"), facts)


def edges(graph: Graph) -> set[tuple[int, int, int]]:
    count = len(graph.relations)
    return {e for h, r, t in graph.facts.tolist() for e in ((h, r, t), (t, r + count, h))}


def joined(graph: Graph, body: tuple[int, ...]) -> set[tuple[int, int]]:
    """All pairs that a body joins, by trying every sequence of entities."""
    told, found = edges(graph), set()
    for walk in product(range(len(graph.entities)), repeat=len(body) + 1):
        steps = zip(walk, body, walk[1:], strict=False)
        if len(set(walk)) == len(walk) and all(step in told for step in steps):
            found.add((walk[0], walk[-1]))
    return found


def test_bodies_against_every_walk(random_graph):
    bodies = Bodies(random_graph)
    for body in [(0,), (3,), (0, 1), (2, 1), (0, 3, 1)]:
        pairs = joined(random_graph, body)
        assert {(h, t) for h in range(6) for t in bodies.ends(body, h).tolist()} == pairs
        counts = bodies.counts(body, 1)
        holds = {(h, t) for h, r, t in random_graph.facts.tolist() if r == 1}
        assert (counts.pairs, counts.support, counts.whole) == (len(pairs), len(pairs & holds), True)
        assert bodies.reversed(bodies.reversed(body)) == body
        assert joined(random_graph, bodies.reversed(body)) == {(t, h) for h, t in pairs}


def test_bodies_between_a_pair(random_graph):
    bodies, rng = Bodies(random_graph), np.random.default_rng(0)
    every = [body for steps in (1, 2, 3) for body in product(range(4), repeat=steps)]
    for head, tail in [(0, 1), (2, 5), (4, 3)]:
        expected = sorted(body_of(body, 4) for body in every if (head, tail) in joined(random_graph, body))
        assert bodies.between(head, tail, 3, rng).tolist() == expected


@pytest.fixture(scope="module")
def run():
    return trained_on(family(0), experiment(epochs=50, batch_size=4, schedule="one_cycle"))


def test_the_rule_of_a_family_is_found(run, tmp_path):
    side = family(0)
    found = distil_links(run.trained, side)
    counts = {rule.text: rule.counts for rule in found.rules}["parent, parent -> grandparent"]
    assert counts.pairs == len(joined_parents(side))
    assert counts.confidence > 0.7, "all but what is held out"
    assert found.check.explained > 0.7
    assert found.check.rules_mrr > 0.7
    for name in ("rules.tsv", "rules.json", "rules.csv"):
        save_rules(found, tmp_path / name)
        assert "parent, parent -> grandparent" in (tmp_path / name).read_text()


def joined_parents(side) -> set[tuple[int, int]]:
    parent = {c: p for p, r, c in side.graph.facts.tolist() if r == 1}
    return {(parent[p], c) for c, p in parent.items() if p in parent}


def test_rules_do_not_explain_what_is_not_learnt(run):
    """What an untrained model answers first is not what follows from rules."""
    other = trained_on(family(0), experiment(epochs=1, learning_rate=1e-6))
    found = distil_links(other.trained, family(0))
    assert found.check.explained < 0.5


def test_what_cannot_be_distilled(run):
    with pytest.raises(BadArgument, match="1 to 3 steps"):
        distil_links(run.trained, family(0), longest=4)
