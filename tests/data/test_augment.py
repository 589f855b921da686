"""Walks with parts replaced by their equals, in a world where composition is known: addition modulo a prime."""

import numpy as np
import pytest

from epignn.data.augment import _chains, augment, equal_paths
from epignn.data.dataset import Dataset
from tests.conftest import known_files

PRIME = 11
NAMES = tuple(f"plus{n}" for n in range(PRIME))


def sums(rng: np.random.Generator, lengths: tuple[int, ...], edges: int = PRIME, count: int = 400) -> Dataset:
    """Walks whose label is the sum of their edges; edges are the first few relations alone."""
    walks = []
    for length in lengths:
        for row in rng.integers(0, edges, (count, length)).tolist():
            walks.append((tuple(row), sum(row) % PRIME))
    return _chains(walks, NAMES)


def test_what_walks_say_is_what_composition_gives(rng):
    known = equal_paths(sums(rng, (2, 3), edges=6))
    assert {(a, b) for a in range(6) for b in range(6)} == known.keys()
    assert all(label == (a + b) % PRIME for (a, b), label in known.items())


def test_added_walks_keep_their_truth(rng):
    data = sums(rng, (2, 3), edges=6)
    more = augment(data, 500, 7, rng)
    assert len(more) == len(data) + 500
    added = more.select(np.arange(len(data), len(more)))
    total = np.add.reduceat(added.edge_label, added.edge_offset[:-1]) % PRIME
    assert np.array_equal(total, added.label)
    assert set(np.unique(added.edge_count)) == {2, 3, 4, 5, 6, 7}
    assert added.edge_label.max() >= 6
    assert np.array_equal(added.query_tail, added.edge_count)


def test_parts_of_any_length_are_replaced(rng):
    data = sums(rng, (4, 5), edges=2, count=60)
    assert equal_paths(data) == {}
    known = equal_paths(data, 5)
    assert {len(walk) for walk in known} == {4, 5}
    assert all(label == sum(walk) % PRIME for walk, label in known.items())
    more = augment(data, 300, 12, rng, 5)
    added = more.select(np.arange(len(data), len(more)))
    total = np.add.reduceat(added.edge_label, added.edge_offset[:-1]) % PRIME
    assert np.array_equal(total, added.label)
    assert added.edge_label.max() > 1
    assert {2, 8, 11} <= set(np.unique(added.edge_count))
    assert added.edge_count.max() <= 12


def test_the_one_path_among_other_edges_is_a_walk():
    """Edges in any order, one into the path from nowhere, one off it to nowhere, and a graph with two paths."""
    stray = [(1, 2, 7), (3, 1, 5), (0, 1, 4), (2, 4, 6)]
    two = [(0, 1, 1), (1, 2, 2), (0, 3, 3), (3, 2, 4)]
    source, target, label = zip(*stray, *two, strict=True)
    data = Dataset(NAMES, [5, 4], [0, 4, 8], source, target, label, [0, 0], [2, 2], [9, 8])
    assert equal_paths(data) == {(4, 7): 9}


def test_the_same_seed_gives_the_same_walks(rng):
    data = sums(rng, (2, 3))
    one, two = (augment(data, 50, 5, np.random.default_rng(4)) for _ in range(2))
    assert np.array_equal(one.edge_label, two.edge_label)


def test_pairs_on_which_walks_disagree_are_left_alone(rng):
    walks = [((0, 1), 2), ((0, 1), 3), ((1, 1), 4)]
    assert equal_paths(_chains(walks, NAMES)) == {(1, 1): 4}


def test_graphs_that_are_no_walk_are_not_varied():
    two_paths = Dataset(NAMES, [4], [0, 4], [0, 1, 0, 2], [1, 3, 2, 3], [0, 1, 2, 3], [0], [3], [4])
    assert equal_paths(two_paths) == {}
    assert len(augment(two_paths, 10, 5, np.random.default_rng(0))) == 1


@pytest.mark.parametrize("version", ["089907f8", "db9b8f04"])
def test_training_chains_of_kinship_state_all_rules(version, files):
    """The rules that made the labels, which are written down elsewhere, are found, and none against them."""
    from epignn.calculus.calculi.families import TERMS
    from epignn.data.kin_rules import rule_table
    from epignn.formats.clutrr import read_clutrr

    (path,) = known_files(files, f"clutrr-{version}", "_train.csv")
    train = read_clutrr(path)
    known, rules = equal_paths(train), rule_table()
    place = [TERMS.index(name) for name in train.relations]
    for a in range(20):
        for b in range(20):
            if rules[place[a], place[b]]:
                assert 1 << place[known[a, b]] == rules[place[a], place[b]]
