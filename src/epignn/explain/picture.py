"""An explanation as an SVG picture: entities in columns from the head, supporting facts in colour.

Written by hand: no library draws it. What goes where is decided in `layout`.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.statements import Statements
from epignn.explain.layout import LABEL_HEIGHT, NAME_WIDTH, SMALL_WIDTH, Box, Curve, Layout, Line, lay_out
from epignn.explain.paths import steps
from epignn.explain.ruled import RuleExplanation
from epignn.explain.symbolic import Explanation, Status

if TYPE_CHECKING:
    from epignn.explain.neural import Belief, NeuralExplanation
    from epignn.explain.vocabulary import VocabularyExplanation

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


@dataclass(frozen=True)
class Scene:
    """What is drawn.

    Attributes:
        names: entities.
        lines: facts between them.
        support: which of these give the answer, or clash.
        head, tail: the pair that was asked about.
        states: what is known of entities, by name.
        title: the answer.
        by: who gives it.
        legend: what colour means.
        clash: whether facts contradict each other.
    """

    names: tuple[str, ...]
    lines: tuple[Line, ...]
    support: frozenset[int]
    head: str
    tail: str
    states: Mapping[str, State]
    title: str
    by: str
    legend: str
    clash: bool = False


def draw(found: "Explanation | RuleExplanation | NeuralExplanation | VocabularyExplanation") -> str:
    """The picture of an explanation, as the text of an SVG file."""
    if isinstance(found, Explanation):
        by = f"by closure in {found.network.calculus.name}"
        by = f"not determined, {by}" if found.status is Status.OPEN else by
        return _svg(_scene(found, _sets(found), str(found), by))
    if isinstance(found, RuleExplanation):
        by = (
            f"by rules of weight {found.weight:.2f} or more"
            if found.relations
            else "no rule leads from one to the other"
        )
        by = f"not determined, {by}" if found.status is Status.OPEN else by
        return _svg(_ruled_scene(found.facts, found, _derived(found), str(found), by))
    from epignn.explain.vocabulary import VocabularyExplanation

    likely = f"by the model, {found.relations[found.likeliest]} with probability {found.chances.max():.3f}"
    if isinstance(found, VocabularyExplanation):
        agree = "no rules were distilled from it"
        if found.table is not None:
            agree = "proved by its distilled rules" if found.proved else f"its distilled rules say {found.table}"
        return _svg(_ruled_scene(found.facts, found, _bars(found), str(found), f"{likely}; {agree}"))
    agree = "proved by its distilled calculus" if found.proved else f"its distilled calculus says {found.table}"
    if found.status is Status.CONTRADICTORY:
        agree = "its distilled calculus refutes the facts"
    return _svg(_scene(found.table, _bars(found), str(found), f"{likely}; {agree}"))


def _scene(found: Explanation, states: Mapping[str, State], title: str, by: str) -> Scene:
    network, support = _shown(found)
    clash = found.status is Status.CONTRADICTORY
    masks = [network.calculus.format(int(mask)) for mask in network.masks]
    ends = zip(network.heads.tolist(), network.tails.tolist(), masks, strict=True)
    lines = tuple(Line(*line) for line in ends)
    left_out = len(found.network.names) - len(network.names)
    legend = _legend(found.head, bool(found.support.facts), left_out, clash)
    title = "contradictory" if clash else title
    return Scene(network.names, lines, frozenset(support), found.head, found.tail, states, title, by, legend, clash)


def _ruled_scene(
    facts: Statements,
    found: "RuleExplanation | VocabularyExplanation",
    states: Mapping[str, State],
    title: str,
    by: str,
) -> Scene:
    table = found if isinstance(found, RuleExplanation) else found.table
    support = list(table.support.facts) if table is not None else []
    drawn = list(range(len(facts)))
    if len(facts.names) > MOST_ENTITIES or len(facts) > MOST_FACTS:
        drawn = support
    ends = {found.head, found.tail} | {facts.names[end] for f in drawn for end in facts.edges[f][:2]}
    names = facts.names if len(drawn) == len(facts) else tuple(name for name in facts.names if name in ends)
    place = {name: at for at, name in enumerate(names)}
    lines = tuple(
        Line(place[facts.names[s]], place[facts.names[t]], facts.relations[r])
        for s, t, r in (facts.edges[f] for f in drawn)
    )
    chosen = frozenset(n for n, f in enumerate(drawn) if f in set(support))
    legend = _legend(found.head, bool(support), len(facts.names) - len(names))
    return Scene(names, lines, chosen, found.head, found.tail, states, title, by, legend)


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


def _bars(found: "Belief") -> dict[str, State]:
    """The state of every entity after the last round."""
    if not len(found.states.chances):
        return {}
    return {
        name: State(f"{found.relations[int(row.argmax())]} {row.max():.2f}", tuple(row.tolist()))
        for name, row in zip(found.states.entities, found.states.chances[-1], strict=True)
    }


def _derived(found: RuleExplanation) -> dict[str, State]:
    """What rules derive of every entity, seen from the head."""
    last = found.rounds.relations[-1] if found.rounds.relations else ()
    count = len(found.rules.relations)
    return {
        name: State(_short(known, count) if known else "")
        for name, known in zip(found.rounds.entities, last, strict=True)
    }


def _svg(scene: Scene) -> str:
    names, support = [_cut(name) for name in scene.names], scene.support
    state = [scene.states.get(name, State("")) for name in scene.names]
    widths = [
        max(len(n) * NAME_WIDTH, len(s.text) * SMALL_WIDTH + len(s.bars) * 5 + 8) + 22
        for n, s in zip(names, state, strict=True)
    ]
    place = columns(len(names), scene.lines, scene.names.index(scene.head))
    layout = lay_out(place, widths, scene.lines, sorted(support))
    strong = CLASH if scene.clash else STRONG
    width = max(layout.width, (max(len(scene.title) * 11.5, len(scene.by) * SMALL_WIDTH) + 60))
    height = layout.height + TOP + BOTTOM
    special = {scene.head: HEAD, scene.tail: TAIL}
    used = {end for n in support for end in (scene.lines[n].source, scene.lines[n].target)}
    parts = [
        f"<svg xmlns='http://www.w3.org/2000/svg' width='{width:.0f}' height='{height:.0f}' "
        f"viewBox='0 0 {width:.0f} {height:.0f}' {STYLE}>",
        f"<rect width='{width:.0f}' height='{height:.0f}' fill='white'/>",
        f"<defs>{_arrow('strong', strong)}{_arrow('pale', PALE)}</defs>",
        f"<text x='28' y='38' font-size='19' font-weight='bold' fill='{strong}'>{escape(scene.title)}</text>",
        f"<text x='28' y='60' font-size='12' fill='{INK}'>{escape(scene.by)}</text>",
        f"<g transform='translate(0 {TOP:.0f})'>",
        *_lines(layout, support, strong),
        *_labels(layout, [line.label for line in scene.lines], support, strong),
        *(
            _entity(
                name, shown, state[n], layout.boxes[n], special.get(name, "white"), strong if n in used else PALE
            )
            for n, (name, shown) in enumerate(zip(scene.names, names, strict=True))
        ),
        "</g>",
        f"<text x='28' y='{height - 18:.0f}' font-size='11' fill='{INK}'>{escape(scene.legend)}</text>",
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


def columns(count: int, lines: Iterable[Line], head: int) -> list[int]:
    """Distance of so many entities from the head; what nothing connects with it stands in the last column."""
    far = steps(((line.source, line.target) for line in lines), head)
    return [far.get(entity, max(far.values()) + 1) for entity in range(count)]


def _cut(name: str) -> str:
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1] + "…"


def _legend(head: str, supported: bool, left_out: int, clash: bool = False) -> str:
    said = "In colour: the facts that clash." if clash else "In colour: the facts that give the answer."
    if not supported:
        said = "No facts prove an answer."
    if not clash:
        said += f" In each box: what may hold from {head} to it."
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
