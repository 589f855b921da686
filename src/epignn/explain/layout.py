"""Where everything in a picture goes: entities in columns by their distance from the head, labels on their lines.

Facts join entities of one column or of neighbouring ones, so that lines keep to the gaps between columns. Every
label is put on its line where it touches no other; if one finds no place, all gaps grow and it starts again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

NAME_WIDTH, SMALL_WIDTH = 7.6, 6.4
"""Widths of a letter in the name of an entity and in smaller text; generous, for fonts differ."""
BOX_HEIGHT, LABEL_HEIGHT, MARGIN = 44.0, 17.0, 28.0
PLACES = (0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8, 0.14, 0.86)
"""Where on its line a label may stand, best first."""
TRIES = 14
SWEEPS = 6


class Box(NamedTuple):
    """A rectangle: left, top, width, height."""

    x: float
    y: float
    width: float
    height: float

    def meets(self, other: "Box", apart: float = 3.0) -> bool:
        """Whether two rectangles come closer than `apart`."""
        return (
            self.x < other.x + other.width + apart
            and other.x < self.x + self.width + apart
            and self.y < other.y + other.height + apart
            and other.y < self.y + self.height + apart
        )


class Curve(NamedTuple):
    """A cubic Bézier curve: four points."""

    points: tuple[tuple[float, float], ...]

    def at(self, t: float) -> tuple[float, float]:
        """The point at t, from 0 to 1."""
        weights = ((1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t * t * (1 - t), t**3)
        x, y = (sum(w * p[axis] for w, p in zip(weights, self.points, strict=True)) for axis in (0, 1))
        return x, y


@dataclass(frozen=True)
class Line:
    """A labelled line from one entity to another, by number."""

    source: int
    target: int
    label: str


@dataclass(frozen=True)
class Layout:
    """A picture's geometry; a label that found no place is None."""

    width: float
    height: float
    boxes: list[Box]
    curves: list[Curve]
    labels: list[Box | None]


def lay_out(columns: Sequence[int], widths: Sequence[float], lines: Sequence[Line], first: Sequence[int]) -> Layout:
    """Place entities, lines and labels.

    Args:
        columns: the column of each entity; lines join the same column or neighbouring ones.
        widths: of each entity's box.
        lines: what joins them.
        first: lines whose labels choose their place before others.
    """
    rows = _rows(columns, lines)
    order = [*first, *(n for n in range(len(lines)) if n not in set(first))]
    stretch = 1.0
    for _ in range(TRIES):
        layout = _place(columns, rows, widths, lines, order, stretch)
        if None not in layout.labels:
            break
        stretch *= 1.15
    return layout


def _rows(columns: Sequence[int], lines: Sequence[Line]) -> list[int]:
    """The place of each entity in its column, near those that it is joined with, so that few lines cross."""
    members: list[list[int]] = [[] for _ in range(max(columns) + 1)]
    joined: list[list[int]] = [[] for _ in columns]
    for entity, column in enumerate(columns):
        members[column].append(entity)
    for line in lines:
        joined[line.source].append(line.target)
        joined[line.target].append(line.source)
    middle = [0.0] * len(columns)  # the place of each entity, 0 being the middle of its column
    for sweep in range(SWEEPS):
        for mates in members[:: 1 if sweep % 2 == 0 else -1]:
            wanted = {e: sum(middle[o] for o in joined[e]) / max(len(joined[e]), 1) for e in mates}
            mates.sort(key=wanted.__getitem__)
            for place, entity in enumerate(mates):
                middle[entity] = place - (len(mates) - 1) / 2
    return [members[column].index(entity) for entity, column in enumerate(columns)]


def _place(
    columns: Sequence[int],
    rows: Sequence[int],
    widths: Sequence[float],
    lines: Sequence[Line],
    order: Sequence[int],
    stretch: float,
) -> Layout:
    boxes, gap = _boxes(columns, rows, widths, lines, stretch)
    seen: dict[frozenset[int], int] = {}
    curves = []
    for line in lines:
        pair = frozenset((line.source, line.target))
        seen[pair] = seen.get(pair, -1) + 1
        curves.append(_curve(boxes, columns, line, gap, seen[pair]))
    labels: list[Box | None] = [None] * len(lines)
    taken = list(boxes)
    for n in order:
        labels[n] = _label(curves[n], lines[n].label, taken)
        if (box := labels[n]) is not None:
            taken.append(box)
    right = max([box.x + box.width for box in taken] + [p[0] for c in curves for p in c.points])
    bottom = max([box.y + box.height for box in taken] + [p[1] for c in curves for p in c.points])
    return Layout(right + MARGIN, bottom + MARGIN, boxes, curves, labels)


def _boxes(
    columns: Sequence[int], rows: Sequence[int], widths: Sequence[float], lines: Sequence[Line], stretch: float
) -> tuple[list[Box], float]:
    """The boxes of entities, columns centred, and the width of the gaps."""
    count = [columns.count(column) for column in range(max(columns) + 1)]
    wide = [max(w for w, c in zip(widths, columns, strict=True) if c == column) for column in range(len(count))]
    longest = max((len(line.label) for line in lines), default=0) * SMALL_WIDTH
    gap, step = (longest + 70) * stretch, (BOX_HEIGHT + 26) * stretch
    left = [MARGIN + sum(wide[:column]) + gap * column for column in range(len(count))]
    boxes = [
        Box(left[c], MARGIN + (r + (max(count) - count[c]) / 2) * step, wide[c], BOX_HEIGHT)
        for c, r in zip(columns, rows, strict=True)
    ]
    return boxes, gap


def _curve(boxes: list[Box], columns: Sequence[int], line: Line, gap: float, repeated: int) -> Curve:
    """The line from source to target; in one column it bends through the gap on the right."""
    a, b = boxes[line.source], boxes[line.target]
    lift = 22.0 * repeated  # another fact about the same pair
    start, end = a.y + a.height / 2, b.y + b.height / 2
    if columns[line.source] == columns[line.target]:
        x = a.x + a.width
        bend = x + min(gap * 0.75, 34 + abs(start - end) / 3) + lift
        if line.source == line.target:
            return Curve(
                ((x, start - 10), (x + 44 + lift, start - 26), (x + 44 + lift, start + 26), (x, start + 10))
            )
        return Curve(((x, start), (bend, start), (bend, end), (x, end)))
    forward = columns[line.source] < columns[line.target]
    x0, x1 = (a.x + a.width, b.x) if forward else (a.x, b.x + b.width)
    third = (x1 - x0) / 3
    return Curve(((x0, start), (x0 + third, start + lift), (x1 - third, end + lift), (x1, end)))


def _label(curve: Curve, text: str, taken: list[Box]) -> Box | None:
    """The first place on a line where a label touches nothing."""
    width = len(text) * SMALL_WIDTH + 10
    for t in PLACES:
        x, y = curve.at(t)
        box = Box(x - width / 2, y - LABEL_HEIGHT / 2, width, LABEL_HEIGHT)
        if not any(box.meets(other) for other in taken):
            return box
    return None
