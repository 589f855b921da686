"""Pictures of worlds: well-formed, every entity once, and what does not hold is told."""

from xml.etree import ElementTree

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import World
from epignn.errors import BadArgument
from epignn.explain.svg import CLASH
from epignn.explain.world import draw_world
from epignn.files import shown
from tests.calculus.realise.made import consistent
from tests.conftest import REALISED
from tests.explain.test_picture import entities, texts


@pytest.mark.parametrize("size", [1, 2, 9])
@pytest.mark.parametrize("name", REALISED)
def test_every_entity_is_drawn_once(name, size, rng):
    network = consistent(name, rng, size, 0.5)
    text = draw_world(network.realise().world, network)
    assert sorted(entities(text)) == sorted(network.names)
    assert texts(text)[0] == "A world in which the facts hold"
    for entity in network.names:
        assert texts(text).count(entity) == 1


@pytest.mark.parametrize("name", REALISED)
def test_nothing_to_draw(name):
    network = Network.of(load(name), [])
    assert "no facts" in draw_world(network.realise().world, network)


@pytest.mark.parametrize("name", REALISED)
def test_strange_names(name):
    names = ["<a & 'b'>", 'say "c"', "x" * 70, "\x1b[31m\0\ufffe", "\ud800"]
    network = Network.of(load(name), [], names)
    text = draw_world(network.realise().world, network)
    assert sorted(entities(text)) == sorted(map(shown, names))
    assert "x" * 25 + "…" in texts(text)


def test_what_does_not_hold_is_red():
    network = Network.of(load("point"), [("a", "<", "b"), ("b", "<", "c")])
    dragged = World.from_dict({"kind": "points", "calculus": "point", "points": {"a": 0, "b": 2, "c": 1}})
    text = draw_world(dragged, network)
    assert texts(text)[:2] == ["1 of 2 facts do not hold", "in red: the names in these facts"]
    assert "<(b, c)" in texts(text)
    red = {e.text for e in ElementTree.fromstring(text).iter() if e.get("fill") == CLASH}
    assert red == {"1 of 2 facts do not hold", "b", "c"}
    assert draw_world(network.realise().world, network).count(CLASH) == 0


def test_many_facts_are_cut():
    network = consistent("point", np.random.default_rng(0), 30)
    text = draw_world(network.realise().world, network)
    [cut] = [line for line in texts(text) if line.endswith(" more")]
    assert len(cut) < 140


def test_a_world_of_something_else():
    network = Network.of(load("point"), [("a", "<", "b")])
    with pytest.raises(BadArgument, match="lacks 'b'"):
        draw_world(World.from_dict({"kind": "points", "calculus": "point", "points": {"a": 0}}), network)
