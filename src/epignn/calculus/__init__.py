"""The symbolic core: calculi, networks and exact reasoning. Standard library and numpy only."""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import MappingProxyType

from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.indu import indu
from epignn.calculus.calculi.opra import opra
from epignn.calculus.calculi.orders import allen, cardinal, point
from epignn.calculus.calculi.rcc import rcc5, rcc8
from epignn.calculus.calculi.star import star
from epignn.calculus.toml import load_calculus
from epignn.errors import lookup


def _kinship() -> Calculus:
    # Imported here: what derives its table loads numpy's random numbers, a tenth of the time to start.
    from epignn.calculus.calculi.kinship import kinship

    return kinship()


CALCULI: MappingProxyType[str, Callable[[], Calculus]] = MappingProxyType(
    {
        "rcc8": rcc8,
        "rcc5": rcc5,
        "allen": allen,
        "point": point,
        "cardinal": cardinal,
        "kinship": _kinship,
        "indu": indu,
        "star4": star,
        "opra1": opra,
    }
)
ALIASES = MappingProxyType(
    {"ia": "allen", "interval": "allen", "cd": "cardinal", "pa": "point", "star": "star4", "opra": "opra1"}
)


@cache
def _shipped(name: str) -> Calculus:
    return CALCULI[name]()


def load(name: str) -> Calculus:
    """A calculus by name, or from a `.toml` file.

    >>> load("allen").relations
    ('=', '<', '>', 'd', 'di', 'o', 'oi', 'm', 'mi', 's', 'si', 'f', 'fi')
    """
    if name.endswith(".toml"):
        return load_calculus(Path(name))
    name = ALIASES.get(name.casefold(), name.casefold())
    lookup("calculus", name, CALCULI)
    return _shipped(name)
