"""Short paths, base graphs and lengthening, against enumeration and the calculus itself."""

from itertools import product

import numpy as np
import pytest

from epignn.calculus import Calculus, load
from epignn.data.paths import ShortPaths
from epignn.errors import BadArgument


def test_short_paths_are_filed_under_what_they_compose_to(decided, rng):
    short = ShortPaths(decided, rng)
    for length, pool in short.exact.items():
        relation = rng.integers(len(decided), size=50)
        for path, r in zip(pool.paths[pool.draw(relation, rng)].tolist(), relation.tolist(), strict=True):
            assert len(path) == length
            assert decided.compose_path(1 << edge for edge in path) == 1 << r
    exact = sum(cell.bit_count() == 1 for row in decided.composition for cell in row)
    assert len(short.exact[2].paths) == exact


def test_base_graphs_leave_the_label_alone(decided, rng):
    label = rng.integers(len(decided), size=200)
    branches = rng.integers(1, 6, size=200)
    drawn = ShortPaths(decided, rng).base_graphs(label, branches, rng)
    for paths, r, used in zip(drawn.tolist(), label.tolist(), branches.tolist(), strict=True):
        common = decided.universal
        for first, second in paths[:used]:
            assert decided.composition[first][second] != decided.universal
            common &= decided.composition[first][second]
        assert common == 1 << r


def test_base_graphs_are_uniform_among_those_accepted(rng):
    """All pairs of point paths that single out '<', each as often as the others."""
    point = load("point")
    label = point.relations.index("<")
    two = {(r, s): point.composition[r][s] for r, s in product(range(3), repeat=2)}
    two = {path: mask for path, mask in two.items() if mask != point.universal}
    accepted = [p + q for p, q in product(two, repeat=2) if two[p] & two[q] == 1 << label]
    drawn = ShortPaths(point, rng).base_graphs(np.full(60_000, label), np.full(60_000, 2), rng)
    seen, count = np.unique(drawn.reshape(-1, 4), axis=0, return_counts=True)
    assert sorted(map(tuple, seen.tolist())) == sorted(accepted)
    expected = 60_000 / len(accepted)
    assert np.abs(count - expected).max() < 6 * np.sqrt(expected)


def test_lengthening_keeps_the_composition(decided, rng):
    short = ShortPaths(decided, rng)
    start = rng.integers(len(decided), size=(300, 2), dtype=np.uint8)
    length = rng.integers(2, 12, size=300)
    longer = short.lengthen(start, length, rng)
    for before, after, edges in zip(start.tolist(), longer.tolist(), length.tolist(), strict=True):
        # Replacing an edge by its equal changes nothing of what the path as a whole says.
        assert decided.compose_path(1 << r for r in after[:edges]) == decided.composition[before[0]][before[1]]


def test_a_relation_that_no_path_composes_to_is_named(rng):
    """A table without a neutral identity: whatever is composed, both relations may hold."""
    vague = Calculus("vague", ("same", "other"), 0, (0, 1), ((3, 3), (3, 3)))
    with pytest.raises(BadArgument, match="vague has no problem with the label 'same'"):
        ShortPaths(vague, rng)


def test_nothing_is_drawn_from_the_table_of_kinship(rng):
    with pytest.raises(BadArgument, match=r"not drawn from the table of kinship: .*`epignn generate families`"):
        ShortPaths(load("kinship"), rng)


def test_large_calculi_are_sampled(rng):
    """Forty relations have 2,560,000 paths of four edges: a sample serves, and those of two fill the gaps."""
    size = 40
    table = [[1 << (r + s) % size for s in range(size)] for r in range(size)]
    group = Calculus("cyclic", tuple(f"r{r}" for r in range(size)), 0, tuple(-r % size for r in range(size)), table)
    short = ShortPaths(group, rng)
    short.exact[4].count[:] = 0
    longer = short.lengthen(rng.integers(size, size=(50, 2), dtype=np.uint8), np.full(50, 9), rng)
    assert longer.shape == (50, 9)


def test_an_edge_grows_by_any_length_that_fits(rng, monkeypatch):
    """Three edges are missing: the first replacement has 2, 3 or 4 edges, each as often as the others."""
    short = ShortPaths(load("rcc8"), rng)
    asked = []
    for size, pool in short.exact.items():
        monkeypatch.setattr(pool, "draw", lambda r, g, s=size, d=pool.draw: (asked.append((s, len(r))), d(r, g))[1])
    short.lengthen(np.zeros((9000, 2), dtype=np.uint8), np.full(9000, 5), rng)
    assert [size for size, _ in asked[:3]] == [2, 3, 4]
    assert all(2700 < rows < 3300 for _, rows in asked[:3])
