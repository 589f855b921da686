"""Worlds that are read: every kind back and forth, strange ones refused in words that tell what to do."""

import copy
import json

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import World
from epignn.calculus.realise.forms import FORMS
from epignn.errors import BadArgument, EpignnError, UnknownName

SQUARE = [[0, 0], [2, 0], [2, 2], [0, 2]]
COUPLE = [
    {"name": "bob", "female": False, "father": None, "mother": None, "spouse": 1},
    {"name": None, "female": True, "father": None, "mother": None, "spouse": 0},
    {"name": "ann", "female": True, "father": 0, "mother": 1, "spouse": None},
]
DOCUMENTS = [
    {"kind": "intervals", "calculus": "allen", "intervals": {"a": [0, 2], "b": [2, 3.5]}},
    {"kind": "points", "calculus": "point", "points": {"a": 1, "b": -2.5}},
    {"kind": "plane", "calculus": "cardinal", "points": {"a": [1, 2], "b": [0, 2]}},
    {"kind": "regions", "calculus": "rcc8", "regions": {"a": {"discs": [[0, 0, 1.5]]}}},
    {"kind": "regions", "calculus": "rcc5", "regions": {"a": {"polygons": [SQUARE]}}},
    {"kind": "family", "calculus": "kinship", "people": COUPLE},
]


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda d: d["kind"])
def test_back_and_forth(document):
    world = World.from_dict(document)
    assert world.to_dict() == document
    assert World.from_dict(json.loads(json.dumps(world.to_dict()))) == world


def test_every_form_is_tried():
    assert {document["kind"] for document in DOCUMENTS} == set(FORMS)


WRONG = [
    (0, "intervals", {"a": [2, 2]}, "ends after its start"),
    (0, "intervals", {"a": [0, float("nan")]}, "between -1e+09 and 1e+09, not nan"),
    (0, "intervals", {"a": [0, 10**400]}, "between"),
    (0, "intervals", {"a": [0]}, "has 2 numbers, not 1"),
    (0, "intervals", {"a": "soon"}, "is a list, not 'soon'"),
    (0, "intervals", {"": [0, 1]}, "1 to 1000 letters"),
    (0, "intervals", [[0, 1]], "an object with names for keys"),
    (0, "calculus", "rcc8", "the calculus of a world of kind 'intervals' is allen, not 'rcc8'"),
    (0, "calculus", None, "the calculus of a world"),
    (0, "kind", "interval", "Did you mean 'intervals'"),
    (0, "kind", 3, "the kind of a world"),
    (1, "points", {"a": True}, "is a number"),
    (1, "points", {str(n): 0 for n in range(20_001)}, "at most 20,000 entities"),
    (2, "points", {"a": [0, float("inf")]}, "is a number"),
    (3, "regions", {"a": {"discs": [[0, 0, 0]]}}, "a radius is larger than 0"),
    (3, "regions", {"a": {"discs": []}}, "are one disc, not 0"),
    (3, "regions", {"a": {"discs": [[0, 0, 1]]}, "b": {"polygons": [SQUARE]}}, "all 'discs' or all 'polygons'"),
    (3, "regions", {"a": {"shape": 1}}, "all 'discs' or all 'polygons', not 'shape'"),
    (3, "regions", {"a": {}}, "the discs in"),
    (4, "regions", {"a": {"polygons": [[[0, 0], [1, 1], [2, 0]]]}}, "sides run along x or y"),
    (4, "regions", {"a": {"polygons": [[[0, 0], [0, 0], [2, 0], [2, 0]]]}}, "sides run along x or y"),
    (4, "regions", {"a": {"polygons": [[[0, 0], [2, 0]]]}}, "at least four corners"),
    (4, "regions", {"a": {"polygons": []}}, "one or more polygons"),
    (4, "regions", {"a": {"polygons": [SQUARE, SQUARE]}}, "nothing lies inside the polygons of 'a'"),
]


@pytest.mark.parametrize(("number", "key", "value", "said"), WRONG)
def test_strange_worlds_are_refused(number, key, value, said):
    with pytest.raises(EpignnError) as refused:
        World.from_dict({**DOCUMENTS[number], key: value})
    assert said in str(refused.value)
    assert isinstance(refused.value, BadArgument | UnknownName)


@pytest.mark.parametrize("document", [None, [], "a", {}, {"kind": []}])
def test_what_is_no_world_at_all(document):
    with pytest.raises(BadArgument, match="a world"):
        World.from_dict(document)


STRANGE_PEOPLE = [
    (0, {"female": None}, "'female' of person 0 is true or false"),
    (0, {"spouse": 7}, "from 0 to 2, not 7"),
    (0, {"spouse": True}, "from 0 to 2"),
    (0, {"spouse": None}, "who are not married to each other|married to somebody else"),
    (0, {"female": True}, "of the same sex|a woman for a father"),
    (2, {"mother": None}, "'ann' has one parent"),
    (2, {"father": 1, "mother": 0}, "a woman for a father"),
    (2, {"name": "bob"}, "the same name"),
    (0, {"father": 0, "mother": 1}, "'bob' descends from themselves"),
    (1, {"father": 0, "mother": 1}, "descends from themselves"),
]


@pytest.mark.parametrize(("number", "change", "said"), STRANGE_PEOPLE)
def test_strange_families_are_refused(number, change, said):
    people = copy.deepcopy(COUPLE)
    people[number] |= change
    with pytest.raises(BadArgument, match=said):
        World.from_dict({"kind": "family", "calculus": "kinship", "people": people})


def test_marriages_are_mutual():
    people = [*copy.deepcopy(COUPLE), {"name": "tom", "female": False, "father": None, "mother": None, "spouse": 1}]
    with pytest.raises(BadArgument, match="'tom' is married to somebody who is married to somebody else"):
        World.from_dict({"kind": "family", "calculus": "kinship", "people": people})


def test_married_kin_are_refused():
    people = [*copy.deepcopy(COUPLE), {"name": "tom", "female": False, "father": 0, "mother": 1, "spouse": 2}]
    people[2]["spouse"] = 3
    with pytest.raises(BadArgument, match="'ann' is married to kin"):
        World.from_dict({"kind": "family", "calculus": "kinship", "people": people})


def test_broken():
    """A world that was changed tells which facts it breaks."""
    network = Network.of(load("allen"), [("a", "m", "b"), ("a", "<|o", "b"), ("b", "mi", "a"), ("a", "=", "a")])
    world = World.from_dict(DOCUMENTS[0])
    assert world.broken(network) == [1]
    moved = World.from_dict({**DOCUMENTS[0], "intervals": {"a": [0, 3], "b": [2, 3.5]}})
    assert moved.broken(network) == [0, 2]
    assert world.relation("a", "b") == load("allen").parse("m")


def test_broken_of_other_facts():
    world = World.from_dict(DOCUMENTS[0])
    with pytest.raises(BadArgument, match=r"one of allen, the facts are of point"):
        world.broken(Network.of(load("point"), [("a", "<", "b")]))
    with pytest.raises(BadArgument, match=r"lacks 'c', 'd'"):
        world.broken(Network.of(load("allen"), [("c", "<", "d")]))
    with pytest.raises(UnknownName, match="entity 'aa'"):
        world.relation("aa", "b")
