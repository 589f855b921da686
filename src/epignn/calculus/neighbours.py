"""Conceptual neighbourhoods: which relation can follow on which when things move a little.

Two relations are neighbours if one becomes the other when a single end point, or a single border, moves, without
any other relation in between (C. Freksa, 1992). For calculi of points and intervals this is read off the signs that
define them: one comparison changes, between equal and unequal. RCC-8 and RCC-5 have the neighbourhood of intervals
taken as regions of a line; INDU compares durations as well; OPRA-1 that of points of which
one turns, or leaves the place of the other. Kinship has none: relatives do not move.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations, pairwise, product
from types import MappingProxyType

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.indu import DURATIONS, WORDS
from epignn.calculus.calculi.indu import RELATIONS as INDU
from epignn.calculus.calculi.opra import RELATIONS as OPRA
from epignn.calculus.calculi.opra import SAME, SIDES
from epignn.calculus.calculi.opra import relate as relate_opra
from epignn.calculus.calculi.orders import ALLEN, CARDINAL
from epignn.calculus.calculi.rcc import COARSE
from epignn.calculus.calculi.star import COMPASS
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


def _around(names: Sequence[str]) -> Pairs:
    """Names in a circle, each beside the next."""
    return frozenset(map(frozenset, pairwise((*names, names[0]))))


def _indu() -> Pairs:
    """One comparison changes, of ends or of durations; where two intervals are equal, an end changes both."""
    signs = {
        WORDS.get(name, name) + longer: (*ends, sign)
        for name, ends in ALLEN.items()
        for sign, longer in DURATIONS.items()
        if WORDS.get(name, name) + longer in INDU
    }
    return _by_signs(signs) | {frozenset(("eq=", other)) for other in ("s<", "si>", "f<", "fi>")}


@cache
def _opra() -> Pairs:
    """Relations of which one becomes the other when one point turns, or leaves the place of the other."""
    turns = [(f"{a}-{side}", f"{b}-{side}") for side in SIDES for a, b in map(sorted, _around(SIDES))]
    turns += [(f"{side}-{a}", f"{side}-{b}") for side in SIDES for a, b in map(sorted, _around(SIDES))]
    ways = np.array([way for way in product((-2, -1, 0, 1, 2), repeat=2) if way != (0, 0)])
    for look, way in product(ways, repeat=2):
        together = OPRA[int(relate_opra(np.array([0, 0, 1, 0]), np.array([0, 0, *look])))]
        apart = OPRA[int(relate_opra(np.array([0, 0, 1, 0]), np.array([*way, *look])))]
        turns.append((together, apart))
    return frozenset(map(frozenset, turns)) | _around(SAME)


_ALLEN = _by_signs(ALLEN)
_RCC8 = _joined(_ALLEN, _REGIONS)
_STAR = _around(COMPASS) | {frozenset((name, "EQ")) for name in COMPASS}
NEIGHBOURS: MappingProxyType[str, Callable[[], Pairs]] = MappingProxyType(
    {
        "allen": lambda: _ALLEN,
        "point": lambda: _by_signs(POINT),
        "cardinal": lambda: _by_signs(CARDINAL),
        "rcc8": lambda: _RCC8,
        "rcc5": lambda: _joined(_RCC8, {name: fine.split("|") for name, fine in COARSE.items()}),
        "indu": _indu,
        "star4": lambda: _STAR,
        "opra1": _opra,
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
    pairs = NEIGHBOURS[calculus.name]()
    return {a: tuple(b for b in calculus.relations if frozenset((a, b)) in pairs) for a in calculus.relations}
