"""The conceptual neighbourhood of a calculus as an SVG picture: relations as boxes, neighbours joined by lines."""

from collections.abc import Sequence
from math import cos, pi, sin

from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.indu import DURATIONS, WORDS
from epignn.calculus.calculi.opra import SAME, SIDES
from epignn.calculus.calculi.orders import ALLEN, CARDINAL
from epignn.calculus.calculi.star import COMPASS
from epignn.calculus.meanings import key
from epignn.calculus.neighbours import neighbours
from epignn.explain.layout import NAME_WIDTH, Box
from epignn.explain.svg import INK, LEFT, LIGHT, PALE, STRONG, at, page, straight

STEP = 92.0
HIGH = 30.0

Places = dict[str, tuple[float, float]]
"""Where each relation stands, in steps to the right and down."""


def _zones(signs: tuple[int, ...]) -> tuple[int, int]:
    """Where the start and the end of an interval lie: before, at the start, inside, at the end, or after."""
    start, end = signs[:2], signs[2:]
    return 2 + sum(start), 2 + sum(end)


_ALLEN: Places = {name: (_zones(signs)[0], 4 - _zones(signs)[1]) for name, signs in ALLEN.items()}
_REGIONS: Places = {
    "DC": (0, 1),
    "EC": (1, 1),
    "PO": (2, 1),
    "EQ": (4, 1),
    "TPP": (3, 0),
    "NTPP": (4, 0),
    "TPPI": (3, 2),
    "NTPPI": (4, 2),
}


def _ring(names: Sequence[str], radius: float, middle: float) -> Places:
    """Names in a circle, the first at the top."""
    angles = [2 * pi * number / len(names) for number in range(len(names))]
    return {
        name: (middle + radius * sin(angle), middle - radius * cos(angle))
        for name, angle in zip(names, angles, strict=True)
    }


def _winding() -> list[str]:
    """The relations of OPRA-1 between points apart, so that most neighbours follow on each other."""
    return [
        f"{mine}-{SIDES[(step - row) % len(SIDES)]}" for row, mine in enumerate(SIDES) for step in range(len(SIDES))
    ]


_PLACES: dict[str, Places] = {
    "allen": _ALLEN,
    "point": {"<": (0, 0), "=": (1, 0), ">": (2, 0)},
    "cardinal": {name: (1 + east, 1 - north) for name, (east, north) in CARDINAL.items()},
    "rcc8": _REGIONS,
    "rcc5": {"DR": (0, 1), "PO": (1, 1), "PP": (2, 0), "PPI": (2, 2), "EQ": (3, 1)},
    "indu": {
        WORDS.get(name, name) + longer: (1 + 1.6 * x + 0.45 * sign, 1 + 1.6 * y - 0.45 * sign)
        for name, (x, y) in _ALLEN.items()
        for sign, longer in DURATIONS.items()
    },
    "star4": {"EQ": (3, 3), **_ring(COMPASS, 3, 3)},
    "opra1": {**_ring(_winding(), 4, 4), **_ring(SAME, 1.2, 4)},
}


def draw_neighbourhood(calculus: Calculus) -> str:
    """The picture, as the text of an SVG file.

    Raises:
        BadArgument: no neighbourhood is known for the calculus.
    """
    found = neighbours(calculus)
    places = _PLACES[calculus.name]
    widths = {name: max(len(name) * NAME_WIDTH + 18, 44.0) for name in found}
    margin = LEFT + max(widths.values()) / 2
    left, top = (min(places[name][axis] for name in found) for axis in (0, 1))
    middle = {
        name: (margin + STEP * (places[name][0] - left), HIGH + STEP * (places[name][1] - top)) for name in found
    }
    pairs = [
        (a, b)
        for a, others in found.items()
        for b in others
        if calculus.relations.index(a) < calculus.relations.index(b)
    ]
    lines = [straight(*middle[a], *middle[b], PALE, "stroke-width='1.6'") for a, b in pairs]
    boxes = []
    for name, (x, y) in middle.items():
        box = Box(x - widths[name] / 2, y - HIGH / 2, widths[name], HIGH)
        same = name == calculus.relations[calculus.identity]
        boxes.append(_box(box, name, STRONG if same else LIGHT, "white" if same else INK))
    title = f"{calculus.name}: which relation can turn into which"
    credit = "A line joins two relations when one becomes the other by a small move, with no other in between."
    width = max(max(x for x, _ in middle.values()) + margin, len(title) * 11.5 + 60, len(credit) * 6.6 + 60)
    height = max(y for _, y in middle.values()) + HIGH
    legend = [
        f"Dark: the identity. {len(found)} relations, {len(pairs)} lines.",
        *key(calculus, calculus.universal),
    ]
    return page((width, height), title, credit, INK, [*lines, *boxes], legend)


def _box(box: Box, name: str, ground: str, ink: str) -> str:
    from xml.sax.saxutils import escape

    x, y = box.x + box.width / 2, box.y + box.height / 2 + 4.5
    return (
        f"<rect {at(box)} rx='7' fill='{ground}' stroke='{STRONG}' stroke-width='1.2'/>"
        f"<text x='{x:.1f}' y='{y:.1f}' font-size='13' text-anchor='middle' fill='{ink}'>{escape(name)}</text>"
    )
