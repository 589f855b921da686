"""Regions for a network of RCC-8 or RCC-5, drawn in one of three ways; the first that succeeds is taken.

1. Discs, which look best, for a part of the time and while there are few regions (`circles`).
2. Rectangles, like a map, for a part of the time (`rectangles`).
3. Regions of several parts, which realise every consistent scenario (`strips`).

The first two choose among what the facts leave open; the third is given a scenario. Regions that are equal are
drawn once.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from epignn.calculus import load
from epignn.calculus.algebra import Masks, members
from epignn.calculus.calculi.rcc import COARSE
from epignn.calculus.network import Network
from epignn.calculus.realise.circles import find_discs
from epignn.calculus.realise.rectangles import find_rectangles
from epignn.calculus.realise.regions import Discs, Outlines, Regions
from epignn.calculus.realise.scenario import vary
from epignn.calculus.realise.strips import draw_strips
from epignn.calculus.result import Result
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.search import solve

MOST_DISCS, MOST_RECTANGLES = 14, 40
"""Of more regions discs and rectangles are not tried: they would hardly be found."""
DISCS_SHARE, RECTANGLES_SHARE = 0.45, 0.6
"""Parts of the time that is left, for discs and then for rectangles."""
WEIGHTS = (1.0, 0.1, 0.4, 0.1, 0.3, 0.1, 0.3, 0.01)
"""How likely each relation is chosen in a scenario: pictures are easiest to read where regions lie apart."""

EQ = 1 << 7
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Task:
    """What is to be drawn.

    Attributes:
        calculus: rcc8 or rcc5, of which the world is to be.
        scenario: a scenario of the facts, in their own calculus.
        fine: the facts in the relations of RCC-8.
        number: the class of equal regions that each region belongs to.
        sets: what may hold of each pair of classes but EQ.
        rng: makes worlds differ.
        deadline: when searches end.
    """

    calculus: str
    scenario: Result
    fine: Network
    number: list[int]
    sets: Masks
    rng: np.random.Generator
    deadline: float

    def share(self, part: float) -> float:
        """The end of a part of the time that is left."""
        now = time.perf_counter()
        return now + part * (self.deadline - now)

    def named(self, shapes: Sequence[T]) -> dict[str, T]:
        """The shapes of the classes, by region."""
        return {name: shapes[n] for name, n in zip(self.fine.names, self.number, strict=True)}


def realise_regions(found: Result, calculus: str, rng: np.random.Generator, deadline: float) -> tuple[Regions, str]:
    """Regions in which the facts of a network hold, and what drew them: discs, rectangles or strips.

    Args:
        found: a scenario of a network over RCC-8 or RCC-5.
        calculus: which of the two.
        rng: makes worlds differ.
        deadline: when to leave discs and rectangles; what comes then needs no search.
    """
    network = found.network
    if not network.names:
        return Discs(calculus, {}), "discs"
    fine = _fine(network)
    closed = _closed(fine)
    number, classes = _equal(closed)
    sets = closed[np.ix_(classes, classes)] & ~np.uint64(EQ)
    task = _Task(calculus, found, fine, number, sets, rng, deadline)
    for drawn_by, way in WAYS.items():
        world = way(task)
        if world is not None and not world.broken(network):
            return world, drawn_by
    raise AssertionError("strips realise every scenario")


def _discs(task: _Task) -> Regions | None:
    if len(task.sets) > MOST_DISCS:
        return None
    discs = find_discs(task.sets, task.rng, task.share(DISCS_SHARE))
    if discs is None:
        return None
    discs[:, :2] -= (discs[:, :2] - discs[:, 2:]).min(axis=0)
    return Discs(task.calculus, task.named([(x, y, r) for x, y, r in discs.tolist()]))


def _rectangles(task: _Task) -> Regions | None:
    if len(task.sets) > MOST_RECTANGLES:
        return None
    sides = find_rectangles(task.sets, task.rng, task.share(RECTANGLES_SHARE))
    if sides is None:
        return None
    corners = [(((x0, y0), (x1, y0), (x1, y1), (x0, y1)),) for x0, x1, y0, y1 in sides.tolist()]
    return Outlines(task.calculus, task.named(corners))


def _strips(task: _Task) -> Regions:
    known = task.scenario
    facts = _fine(replace(known.network, heads=known.first, tails=known.second, masks=known.masks))
    # One relation of RCC-5 for each pair is a set of RCC-8 over which closure decides: no search is needed.
    settled = replace(solve(facts), network=task.fine)
    scenario = vary(settled, WEIGHTS, task.rng, task.deadline)
    number, classes = _equal(scenario)
    drawn = draw_strips(scenario[np.ix_(classes, classes)], task.rng)
    return Outlines(task.calculus, replace(task, number=number).named(drawn))


WAYS: Mapping[str, Callable[[_Task], Regions | None]] = MappingProxyType(
    {"discs": _discs, "rectangles": _rectangles, "strips": _strips}
)
"""The ways to draw regions, the best-looking first."""


def _closed(network: Network) -> Masks:
    """What may hold of every pair, closed."""
    closed = close(network)
    return replace(network, heads=closed.first, tails=closed.second, masks=closed.masks).matrix()


def _equal(matrix: Masks) -> tuple[list[int], list[int]]:
    """The class of equal regions that each belongs to, and one region of every class."""
    equal = matrix == np.uint64(EQ)
    classes, number = np.unique([int(row.argmax()) for row in equal], return_inverse=True)
    return number.tolist(), classes.tolist()


def _fine(network: Network) -> Network:
    """A network in the relations of RCC-8, if it is one of RCC-5."""
    if len(network.calculus) != len(COARSE):
        return network
    rcc8 = replace(load("rcc8"), distinct=network.calculus.distinct)
    sets = [rcc8.parse(meaning) for meaning in COARSE.values()]
    masks = [sum(sets[r] for r in members(mask)) for mask in network.masks.tolist()]
    return replace(network, calculus=rcc8, masks=np.array(masks, dtype=np.uint64))
