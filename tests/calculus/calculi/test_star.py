"""The star calculus: against sums of vectors of a grid, against the cardinal directions, and its laws."""

from itertools import product

import numpy as np

from epignn.calculus import load
from epignn.calculus.calculi.star import COMPASS, star
from epignn.calculus.laws import LAWS

STAR = load("star4")
BY_SIGNS = {}
for name, way in zip(
    COMPASS,
    [
        *((0, 1), (1, 2), (1, 1), (2, 1), (1, 0), (2, -1), (1, -1), (1, -2)),
        *((0, -1), (-1, -2), (-1, -1), (-2, -1), (-1, 0), (-2, 1), (-1, 1), (-1, 2)),
    ],
    strict=True,
):
    BY_SIGNS[tuple(np.sign([way[0], way[1], way[0] - way[1], way[0] + way[1]]))] = name
BY_SIGNS[0, 0, 0, 0] = "EQ"


def test_sums_of_vectors_on_a_grid():
    """Every composition has an example with steps of five at most, and no example leaves the table."""
    ways = np.array(list(product(range(-5, 6), repeat=2)))
    found = {(r, s): 0 for r in STAR.relations for s in STAR.relations}

    def told(x, y):
        signs = np.sign(np.stack([x, y, x - y, x + y], axis=-1))
        return [BY_SIGNS[tuple(row)] for row in signs.tolist()]

    first = told(*ways.T)
    for way, name in zip(ways, first, strict=True):
        for other, whole in zip(first, told(*(way + ways).T), strict=True):
            found[name, other] |= STAR.parse(whole)
    assert found == {(r, s): STAR.compose(STAR.parse(r), STAR.parse(s)) for r, s in found}


def test_two_lines_are_the_cardinal_directions():
    two, cardinal = star(("N", "NE", "E", "SE", "S", "SW", "W", "NW")), load("cardinal")
    for r, s in product(cardinal.relations, repeat=2):
        expected = cardinal.names(cardinal.compose(cardinal.parse(r), cardinal.parse(s)))
        assert set(two.names(two.compose(two.parse(r), two.parse(s)))) == set(expected)


def test_every_law_holds():
    for calculus in (STAR, star(tuple(f"r{i}" for i in range(12)))):
        assert not [cell for law in LAWS.values() for cell in law(calculus)]
