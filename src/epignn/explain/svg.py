"""What pictures share: colours, cut names, and the page with its title and its last line."""

from collections.abc import Iterable
from itertools import cycle
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from epignn.explain.layout import Box
from epignn.files import shown

LONGEST_NAME = 26
TOP, BOTTOM, LEFT = 74.0, 40.0, 28.0
INK, PALE, STRONG, LIGHT, CLASH = "#1f2933", "#9aa5b1", "#1b6ca8", "#e6f0f8", "#c0392b"
PALETTE = (
    "#1b6ca8",
    "#d9822b",
    "#2e8b57",
    "#a23b72",
    "#6f5bd0",
    "#0e8f8f",
    "#8d6e3f",
    "#3f7fd9",
    "#5f8a1d",
    "#c2558a",
    "#5b7083",
    "#b08a1e",
)
SMALL = "font-size='10.5'"
STYLE = "font-family='DejaVu Sans, Verdana, Helvetica, Arial, sans-serif'"


def text(said: str) -> str:
    """Words inside a picture; what XML cannot hold is written as Python writes it."""
    return escape(shown(said))


def attribute(said: str) -> str:
    """The same as the value of an attribute, with its quotes."""
    return quoteattr(shown(said))


class Sketch(NamedTuple):
    """What is drawn on a page: its size, and its pieces."""

    width: float
    height: float
    parts: list[str]


def cut(name: str) -> str:
    """A name that is short enough to be drawn."""
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def page(
    size: tuple[float, float], title: str, credit: str, colour: str, parts: Iterable[str], legend: Iterable[str]
) -> str:
    """An SVG file.

    Args:
        size: width and height of what is drawn; the page is higher by `TOP`, `BOTTOM` and the lines of the legend.
        title: the first line.
        credit: the second line, smaller.
        colour: of the title.
        parts: what is drawn.
        legend: the last lines.
    """
    lines = list(legend)
    width, height = size[0], size[1] + TOP + BOTTOM + 16 * (len(lines) - 1)
    foot = height - 18 - 16 * (len(lines) - 1)
    return "\n".join(
        [
            f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
            f"viewBox='0 0 {width:.0f} {height:.0f}' {STYLE}>",
            f"<rect width='{width:.0f}' height='{height:.0f}' fill='white'/>",
            f"<text x='{LEFT:.0f}' y='38' font-size='19' font-weight='bold' fill='{colour}'>{text(title)}</text>",
            f"<text x='{LEFT:.0f}' y='60' font-size='12' fill='{INK}'>{text(credit)}</text>",
            f"<g transform='translate(0 {TOP:.0f})'>",
            *parts,
            "</g>",
            *(
                f"<text x='{LEFT:.0f}' y='{foot + 16 * n:.0f}' font-size='11' fill='{INK}'>{text(line)}</text>"
                for n, line in enumerate(lines)
            ),
            "</svg>\n",
        ]
    )


def label(x: float, y: float, said: str, colour: str = INK, anchor: str = "middle") -> str:
    """A name that can be read on any ground: it has a white rim. `y` is the middle of its height."""
    return (
        f"<text x='{x:.1f}' y='{y + 4.5:.1f}' font-size='12.5' font-weight='bold' text-anchor='{anchor}' "
        f"fill='{colour}' stroke='white' stroke-width='3.5' stroke-opacity='0.85' stroke-linejoin='round' "
        f"paint-order='stroke'>{text(cut(said))}</text>"
    )


def straight(x0: float, y0: float, x1: float, y1: float, colour: str = PALE, style: str = "") -> str:
    """A straight line."""
    return f"<line x1='{x0:.1f}' y1='{y0:.1f}' x2='{x1:.1f}' y2='{y1:.1f}' stroke='{colour}' {style}/>"


def at(box: Box) -> str:
    """A rectangle as attributes."""
    return f"x='{box.x:.1f}' y='{box.y:.1f}' width='{box.width:.1f}' height='{box.height:.1f}'"


def entity(name: str, *parts: str) -> str:
    """What is drawn of an entity, as a group that programs can find by its name."""
    return f"<g class='entity' data-name={attribute(name)}><title>{text(name)}</title>{''.join(parts)}</g>"


def colours(names: Iterable[str]) -> dict[str, str]:
    """A colour for each name; neighbours in order differ."""
    return dict(zip(names, cycle(PALETTE)))
