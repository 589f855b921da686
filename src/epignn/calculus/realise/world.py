"""A concrete world: coordinates of every entity, and the relations that these have, read off the coordinates alone.

Each kind of world is a class of its own (`lines`, `discs`, `outlines`, `people`). None of them knows how its
coordinates were found, so that a world is a proof: whoever has it can see that the facts can hold together.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, ClassVar, TypeVar

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.errors import BadArgument, lookup, unknown

MOST_THINGS, LONGEST_NAME, LARGEST = 20_000, 1_000, 1e9
"""Bounds of a world that is read: entities, letters of a name, and the size of a coordinate."""

T = TypeVar("T")
Table = tuple[tuple[str, ...], list[tuple[object, ...]]]
"""Columns and rows."""


@dataclass(frozen=True)
class World(ABC):
    """Coordinates by entity.

    Attributes:
        calculus: name of the shipped calculus that tells what the relations are.
    """

    calculus: str
    kind: ClassVar[str]
    calculi: ClassVar[tuple[str, ...]]
    """The calculi that such a world can be about."""

    @property
    @abstractmethod
    def names(self) -> Collection[str]:
        """The entities."""

    @abstractmethod
    def base_relation(self, a: str, b: str) -> str:
        """The name of the base relation that holds from one entity to another."""

    @abstractmethod
    def table(self) -> Table:
        """The coordinates as a table for people."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """The world as plain values; `from_dict` reads it back."""

    @staticmethod
    def from_dict(document: object) -> "World":
        """Read a world as `to_dict` gives it, changed or not; everything is checked.

        Raises:
            BadArgument: it is not a world; the message says what is wrong.
            UnknownName: there is no such kind of world, or no such calculus.

        >>> world = World.from_dict({"kind": "points", "calculus": "point", "points": {"a": 1, "b": 2.5}})
        >>> world.base_relation("a", "b")
        '<'
        """
        from epignn.calculus.realise.forms import FORMS  # the forms are worlds themselves

        fields = mapping(document, "a world")
        form = lookup("kind of world", text(fields.get("kind"), "the kind of a world"), FORMS)
        return form(fields)

    def relation(self, a: str, b: str) -> int:
        """The mask of the relation that holds from one entity to another.

        Raises:
            UnknownName: there is no such entity.
        """
        for name in (a, b):
            if name not in self.names:
                raise unknown("entity", name, self.names)
        return load(self.calculus).parse_one(self.base_relation(a, b))

    def broken(self, network: Network) -> list[int]:
        """The numbers of the facts of a network that do not hold here.

        Raises:
            BadArgument: the network is over another calculus, or has entities that the world lacks.
        """
        if network.calculus.relations != load(self.calculus).relations:
            raise BadArgument(f"this world is one of {self.calculus}, the facts are of {network.calculus.name}.")
        missing = [name for name in network.names if name not in self.names]
        if missing:
            raise BadArgument(
                f"the world lacks {', '.join(map(repr, missing[:5]))}; give every entity of the facts."
            )
        names = network.names
        facts = zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True)
        return [f for f, (h, t, mask) in enumerate(facts) if not self.relation(names[h], names[t]) & mask]


# -- reading --


def mapping(value: object, what: str) -> Mapping[str, Any]:
    """A value that has to be an object with names for keys."""
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise BadArgument(f"{what} is an object with names for keys, not {_shown(value)}.")
    return value


def sequence(value: object, what: str) -> list[Any]:
    """A value that has to be a list."""
    if not isinstance(value, list | tuple):
        raise BadArgument(f"{what} is a list, not {_shown(value)}.")
    return list(value)


def text(value: object, what: str) -> str:
    """A value that has to be a name."""
    if not isinstance(value, str) or not 0 < len(value) <= LONGEST_NAME:
        raise BadArgument(f"{what} is a text of 1 to {LONGEST_NAME} letters, not {_shown(value)}.")
    return value


def number(value: object, what: str) -> float:
    """A value that has to be a coordinate: finite and of a sensible size."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= LARGEST:
        raise BadArgument(f"{what} is a number between -{LARGEST:g} and {LARGEST:g}, not {_shown(value)}.")
    assert isfinite(value)
    return value


def numbers(value: object, count: int, what: str) -> tuple[float, ...]:
    """A value that has to be a list of so many coordinates."""
    found = sequence(value, what)
    if len(found) != count:
        raise BadArgument(f"{what} has {count} numbers, not {len(found)}.")
    return tuple(number(each, f"a number of {what}") for each in found)


def things(fields: Mapping[str, Any], key: str, read: Callable[[Any, str], T]) -> dict[str, T]:
    """What a world has for each entity: `read` is given the value and words to name it by."""
    found = mapping(fields.get(key), f"{key!r} of a world")
    few_enough(len(found))
    return {text(name, "the name of an entity"): read(value, f"{key} of {name!r}") for name, value in found.items()}


def few_enough(count: int) -> None:
    """Refuse a world of too many entities."""
    if count > MOST_THINGS:
        raise BadArgument(f"a world has at most {MOST_THINGS:,} entities, not {count:,}.")


def calculus_of(fields: Mapping[str, Any], kind: str, calculi: Collection[str]) -> str:
    """The calculus that a world names, which has to be one that this kind of world can be about."""
    name = text(fields.get("calculus"), "the calculus of a world")
    if name not in calculi:
        raise BadArgument(f"the calculus of a world of kind {kind!r} is {' or '.join(calculi)}, not {name!r}.")
    return name


def _shown(value: object) -> str:
    said = repr(value)
    return said if len(said) <= 60 else said[:59] + "…"
