"""Explanations as plain values, for JSON."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.network import Network
from epignn.explain.proof import to_dict
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Exclusion, Explanation

if TYPE_CHECKING:
    from epignn.explain.neural import NeuralExplanation


def as_dict(found: "Explanation | NeuralExplanation") -> dict[str, Any]:
    """An explanation; proofs in it are what `checker.check` reads.

    Of a model, `table` is the explanation by the calculus distilled from it.
    """
    return _symbolic(found) if isinstance(found, Explanation) else _neural(found)


def _neural(found: "NeuralExplanation") -> dict[str, Any]:
    network = found.table.network

    def chances(row: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(found.relations, row.round(6).tolist(), strict=True))

    return {
        "head": found.table.head,
        "tail": found.table.tail,
        "status": str(found.status),
        "relations": list(network.calculus.names(found.mask)),
        "threshold": found.threshold,
        "probabilities": chances(found.chances),
        "proved": found.proved,
        "rounds": [
            {name: chances(row) for name, row in zip(found.states.entities, rows, strict=True)}
            for rows in found.states.chances
        ],
        "influence": [
            {"fact": fact_list(network, f), "probability_lost": round(float(lost), 6)}
            for f, lost in enumerate(found.influence)
        ],
        "table": _symbolic(found.table),
    }


def _symbolic(found: Explanation) -> dict[str, Any]:
    calculus = found.network.calculus
    return {
        "calculus": calculus.name,
        "source": calculus.source,
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
