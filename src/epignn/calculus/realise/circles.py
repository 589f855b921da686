"""Discs for a network of RCC-8, by numerical search: many starts at once go downhill, then touching is made exact.

Every pair aims at the least costly of the relations that it may have, so that the search chooses a scenario while
it moves the discs. It minimises by how far each pair misses its relation. At the end the relations are kept, and
Newton's method moves the discs as little as possible until all that should touch do.
"""

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Masks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

DC, EC, PO, TPP, NTPP, TPPI, NTPPI = range(7)
"""The relations of RCC-8 but EQ, in the order of its table."""
TOUCHING = (EC, TPP, TPPI)
CLEAR, SEEN = 0.16, 0.05
"""By how much discs that do not touch should keep clear, and the least of it that can be seen; the radius of the
smallest disc is 0.4."""
SMALLEST, STARTS, STEPS, ROUNDS = 0.4, 24, 360, 12
FIRST_STEP, LAST_STEP = 0.12, 0.004
NEAR, TRIED = 0.04, 12
"""A start that has come so near to a solution is worth Newton's method, and so many of them are tried."""
COST = np.array([0.0, 0.5, 0.25, 0.5, 0.15, 0.5, 0.15])
"""What choosing a relation costs where others are allowed: what lies apart is easiest to see, touching hardest."""


@dataclass(frozen=True)
class _Pairs:
    """The pairs of discs, what each may be, `allowed[p, r]`, and matrices that add up over the pairs of a disc."""

    first: Ints
    second: Ints
    allowed: NDArray[np.bool_]
    to_first: Floats
    to_second: Floats


def find_discs(sets: Masks, rng: np.random.Generator, deadline: float) -> Floats | None:
    """Discs (x, y, radius) whose relations are among those of each pair; None if none were found.

    Args:
        sets: what may hold of each pair, shape (N, N); no two regions need be equal.
        rng: where the discs start.
        deadline: when to give up.
    """
    size = len(sets)
    first, second = np.triu_indices(size, 1)
    allowed = (sets[first, second][:, None] >> np.arange(7, dtype=np.uint64) & np.uint64(1)).astype(bool)
    pairs = _Pairs(first, second, allowed, np.eye(size)[:, first], np.eye(size)[:, second])
    for _ in range(ROUNDS):
        if time.perf_counter() > deadline:
            return None
        moved = _descend(_starts(pairs, size, rng), pairs, deadline)
        missed, chosen = _choose(moved, pairs)
        worst = missed.max(axis=1, initial=0.0)
        near = [start for start in np.argsort(worst)[:TRIED].tolist() if worst[start] < NEAR]
        exact = (_newton(moved[start], chosen[start], pairs) for start in near)
        if found := [discs for discs in exact if discs is not None]:
            return max(found, key=_legible)
    return None


def _legible(discs: Floats) -> float:
    """How large the smallest disc is beside the whole picture."""
    low, high = discs[:, :2] - discs[:, 2:], discs[:, :2] + discs[:, 2:]
    return float(discs[:, 2].min() / (high.max(axis=0) - low.min(axis=0)).max())


def _starts(pairs: _Pairs, size: int, rng: np.random.Generator) -> Floats:
    """Random discs, larger where others must lie inside; shape (starts, N, 3)."""
    inside = np.zeros(size)
    inside += pairs.to_second @ ~pairs.allowed[:, [DC, EC, PO, TPPI, NTPPI]].any(axis=1)
    inside += pairs.to_first @ ~pairs.allowed[:, [DC, EC, PO, TPP, NTPP]].any(axis=1)
    discs = np.empty((STARTS, size, 3))
    discs[..., :2] = rng.normal(0, 0.9 * np.sqrt(size), (STARTS, size, 2))
    discs[..., 2] = (0.6 + 0.5 * np.sqrt(inside)) * rng.uniform(0.7, 1.4, (STARTS, size))
    return discs


def _descend(discs: Floats, pairs: _Pairs, deadline: float) -> Floats:
    """Adam (Kingma and Ba 2015), over all starts at once; the steps shrink, and so do the pulls to the middle."""
    mean, square = np.zeros_like(discs), np.zeros_like(discs)
    for step in range(1, STEPS + 1):
        if step % 20 == 0 and time.perf_counter() > deadline:
            break
        done = step / STEPS
        slope = _slope(discs, pairs)
        pull = 0.02 * max(0.0, 0.6 - done)
        slope[..., :2] += pull * (discs[..., :2] - discs[..., :2].mean(axis=1, keepdims=True))
        slope[..., 2] += pull * (discs[..., 2] - 1)
        mean = 0.8 * mean + 0.2 * slope
        square = 0.97 * square + 0.03 * slope**2
        rate = FIRST_STEP * (LAST_STEP / FIRST_STEP) ** done
        discs = discs - rate * (mean / (1 - 0.8**step)) / (np.sqrt(square / (1 - 0.97**step)) + 1e-9)
        np.maximum(discs[..., 2], SMALLEST, out=discs[..., 2])
    return discs


def _measures(discs: Floats, pairs: _Pairs) -> tuple[Floats, Floats, Floats, Floats]:
    """Of every pair: the vector from the second to the first, its length, sum and difference of the radii."""
    across = discs[..., pairs.first, :] - discs[..., pairs.second, :]
    distance = np.sqrt(across[..., 0] ** 2 + across[..., 1] ** 2 + 1e-18)
    together = discs[..., pairs.first, 2] + discs[..., pairs.second, 2]
    return across, distance, together, across[..., 2]


def _missed(distance: Floats, together: Floats, more: Floats, clear: float) -> Floats:
    """By how far each pair misses each relation; the last axis is that of relations."""
    zero = np.zeros_like(distance)
    inner, outer = distance + more, distance - more  # of the second around the first, and the other way round
    return np.stack(
        [
            np.maximum(zero, together + clear - distance),
            np.abs(distance - together),
            np.maximum(zero, np.maximum(distance - together, np.abs(more) - distance) + clear),
            np.abs(inner) + np.maximum(zero, more + clear),
            np.maximum(zero, inner + clear),
            np.abs(outer) + np.maximum(zero, clear - more),
            np.maximum(zero, outer + clear),
        ],
        axis=-1,
    )


def _choose(discs: Floats, pairs: _Pairs) -> tuple[Floats, Ints]:
    """By how far each pair misses the relation that it is nearest to, and which one that is."""
    _, distance, together, more = _measures(discs, pairs)
    missed = _missed(distance, together, more, CLEAR)
    chosen = np.where(pairs.allowed, missed + COST, np.inf).argmin(axis=-1)
    return np.take_along_axis(missed, chosen[..., None], axis=-1)[..., 0], chosen


def _slope(discs: Floats, pairs: _Pairs) -> Floats:
    """The gradient of half the squares of what the pairs miss."""
    across, distance, together, more = _measures(discs, pairs)
    missed = _missed(distance, together, more, CLEAR)
    chosen = np.where(pairs.allowed, missed + COST, np.inf).argmin(axis=-1)
    amount = np.take_along_axis(missed, chosen[..., None], axis=-1)[..., 0]
    by_distance, by_together, by_more = _direction(chosen, distance, together, more)
    unit = across[..., :2] / distance[..., None]
    push = (amount * by_distance)[..., None] * unit
    one, other = amount * (by_together + by_more), amount * (by_together - by_more)
    both = np.concatenate([push, one[..., None]], axis=-1), np.concatenate([-push, other[..., None]], axis=-1)
    slope: Floats = pairs.to_first @ both[0] + pairs.to_second @ both[1]
    return slope


def _direction(chosen: Ints, distance: Floats, together: Floats, more: Floats) -> tuple[Floats, Floats, Floats]:
    """The derivatives of what a pair misses by distance, by the sum and by the difference of the radii."""
    far = distance - together >= np.abs(more) - distance
    out = np.sign(distance - together)
    inner, outer = np.sign(distance + more), np.sign(distance - more)
    zero, one = np.zeros_like(distance), np.ones_like(distance)
    by_distance = np.choose(chosen, [-one, out, np.where(far, 1.0, -1.0), inner, one, outer, one])
    by_together = np.choose(chosen, [one, -out, np.where(far, -1.0, 0.0), zero, zero, zero, zero])
    small, large = inner + (more > -CLEAR), -outer - (more < CLEAR)
    by_more = np.choose(chosen, [zero, zero, np.where(far, 0.0, np.sign(more)), small, one, large, -one])
    return by_distance, by_together, by_more


def _newton(discs: Floats, chosen: Ints, pairs: _Pairs) -> Floats | None:
    """Make what should touch do so; None if that cannot be, or the other pairs do not keep clear by `SEEN`."""
    touching = np.flatnonzero(np.isin(chosen, TOUCHING))
    size, rows = len(discs), np.arange(len(touching))
    first, second, kinds = pairs.first[touching], pairs.second[touching], chosen[touching]
    sign = np.choose(np.searchsorted(TOUCHING, kinds), [-1.0, 1.0, -1.0])  # of the first radius
    other = np.choose(np.searchsorted(TOUCHING, kinds), [-1.0, -1.0, 1.0])
    for _ in range(30):
        across = discs[first, :2] - discs[second, :2]
        distance = np.hypot(across[:, 0], across[:, 1])
        off = distance + sign * discs[first, 2] + other * discs[second, 2]
        if np.abs(off).max(initial=0.0) < 1e-13 * size:
            break
        table = np.zeros((len(touching), size, 3))
        unit = across / np.maximum(distance, 1e-12)[:, None]
        table[rows, first, :2], table[rows, second, :2] = unit, -unit
        table[rows, first, 2], table[rows, second, 2] = sign, other
        step = np.linalg.lstsq(table.reshape(len(touching), -1), -off, rcond=1e-9)[0]
        discs = discs + step.reshape(size, 3)
    else:
        return None
    _, distance, together, more = _measures(discs, pairs)
    missed = np.take_along_axis(_missed(distance, together, more, SEEN), chosen[:, None], axis=-1)
    if discs[:, 2].min() < SEEN or missed.max(initial=0.0) > 1e-12 * size:
        return None
    return discs
