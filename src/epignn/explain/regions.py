"""Pictures of regions: filled translucently, the largest below, each with its name where it can be read best."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.realise.regions import Discs, Outlines
from epignn.explain.layout import NAME_WIDTH
from epignn.explain.svg import CLASH, LEFT, Sketch, colours, cut, entity, label

WIDTH, HEIGHT = 764.0, 560.0
DOT = 4.0
"""Places for names are sought on a grid of so many pixels."""
TALL, RIM = 4, 7
"""Dots: the height of a name, and how far it may stick out of the picture."""
ROOM = ((0, 1.0), (1, 0.3), (3, 0.15), (6, 0.08))
"""How much room around a name is looked at, and what that weighs."""
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


class Frame(NamedTuple):
    """How the plane is drawn: what is at the left and at the top, and pixels for a unit; y runs upwards."""

    left: float
    top: float
    scale: float
    width: float
    height: float

    @classmethod
    def around(cls, x: tuple[float, float], y: tuple[float, float]) -> "Frame":
        """The frame that shows all from the lowest to the highest x and y."""
        wide, high = (x[1] - x[0]) or 1.0, (y[1] - y[0]) or 1.0
        scale = min(WIDTH / wide, HEIGHT / high)
        return cls(x[0], y[1], scale, wide * scale, high * scale)

    def at(self, x: float, y: float) -> tuple[float, float]:
        """Where a place of the plane is on the page."""
        return LEFT + (x - self.left) * self.scale, 10 + (self.top - y) * self.scale

    def grid(self) -> tuple[Floats, Floats]:
        """The coordinates of the middles of all dots, x and y, from the top left."""
        across = np.arange(DOT / 2, self.width, DOT) / self.scale + self.left
        return across, self.top - np.arange(DOT / 2, self.height, DOT) / self.scale


def sketch_discs(world: Discs, marked: set[str]) -> Sketch:
    """Discs."""
    if not world.discs:
        return Sketch(WIDTH + 2 * LEFT, 20, [])
    x, y, r = np.array(list(world.discs.values())).T
    frame = Frame.around(((x - r).min(), (x + r).max()), ((y - r).min(), (y + r).max()))
    across, down = frame.grid()
    dots = {name: (across[:, None] - x) ** 2 + (down - y) ** 2 <= r * r for name, (x, y, r) in world.discs.items()}
    shapes = {}
    for name, (x, y, r) in world.discs.items():
        cx, cy = frame.at(x, y)
        shapes[name] = f"<circle cx='{cx:.2f}' cy='{cy:.2f}' r='{r * frame.scale:.2f}' "
    return sketch_shapes(frame, shapes, dots, {name: r * r for name, (_, _, r) in world.discs.items()}, marked)


def sketch_outlines(world: Outlines, marked: set[str]) -> Sketch:
    """Regions with outlines; holes by the even-odd rule."""
    corners = [corner for rings in world.outlines.values() for ring in rings for corner in ring]
    xs, ys = (sorted(set(axis)) for axis in zip(*corners, strict=True))
    frame = Frame.around((xs[0], xs[-1]), (ys[0], ys[-1]))
    across, down = frame.grid()
    column, row = np.searchsorted(xs, across), np.searchsorted(ys, down)
    dots = {name: cells[np.ix_(column, row)] for name, cells in world.cells.items()}
    shapes = {}
    for name, rings in world.outlines.items():
        paths = []
        for ring in rings:
            points = (frame.at(*corner) for corner in ring)
            paths.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points) + "Z")
        shapes[name] = f"<path d='{''.join(paths)}' fill-rule='evenodd' stroke-linejoin='round' "
    return sketch_shapes(frame, shapes, dots, {name: float(cells.sum()) for name, cells in dots.items()}, marked)


def sketch_shapes(
    frame: Frame, shapes: Mapping[str, str], dots: Mapping[str, Bools], size: Mapping[str, float], marked: set[str]
) -> Sketch:
    """Shapes that were drawn, given as the beginnings of SVG elements, with the names of those that have dots."""
    colour = colours(shapes)
    order = sorted(shapes, key=lambda name: -size[name])
    ink = {name: CLASH if name in marked else colour[name] for name in order}
    parts = [
        entity(
            name,
            f"{shapes[name]}fill='{colour[name]}' fill-opacity='0.2' stroke='{ink[name]}' stroke-width='1.8'/>",
        )
        for name in order
    ]
    places = _places(dots, size) if dots else {}
    parts += [label(LEFT + x * DOT, 10 + y * DOT, name, ink[name]) for name, (x, y) in places.items()]
    return Sketch(max(frame.width, 320) + 2 * LEFT, frame.height + 20, parts)


def _places(dots: Mapping[str, Bools], size: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Where the middle of each name goes, in dots: inside its region, off other rims, smaller regions and names."""
    summed = {name: _sums(np.pad(each, RIM)) for name, each in dots.items()}
    taken: Bools = np.zeros(np.add(next(iter(dots.values())).shape, 2 * RIM), dtype=bool)
    found = {}
    for name in sorted(dots, key=lambda name: size[name]):
        wide = min(int(np.ceil(len(cut(name)) * NAME_WIDTH / DOT)), len(taken) - 2 * RIM)
        others = [(sums, size[other] <= size[name]) for other, sums in summed.items() if other != name]
        cost = 50.0 * (_window(_sums(taken), wide, TALL, 0) > 0)
        for room, weight in ROOM:
            full = (wide + 2 * room) * (TALL + 2 * room)
            cost += weight * 6.0 * (1 - _window(summed[name], wide, TALL, room) / full)
            for sums, smaller in others:
                there = _window(sums, wide, TALL, room)
                cost += weight * (there > 0) * np.where(there < full, 1.0, 0.6 * smaller)
        across, down = np.indices(cost.shape)
        x, y = np.argwhere(dots[name]).mean(axis=0) + RIM - (wide / 2, TALL / 2) if dots[name].any() else (0.0, 0.0)
        cost += 0.002 * np.hypot(across - x, 1.5 * (down - y))
        left, top = divmod(int(cost.argmin()), cost.shape[1])
        taken[left : left + wide, top : top + TALL] = True
        found[name] = left + wide / 2 - RIM, top + TALL / 2 - RIM
    return found


def _sums(dots: Bools) -> NDArray[np.int64]:
    """How many dots lie to the left and above of each corner of the grid."""
    return np.pad(dots.cumsum(axis=0).cumsum(axis=1), ((1, 0), (1, 0)))


def _window(sums: NDArray[np.int64], wide: int, high: int, room: int) -> NDArray[np.int64]:
    """How many dots lie in every window of a size, by its left and its top; with so much room on each side."""
    whole = np.pad(sums, room, mode="edge")
    wide, high = wide + 2 * room, high + 2 * room
    return whole[wide:, high:] - whole[:-wide, high:] - whole[wide:, :-high] + whole[:-wide, :-high]
