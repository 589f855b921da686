"""Which of several answers rules prefer: the one of the strongest derivation along a walk.

Answers that need rules of the same weights at the weakest are equally sure as far as the weakest rule goes. Where
there are many ways through a graph, most of them lead astray, and use more rules than they should. So of such
answers the one counts for which the product of all weights is the largest, over all walks of a graph; where that
does not tell, the one that is more frequent among such training queries.
"""

import math

import numpy as np
from numpy.typing import NDArray

from epignn.data.contract import Contractions, Walk, Weights
from epignn.data.dataset import Dataset
from epignn.data.ways import problems
from epignn.distil.rules import Rule, RuleSet

ALIKE = 1e-7
"""Products that differ by no more are alike, and frequency decides."""


def chosen(rules: RuleSet, data: Dataset, possible: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(G) the answer that is preferred for each query; the first relation where there is none.

    Args:
        rules: the rules.
        data: the queries.
        possible: (G, R) the answers that are derived first.
    """
    preference = np.array(rules.ties if rules.ties else (0,) * rules.named, dtype=np.float64) + 1
    strength = np.zeros(possible.shape)
    several = np.flatnonzero(possible.sum(1) > 1)
    known = Contractions(_weights(rules))
    for query, (walks, _) in zip(several.tolist(), problems(data.select(several)), strict=True):
        for walk in walks:
            for relation, made in known.chart(walk)[0, len(walk)].items():
                if relation < rules.named and possible[query, relation]:
                    strength[query, relation] = max(strength[query, relation], math.exp(-made.cost))
    score = np.where(possible, strength.round(6) + ALIKE * preference / preference.max(), 0.0)
    return np.asarray(score.argmax(1)) if len(data) else np.zeros(0, dtype=np.int64)


def _weights(rules: RuleSet) -> Weights:
    """Rules as contractions; an invented relation that has one definition is what it stands for."""
    defined: dict[int, list[Rule]] = {}
    for rule in rules.rules:
        if rule.head >= rules.named:
            defined.setdefault(rule.head, []).append(rule)
    known: dict[int, Walk] = {}

    def meant(relation: int) -> Walk:
        if relation not in known:
            known[relation] = (relation,)  # until it is known, lest it be defined by itself
            if len(definitions := defined.get(relation, [])) == 1:
                known[relation] = meant(definitions[0].left) + meant(definitions[0].right)
        return known[relation]

    weights: Weights = {}
    for rule in rules.rules:
        if len(meant(rule.head)) == 1:
            weights.setdefault(meant(rule.left) + meant(rule.right), {})[rule.head] = rule.weight
    return weights
