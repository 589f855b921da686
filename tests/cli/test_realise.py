"""`realise`: a world as a table, as JSON and as a picture; clashes, and what cannot be."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from epignn.calculus.realise import World
from epignn.formats.told import Told

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_harbour(epignn, tmp_path):
    picture = tmp_path / "harbour.svg"
    ran = epignn("realise", EXAMPLES / "harbour.txt", "--svg", picture)
    assert ran.code == 0, ran.err
    for part in (
        "A world in which the facts hold (rcc8)",
        "radius",
        "old town",
        "All 6 facts hold:",
        "  ec(harbour, old town)\n",
    ):
        assert part in ran.out
    assert ElementTree.parse(picture).getroot().tag.endswith("svg")


def test_json_is_a_world(epignn):
    ran = epignn("realise", EXAMPLES / "harbour.txt", "--json", "--seed", 3)
    document = json.loads(ran.out)
    assert (ran.code, document["found"], document["reason"], document["conflict"]) == (0, True, "", [])
    network = Told.read(str(EXAMPLES / "harbour.txt")).network()
    assert World.from_dict(document["world"]).broken(network) == []
    assert json.loads(epignn("realise", EXAMPLES / "harbour.txt", "--json").out)["world"] != document["world"]


@pytest.mark.parametrize(
    ("facts", "columns", "held"),
    [
        ("before(a, b). d|s(c, b)", ("interval", "start", "end"), "before(a, b)"),
        ("ne(a, b)", ("point", "east", "north"), "ne(a, b)"),
        ("father(ann, bob)", ("person", "sex", "father", "mother", "spouse"), "father(ann, bob)"),
    ],
)
def test_other_worlds(epignn, facts, columns, held):
    ran = epignn("realise", facts)
    assert ran.code == 0, ran.err
    assert all(column in ran.out for column in columns)
    assert f"  {held}" in ran.out


def test_points(epignn):
    ran = epignn("realise", "<(a, b). <=(b, c)", "--calculus", "point")
    assert (ran.code, "place" in ran.out) == (0, True)
    assert "  <=(b, c): <" in ran.out


def test_many_facts(epignn):
    ran = epignn("realise", " ".join(f"<(a{i}, a{i + 1})." for i in range(40)), "--calculus", "point")
    assert "All 40 facts hold:" in ran.out
    assert "  … and 10 more" in ran.out


def test_a_clash(epignn, tmp_path):
    ran = epignn("realise", EXAMPLES / "clash.txt", "--svg", tmp_path / "none.svg")
    assert (ran.code, ran.err) == (1, "")
    assert f"  po(garden, lake)  ({EXAMPLES / 'clash.txt'}:" in ran.out
    assert not (tmp_path / "none.svg").exists()
    ran = epignn("realise", EXAMPLES / "clash.txt", "--json")
    assert (ran.code, json.loads(ran.out)["found"], len(json.loads(ran.out)["conflict"])) == (1, False, 4)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("taller(ann, bob)", "--calculus", EXAMPLES / "heights.toml"), "heights has no pictures"),
        (
            (". ".join(f"ntpp(n{i}, n{i + 1})" for i in range(400)),),
            "401 regions, inside each other up to 401 deep",
        ),
        (("ec(a, b)", "--seconds", 0), "more than 0"),
        (("ec(a, b)", "--seed", -1), "seed"),
        (("nowhere.txt",), "nowhere.txt"),
    ],
)
def test_what_cannot_be(epignn, arguments, said):
    ran = epignn("realise", *arguments)
    assert (ran.code, said in ran.err) == (2, True), ran.err


def test_no_world_in_time(epignn):
    ran = epignn("realise", "father(a, b). uncle(b, c)", "--seconds", 1e-9)
    assert (ran.code, ran.err) == (3, "")
    assert ran.out == "undecided: no world was found within 1e-09 seconds; allow more.\n"
