"""Calculi of points and intervals on a line, and of points in the plane, derived by enumeration.

Three intervals have six end points, so that intervals over six places show every configuration; three points need
three places on each axis.
"""

from itertools import combinations, product

from epignn.calculus.algebra import Calculus, derive, horn_sets


def sign(a: int, b: int) -> int:
    """Whether a is below (-1), at (0) or above (1) b."""
    return (a > b) - (a < b)


def point() -> Calculus:
    """The point algebra: before, equal, after."""
    signs = {"<": (-1,), "=": (0,), ">": (1,)}
    by_sign = {sign: name for name, (sign,) in signs.items()}
    return derive(
        "point",
        tuple(signs),
        lambda a, b: by_sign[sign(a, b)],
        range(3),
        title="Point algebra: before, equal or after, on a line",
        source="derived from all triples of three places",
        aliases={"before": "<", "after": ">", "equals": "=", "<=": "<|=", ">=": ">|=", "!=": "<|>"},
        decides=True,
        tractable=horn_sets(signs, tuple(signs)),
    )


# Signs of (a start, b start), (a start, b end), (a end, b start), (a end, b end).
ALLEN = {
    "=": (0, -1, 1, 0),
    "<": (-1, -1, -1, -1),
    ">": (1, 1, 1, 1),
    "d": (1, -1, 1, -1),
    "di": (-1, -1, 1, 1),
    "o": (-1, -1, 1, -1),
    "oi": (1, -1, 1, 1),
    "m": (-1, -1, 0, -1),
    "mi": (1, 0, 1, 1),
    "s": (0, -1, 1, -1),
    "si": (0, -1, 1, 1),
    "f": (1, -1, 1, 0),
    "fi": (-1, -1, 1, 0),
}

ALLEN_ALIASES = {
    "b": "<",
    "bi": ">",
    "p": "<",
    "pi": ">",
    "e": "=",
    "eq": "=",
    "before": "<",
    "after": ">",
    "precedes": "<",
    "preceded-by": ">",
    "equals": "=",
    "during": "d",
    "contains": "di",
    "overlaps": "o",
    "overlapped-by": "oi",
    "meets": "m",
    "met-by": "mi",
    "starts": "s",
    "started-by": "si",
    "finishes": "f",
    "finished-by": "fi",
}


def allen() -> Calculus:
    """Allen's interval algebra, with the ORD-Horn class."""
    by_signs = {signs: name for name, signs in ALLEN.items()}

    def relate(a: tuple[int, int], b: tuple[int, int]) -> str:
        return by_signs[sign(a[0], b[0]), sign(a[0], b[1]), sign(a[1], b[0]), sign(a[1], b[1])]

    return derive(
        "allen",
        tuple(ALLEN),
        relate,
        list(combinations(range(6), 2)),
        title="Allen's interval algebra: how two stretches of time lie to each other",
        source="derived from all triples of intervals over six places; J. F. Allen, CACM 1983",
        aliases=ALLEN_ALIASES,
        decides=True,
        tractable=horn_sets(ALLEN, tuple(ALLEN)),
    )


# Signs of (a east of b, a north of b).
CARDINAL = {
    "EQ": (0, 0),
    "N": (0, 1),
    "NE": (1, 1),
    "E": (1, 0),
    "SE": (1, -1),
    "S": (0, -1),
    "SW": (-1, -1),
    "W": (-1, 0),
    "NW": (-1, 1),
}


def cardinal() -> Calculus:
    """Cardinal directions between points: `n(a, b)` says that a is due north of b."""
    by_signs = {signs: name for name, signs in CARDINAL.items()}
    return derive(
        "cardinal",
        tuple(CARDINAL),
        lambda a, b: by_signs[sign(a[0], b[0]), sign(a[1], b[1])],
        list(product(range(3), repeat=2)),
        title="Cardinal directions: north, north-east, … between points",
        source="derived from all triples of points on a three by three grid; A. U. Frank 1991, G. Ligozat 1998",
        aliases={
            "north": "N",
            "north-east": "NE",
            "northeast": "NE",
            "east": "E",
            "south-east": "SE",
            "southeast": "SE",
            "south": "S",
            "south-west": "SW",
            "southwest": "SW",
            "west": "W",
            "north-west": "NW",
            "northwest": "NW",
            "equals": "EQ",
        },
        decides=True,
        tractable=horn_sets(CARDINAL, tuple(CARDINAL)),
    )
