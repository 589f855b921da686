"""Rectangles for a network of RCC-8, by local search: the rectangle that breaks most is put where it breaks least.

Sides lie on a few whole numbers, so that rectangles touch often and exactly. Some hundred places are tried at once
for a rectangle, most of them along the sides of others; a pair that stays broken for long weighs more and more
(Morris 1993, "The breakout method for escaping from local minima").
"""

import time

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Masks
from epignn.calculus.realise.ordered import spread

Ints = NDArray[np.int64]

PLACES, MOVES = 240, 3_000
"""Places tried for a rectangle at once, and moves before a new start."""


def find_rectangles(sets: Masks, rng: np.random.Generator, deadline: float) -> Ints | None:
    """Rectangles (left, right, bottom, top) whose relations are among those of each pair; None if none were found.

    Args:
        sets: what may hold of each pair, shape (N, N); no two regions need be equal.
        rng: decides starts, places and ties.
        deadline: when to give up.
    """
    while time.perf_counter() < deadline:
        sides = _search(sets, rng, deadline)
        if sides is not None:
            for axis in (slice(0, 2), slice(2, 4)):
                ranks = np.unique(sides[:, axis], return_inverse=True)[1]
                sides[:, axis] = spread(ranks.reshape(-1, 2), rng)
            return sides
    return None


def _search(sets: Masks, rng: np.random.Generator, deadline: float) -> Ints | None:
    size = len(sets)
    grid = 2 * size + 4
    sides = np.empty((size, 4), dtype=np.int64)
    for axis in (0, 2):
        sides[:, axis] = rng.integers(0, grid - 2, size)
        sides[:, axis + 1] = np.minimum(sides[:, axis] + rng.integers(2, 3 + grid // 3, size), grid)
    weight = np.ones((size, size))
    np.fill_diagonal(weight, 0.0)
    broken = _broken(sides[:, None], sides[None], sets)
    for move in range(MOVES):
        cost = (broken * weight).sum(axis=1)
        if not cost.any():
            return sides
        if move % 50 == 0 and time.perf_counter() > deadline:
            return None
        chosen = int(rng.choice(size, p=cost / cost.sum()))
        places = _places(sides, chosen, grid, rng)
        trial = _broken(places[:, None], sides[None], sets[chosen])
        costs = trial @ weight[chosen]
        best = int((costs + rng.random(len(costs)) * 1e-3).argmin())
        if costs[best] >= cost[chosen]:
            weight[chosen] += broken[chosen]
            weight[:, chosen] = weight[chosen]
        sides[chosen] = places[best]
        trial[best, chosen] = False
        broken[chosen] = broken[:, chosen] = trial[best]
    return None


def _places(sides: Ints, chosen: int, grid: int, rng: np.random.Generator) -> Ints:
    """Places to try for a rectangle: some of its sides stay, others go to, or beside, sides of other rectangles."""
    places = np.repeat(sides[chosen][None], PLACES, axis=0)
    for axis in (slice(0, 2), slice(2, 4)):
        pool = sides[:, axis].ravel()
        drawn = rng.choice(pool, (PLACES, 2)) + rng.choice([-1, 0, 0, 0, 1], (PLACES, 2))
        moved = np.where(rng.random((PLACES, 2)) < 0.6, drawn, places[:, axis])
        moved = np.clip(np.sort(moved, axis=1), 0, grid)
        kept = moved[:, 0] < moved[:, 1]
        places[kept, axis] = moved[kept]
    return places


def _broken(one: Ints, other: Ints, sets: Masks) -> NDArray[np.bool_]:
    """Whether the relation from each rectangle to each other is none that it may be; shapes broadcast."""
    apart = np.maximum(one[..., ::2], other[..., ::2]) - np.minimum(one[..., 1::2], other[..., 1::2])
    gap = apart.max(axis=-1)
    low, high = one[..., ::2] - other[..., ::2], other[..., 1::2] - one[..., 1::2]
    inner = np.minimum(low, high).min(axis=-1)  # how far the first lies inside the second; negative if it does not
    outer = np.minimum(-low, -high).min(axis=-1)
    relation = np.select(
        [gap > 0, gap == 0, (inner == 0) & (outer == 0), inner == 0, inner > 0, outer == 0, outer > 0],
        [0, 1, 7, 3, 4, 5, 6],
        default=2,
    )
    broken: NDArray[np.bool_] = (sets >> relation.astype(np.uint64) & np.uint64(1)) == 0
    return broken
