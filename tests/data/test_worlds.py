"""Worlds of rules: one result for two steps, mirror images, and chaining that agrees with a plain loop."""

from itertools import product

import numpy as np
import pytest

from epignn.data.worlds import LIKE, Chaining, WorldShape, conclusion, inverse, random_sequence, random_world
from epignn.errors import BadArgument


def closure(rules, facts):
    """All facts that follow, by trying every pair until nothing is new."""
    known = {fact for a, b, r in facts for fact in ((a, b, r), (b, a, inverse(r)))}
    while True:
        new = {
            fact
            for (a, b, r), (c, d, s) in product(known, known)
            if b == c and (r, s) in rules
            for fact in ((a, d, rules[r, s]), (d, a, inverse(rules[r, s])))
        }
        if new <= known:
            return known
        known |= new


def consistent(known):
    pairs = [(a, b) for a, b, _ in known]
    return len(set(pairs)) == len(pairs) and all(a != b for a, b in pairs)


@pytest.fixture
def world(rng):
    return random_world(rng, 10, 20)


def test_rules_come_with_their_mirror_images(world):
    assert len(world.rules) == 40
    for (first, second), head in world.rules.items():
        assert world.rules[inverse(second), inverse(first)] == inverse(head)
        assert second != inverse(first)
    assert world.relations[:3] == ("R_0_+", "R_0_-", "R_1_+")


def test_chaining_agrees_with_a_plain_loop(world, rng):
    outcomes = set()
    for _ in range(60):
        chaining, facts = Chaining(world.rules), []
        for _ in range(5):
            chaining.node()
        for _ in range(12):
            a, b = rng.choice(5, 2, replace=False).tolist()
            relation = int(rng.integers(20))
            expected = closure(world.rules, [*facts, (a, b, relation)])
            accepted = chaining.add(a, b, relation)
            outcomes.add(accepted)
            assert accepted == consistent(expected)
            if accepted:
                facts.append((a, b, relation))
            found = {(x, y, r) for x, row in enumerate(chaining.known) for y, r in row.items()}
            assert found == closure(world.rules, facts)
    assert outcomes == {True, False}


def test_sequences_lead_to_their_heads(world, rng):
    bodies = world.heads()
    lengths = set()
    for _ in range(300):
        head, length = int(rng.choice(list(bodies))), int(rng.integers(2, 6))
        sequence = random_sequence(bodies, head, length, rng)
        if sequence is None:
            continue
        known = closure(world.rules, [(i, i + 1, r) for i, r in enumerate(sequence)])
        assert (0, length, head) in known
        assert conclusion(world, sequence) == (head if consistent(known) else None)
        lengths.add(len(sequence))
    assert lengths == {2, 3, 4, 5}


def test_too_many_rules(rng):
    with pytest.raises(BadArgument, match="have room for"):
        random_world(rng, 2, 50)


@pytest.mark.parametrize(
    "wrong", [{"classes": 0}, {"longest": 2}, {"mean_path": 1.5}, {"mean_nodes": 3}, {"mean_edges": 5}, {"test": 0}]
)
def test_shapes_that_cannot_be(wrong):
    with pytest.raises(BadArgument):
        WorldShape(**wrong)


def test_the_shapes_are_the_official_ones(data):
    import csv

    with (data / "graphlog" / "official_world_statistics.csv").open(newline="") as stream:
        official = {int(row["world_id_num"]): row for row in csv.DictReader(stream)}
    for world, shape in LIKE.items():
        row = official[world]
        expected = [row[c] for c in ("num_class", "ND", "Average Resolution Length")]
        expected += [row[c] for c in ("Average Nodes", "nodes-std", "Average Edges")]
        found = [
            shape.classes,
            shape.sequences,
            shape.mean_path,
            shape.mean_nodes,
            shape.std_nodes,
            shape.mean_edges,
        ]
        assert np.allclose(found, np.array(expected, dtype=float))
