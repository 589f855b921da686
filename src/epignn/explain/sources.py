"""Pictures of what was compared: the regions of a map where they lie, the events of a table over a time line."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from itertools import count
from math import cos, floor, log10, radians
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.bridges.world import Events, Regions
from epignn.errors import BadArgument
from epignn.explain.layout import NAME_WIDTH, SMALL_WIDTH, Box
from epignn.explain.regions import HEIGHT, Frame, sketch_shapes
from epignn.explain.svg import (
    CLASH,
    INK,
    LEFT,
    PALE,
    SMALL,
    STRONG,
    Sketch,
    at,
    colours,
    cut,
    entity,
    label,
    page,
    straight,
)
from epignn.extras import optional

NAMED = 60
"""Up to so many regions are drawn with their names; of more, a name shows when one points at a region."""
MOST_EVENTS = 200
TINY, HUGE = 1e-300, 1e300
"""Between the first and the last moment of a time line there is more than the one, and less than the other."""
WIDE, BAR, ROW = 620.0, 18.0, 26.0
"""The width of the time line, the height of a bar and of its row."""


def draw_source(source: Regions | Events | None, title: str, told: str, marked: Iterable[str] = ()) -> str:
    """The picture of regions or events, as the text of an SVG file.

    Args:
        source: what is drawn.
        title: the first line.
        told: the line below it.
        marked: names that are red.

    Raises:
        BadArgument: there is nothing to draw, or too much.
    """
    red = set(marked)
    if isinstance(source, Regions):
        sketch = sketch_map(source, red)
    elif isinstance(source, Events):
        sketch = sketch_events(source, red)
    else:
        raise BadArgument("RDF has no places to draw; `epignn explain … --svg FILE` draws how things follow.")
    width = max(sketch.width, len(title) * 11.5 + 60, len(told) * SMALL_WIDTH + 60)
    legend = ["In red: those of whom a claim is refuted." if red else _legend(source)]
    return page((width, sketch.height), title, told, CLASH if red else STRONG, sketch.parts, legend)


def _legend(source: Regions | Events) -> str:
    if isinstance(source, Regions):
        return "Names show where one points." if len(source.names) > NAMED else ""
    return "A bar without an end: the end is not known." if np.isnan([source.starts, source.ends]).any() else ""


# -- maps --


def sketch_map(source: Regions, marked: set[str]) -> Sketch:
    """Regions where they lie; degrees are drawn as long as they are in the middle of the map."""
    shapely = optional("shapely", "drawing a map")
    if not len(source.geometries):
        raise BadArgument("there are no regions to draw.")
    west, south, east, north = shapely.total_bounds(source.geometries).tolist()
    degrees = -180 <= west <= east <= 180 and -90 <= south <= north <= 90 and north - south > 0
    narrow = cos(radians((south + north) / 2)) if degrees else 1.0
    frame = Frame.around((west * narrow, east * narrow), (south, north))
    shapes, dots = {}, {}
    for name, geometry in zip(source.names, source.geometries, strict=True):
        drawn = shapely.transform(geometry, lambda corners: corners * (narrow, 1.0))
        shapes[name] = (
            f"<path d='{_path(shapely, shapely.simplify(drawn, 0.3 / frame.scale), frame)}' fill-rule='evenodd' "
        )
        if len(source.names) <= NAMED:
            across, down = frame.grid()
            dots[name] = shapely.contains_xy(drawn, across[:, None], down)
    area = dict(zip(source.names, shapely.area(source.geometries).tolist(), strict=True))
    sketch = sketch_shapes(frame, shapes, dots, area, marked)
    return sketch._replace(height=min(sketch.height, HEIGHT + 20))


def _path(shapely: Any, shape: Any, frame: Frame) -> str:
    """The rings of a region as an SVG path."""
    pieces = []
    for part in shapely.get_parts(shape):
        for ring in shapely.get_rings(part):
            corners = (frame.at(*corner) for corner in shapely.get_coordinates(ring).tolist())
            pieces.append("M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in corners) + "Z")
    return "".join(pieces)


# -- time lines --


def sketch_events(source: Events, marked: set[str]) -> Sketch:
    """A bar for each event, in the order of the table; an end that is not known fades out."""
    if not 1 <= len(source.names) <= MOST_EVENTS:
        raise BadArgument(f"{len(source.names):,} events cannot be drawn; a picture holds 1 to {MOST_EVENTS}.")
    known = np.concatenate([source.starts, source.ends])
    known = known[~np.isnan(known)]
    if not len(known):
        raise BadArgument("no start and no end is known; there is nothing to draw.")
    low, high = float(known.min()), float(known.max())
    if not TINY < high - low < HUGE:
        raise BadArgument("times that are so far apart, or so near, cannot be drawn; leave out --svg.")
    margin = 0.06 * ((high - low) or 1.0)
    low, high = low - margin, high + margin
    left = LEFT + max(len(cut(name)) for name in source.names) * NAME_WIDTH + 14

    def across(value: float) -> float:
        return left + (value - low) / (high - low) * WIDE

    bottom = 8 + len(source.names) * ROW + 6
    parts = [
        "<defs>"
        "<linearGradient id='later'><stop offset='0.55' stop-color='white' stop-opacity='0'/>"
        "<stop offset='1' stop-color='white'/></linearGradient>"
        "<linearGradient id='earlier'><stop offset='0' stop-color='white'/>"
        "<stop offset='0.45' stop-color='white' stop-opacity='0'/></linearGradient></defs>"
    ]
    for value, said in _ticks(source, low, high):
        x = across(value)
        parts.append(straight(x, 4, x, bottom, PALE, "stroke-width='0.8' stroke-dasharray='1.5 4'"))
        parts.append(
            f"<text x='{x:.1f}' y='{bottom + 16:.1f}' {SMALL} text-anchor='middle' fill='{INK}'>{said}</text>"
        )
    parts.append(straight(left, bottom, left + WIDE, bottom, INK, "stroke-width='1.4'"))
    colour = colours(source.names)
    for row, name in enumerate(source.names):
        start, end = float(source.starts[row]), float(source.ends[row])
        x0, x1 = across(low if np.isnan(start) else start), across(high if np.isnan(end) else end)
        box, ink = Box(x0, 8 + row * ROW, x1 - x0, BAR), CLASH if name in marked else colour[name]
        bar = [f"<rect {at(box)} rx='3' fill='{ink}' fill-opacity='0.35' stroke='{ink}' stroke-width='1.4'/>"]
        wider = Box(x0 - 2, box.y - 2, box.width + 4, BAR + 4)
        bar += [f"<rect {at(wider)} fill='url(#later)'/>"] if np.isnan(end) else []
        bar += [f"<rect {at(wider)} fill='url(#earlier)'/>"] if np.isnan(start) else []
        bar.append(label(left - 10, box.y + BAR / 2, name, ink if name in marked else INK, "end"))
        parts.append(entity(name, *bar))
    return Sketch(left + WIDE + LEFT, bottom + 30, parts)


def _ticks(source: Events, low: float, high: float) -> list[tuple[float, str]]:
    """About six to ten places on the time line, and what they are called."""
    if source.dated:
        return _dates(low, high)
    rough = (high - low) / 8
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first = int(np.ceil(low / step))
    values = [number * step for number in range(first, int(high / step) + 2) if low <= number * step <= high]
    return [(value, f"{abs(value) if source.backwards else value:g}") for value in values]


STEPS = (
    *(("minutes", 1), ("minutes", 5), ("minutes", 15), ("hours", 1), ("hours", 3), ("hours", 12)),
    *(("days", 1), ("days", 7), ("months", 1), ("months", 3), ("months", 12), ("months", 120), ("months", 1200)),
)
"""What may lie between two ticks."""
LONG = MappingProxyType({"minutes": 1 / 1440, "hours": 1 / 24, "days": 1.0, "months": 30.44})
"""Days of each."""
FORMS = MappingProxyType({"minutes": "%H:%M", "hours": "%d %b %H:%M", "days": "%d %b", "months": "%b %Y"})
DAY = 86_400e9
"""Nanoseconds."""


def _dates(low: float, high: float) -> list[tuple[float, str]]:
    """Minutes, hours, days, months or years between two moments; at most ten of them."""
    room = (high - low) / DAY / 10
    unit, step = next((one for one in STEPS if LONG[one[0]] * one[1] >= room), STEPS[-1])
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    day = begin + timedelta(days=floor(low / DAY))
    month = (12 * day.year + day.month - 1) // step * step
    found: list[tuple[float, str]] = []
    for number in count(0):
        if unit == "months":
            year, rest = divmod(month + step * number, 12)
            moment = datetime(year, rest + 1, 1, tzinfo=UTC)
        else:
            moment = day + timedelta(**{unit: step * number})
        value = (moment - begin).total_seconds() * 1e9
        if value > high:
            break
        if value >= low:
            found.append((value, moment.strftime("%Y" if step >= 12 and unit == "months" else FORMS[unit])))
    return found
