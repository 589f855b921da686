"""Bars and points: no bar touches another, no name another, and places are in order."""

from itertools import combinations
from xml.etree import ElementTree

import pytest

from epignn.explain.layout import Box
from epignn.explain.world import draw_world
from tests.calculus.realise.made import consistent
from tests.explain.test_picture import SVG


def drawn(text, tag):
    """The first element of a kind in each entity's group, by name."""
    groups = [g for g in ElementTree.fromstring(text).iter(f"{SVG}g") if g.get("data-name")]
    return {g.get("data-name"): g.find(f"{SVG}{tag}") for g in groups}


@pytest.mark.parametrize("size", [3, 12, 40])
def test_bars(size, rng):
    network = consistent("allen", rng, size, 0.3)
    world = network.realise().world
    text = draw_world(world, network)
    bars = {
        name: Box(*(float(rect.get(key)) for key in ("x", "y", "width", "height")))
        for name, rect in drawn(text, "rect").items()
    }
    assert not any(a.meets(b, 1) for a, b in combinations(bars.values(), 2))
    for a, b in combinations(bars, 2):
        (a0, a1), (b0, _) = world.intervals[a], world.intervals[b]
        assert (a0 < b0) == (bars[a].x < bars[b].x - 0.05)
        assert (a1 <= b0) == (bars[a].x + bars[a].width <= bars[b].x + 0.11)
    rows = sorted({bar.y for bar in bars.values()})
    deepest = max(sum(a <= t < b for a, b in world.intervals.values()) for t, _ in world.intervals.values())
    assert deepest <= len(rows) <= deepest + 8


@pytest.mark.parametrize("name", ["point", "cardinal"])
def test_points(name, rng):
    network = consistent(name, rng, 14, 0.4)
    world = network.realise().world
    text = draw_world(world, network)
    dots = {n: (float(c.get("cx")), float(c.get("cy"))) for n, c in drawn(text, "circle").items()}
    said = {n: (float(t.get("x")), float(t.get("y"))) for n, t in drawn(text, "text").items()}
    assert len(set(said.values())) == len(said)
    for a, b in combinations(dots, 2):
        one, other = (p if name == "cardinal" else (p, 0) for p in (world.points[a], world.points[b]))
        assert (one[0] < other[0]) == (dots[a][0] < dots[b][0] - 0.05)
        assert (one[1] < other[1]) == (dots[a][1] > dots[b][1] + 0.05)  # north is above
