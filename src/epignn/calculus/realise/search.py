"""Find a world for a network: which search serves each calculus, and what is said where there is no world."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from math import isfinite
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.calculus import load
from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Fact, Network
from epignn.calculus.realise import ordered
from epignn.calculus.realise.mapped import realise_regions
from epignn.calculus.realise.relatives import OutOfTime, find_family
from epignn.calculus.realise.scenario import decide, vary
from epignn.calculus.realise.world import World
from epignn.calculus.result import Answer, Result
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.conflict import minimal_conflict
from epignn.errors import BadArgument

CLASH = "the facts clash: no world has them all"


@dataclass(frozen=True)
class Realisation:
    """A world in which facts hold, or why there is none.

    Attributes:
        world: None where none was found.
        reason: why there is none: the facts clash, the limits were reached, or the calculus has no pictures.
        conflict: facts that cannot hold together, where that is why; without any one of them the others can. Of a
            family all facts are given where there is no time to find fewer.
        statistics: seconds, and `drawn_by`: what drew the world, where there are several ways.
    """

    world: World | None
    reason: str = ""
    conflict: tuple[Fact, ...] = ()
    statistics: Mapping[str, float | str] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values."""
        return {
            "found": self.world is not None,
            "world": self.world and self.world.to_dict(),
            "reason": self.reason,
            "conflict": [fact.to_list() for fact in self.conflict],
            "statistics": dict(self.statistics),
        }


Realiser = Callable[[Network, np.random.Generator, float], Realisation]


def realise(network: Network, seed: int = 0, seconds: float = 5.0) -> Realisation:
    """Find a world in which all facts of a network hold; another seed gives another one, where there are several.

    Networks of regions, intervals and points have a world exactly if they are consistent; it is found as soon as
    search has found a scenario. What a family has to be is told in `relatives`.

    Args:
        network: the facts.
        seed: decides between worlds.
        seconds: when to give up. What is found last needs no search and may take a little longer.

    Raises:
        BadArgument: the seed is negative, there is no time, or there are too many regions to draw.

    >>> from epignn.calculus import load
    >>> day = Network.of(load("allen"), [("lunch", "during", "day"), ("nap", "meets", "lunch")])
    >>> world = realise(day).world
    >>> world.broken(day), load("allen").format(world.relation("day", "lunch"))
    ([], 'di')
    """
    if seed < 0:
        raise BadArgument(f"a seed is 0 or larger, not {seed}.")
    if not (isfinite(seconds) and seconds > 0):
        raise BadArgument(f"the time for a world is some seconds, more than 0, not {seconds:g}.")
    start = time.perf_counter()
    name = pictured(network.calculus)
    if name is None:
        known = ", ".join(REALISERS)
        return Realisation(
            None,
            f"{network.calculus.name} has no pictures: it has not the relations and composition of one of {known}",
        )
    if network.calculus is not load(name):  # a copy need not tell what is known of the original
        network = replace(network, calculus=replace(load(name), distinct=network.calculus.distinct))
    found = REALISERS[name](network, np.random.default_rng(seed), start + seconds)
    if found.world is None and not found.conflict:
        found = replace(found, reason=f"no world was found within {seconds:g} seconds; allow more")
    return replace(found, statistics={"seconds": time.perf_counter() - start, **found.statistics})


def pictured(calculus: Calculus) -> str | None:
    """The shipped calculus of the same relations and composition, whose worlds serve; None if there is none."""
    for name in REALISERS:
        known = load(name)
        if (calculus.relations, calculus.composition) == (known.relations, known.composition):
            return name
    return None


def _decided(draw: Callable[[Result, np.random.Generator, float], Realisation]) -> Realiser:
    """A realiser that first asks whether the facts can hold together, and draws a world if they can."""

    def realiser(network: Network, rng: np.random.Generator, deadline: float) -> Realisation:
        found = decide(network, deadline)
        if found.answer is Answer.UNDECIDED:
            return Realisation(None)
        if not found.consistent:
            return Realisation(None, CLASH, found.conflict)
        return draw(found, rng, deadline)

    return realiser


def _ordered(
    draw: Callable[[tuple[str, ...], Masks, np.random.Generator], World], rare: tuple[str, ...]
) -> Realiser:
    """A realiser by a scenario, in which relations that are `rare` are chosen seldom: ends that coincide."""

    def drawn(found: Result, rng: np.random.Generator, deadline: float) -> Realisation:
        network = found.network
        weights = [0.15 if name in rare else 1.0 for name in network.calculus.relations]
        return Realisation(draw(network.names, vary(found, weights, rng, deadline), rng))

    return _decided(drawn)


def _regions(calculus: str) -> Realiser:
    def drawn(found: Result, rng: np.random.Generator, deadline: float) -> Realisation:
        world, drawn_by = realise_regions(found, calculus, rng, deadline)
        return Realisation(world, statistics={"drawn_by": drawn_by})

    return _decided(drawn)


def _family(network: Network, rng: np.random.Generator, deadline: float) -> Realisation:
    """A realiser by search; where closure finds no contradiction, search may still find that there is no family."""

    def none(part: Network) -> bool:
        closed = close(part)
        return not closed.consistent or find_family(part, rng, deadline) is None

    closed = close(network)
    if not closed.consistent:
        return Realisation(None, CLASH, closed.conflict)
    try:
        world = find_family(network, rng, deadline)
    except OutOfTime:
        return Realisation(None)
    if world is not None:
        return Realisation(world)
    try:
        near = int(network.heads[0]), int(network.tails[0])
        clashing = minimal_conflict(network, none, near, of_circles=False).facts
    except OutOfTime:
        clashing = list(range(len(network)))
    return Realisation(None, CLASH, tuple(network.fact(f) for f in clashing))


REALISERS: Mapping[str, Realiser] = MappingProxyType(
    {
        "rcc8": _regions("rcc8"),
        "rcc5": _regions("rcc5"),
        "allen": _ordered(ordered.intervals, ("=", "m", "mi", "s", "si", "f", "fi")),
        "point": _ordered(ordered.points, ("=",)),
        "cardinal": _ordered(ordered.plane, ("EQ", "N", "E", "S", "W")),
        "kinship": _family,
    }
)
"""How each calculus that has pictures finds its worlds."""
