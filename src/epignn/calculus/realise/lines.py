"""Worlds of order: intervals and points on a line, and points in the plane."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from epignn.calculus.calculi.orders import ALLEN, CARDINAL
from epignn.calculus.realise.world import Table, World, calculus_of, number, numbers, things
from epignn.errors import BadArgument

POINT = MappingProxyType({"<": (-1,), "=": (0,), ">": (1,)})
"""The sign of a - b, as `ALLEN` and `CARDINAL` have theirs."""
_ALLEN_BY_SIGNS = MappingProxyType({signs: name for name, signs in ALLEN.items()})
_CARDINAL_BY_SIGNS = MappingProxyType({signs: name for name, signs in CARDINAL.items()})
_POINT_BY_SIGNS = MappingProxyType({signs: name for name, signs in POINT.items()})


def _sign(a: float, b: float) -> int:
    return (a > b) - (a < b)


@dataclass(frozen=True)
class Intervals(World):
    """Stretches of time: `intervals[name]` is its start and its end, which is later."""

    intervals: Mapping[str, tuple[float, float]]
    kind: ClassVar[str] = "intervals"
    calculi: ClassVar[tuple[str, ...]] = ("allen",)

    @property
    def names(self) -> Collection[str]:
        """The entities."""
        return self.intervals.keys()

    def base_relation(self, a: str, b: str) -> str:
        """How one interval lies to another, by their four end points."""
        (a0, a1), (b0, b1) = self.intervals[a], self.intervals[b]
        return _ALLEN_BY_SIGNS[_sign(a0, b0), _sign(a0, b1), _sign(a1, b0), _sign(a1, b1)]

    def table(self) -> Table:
        """Start and end of each interval."""
        rows = sorted(self.intervals.items(), key=lambda each: each[1])
        return ("interval", "start", "end"), [(name, f"{start:g}", f"{end:g}") for name, (start, end) in rows]

    def to_dict(self) -> dict[str, Any]:
        """`{kind, calculus, intervals: {name: [start, end]}}`."""
        ends = {name: list(each) for name, each in self.intervals.items()}
        return {"kind": self.kind, "calculus": self.calculus, "intervals": ends}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "Intervals":
        """The world of a document."""

        def interval(value: object, what: str) -> tuple[float, float]:
            start, end = numbers(value, 2, what)
            if not start < end:
                raise BadArgument(
                    f"{what} begin at {start:g} and end at {end:g}; an interval ends after its start."
                )
            return start, end

        return cls(calculus_of(fields, cls.kind, cls.calculi), things(fields, "intervals", interval))


@dataclass(frozen=True)
class Points(World):
    """Points on a line: `points[name]` is its place."""

    points: Mapping[str, float]
    kind: ClassVar[str] = "points"
    calculi: ClassVar[tuple[str, ...]] = ("point",)

    @property
    def names(self) -> Collection[str]:
        """The entities."""
        return self.points.keys()

    def base_relation(self, a: str, b: str) -> str:
        """Whether one point is before, at or after another."""
        return _POINT_BY_SIGNS[(_sign(self.points[a], self.points[b]),)]

    def table(self) -> Table:
        """The place of each point."""
        rows = sorted(self.points.items(), key=lambda each: each[1])
        return ("point", "place"), [(name, f"{place:g}") for name, place in rows]

    def to_dict(self) -> dict[str, Any]:
        """`{kind, calculus, points: {name: x}}`."""
        return {"kind": self.kind, "calculus": self.calculus, "points": dict(self.points)}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "Points":
        """The world of a document."""
        return cls(calculus_of(fields, cls.kind, cls.calculi), things(fields, "points", number))


@dataclass(frozen=True)
class Plane(World):
    """Points in the plane: `points[name]` is x, to the east, and y, to the north."""

    points: Mapping[str, tuple[float, float]]
    kind: ClassVar[str] = "plane"
    calculi: ClassVar[tuple[str, ...]] = ("cardinal",)

    @property
    def names(self) -> Collection[str]:
        """The entities."""
        return self.points.keys()

    def base_relation(self, a: str, b: str) -> str:
        """In which direction one point lies, seen from another."""
        (ax, ay), (bx, by) = self.points[a], self.points[b]
        return _CARDINAL_BY_SIGNS[_sign(ax, bx), _sign(ay, by)]

    def table(self) -> Table:
        """How far to the east and to the north each point lies."""
        return ("point", "east", "north"), [(name, f"{x:g}", f"{y:g}") for name, (x, y) in self.points.items()]

    def to_dict(self) -> dict[str, Any]:
        """`{kind, calculus, points: {name: [x, y]}}`."""
        places = {name: list(each) for name, each in self.points.items()}
        return {"kind": self.kind, "calculus": self.calculus, "points": places}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "Plane":
        """The world of a document."""

        def place(value: object, what: str) -> tuple[float, float]:
            x, y = numbers(value, 2, what)
            return x, y

        return cls(calculus_of(fields, cls.kind, cls.calculi), things(fields, "points", place))
