"""An explanation as an SVG picture: entities in columns from the head, supporting facts in colour.

Written by hand: no library draws it. What goes where is decided in `layout`.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from epignn.calculus.closure import close
from epignn.calculus.network import Network
from epignn.explain.layout import LABEL_HEIGHT, NAME_WIDTH, SMALL_WIDTH, Box, Curve, Layout, Line, lay_out
from epignn.explain.paths import distances
from epignn.explain.symbolic import Explanation, Status

if TYPE_CHECKING:
    from epignn.explain.neural import NeuralExplanation

MOST_ENTITIES, MOST_FACTS = 60, 150
"""Of larger networks only the supporting facts are drawn."""
LONGEST_NAME, MOST_SHOWN = 26, 4
TOP, BOTTOM = 74.0, 40.0
INK, PALE, STRONG, LIGHT = "#1f2933", "#9aa5b1", "#1b6ca8", "#e6f0f8"
HEAD, TAIL, CLASH = "#dcebf7", "#fdeeda", "#c0392b"
SMALL = "font-size='10.5'"
STYLE = "font-family='DejaVu Sans, Verdana, Helvetica, Arial, sans-serif'"


@dataclass(frozen=True)
class State:
    """What is known of an entity: a line of text, and probabilities to be drawn as bars, if there are any."""

    text: str
    bars: tuple[float, ...] = ()


def draw(found: "Explanation | NeuralExplanation") -> str:
    """The picture of an explanation, as the text of an SVG file."""
    table = found if isinstance(found, Explanation) else found.table
    states = _sets(table) if isinstance(found, Explanation) else _bars(found)
    title, by = str(found), f"by closure in {table.network.calculus.name}"
    if not isinstance(found, Explanation):
        best = float(found.chances[found.likeliest])
        agree = "proved by its distilled calculus" if found.proved else f"its distilled calculus says {table}"
        by = f"by the model, {found.relations[found.likeliest]} with probability {best:.3f}; {agree}"
    elif found.status is Status.OPEN:
        by = f"not determined, {by}"
    if found.status is Status.CONTRADICTORY:
        title = "contradictory"
    return _svg(table, states, title, by)


def _sets(found: Explanation) -> dict[str, State]:
    """What closure leaves of every entity, seen from the head."""
    network, calculus = found.network, found.network.calculus
    if found.status is Status.CONTRADICTORY or len(network.names) > MOST_ENTITIES:
        names = found.rounds.entities
        last = found.rounds.masks[-1].tolist() if len(found.rounds.masks) else []
        masks = dict(zip(names, last, strict=True))
    else:
        closed = close(network)
        masks = {name: closed.relations(found.head, name) for name in network.names}
    return {name: State(_short(calculus.names(mask), len(calculus))) for name, mask in masks.items()}


def _short(names: tuple[str, ...], count: int) -> str:
    if len(names) == count:
        return "anything"
    return "|".join(names) if len(names) <= MOST_SHOWN else f"{len(names)} of {count}"


def _bars(found: "NeuralExplanation") -> dict[str, State]:
    """The state of every entity after the last round."""
    if not len(found.states.chances):
        return {}
    return {
        name: State(f"{found.relations[int(row.argmax())]} {row.max():.2f}", tuple(row.tolist()))
        for name, row in zip(found.states.entities, found.states.chances[-1], strict=True)
    }


def _svg(found: Explanation, states: Mapping[str, State], title: str, by: str) -> str:
    network, support = _shown(found)
    names = [_cut(name) for name in network.names]
    state = [states.get(name, State("")) for name in network.names]
    widths = [
        max(len(n) * NAME_WIDTH, len(s.text) * SMALL_WIDTH + len(s.bars) * 5 + 8) + 22
        for n, s in zip(names, state, strict=True)
    ]
    masks = [network.calculus.format(int(mask)) for mask in network.masks]
    ends = zip(network.heads.tolist(), network.tails.tolist(), masks, strict=True)
    layout = lay_out(_columns(network, found.head), widths, [Line(*line) for line in ends], sorted(support))
    clash = found.status is Status.CONTRADICTORY
    strong = CLASH if clash else STRONG
    width = max(layout.width, (max(len(title) * 11.5, len(by) * SMALL_WIDTH) + 60))
    height = layout.height + TOP + BOTTOM
    special = {found.head: HEAD, found.tail: TAIL}
    used = {int(end) for f in support for end in (network.heads[f], network.tails[f])}
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {width:.0f} {height:.0f}' {STYLE}>",
        f"<rect width='{width:.0f}' height='{height:.0f}' fill='white'/>",
        f"<defs>{_arrow('strong', strong)}{_arrow('pale', PALE)}</defs>",
        f"<text x='28' y='38' font-size='19' font-weight='bold' fill='{strong}'>{escape(title)}</text>",
        f"<text x='28' y='60' font-size='12' fill='{INK}'>{escape(by)}</text>",
        f"<g transform='translate(0 {TOP:.0f})'>",
        *_lines(layout, support, strong),
        *_labels(layout, masks, support, strong),
        *(
            _entity(
                name, shown, state[n], layout.boxes[n], special.get(name, "white"), strong if n in used else PALE
            )
            for n, (name, shown) in enumerate(zip(network.names, names, strict=True))
        ),
        "</g>",
        f"<text x='28' y='{height - 18:.0f}' font-size='11' fill='{INK}'>{escape(_legend(found, network))}</text>",
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _shown(found: Explanation) -> tuple[Network, set[int]]:
    """The network to draw, with the numbers of its supporting facts; of a large one, only these."""
    network, facts = found.network, list(found.support.facts)
    if len(network.names) <= MOST_ENTITIES and len(network) <= MOST_FACTS:
        return network, set(facts)
    part = network.select(facts)
    used = np.unique([*part.heads, *part.tails, network.position(found.head), network.position(found.tail)])
    heads, tails = (np.searchsorted(used, ends).astype(np.int32) for ends in (part.heads, part.tails))
    names = tuple(network.names[i] for i in used)
    return Network(network.calculus, names, heads, tails, part.masks), set(range(len(facts)))


def _columns(network: Network, head: str) -> list[int]:
    """Distance from the head; what nothing connects with it stands in the last column."""
    far = distances(network, network.position(head))
    return [far.get(entity, max(far.values()) + 1) for entity in range(len(network.names))]


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _legend(found: Explanation, network: Network) -> str:
    clash = found.status is Status.CONTRADICTORY
    said = "In colour: the facts that clash." if clash else "In colour: the facts that give the answer."
    if not found.support.facts:
        said = "No facts bear on the answer."
    if not clash:
        said += f" In each box: what may hold from {found.head} to it."
    left_out = len(found.network.names) - len(network.names)
    return said + (f" {left_out} further entities are not drawn." if left_out else "")


# -- the pieces --


def _arrow(name: str, colour: str) -> str:
    return (
        f"<marker id='{name}' viewBox='0 0 8 8' refX='7.5' refY='4' markerWidth='7' markerHeight='7' "
        f"markerUnits='userSpaceOnUse' orient='auto'><path d='M0 0 L8 4 L0 8 z' fill='{colour}'/></marker>"
    )


def _lines(layout: Layout, support: Collection[int], strong: str) -> list[str]:
    order = sorted(range(len(layout.curves)), key=lambda n: n in support)  # supporting facts on top
    return [_line(layout.curves[n], n in support, strong) for n in order]


def _line(curve: Curve, supports: bool, strong: str) -> str:
    (x, y), *rest = curve.points
    path = f"M{x:.1f} {y:.1f} C" + " ".join(f"{a:.1f} {b:.1f}" for a, b in rest)
    colour, width, marker = (strong, 2.2, "strong") if supports else (PALE, 1.2, "pale")
    return f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='{width}' marker-end='url(#{marker})'/>"


def _labels(layout: Layout, texts: list[str], support: Collection[int], strong: str) -> list[str]:
    parts = []
    for n, box in enumerate(layout.labels):
        if box is None:
            continue
        colour, weight = (strong, " font-weight='bold'") if n in support else (INK, "")
        middle = f"x='{box.x + box.width / 2:.1f}' y='{box.y + LABEL_HEIGHT - 5:.1f}'"
        parts.append(f"<rect {_at(box)} rx='4' fill='white'/>")
        parts.append(
            f"<text {middle} {SMALL} text-anchor='middle' fill='{colour}'{weight}>{escape(texts[n])}</text>"
        )
    return parts


def _entity(name: str, shown: str, state: State, box: Box, fill: str, stroke: str) -> str:
    middle = box.x + box.width / 2
    parts = [
        f"<g class='entity' data-name={quoteattr(name)}>",
        f"<title>{escape(name)}</title>",
        f"<rect {_at(box)} rx='7' fill='{fill}' stroke='{stroke}' stroke-width='1.6'/>",
        f"<text x='{middle:.1f}' y='{box.y + 18:.1f}' font-size='12.5' font-weight='bold' text-anchor='middle' "
        f"fill='{INK}'>{escape(shown)}</text>",
    ]
    bars = len(state.bars) * 5 + (8 if state.bars else 0)
    left, foot = middle - (len(state.text) * SMALL_WIDTH + bars) / 2, box.y + 38
    for n, share in enumerate(state.bars):
        bar = Box(left + n * 5, foot - 16 * share - 1, 4, 16 * share + 1)
        parts.append(f"<rect {_at(bar)} fill='{STRONG}'/>")
    parts.append(f"<text x='{left + bars:.1f}' y='{foot - 2:.1f}' {SMALL} fill='{INK}'>{escape(state.text)}</text>")
    return "".join([*parts, "</g>"])


def _at(box: Box) -> str:
    return f"x='{box.x:.1f}' y='{box.y:.1f}' width='{box.width:.1f}' height='{box.height:.1f}'"
