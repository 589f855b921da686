"""Pictures of worlds of order: bars over a time line, points on a line, points in the plane with a compass."""

from collections.abc import Collection, Iterable, Sequence

from epignn.calculus.realise.lines import Intervals, Plane, Points
from epignn.explain.layout import NAME_WIDTH, SMALL_WIDTH, Box
from epignn.explain.svg import CLASH, INK, LEFT, PALE, SMALL, Sketch, at, colours, cut, entity, label, straight

WIDTH, HEIGHT = 820.0, 520.0
BAR, ROW, DOT = 24.0, 35.0, 5.5
"""The height of a bar and of its row, and the radius of a point."""
MOST_GUIDES = 60
"""Up to so many places have a dotted line of their own."""
DOTTED = "stroke-width='0.8' stroke-dasharray='1.5 4' stroke-linecap='round'"


class _Scale:
    """Places on a line as places on the page; the lowest and the highest are given."""

    def __init__(self, values: Collection[float], low: float, high: float) -> None:
        self.least, most = min(values, default=0.0), max(values, default=1.0)
        self.low, self.step = low, (high - low) / ((most - self.least) or 1.0)

    def __call__(self, value: float) -> float:
        return self.low + (value - self.least) * self.step


def sketch_intervals(world: Intervals, marked: set[str]) -> Sketch:
    """Labelled bars in as few rows as let no bar touch another, over a time line with every end."""
    ends = sorted({end for pair in world.intervals.values() for end in pair})
    across = _Scale(ends, LEFT + 12, WIDTH - LEFT - 12)
    colour = colours(world.names)
    free: list[float] = []  # where each row is free from
    bars, right = [], WIDTH
    guides: dict[float, float] = {}
    for name, (start, end) in sorted(world.intervals.items(), key=lambda each: each[1]):
        x, width, said = across(start), across(end) - across(start), len(cut(name)) * NAME_WIDTH
        inside = said + 10 <= width
        reach = x + width + (10 if inside else said + 16)
        row = next((n for n, edge in enumerate(free) if edge <= x), len(free))
        free[row : row + 1] = [reach]
        y = 10 + row * ROW
        ink = CLASH if name in marked else colour[name]
        text = (
            label(x + width / 2, y + BAR / 2, name, ink) if inside else _beside(x + width, y + BAR / 2, name, ink)
        )
        bars.append(
            entity(
                name,
                f"<rect {at(Box(x, y, width, BAR))} rx='5' fill='{colour[name]}' fill-opacity='0.22' "
                f"stroke='{ink}' stroke-width='1.6'/>",
                text,
            )
        )
        right = max(right, reach + LEFT)
        for end_at in (start, end):
            guides[end_at] = min(guides.get(end_at, y), y)
    floor = 10 + len(free) * ROW + 6
    dotted = [straight(across(end), y + BAR / 2, across(end), floor, PALE, DOTTED) for end, y in guides.items()]
    parts = [*(dotted if len(ends) <= MOST_GUIDES else []), *bars, *_axis(across, ends, floor, WIDTH - LEFT)]
    return Sketch(right, floor + 40, parts)


def _dot(x: float, y: float, colour: str) -> str:
    return f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{DOT}' fill='{colour}' stroke='white' stroke-width='1.5'/>"


def _beside(x: float, y: float, name: str, ink: str) -> str:
    return label(x + 6, y, name, ink, "start")


def _axis(across: _Scale, values: Sequence[float], y: float, end: float) -> Iterable[str]:
    """An arrow to the right with a tick at each value, and numbers where there is room."""
    yield straight(LEFT, y, end, y, INK, "stroke-width='1.4'")
    yield f"<path d='M{end:.0f} {y - 4:.1f} l9 4 l-9 4 z' fill='{INK}'/>"
    last = -100.0
    for value in values:
        x, said = across(value), f"{value:g}"
        yield straight(x, y - 4, x, y + 4, INK, "stroke-width='1.2'")
        if x - last > (len(said) + 1) * SMALL_WIDTH:
            yield f"<text x='{x:.1f}' y='{y + 18:.1f}' {SMALL} text-anchor='middle' fill='{INK}'>{said}</text>"
            last = x


def sketch_points(world: Points, marked: set[str]) -> Sketch:
    """Points on a line, their names above it in as few levels as let no name touch another."""
    values = sorted(set(world.points.values()))
    across = _Scale(values, LEFT + 30, WIDTH - LEFT - 30)
    colour = colours(world.names)
    taken: list[Box] = []
    placed = []
    for name, value in sorted(world.points.items(), key=lambda each: each[1]):
        width = len(cut(name)) * NAME_WIDTH
        box = Box(max(across(value) - width / 2, 4), 0, width, 16)
        while any(box.meets(other, 2) for other in taken):
            box = box._replace(y=box.y - 21)
        taken.append(box)
        placed.append((name, across(value), box))
    top = min((box.y for box in taken), default=0.0) - 10
    floor = 50 - top
    stems, dots = [], []
    for name, x, box in placed:
        ink, y = CLASH if name in marked else colour[name], box.y + 8 - top
        stems.append(straight(x, y + 8, x, floor, PALE, DOTTED))
        dots.append(entity(name, _dot(x, floor, colour[name]), label(box.x + box.width / 2, y, name, ink)))
    right = max([WIDTH, *(box.x + box.width + LEFT for box in taken)])
    return Sketch(right, floor + 40, [*stems, *_axis(across, values, floor, WIDTH - LEFT), *dots])


def sketch_plane(world: Plane, marked: set[str]) -> Sketch:
    """Points in the plane, north above; dotted lines show which are due north or due east of which."""
    xs, ys = ([place[axis] for place in world.points.values()] for axis in (0, 1))
    across, along = _Scale(xs, LEFT + 30, WIDTH - 150), _Scale(ys, HEIGHT - 40, 40)
    colour = colours(world.names)
    spots = {name: (across(x), along(y)) for name, (x, y) in world.points.items()}
    guides = [straight(x, 10, x, HEIGHT - 10, PALE, DOTTED) for x in sorted({x for x, _ in spots.values()})]
    guides += [straight(10, y, WIDTH - 120, y, PALE, DOTTED) for y in sorted({y for _, y in spots.values()})]
    taken = [Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT) for x, y in set(spots.values())]
    dots = []
    for name, (x, y) in spots.items():
        box = _free(x, y, len(cut(name)) * NAME_WIDTH, taken)
        taken.append(box)
        ink = CLASH if name in marked else colour[name]
        beside, anchor = (x + DOT + 4, "start") if box.x > x else (x - DOT - 4, "end")
        said = label(beside, box.y + box.height / 2, name, ink, anchor)
        dots.append(entity(name, _dot(x, y, colour[name]), said))
    right = max([WIDTH, *(box.x + box.width + LEFT for box in taken)])
    return Sketch(
        right, HEIGHT, [*(guides if len(guides) <= MOST_GUIDES else []), *_compass(right - 70, 70), *dots]
    )


def _free(x: float, y: float, width: float, taken: list[Box]) -> Box:
    """The first place around a point where a name touches nothing; names of points that coincide make a pile."""
    for level in range(40):
        for right in (True, False):
            left = x + DOT + 3 if right else x - DOT - 3 - width
            for up in (-1, 1):
                box = Box(left, y - 8 + up * 17 * level, width, 16)
                if box.x > 2 and not any(box.meets(other, 1) for other in taken):
                    return box
    return Box(x + DOT + 3, y - 8, width, 16)


def _compass(x: float, y: float) -> Iterable[str]:
    yield f"<path d='M{x} {y - 34} l7 34 h-14 z' fill='{INK}'/>"
    yield f"<path d='M{x} {y + 34} l7 -34 h-14 z' fill='{PALE}'/>"
    yield straight(x - 30, y, x + 30, y, PALE, "stroke-width='1.4'")
    for said, dx, dy in (("N", 0, -46), ("S", 0, 46), ("E", 42, 0), ("W", -42, 0)):
        yield (
            f"<text x='{x + dx}' y='{y + dy + 4}' font-size='12' font-weight='bold' text-anchor='middle' "
            f"fill='{INK}'>{said}</text>"
        )
