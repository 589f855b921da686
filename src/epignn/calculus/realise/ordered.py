"""Intervals and points from a scenario, whose relations order all end points.

A scenario of Allen's relations says of every two end points which comes first. Their ranks are coordinates; the
gaps between ranks are then drawn at random, which changes no order.
"""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Masks
from epignn.calculus.calculi.orders import ALLEN, CARDINAL
from epignn.calculus.realise.lines import POINT, Intervals, Plane, Points

WIDEST_GAP = 4


def intervals(names: tuple[str, ...], scenario: Masks, rng: np.random.Generator) -> Intervals:
    """Intervals that have the relations of a scenario of Allen's algebra."""
    size = len(names)
    before = _signs(scenario, ALLEN).reshape(size, size, 2, 2) < 0
    ends = spread(_ranks(before.transpose(0, 2, 1, 3).reshape(2 * size, 2 * size)), rng)
    pairs = zip(ends[::2].tolist(), ends[1::2].tolist(), strict=True)
    return Intervals("allen", dict(zip(names, pairs, strict=True)))


def points(names: tuple[str, ...], scenario: Masks, rng: np.random.Generator) -> Points:
    """Points that have the relations of a scenario of the point algebra."""
    places = spread(_ranks(_signs(scenario, POINT)[:, :, 0] < 0), rng)
    return Points("point", dict(zip(names, places.tolist(), strict=True)))


def plane(names: tuple[str, ...], scenario: Masks, rng: np.random.Generator) -> Plane:
    """Points that have the relations of a scenario of cardinal directions."""
    signs = _signs(scenario, CARDINAL)
    x, y = (spread(_ranks(signs[:, :, axis] < 0), rng).tolist() for axis in (0, 1))
    return Plane("cardinal", dict(zip(names, zip(x, y, strict=True), strict=True)))


def spread(ranks: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Whole numbers in the order of some ranks, with gaps of random size between them."""
    gaps = rng.integers(1, WIDEST_GAP + 1, int(ranks.max(initial=0)) + 1)
    return np.asarray(np.cumsum(gaps) - gaps[0])[ranks]


def _signs(scenario: Masks, comparisons: Mapping[str, tuple[int, ...]]) -> NDArray[np.int64]:
    """The signs of all comparisons of each pair, shape (N, N, comparisons)."""
    table = np.array(list(comparisons.values()))
    relation = np.bitwise_count(scenario - np.uint64(1))
    signs: NDArray[np.int64] = table[relation]
    return signs


def _ranks(before: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The rank of each point, given which points are before which."""
    return np.unique(before.sum(axis=0), return_inverse=True)[1]
