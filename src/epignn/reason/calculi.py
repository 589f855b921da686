"""Calculi and rules as plain values: what `epignn calculus show --json` and the page tell of them."""

from typing import Any

from epignn.calculus.algebra import Calculus
from epignn.calculus.meanings import meanings
from epignn.calculus.pictures import pictures
from epignn.distil.rules import RuleSet


def calculus_dict(calculus: Calculus) -> dict[str, Any]:
    """The tables of a calculus, by names."""
    names = calculus.relations
    return {
        "name": calculus.name,
        "title": calculus.title,
        "source": calculus.source,
        "relations": list(names),
        "identity": names[calculus.identity],
        "converse": {name: names[c] for name, c in zip(names, calculus.converses, strict=True)},
        "composition": {
            left: {right: list(calculus.names(mask)) for right, mask in zip(names, row, strict=True)}
            for left, row in zip(names, calculus.composition, strict=True)
        },
        "aliases": dict(calculus.aliases),
        "meanings": {word: told.format(a="a", b="b") for word, told in meanings(calculus).items()},
        "pictures": pictures(calculus),
        "decides": calculus.decides,
        "tractable": len(calculus.tractable),
    }


def rules_list(rules: RuleSet) -> list[dict[str, Any]]:
    """Rules in words and by their relations, with what speaks for each."""
    return [
        {
            "text": rules.describe(r),
            "body": [rules.relations[r.left], rules.relations[r.right]],
            "head": rules.relations[r.head],
            "weight": r.weight,
            "support": r.support,
            "confidence": r.confidence,
        }
        for r in rules.rules
    ]
