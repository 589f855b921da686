"""A world as an SVG picture: the page, the facts below it, and what is drawn for each kind of world.

What is drawn is decided in `lines` (intervals and points), `regions` and `tree` (families).
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.calculus.meanings import key
from epignn.calculus.network import Network
from epignn.calculus.realise.lines import Intervals, Plane, Points
from epignn.calculus.realise.people import People
from epignn.calculus.realise.regions import Discs, Outlines
from epignn.calculus.realise.world import World
from epignn.explain.layout import SMALL_WIDTH
from epignn.explain.lines import sketch_intervals, sketch_plane, sketch_points
from epignn.explain.regions import sketch_discs, sketch_outlines
from epignn.explain.svg import CLASH, STRONG, Sketch, page
from epignn.explain.tree import sketch_family

MOST_LINES, LETTERS, BETWEEN = 4, 112, " · "
"""Lines of facts below a picture, letters of each, and what stands between two facts."""

SKETCHES: Mapping[type[World], Callable[[Any, set[str]], Sketch]] = MappingProxyType(
    {
        Intervals: sketch_intervals,
        Points: sketch_points,
        Plane: sketch_plane,
        Discs: sketch_discs,
        Outlines: sketch_outlines,
        People: sketch_family,
    }
)
"""What draws each kind of world, given the names that are to be red."""


def draw_world(world: World, network: Network) -> str:
    """The picture of a world, as the text of an SVG file; facts of the network that do not hold in it are told.

    Raises:
        BadArgument: the network is over another calculus, or has entities that the world lacks.
    """
    broken = world.broken(network)
    marked = {network.names[int(ends[f])] for f in broken for ends in (network.heads, network.tails)}
    sketch = SKETCHES[type(world)](world, marked)
    title = f"{len(broken)} of {len(network)} facts do not hold" if broken else "A world in which the facts hold"
    credit = "in red: the names in these facts" if broken else f"{world.calculus}, {_count(len(network), 'fact')}"
    told = network.select(broken) if broken else network
    legend = [*_facts(network, broken), *key(network.calculus, int(np.bitwise_or.reduce(told.masks, initial=0)))]
    longest = max(len(title) * 11.5, *(len(line) * SMALL_WIDTH for line in (credit, *legend)))
    size = (max(sketch.width, longest + 60), sketch.height)
    return page(size, title, credit, CLASH if broken else STRONG, sketch.parts, legend)


def _count(number: int, what: str) -> str:
    return {0: f"no {what}s", 1: f"one {what}"}.get(number, f"{number} {what}s")


def _facts(network: Network, broken: list[int]) -> list[str]:
    """The facts in a few lines; only those that do not hold, if there are any."""
    told = [str(network.fact(f)) for f in (broken or range(len(network)))]
    lines = [""]
    for number, fact in enumerate(told):
        if lines[-1] and len(lines[-1]) + len(fact) > LETTERS:
            if len(lines) == MOST_LINES:
                lines[-1] += f"… and {len(told) - number} more"
                break
            lines.append("")
        lines[-1] += fact + BETWEEN
    return [line.removesuffix(BETWEEN) for line in lines]
