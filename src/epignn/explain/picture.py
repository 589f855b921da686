"""An explanation as an SVG picture: entities in columns from the head, supporting facts in colour.

Written by hand: no library draws it. What goes where is decided in `layout`.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import reduce
from operator import or_

from epignn.calculus.algebra import DIFFERENT
from epignn.calculus.meanings import key
from epignn.calculus.network import Network
from epignn.explain.explanation import Explanation, Facts, Status, Theory
from epignn.explain.layout import LABEL_HEIGHT, NAME_WIDTH, SMALL_WIDTH, Box, Curve, Layout, Line, lay_out
from epignn.explain.paths import steps
from epignn.explain.svg import CLASH, INK, PALE, SMALL, STRONG, at, attribute, cut, page, text

MOST_ENTITIES, MOST_FACTS = 60, 150
"""Of larger networks only the supporting facts are drawn."""
MOST_SHOWN = 4
HEAD, TAIL = "#dcebf7", "#fdeeda"


@dataclass(frozen=True)
class State:
    """What is known of an entity: a line of text, and probabilities to be drawn as bars, if there are any."""

    text: str
    bars: tuple[float, ...] = ()


def draw(found: Explanation, alone: bool = False) -> str:
    """The picture of an explanation, as the text of an SVG file; with the supporting facts `alone`, or with all."""
    facts, support = found.facts, (found.by or found).support.facts
    large = alone or len(facts.names) > MOST_ENTITIES or len(facts) > MOST_FACTS
    drawn = support if large else range(len(facts))
    told = [facts.fact(f) for f in drawn]
    ends = {found.head, found.tail, *(end for fact in told for end in (fact.head, fact.tail))}
    names = [name for name in facts.names if name in ends or not large]
    place = {name: at for at, name in enumerate(names)}
    lines = [Line(place[fact.head], place[fact.tail], fact.relations) for fact in told]
    strong_lines = [n for n, f in enumerate(drawn) if f in support]

    known = _states(found)
    shown, states = [cut(name) for name in names], [known.get(name, State("")) for name in names]
    widths = [
        max(len(n) * NAME_WIDTH, len(s.text) * SMALL_WIDTH + len(s.bars) * 5 + 8) + 22
        for n, s in zip(shown, states, strict=True)
    ]
    layout = lay_out(columns(len(names), lines, place[found.head]), widths, lines, strong_lines)
    clash = found.status is Status.CONTRADICTORY
    strong, title = (CLASH, "contradictory") if clash else (STRONG, str(found))
    legend = [_legend(found.head, bool(support), len(facts.names) - len(names), clash), *_key(facts, drawn)]
    widest = max(len(title) * 11.5, *(len(line) * SMALL_WIDTH for line in (found.credit, *legend)))
    width = max(layout.width, widest + 60)
    special = {found.head: HEAD, found.tail: TAIL}
    used = {end for n in strong_lines for end in (lines[n].source, lines[n].target)}
    boxes = zip(names, shown, states, layout.boxes, strict=True)
    parts = [
        f"<defs>{_arrow('strong', strong)}{_arrow('pale', PALE)}</defs>",
        *_lines(layout, strong_lines, strong),
        *_labels(layout, [line.label for line in lines], strong_lines, strong),
        *(
            _entity(*box, special.get(box[0], "white"), strong if n in used else PALE)
            for n, box in enumerate(boxes)
        ),
    ]
    return page((width, layout.height), title, found.credit, strong, parts, legend)


def _states(found: Explanation) -> dict[str, State]:
    """What is known in the end of every entity, seen from the head; of a model, its state after the last round."""
    belief = found.belief
    if found.theory is not None:
        return {name: State(_short(found.theory, known)) for name, known in found.known.items()}
    if belief is None or not len(belief.states):
        return {}
    return {
        name: State(f"{belief.relations[int(row.argmax())]} {row.max():.2f}", tuple(row.tolist()))
        for name, row in zip(belief.entities, belief.states[-1], strict=True)
    }


def _short(theory: Theory, known: tuple[str, ...]) -> str:
    words = theory.words(known)
    if words in ("*", DIFFERENT):
        return "anything"
    return words if len(known) <= MOST_SHOWN else f"{len(known)} of {len(theory.relations)}"


def columns(count: int, lines: Iterable[Line], head: int) -> list[int]:
    """Distance of so many entities from the head; what nothing connects with it stands in the last column."""
    far = steps(((line.source, line.target) for line in lines), head)
    return [far.get(entity, max(far.values()) + 1) for entity in range(count)]


def _legend(head: str, supported: bool, left_out: int, clash: bool = False) -> str:
    said = "In colour: the facts that clash." if clash else "In colour: the facts that give the answer."
    if not supported:
        said = "No facts prove an answer."
    if not clash:
        said += f" In each box: what may hold from {head} to it."
    return said + (f" {left_out} further entities are not drawn." if left_out else "")


def _key(facts: Facts, drawn: Iterable[int]) -> list[str]:
    """What the relations of the facts mean, a line each, where a calculus tells."""
    if not isinstance(facts, Network):
        return []
    return key(facts.calculus, reduce(or_, (int(facts.masks[f]) for f in drawn), 0))


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
        parts.append(f"<rect {at(box)} rx='4' fill='white'/>")
        parts.append(f"<text {middle} {SMALL} text-anchor='middle' fill='{colour}'{weight}>{text(texts[n])}</text>")
    return parts


def _entity(name: str, shown: str, state: State, box: Box, fill: str, stroke: str) -> str:
    middle = box.x + box.width / 2
    parts = [
        f"<g class='entity' data-name={attribute(name)}>",
        f"<title>{text(name)}</title>",
        f"<rect {at(box)} rx='7' fill='{fill}' stroke='{stroke}' stroke-width='1.6'/>",
        f"<text x='{middle:.1f}' y='{box.y + 18:.1f}' font-size='12.5' font-weight='bold' text-anchor='middle' "
        f"fill='{INK}'>{text(shown)}</text>",
    ]
    bars = len(state.bars) * 5 + (8 if state.bars else 0)
    left, foot = middle - (len(state.text) * SMALL_WIDTH + bars) / 2, box.y + 38
    for n, share in enumerate(state.bars):
        bar = Box(left + n * 5, foot - 16 * share - 1, 4, 16 * share + 1)
        parts.append(f"<rect {at(bar)} fill='{STRONG}'/>")
    parts.append(f"<text x='{left + bars:.1f}' y='{foot - 2:.1f}' {SMALL} fill='{INK}'>{text(state.text)}</text>")
    return "".join([*parts, "</g>"])
