"""Worlds of regions, by RCC-8 and RCC-5: discs, and unions of cells of a grid told by their outlines."""

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import hypot
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.calculi.rcc import COARSE
from epignn.calculus.realise.world import Table, World, calculus_of, mapping, number, numbers, sequence, things
from epignn.errors import BadArgument

Bools = NDArray[np.bool_]
Disc = tuple[float, float, float]
Outline = tuple[tuple[float, float], ...]

TOLERANCE = 1e-5
"""Discs touch where their distance is wrong by so little, measured by the sum of their radii. Discs that were found
by search touch to 1e-9, and where they should not touch they keep clear by far more than this."""
MOST_CORNERS, MOST_CELLS = 200_000, 100_000_000
"""Bounds of a world of outlines that is read: corners, and cells of the grid times regions."""

_FINE_TO_COARSE = MappingProxyType({fine: coarse for coarse, set_ in COARSE.items() for fine in set_.split("|")})


@dataclass(frozen=True)
class Regions(World):
    """Regions of the plane. Those of RCC-5 are told apart as in RCC-8, and then less finely."""

    kind: ClassVar[str] = "regions"
    calculi: ClassVar[tuple[str, ...]] = ("rcc8", "rcc5")

    @abstractmethod
    def fine_relation(self, a: str, b: str) -> str:
        """The relation of RCC-8 that holds from one region to another."""

    def base_relation(self, a: str, b: str) -> str:
        """The relation of the world's calculus that holds from one region to another."""
        fine = self.fine_relation(a, b)
        return _FINE_TO_COARSE[fine] if self.calculus == "rcc5" else fine


@dataclass(frozen=True)
class Discs(Regions):
    """A disc for each region: x and y of its centre, and its radius."""

    discs: Mapping[str, Disc]

    @property
    def names(self) -> Collection[str]:
        """The entities."""
        return self.discs.keys()

    def fine_relation(self, a: str, b: str) -> str:
        """How two discs lie to each other, by their distance and their radii."""
        (ax, ay, ar), (bx, by, br) = self.discs[a], self.discs[b]
        near = TOLERANCE * (ar + br)
        apart, beyond = hypot(ax - bx, ay - by) - ar - br, hypot(ax - bx, ay - by) - abs(ar - br)
        if apart > near:
            return "DC"
        if apart >= -near:
            return "EC"
        if beyond > near:
            return "PO"
        if abs(ar - br) <= near:
            return "EQ"
        inside = "TPP" if beyond >= -near else "NTPP"
        return inside if ar < br else inside + "I"

    def table(self) -> Table:
        """Centre and radius of each disc."""
        rows: list[tuple[object, ...]] = [
            (name, f"{x:.2f}", f"{y:.2f}", f"{radius:.2f}") for name, (x, y, radius) in self.discs.items()
        ]
        return ("disc", "x", "y", "radius"), rows

    def to_dict(self) -> dict[str, Any]:
        """`{kind, calculus, regions: {name: {discs: [[x, y, r]]}}}`."""
        regions = {name: {"discs": [list(disc)]} for name, disc in self.discs.items()}
        return {"kind": self.kind, "calculus": self.calculus, "regions": regions}


@dataclass(frozen=True)
class Outlines(Regions):
    """Regions with axis-parallel outlines: each has one or more, and an outline is its corners in order.

    A point belongs to a region if an odd number of its outlines go round it (the even-odd rule of SVG), so that
    the outline of a hole is one more outline, inside another. A last side joins the last corner with the first.
    Relations are exact: they are read off the cells between all the lines that outlines run on. Two regions overlap
    if they share a cell, touch if they share a point, and one lies inside the other without touching its rim if the
    other has every cell around each of its cells.
    """

    outlines: Mapping[str, tuple[Outline, ...]]

    @property
    def names(self) -> Collection[str]:
        """The entities."""
        return self.outlines.keys()

    @cached_property
    def cells(self) -> Mapping[str, Bools]:
        """The cells of each region, with an empty rim all round; on the lines of all outlines together."""
        corners = [corner for rings in self.outlines.values() for ring in rings for corner in ring]
        lines = [{value: n for n, value in enumerate(sorted(set(axis)), 1)} for axis in zip(*corners, strict=True)]
        shape = (len(lines[0]) + 1, len(lines[1]) + 1)
        result = {}
        for name, rings in self.outlines.items():
            crossed = np.zeros(shape, dtype=bool)
            for (ax, ay), (bx, by) in _sides(rings):
                if ax == bx:
                    low, high = sorted((lines[1][ay], lines[1][by]))
                    crossed[lines[0][ax], low:high] ^= True
            result[name] = np.logical_xor.accumulate(crossed, axis=0)
        return result

    @cached_property
    def _grown(self) -> Mapping[str, Bools]:
        """The cells of each region and all that touch them."""
        return {name: _grow(cells) for name, cells in self.cells.items()}

    def fine_relation(self, a: str, b: str) -> str:
        """How two regions lie to each other, by their cells."""
        one, other = self.cells[a], self.cells[b]
        if not (one & other).any():
            return "EC" if (self._grown[a] & other).any() else "DC"
        within, around = not (one & ~other).any(), not (other & ~one).any()
        if within and around:
            return "EQ"
        if within:
            return "TPP" if (self._grown[a] & ~other).any() else "NTPP"
        if around:
            return "TPPI" if (self._grown[b] & ~one).any() else "NTPPI"
        return "PO"

    def table(self) -> Table:
        """From where to where each region reaches, and how many outlines it has."""
        rows: list[tuple[object, ...]] = []
        for name, rings in self.outlines.items():
            x, y = zip(*(corner for ring in rings for corner in ring), strict=True)
            rows.append((name, f"{min(x):g} to {max(x):g}", f"{min(y):g} to {max(y):g}", len(rings)))
        return ("region", "x", "y", "outlines"), rows

    def to_dict(self) -> dict[str, Any]:
        """`{kind, calculus, regions: {name: {polygons: [[[x, y], …], …]}}}`."""
        regions = {
            name: {"polygons": [[list(corner) for corner in ring] for ring in rings]}
            for name, rings in self.outlines.items()
        }
        return {"kind": self.kind, "calculus": self.calculus, "regions": regions}


def _grow(cells: Bools) -> Bools:
    """Some cells and all that touch them, at sides or at corners."""
    wide = cells.copy()
    wide[1:] |= cells[:-1]
    wide[:-1] |= cells[1:]
    grown = wide.copy()
    grown[:, 1:] |= wide[:, :-1]
    grown[:, :-1] |= wide[:, 1:]
    return grown


def _sides(rings: Sequence[Outline]) -> Iterator[tuple[tuple[float, float], tuple[float, float]]]:
    for ring in rings:
        yield from pairwise((*ring, ring[0]))


# -- reading --


def read_regions(fields: Mapping[str, Any]) -> Regions:
    """The world of a document: discs or outlines, the same for all regions."""
    calculus = calculus_of(fields, Regions.kind, Regions.calculi)
    shapes = things(fields, "regions", mapping)
    found = {key for shape in shapes.values() for key in shape}
    if found <= {"discs"}:
        return Discs(calculus, things(fields, "regions", _disc))
    if found == {"polygons"}:
        outlines = things(fields, "regions", _outlines)
        _fit(outlines)
        return Outlines(calculus, outlines)
    raise BadArgument(
        f"the regions of a world have all 'discs' or all 'polygons', not {', '.join(map(repr, sorted(found)))}."
    )


def _disc(shape: Mapping[str, Any], what: str) -> Disc:
    discs = sequence(shape.get("discs"), f"the discs in {what}")
    if len(discs) != 1:
        raise BadArgument(f"{what} are one disc, not {len(discs)}.")
    x, y, radius = numbers(discs[0], 3, f"the disc in {what}")
    if radius <= 0:
        raise BadArgument(f"the disc in {what} has the radius {radius:g}; a radius is larger than 0.")
    return x, y, radius


def _outlines(shape: Mapping[str, Any], what: str) -> tuple[Outline, ...]:
    rings = []
    for ring in sequence(shape.get("polygons"), f"the polygons in {what}"):
        corners = []
        for corner in sequence(ring, f"a polygon in {what}"):
            x, y = numbers(corner, 2, f"a corner in {what}")
            corners.append((number(x, what), number(y, what)))
        for (ax, ay), (bx, by) in pairwise((*corners, *corners[:1])):
            if (ax == bx) == (ay == by):
                raise BadArgument(
                    f"a side in {what} runs from ({ax:g}, {ay:g}) to ({bx:g}, {by:g}); sides run along x or y."
                )
        rings.append(tuple(corners))
    if not rings or min(map(len, rings)) < 4:
        raise BadArgument(f"{what} are one or more polygons of at least four corners.")
    return tuple(rings)


def _fit(outlines: Mapping[str, tuple[Outline, ...]]) -> None:
    """Refuse outlines that are too large to be told apart, and regions of which they leave nothing."""
    corners = [corner for rings in outlines.values() for ring in rings for corner in ring]
    if len(corners) > MOST_CORNERS:
        raise BadArgument(f"a world has at most {MOST_CORNERS:,} corners, not {len(corners):,}.")
    across, along = (len(set(axis)) for axis in zip(*corners, strict=True))
    if across * along * len(outlines) > MOST_CELLS:
        raise BadArgument(
            f"{len(outlines):,} regions over a grid of {across:,} by {along:,} lines are too many to compare."
        )
    for name, cells in Outlines("rcc8", outlines).cells.items():
        if not cells.any():
            raise BadArgument(f"nothing lies inside the polygons of {name!r}.")
