"""Pictures: well-formed, every entity once, nothing on top of anything else."""

from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.explain import layout
from epignn.explain.layout import Line, lay_out
from epignn.explain.picture import columns, draw
from epignn.explain.symbolic import explain
from tests.explain.conftest import network_of

SVG = "{http://www.w3.org/2000/svg}"


def entities(text):
    return [
        group.get("data-name") for group in ElementTree.fromstring(text).iter(f"{SVG}g") if group.get("data-name")
    ]


def texts(text):
    return [element.text for element in ElementTree.fromstring(text).iter(f"{SVG}text")]


def test_the_harbour(harbour):
    text = draw(explain(harbour, "harbour", "city"))
    assert sorted(entities(text)) == sorted(harbour.names)
    assert texts(text)[:2] == ["PO(harbour, city)", "by closure in rcc8"]
    assert [texts(text).count(name) for name in ("old town", "NTPP", "TPPI")] == [1, 1, 2]
    paths = list(ElementTree.fromstring(text).iter(f"{SVG}path"))
    supporting = [path for path in paths if path.get("marker-end") == "url(#strong)"]
    assert len(supporting) == 4


def test_other_answers():
    assert "not determined, by closure in rcc8" in draw(explain(network_of("ec(a, b) ec(b, c)"), "a", "c"))
    clash = draw(explain(network_of("ec(a, b) ntpp(b, a)"), "a", "b"))
    assert texts(clash)[0] == "contradictory"
    assert "In colour: the facts that clash." in clash
    assert sorted(entities(draw(explain(network_of("ec(a, b) ec(c, d)"), "a", "d")))) == ["a", "b", "c", "d"]


def test_strange_names_are_escaped_and_long_ones_cut():
    names = ["<a & 'b'>", 'say "c"', "x" * 70]
    rcc8 = load("rcc8")
    network = Network.of(rcc8, [(names[0], "ec", names[1]), (names[1], "ec|dc", names[2])])
    text = draw(explain(network, names[0], names[2]))
    assert sorted(entities(text)) == sorted(names)
    assert "x" * 25 + "…" in texts(text)


def random_tree(rng, size, extra):
    """A connected network: a tree and some further facts among near entities."""
    facts = [(f"entity {int(rng.integers(max(0, i - 8), i))}", f"entity {i}") for i in range(1, size)]
    for _ in range(extra):
        a, b = rng.choice(size, 2, replace=False).tolist()
        facts.append((f"entity {a}", f"entity {b}"))
    rcc8 = load("rcc8")
    names = ["dc|ec|po", "ec", "ntpp|tpp", "tppi"]
    return Network.of(rcc8, [(a, names[int(rng.integers(4))], b) for a, b in facts])


@pytest.mark.parametrize(("size", "extra"), [(5, 2), (12, 8), (30, 20), (60, 40)])
def test_labels_touch_nothing(size, extra, rng):
    for _ in range(4):
        network = random_tree(rng, size, extra)
        masks = [network.calculus.format(int(mask)) for mask in network.masks]
        lines = [Line(*each) for each in zip(network.heads.tolist(), network.tails.tolist(), masks, strict=True)]
        widths = [20 + 8.0 * len(name) for name in network.names]
        found = lay_out(columns(size, lines, 0), widths, lines, [0, 1])
        assert None not in found.labels
        boxes = [*found.boxes, *found.labels]
        for n, box in enumerate(boxes):
            assert not any(box.meets(other, 0) for other in boxes[:n])
            assert 0 <= box.x <= box.x + box.width <= found.width
            assert 0 <= box.y <= box.y + box.height <= found.height


def test_lines_keep_out_of_boxes(rng):
    """Between neighbouring columns, and round the right side of one, no line runs through an entity."""
    network = random_tree(rng, 40, 20)
    lines = [Line(int(a), int(b), "ec") for a, b in zip(network.heads, network.tails, strict=True)]
    found = lay_out(columns(40, lines, 0), [80.0] * 40, lines, [])
    for line, curve in zip(lines, found.curves, strict=True):
        points = [curve.at(t) for t in np.linspace(0.02, 0.98, 50)]
        for number, box in enumerate(found.boxes):
            if number not in (line.source, line.target):
                assert not any(box.x < x < box.x + box.width and box.y < y < box.y + box.height for x, y in points)


def test_a_label_without_a_place_is_left_out(monkeypatch, harbour):
    monkeypatch.setattr(layout, "PLACES", ())
    text = draw(explain(harbour, "harbour", "city"))
    assert sorted(entities(text)) == sorted(harbour.names)


def test_of_large_networks_the_supporting_facts_are_drawn():
    rcc8 = load("rcc8")
    names = [f"r{i}" for i in range(80)]
    network = Network.of(rcc8, [(a, "ntpp", b) for a, b in pairwise(names[:4])], names)
    text = draw(explain(network, "r0", "r3"))
    assert sorted(entities(text)) == names[:4]
    assert "76 further entities are not drawn." in text
