"""Boxes whose sides are parallel to the axes: one of Allen's relations on each axis.

This is the rectangle algebra in two dimensions (169 relations) and the block algebra in three (2,197). Where a fact
gives a set for each axis, as most do, the axes do not meet, and closing each closes the product.

Cardinal directions of regions are such facts about the boxes around them: the lines of the box of b cut the plane
into nine tiles, and a direction says in which of them the box of a lies (I. Navarrete, A. Morales, G. Sciavicco,
2007). There are 36. They are no calculus of their own: the converse of one is several, because both boxes matter.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.result import Answer, Result
from epignn.calculus.solve.closure import close
from epignn.errors import BadArgument
from epignn.kernels import Backend

PARTS = MappingProxyType(
    {
        "-": "<|m",
        "-0": "o|fi",
        "-0+": "di",
        "0": "=|d|s|f",
        "0+": "oi|si",
        "+": ">|mi",
    }
)
"""Which of the three parts of an axis, below, within and above the side of b, the side of a has some of."""
TILES = MappingProxyType(
    {
        "NW": ("-", "+"),
        "N": ("0", "+"),
        "NE": ("+", "+"),
        "W": ("-", "0"),
        "B": ("0", "0"),
        "E": ("+", "0"),
        "SW": ("-", "-"),
        "S": ("0", "-"),
        "SE": ("+", "-"),
    }
)
"""The nine tiles around a box by their parts of the axes to the east and to the north; B is the box itself."""


def _tiles(east: str, north: str) -> str:
    """The name of the tiles that have these parts of the axes."""
    return ":".join(name for name, (x, y) in TILES.items() if x in east and y in north)


def direction(text: str) -> tuple[str, str]:
    """A direction between regions as a fact of their boxes: Allen's relations to the east, and to the north.

    >>> direction("N")
    ('=|d|s|f', '>|mi')
    >>> direction("N:NE")
    ('oi|si', '>|mi')

    Raises:
        BadArgument: a tile is not known, or no box can lie in these tiles and no others.
    """
    wanted = text.upper().split(":")
    wrong = [tile for tile in wanted if tile not in TILES]
    if wrong:
        raise BadArgument(f"{wrong[0]!r} is no tile; they are {', '.join(TILES)}, joined as in N:NE.")
    for east in PARTS:
        for north in PARTS:
            if set(_tiles(east, north).split(":")) == set(wanted):
                return PARTS[east], PARTS[north]
    raise BadArgument(f"no box lies in {text} and in no other tile; B:N:NE:E is an example of one that can.")


@dataclass(frozen=True, eq=False)
class Blocks:
    """The outcome of closing boxes.

    Attributes:
        answer: whether the facts can hold together; certain where closure decides the sets of every axis.
        axes: the outcome on each axis, over Allen's relations.
    """

    answer: Answer
    axes: tuple[Result, ...]

    def relations(self, head: str, tail: str) -> tuple[tuple[str, ...], ...]:
        """What may hold from head to tail on each axis, as names."""
        return tuple(axis.relations(head, tail) for axis in self.axes)

    def directions(self, head: str, tail: str) -> tuple[str, ...]:
        """In which parts of the plane around tail the box of head may lie, as `direction` reads them.

        Raises:
            BadArgument: there are not two axes.
        """
        if len(self.axes) != 2:
            raise BadArgument("directions are of boxes in the plane, which have two axes.")
        east, north = (
            [part for part, names in PARTS.items() if set(names.split("|")) & set(words)]
            for words in self.relations(head, tail)
        )
        return tuple(_tiles(x, y) for x in east for y in north)


def close_blocks(facts: Iterable[tuple[str, Sequence[str], str]], backend: Backend = "auto") -> Blocks:
    """Close facts of boxes: a set of Allen's relations for each axis.

    >>> boxes = [("lamp", ("d", "d", "mi"), "table"), ("table", ("d|s", "d", "mi"), "carpet")]
    >>> close_blocks(boxes).relations("lamp", "carpet")
    (('d',), ('d',), ('>',))

    Raises:
        BadArgument: facts differ in the number of axes, or there are none.
    """
    told = list(facts)
    if len({len(sets) for _, sets, _ in told}) != 1:
        raise BadArgument("facts of boxes have a set for each axis, as many in each fact; there must be one fact.")
    allen = load("allen")
    axes = tuple(
        close(Network.of(allen, [(head, sets[axis], tail) for head, sets, tail in told]), backend)
        for axis in range(len(told[0][1]))
    )
    answers = [axis.answer for axis in axes]
    for worst in (Answer.INCONSISTENT, Answer.CLOSED):
        if worst in answers:
            return Blocks(worst, axes)
    return Blocks(Answer.CONSISTENT, axes)
