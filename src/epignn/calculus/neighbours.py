"""Conceptual neighbourhoods: which relation can follow on which when things move a little.

Two relations are neighbours if one becomes the other when a single end point, or a single border, moves, without
any other relation in between (C. Freksa, 1992). For calculi of points and intervals this is read off the signs that
define them: one comparison changes, between equal and unequal. RCC-8 and RCC-5 have the neighbourhood of intervals
taken as regions of a line.
"""

from collections.abc import Mapping, Sequence
from itertools import combinations
from types import MappingProxyType

from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.orders import ALLEN, CARDINAL
from epignn.calculus.calculi.rcc import COARSE
from epignn.errors import BadArgument

POINT = {"<": (-1,), "=": (0,), ">": (1,)}
_REGIONS = {
    "DC": ("<", ">"),
    "EC": ("m", "mi"),
    "PO": ("o", "oi"),
    "TPP": ("s", "f"),
    "NTPP": ("d",),
    "TPPI": ("si", "fi"),
    "NTPPI": ("di",),
    "EQ": ("=",),
}
"""The relations of intervals that are one relation of regions."""

Pairs = frozenset[frozenset[str]]


def _by_signs(signs: Mapping[str, Sequence[int]]) -> Pairs:
    """Relations whose signs differ in one place, by one step."""
    return frozenset(
        frozenset((a, b))
        for a, b in combinations(signs, 2)
        if sum(abs(x - y) for x, y in zip(signs[a], signs[b], strict=True)) == 1
    )


def _joined(pairs: Pairs, parts: Mapping[str, Sequence[str]]) -> Pairs:
    """The neighbourhood of coarser relations, each of which joins some finer ones."""
    whole = {part: name for name, fine in parts.items() for part in fine}
    found = (frozenset(whole[name] for name in pair) for pair in pairs)
    return frozenset(pair for pair in found if len(pair) == 2)


_ALLEN = _by_signs(ALLEN)
_RCC8 = _joined(_ALLEN, _REGIONS)
NEIGHBOURS: MappingProxyType[str, Pairs] = MappingProxyType(
    {
        "allen": _ALLEN,
        "point": _by_signs(POINT),
        "cardinal": _by_signs(CARDINAL),
        "rcc8": _RCC8,
        "rcc5": _joined(_RCC8, {name: fine.split("|") for name, fine in COARSE.items()}),
    }
)


def neighbours(calculus: Calculus) -> dict[str, tuple[str, ...]]:
    """The neighbours of every relation, in the order of the calculus.

    >>> from epignn.calculus import load
    >>> neighbours(load("allen"))["o"]
    ('m', 's', 'fi')

    Raises:
        BadArgument: no neighbourhood is known for the calculus.
    """
    if calculus.name not in NEIGHBOURS:
        known = ", ".join(NEIGHBOURS)
        raise BadArgument(f"no neighbourhood is known for {calculus.name}; there is one for {known}.")
    pairs = NEIGHBOURS[calculus.name]
    return {a: tuple(b for b in calculus.relations if frozenset((a, b)) in pairs) for a in calculus.relations}
