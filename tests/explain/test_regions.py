"""Regions: drawn to scale, small ones above large ones, names inside where there is room."""

from math import hypot
from xml.etree import ElementTree

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import World
from epignn.explain.world import draw_world
from tests.explain.test_lines import drawn
from tests.explain.test_picture import SVG, entities


def world_of(regions):
    return World.from_dict({"kind": "regions", "calculus": "rcc8", "regions": regions})


def words(text):
    root = ElementTree.fromstring(text)
    return {t.text: (float(t.get("x")), float(t.get("y"))) for t in root.iter(f"{SVG}text") if t.get("paint-order")}


def test_discs():
    world = world_of({n: {"discs": [d]} for n, d in {"in": [2, 0, 1], "out": [0, 0, 4], "far": [9, 1, 2]}.items()})
    network = Network.of(load("rcc8"), [("in", "ntpp", "out"), ("far", "dc", "out")])
    text = draw_world(world, network)
    circles = {n: [float(c.get(key)) for key in ("cx", "cy", "r")] for n, c in drawn(text, "circle").items()}
    assert entities(text) == ["out", "far", "in"]
    assert circles["out"][2] == pytest.approx(4 * circles["in"][2], abs=0.05)
    assert circles["far"][1] < circles["out"][1]  # y runs upwards
    for name, (x, y) in words(text).items():
        cx, cy, r = circles[name]
        assert hypot(x - cx, y - cy) < r
    x, y = words(text)["out"]
    assert hypot(x - circles["in"][0], y - circles["in"][1]) > circles["in"][2]


def test_a_hole_stays_empty():
    """By the even-odd rule; the name of the ring is on the ring."""
    ring = {"polygons": [[[0, 0], [30, 0], [30, 30], [0, 30]], [[10, 10], [20, 10], [20, 20], [10, 20]]]}
    inside = {"polygons": [[[12, 12], [18, 12], [18, 18], [12, 18]]]}
    network = Network.of(load("rcc8"), [("ring", "dc", "in")])
    text = draw_world(world_of({"ring": ring, "in": inside}), network)
    path = drawn(text, "path")["ring"]
    assert path.get("fill-rule") == "evenodd"
    assert path.get("d").count("M") == 2
    x, y = words(text)["in"]
    assert abs(x - (28 + 280)) < 60
    x, y = words(text)["ring"]
    assert abs(x - (28 + 280)) > 90 or abs(y - 290) > 90


def test_names_do_not_touch():
    """Equal regions have their names apart."""
    disc = {"discs": [[0, 0, 1]]}
    network = Network.of(load("rcc8"), [("a", "eq", "b"), ("b", "eq", "c")])
    said = words(draw_world(world_of({"a": disc, "b": disc, "c": disc}), network))
    assert len(said) == 3
    assert all(
        abs(said[a][0] - said[b][0]) > 7 or abs(said[a][1] - said[b][1]) > 14 for a in said for b in said if a < b
    )
