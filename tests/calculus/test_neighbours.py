"""Neighbourhoods: the published ones, and laws that hold for all."""

import itertools

import networkx
import pytest

from epignn.calculus import load
from epignn.calculus.neighbours import NEIGHBOURS, neighbours
from epignn.errors import BadArgument
from epignn.explain.neighbourhood import draw_neighbourhood


@pytest.mark.parametrize("name", list(NEIGHBOURS))
def test_laws(name):
    """Neighbours are mutual, converses of neighbours are neighbours, and every relation can be reached."""
    calculus = load(name)
    found = neighbours(calculus)
    converse = {r: calculus.relations[c] for r, c in zip(calculus.relations, calculus.converses, strict=True)}
    for one, others in found.items():
        for other in others:
            assert one in found[other]
            assert converse[other] in found[converse[one]]
    assert networkx.is_connected(networkx.Graph(found))


def test_freksa_has_sixteen_steps_between_intervals():
    found = neighbours(load("allen"))
    assert sum(map(len, found.values())) == 2 * 16
    path = ["<", "m", "o", "s", "d", "f", "oi", "mi", ">"]
    assert all(b in found[a] for a, b in itertools.pairwise(path))
    assert found["="] == ("s", "si", "f", "fi")


def test_regions():
    found = neighbours(load("rcc8"))
    assert found["PO"] == ("EC", "TPP", "TPPI")
    assert found["EQ"] == ("TPP", "TPPI")
    assert neighbours(load("rcc5"))["PO"] == ("DR", "PP", "PPI")


def test_durations_and_points_that_look():
    found = neighbours(load("indu"))
    assert found["eq="] == ("s<", "si>", "f<", "fi>")
    assert set(found["m="]) == {"b=", "o=", "m<", "m>"}
    assert neighbours(load("star4"))["NNE"] == ("N", "NE", "EQ")
    seen = neighbours(load("opra1"))
    assert {"front-left", "front-right", "left-front", "right-front"} <= set(seen["front-front"])
    assert "back-front" in seen["same"]


@pytest.mark.parametrize("name", list(NEIGHBOURS))
def test_a_picture_shows_every_relation_and_line(name):
    from xml.etree import ElementTree

    calculus = load(name)
    page = ElementTree.fromstring(draw_neighbourhood(calculus))
    texts = {text.text for text in page.iter("{http://www.w3.org/2000/svg}text")}
    assert set(calculus.relations) <= texts
    lines = len(list(page.iter("{http://www.w3.org/2000/svg}line")))
    assert lines == sum(map(len, neighbours(calculus).values())) / 2


def test_a_calculus_without_one():
    with pytest.raises(BadArgument, match="no neighbourhood is known for kinship; there is one for allen"):
        neighbours(load("kinship"))
