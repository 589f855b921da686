"""Two networks over the same things, in calculi that say something of each other.

Two calculi on the same entities, such as regions and their sizes, are closed in turn, and each narrows the other by
what its relations imply (bipath consistency; A. Gerevini and J. Renz, 2002).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from epignn.calculus.algebra import Calculus, Masks, members
from epignn.calculus.network import Network
from epignn.calculus.result import Answer, Result, upper_triangle
from epignn.calculus.solve.closure import close
from epignn.errors import BadArgument
from epignn.kernels import Backend

LINKS: MappingProxyType[tuple[str, str], MappingProxyType[str, str]] = MappingProxyType(
    {
        # A part is smaller than the whole: areas of regions.
        ("rcc8", "point"): MappingProxyType({"TPP": "<", "NTPP": "<", "TPPI": ">", "NTPPI": ">", "EQ": "="}),
        ("rcc5", "point"): MappingProxyType({"PP": "<", "PPI": ">", "EQ": "="}),
        # What takes place within another takes less time: durations of intervals.
        ("allen", "point"): MappingProxyType(
            {"d": "<", "s": "<", "f": "<", "di": ">", "si": ">", "fi": ">", "=": "="}
        ),
        # Intervals as regions of a line.
        ("allen", "rcc8"): MappingProxyType(
            {
                "<": "DC",
                ">": "DC",
                "m": "EC",
                "mi": "EC",
                "o": "PO",
                "oi": "PO",
                "s": "TPP",
                "f": "TPP",
                "d": "NTPP",
                "si": "TPPI",
                "fi": "TPPI",
                "di": "NTPPI",
                "=": "EQ",
            }
        ),
    }
)
"""What a relation of the first calculus says in the second; one that is not listed says nothing."""


@dataclass(frozen=True, eq=False)
class Joint:
    """The outcome of closing two networks together.

    Attributes:
        answer: `CLOSED` where no contradiction was found, which is not certain to be all there is.
        first, second: the narrowed networks, closed.
        rounds: how often each was closed.
    """

    answer: Answer
    first: Result
    second: Result
    rounds: int

    @property
    def consistent(self) -> bool:
        """Whether no contradiction was found."""
        return self.answer is not Answer.INCONSISTENT


def joint(first: Network, second: Network, backend: Backend = "auto") -> Joint:
    """Close two networks over the same entities, each with what the other says.

    >>> from epignn.calculus import load
    >>> where = Network.of(load("rcc8"), [("a", "tpp|tppi", "b"), ("b", "ntpp", "c")])
    >>> size = Network.of(load("point"), [("a", "<", "b")], where.names)
    >>> joint(where, size).first.relations("a", "c")
    ('NTPP',)

    Raises:
        BadArgument: the entities differ, or nothing is known of what the two calculi say of each other.
    """
    if sorted(first.names) != sorted(second.names):
        raise BadArgument("two networks are closed together over the same entities; list all of them in both.")
    one, two = first.calculus, second.calculus
    if (one.name, two.name) not in LINKS:
        known = ", ".join(" with ".join(pair) for pair in LINKS)
        raise BadArgument(f"what {one.name} says of {two.name} is not known; there is {known}.")
    order = [second.position(name) for name in first.names]
    place = np.argsort(order).astype(np.int32)  # the second network with the entities in the order of the first
    second = Network(two, first.names, place[second.heads], place[second.tails], second.masks, second.title)
    forth = _meanings(one, two)
    back = [sum(1 << r for r in range(len(one)) if forth[r] >> s & 1) for s in range(len(two))]
    rounds = 0
    while True:
        rounds += 1
        a, b = close(first, backend), close(second, backend)
        if not (a.consistent and b.consistent):
            return Joint(Answer.INCONSISTENT, a, b, rounds)
        places, sizes = a.matrix(), b.matrix()
        narrowed, sized = places & _said(sizes, back), sizes & _said(places, forth)
        if (narrowed == places).all() and (sized == sizes).all():
            return Joint(Answer.CLOSED, a, b, rounds)
        first = Network(one, first.names, *upper_triangle(narrowed))
        second = Network(two, first.names, *upper_triangle(sized))


def _meanings(one: Calculus, two: Calculus) -> list[int]:
    """For each relation of one calculus, the set that it says in the other."""
    link = LINKS[one.name, two.name]
    return [two.parse(link[name]) if name in link else two.universal for name in one.relations]


def _said(masks: Masks, meanings: Sequence[int]) -> Masks:
    """What sets of one calculus say in the other, element by element."""
    values, which = np.unique(masks, return_inverse=True)
    said = [int(np.bitwise_or.reduce([meanings[r] for r in members(mask)])) for mask in values.tolist()]
    return np.array(said, dtype=np.uint64)[which].reshape(masks.shape)
