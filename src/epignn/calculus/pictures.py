"""A small picture of each relation, a line of text: the upper half of a character is a, the lower half b."""

from itertools import combinations, pairwise

from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.indu import DURATIONS, allen_of
from epignn.calculus.calculi.orders import ALLEN, sign

PLACES = 6
AS_BARS = {"DC": "<", "DR": "<", "EC": "m", "PO": "o", "TPP": "s", "PP": "d", "NTPP": "d", "TPPI": "si",
           "PPI": "di", "NTPPI": "di", "EQ": "="}  # fmt: skip
"""Regions as a cut through both of them shows them."""
ARROWS = {"EQ": "·", "N": "↑", "NE": "↗", "E": "→", "SE": "↘", "S": "↓", "SW": "↙", "W": "←", "NW": "↖"}
ROUND = ("N", "NE", "E", "SE", "S", "SW", "W", "NW", "N")
BETWEEN = ("NNE", "ENE", "ESE", "SSE", "SSW", "WSW", "WNW", "NNW")
"""The eight arrows clockwise, and the directions between each two of them."""
POINTS = {"<": "▀ ▄", "=": "█", ">": "▄ ▀"}


def bars(relation: str, longer: int | None = None) -> str:
    """Two stretches of time that lie to each other as a relation of Allen's says, as long as there is room for.

    With `longer`, the first is shorter (-1), as long (0) or longer (1).

    >>> bars("o"), bars("m"), bars("d"), bars("<")
    ('▀▀██▄▄', '▀▀▀▄▄▄', '▄▄██▄▄', '▀▀  ▄▄')
    >>> bars("m", -1), bars("m", 0), bars("m", 1)
    ('▀▀▄▄▄▄', '▀▀▀▄▄▄', '▀▀▀▀▄▄')
    """
    stretches = list(combinations(range(PLACES + 1), 2))
    found = [
        (a, b)
        for a in stretches
        for b in stretches
        if ALLEN[relation] == (sign(a[0], b[0]), sign(a[0], b[1]), sign(a[1], b[0]), sign(a[1], b[1]))
        and longer in (None, sign(a[1] - a[0], b[1] - b[0]))
    ]
    a, b = max(found, key=_clear)
    halves = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}
    return "".join(halves[a[0] <= x < a[1], b[0] <= x < b[1]] for x in range(PLACES)).rstrip()


def _clear(pair: tuple[tuple[int, int], tuple[int, int]]) -> tuple[int, int]:
    """Which of several pairs shows most: parts that are long and alike, and all of the room."""
    ends = sorted({*pair[0], *pair[1]})
    return min(later - earlier for earlier, later in pairwise(ends)), ends[-1] - ends[0]


def pictures(calculus: Calculus) -> dict[str, str]:
    """A picture for each relation of a shipped calculus; empty where none is known.

    >>> from epignn.calculus import load
    >>> pictures(load("rcc8"))["EC"], pictures(load("cardinal"))["NE"], pictures(load("kinship"))
    ('▀▀▀▄▄▄', '↗', {})
    """
    if calculus.name == "allen":
        return {name: bars(name) for name in calculus.relations}
    if calculus.name in ("rcc8", "rcc5"):
        return {name: bars(AS_BARS[name]) for name in calculus.relations}
    if calculus.name == "indu":
        signs = {end: longer for longer, end in DURATIONS.items()}
        return {name: bars(allen_of(name), signs[name[-1]]) for name in calculus.relations}
    turns = zip(BETWEEN, pairwise(ROUND), strict=True)
    between = {word: ARROWS[first] + ARROWS[second] for word, (first, second) in turns}
    return {"cardinal": ARROWS, "star4": ARROWS | between, "point": POINTS}.get(calculus.name, {})
