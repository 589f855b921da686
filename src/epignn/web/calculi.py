"""What a worker tells of calculi: the shipped ones, and those that a user brings."""

from typing import Any

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.laws import laws_of
from epignn.calculus.meanings import meanings
from epignn.distil.rules import read_distilled
from epignn.errors import UnknownName
from epignn.reason.calculi import calculus_dict, rules_list
from epignn.web.errors import NotThere
from epignn.web.limits import Context
from epignn.web.networks import OWN, shipped


def calculi(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """All shipped calculi."""
    from epignn.calculus.realise import pictured  # here: it takes a while to load, and other requests need it not

    return {
        "calculi": [
            {
                "name": one.name,
                "title": one.title,
                "relations": list(one.relations),
                "aliases": dict(one.aliases),
                **_words(one),
                "realisable": pictured(one) is not None,
            }
            for one in map(load, CALCULI)
        ]
    }


def calculus(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """One of them, with its tables."""
    try:
        return _told(shipped(request["name"]))
    except UnknownName as error:
        raise NotThere(str(error)) from error


def own(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """A calculus, with the laws that it obeys, or rules, from the text of a file."""
    found = read_distilled(request["toml"], OWN)
    if isinstance(found, Calculus):
        return _told(found) | {"laws": list(laws_of(found))}
    return {"kind": "rules", "relations": list(found.relations), "rules": rules_list(found)}


def _told(one: Calculus) -> dict[str, Any]:
    return {"kind": "calculus", **calculus_dict(one), **_words(one)}


def _words(one: Calculus) -> dict[str, Any]:
    """What people call its relations, and what that means."""
    return {"words": list(one.words(one.universal)), "terms": list(one.terms), "meanings": meanings(one)}
