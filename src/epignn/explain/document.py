"""Explanations as plain values, for JSON."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.network import Network
from epignn.data.statements import Statements
from epignn.explain import rule_proof
from epignn.explain.proof import to_dict
from epignn.explain.ruled import RuleExplanation
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Exclusion, Explanation

if TYPE_CHECKING:
    from epignn.explain.neural import Belief, NeuralExplanation
    from epignn.explain.vocabulary import VocabularyExplanation


def as_dict(found: "Explanation | RuleExplanation | NeuralExplanation | VocabularyExplanation") -> dict[str, Any]:
    """An explanation; proofs in it are what `checker.check`, or `rule_checker.check_rules`, reads.

    Of a model, `table` is the explanation by the calculus or by the rules distilled from it.
    """
    if isinstance(found, Explanation):
        return _symbolic(found)
    if isinstance(found, RuleExplanation):
        return _ruled(found)
    from epignn.explain.vocabulary import VocabularyExplanation

    return _vocabulary(found) if isinstance(found, VocabularyExplanation) else _neural(found)


def _neural(found: "NeuralExplanation") -> dict[str, Any]:
    table, network = found.table, found.table.network
    told = [fact_list(network, f) for f in range(len(network))]
    return {
        "head": table.head,
        "tail": table.tail,
        "status": str(found.status),
        "relations": list(network.calculus.names(found.mask)),
        "proved": found.proved,
        **_belief(found, told),
        "table": _symbolic(table),
    }


def _vocabulary(found: "VocabularyExplanation") -> dict[str, Any]:
    told = [_statement(found.facts, f) for f in range(len(found.facts))]
    return {
        "head": found.head,
        "tail": found.tail,
        "status": str(found.status),
        "relations": list(found.answers),
        "proved": found.proved,
        **_belief(found, told),
        "table": None if found.table is None else _ruled(found.table),
    }


def _belief(found: "Belief", told: list[list[Any]]) -> dict[str, Any]:
    """Probabilities, states and what each fact is worth; `told` are the facts."""

    def chances(row: NDArray[np.float64]) -> dict[str, float]:
        return dict(zip(found.relations, row.round(6).tolist(), strict=True))

    return {
        "threshold": found.threshold,
        "probabilities": chances(found.chances),
        "rounds": [
            {name: chances(row) for name, row in zip(found.states.entities, rows, strict=True)}
            for rows in found.states.chances
        ],
        "influence": [
            {"fact": fact, "probability_lost": round(float(lost), 6)}
            for fact, lost in zip(told, found.influence, strict=True)
        ],
    }


def _ruled(found: RuleExplanation) -> dict[str, Any]:
    facts = [_statement(found.facts, f) for f in found.support.facts]
    return {
        "source": found.rules.source,
        "head": found.head,
        "tail": found.tail,
        "status": str(found.status),
        "relations": list(found.relations),
        "weight": found.weight,
        "weaker": found.weaker,
        "support": {"facts": facts, "smallest": found.support.smallest},
        "proofs": [rule_proof.to_dict(proof, found.rules) for proof in found.proofs],
        "rounds": [
            {e: list(names) for e, names in zip(found.rounds.entities, row, strict=True)}
            for row in found.rounds.relations
        ],
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


def _statement(facts: Statements, f: int) -> list[Any]:
    """A fact as head, relation and tail."""
    source, target, relation = facts.edges[f]
    return [facts.names[source], facts.relations[relation], facts.names[target]]


def fact_list(network: Network, f: int) -> list[Any]:
    """A fact as head, relation names and tail."""
    names = network.calculus.names(int(network.masks[f]))
    return [network.names[network.heads[f]], list(names), network.names[network.tails[f]]]
