"""Explanations as plain values, for JSON."""

from typing import Any

from epignn.calculus.network import Network
from epignn.explain.proof import to_dict
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Exclusion, Explanation


def as_dict(found: Explanation) -> dict[str, Any]:
    """An explanation by a calculus; proofs in it are what `checker.check` reads."""
    calculus = found.network.calculus
    return {
        "calculus": calculus.name,
        "head": found.head,
        "tail": found.tail,
        "status": str(found.status),
        "relations": list(found.relations),
        "verdict": str(found.verdict),
        "support": _support(found.network, found.support),
        "proof": to_dict(found.proof, calculus),
        "excluded": [_exclusion(found.network, exclusion) for exclusion in found.exclusions],
        "rounds": [
            {e: list(calculus.names(mask)) for e, mask in zip(found.rounds.entities, row, strict=True)}
            for row in found.rounds.masks.tolist()
        ],
    }


def _exclusion(network: Network, exclusion: Exclusion) -> dict[str, Any]:
    calculus = network.calculus
    return {
        "relations": list(calculus.names(exclusion.mask)),
        "left": list(calculus.names(exclusion.left)),
        "path": list(exclusion.path),
        "support": _support(network, exclusion.support),
        "proof": to_dict(exclusion.proof, calculus),
    }


def _support(network: Network, found: Support) -> dict[str, Any]:
    return {"facts": [fact_list(network, f) for f in found.facts], "smallest": found.smallest}


def fact_list(network: Network, f: int) -> list[Any]:
    """A fact as head, relation names and tail."""
    names = network.calculus.names(int(network.masks[f]))
    return [network.names[network.heads[f]], list(names), network.names[network.tails[f]]]
