"""The relations of regions: discs by their distance, cells of a grid by shapely."""

from itertools import product

import numpy as np
import pytest

from epignn.calculus.realise import World
from epignn.calculus.realise.strips import outlines
from tests.calculus.realise import oracle


def disc_world(**discs):
    regions = {name: {"discs": [list(disc)]} for name, disc in discs.items()}
    return World.from_dict({"kind": "regions", "calculus": "rcc8", "regions": regions})


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ((0, 0, 1), (3, 0, 1), "DC"),
        ((0, 0, 1), (2, 0, 1), "EC"),
        ((0, 0, 1), (2 + 1e-9, 0, 1), "EC"),
        ((0, 0, 1), (2 + 1e-3, 0, 1), "DC"),
        ((0, 0, 1), (2 - 1e-3, 0, 1), "PO"),
        ((0, 0, 1), (1, 0, 2), "TPP"),
        ((0, 0, 1), (1 - 1e-9, 0, 2), "TPP"),
        ((0, 0, 1), (0.9, 0, 2), "NTPP"),
        ((0, 0, 1), (1.1, 0, 2), "PO"),
        ((0, 0, 2), (0, 1, 1), "TPPI"),
        ((0, 0, 2), (0, 0, 1), "NTPPI"),
        ((5, 5, 2), (5, 5, 2), "EQ"),
        ((5, 5, 2), (5.5, 5, 2), "PO"),
    ],
)
def test_discs(a, b, relation):
    world = disc_world(a=a, b=b)
    assert world.base_relation("a", "b") == relation
    turned = {"TPP": "TPPI", "TPPI": "TPP", "NTPP": "NTPPI", "NTPPI": "NTPP"}
    assert world.base_relation("b", "a") == turned.get(relation, relation)


def cells_world(cells, calculus="rcc8"):
    regions = {
        name: {"polygons": [[list(corner) for corner in ring] for ring in outlines(np.pad(each, 1))]}
        for name, each in cells.items()
    }
    return World.from_dict({"kind": "regions", "calculus": calculus, "regions": regions})


def test_cells_against_shapely(rng):
    """Random regions with holes, corners that touch, and parts; each relation comes up."""
    seen = set()
    for _ in range(60):
        base = rng.random((7, 7)) < rng.choice([0.3, 0.6, 0.9])
        other = rng.random((7, 7)) < rng.choice([0.1, 0.5])
        small = np.zeros((7, 7), dtype=bool)
        small[tuple(rng.integers(1, 6, 2))] = True
        cells = {"a": base, "b": other, "c": base & other, "d": base | other, "e": small, "f": base & ~other}
        world = cells_world({name: each for name, each in cells.items() if each.any()})
        relation = oracle.relations(world.to_dict())
        for one, two in product(world.names, repeat=2):
            assert world.base_relation(one, two) == relation(one, two)
            seen.add(relation(one, two))
    assert seen == {"DC", "EC", "PO", "TPP", "NTPP", "TPPI", "NTPPI", "EQ"}


def test_outlines_give_the_cells_back(rng):
    """By a count of the outlines around the middle of each cell, the even-odd rule."""
    for _ in range(20):
        cells = np.pad(rng.random((6, 6)) < 0.5, 1)
        inside = np.zeros_like(cells)
        for ring in outlines(cells):
            for x, y in np.ndindex(cells.shape):
                sides = zip(ring, (*ring[1:], ring[0]), strict=True)
                crossed = sum(
                    ax == bx and ax > x + 0.5 and min(ay, by) <= y < max(ay, by) for (ax, ay), (bx, by) in sides
                )
                inside[x, y] ^= crossed % 2 == 1
        assert np.array_equal(inside, cells)


def test_cells_that_meet_at_a_corner_stay_apart():
    assert len(outlines(np.pad(np.eye(3, dtype=bool), 1))) == 3
    beside = np.array([[1, 0, 1], [1, 1, 0], [0, 1, 1]], dtype=bool)
    assert sorted(map(len, outlines(np.pad(beside, 1)))) == [4, 10]


def test_sizes_do_not_matter():
    """Coordinates need not be whole, and cells may be of any size."""
    big = [[-0.5, -0.5], [1e6, -0.5], [1e6, 3.25], [-0.5, 3.25]]
    small = [[-0.5, 0], [1, 0], [1, 1e-3], [-0.5, 1e-3]]
    regions = {"small": {"polygons": [small]}, "big": {"polygons": [big]}}
    world = World.from_dict({"kind": "regions", "calculus": "rcc8", "regions": regions})
    assert world.base_relation("small", "big") == "TPP"
    coarse = World.from_dict({"kind": "regions", "calculus": "rcc5", "regions": regions})
    assert coarse.base_relation("big", "small") == "PPI"


def test_too_many_lines_to_compare():
    from epignn.errors import BadArgument

    square = lambda n: [[n, n], [n + 0.5, n], [n + 0.5, n + 0.5], [n, n + 0.5]]  # noqa: E731
    regions = {str(n): {"polygons": [square(n)]} for n in range(700)}
    with pytest.raises(BadArgument, match="too many to compare"):
        World.from_dict({"kind": "regions", "calculus": "rcc8", "regions": regions})
