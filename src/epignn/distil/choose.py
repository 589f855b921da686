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
from epignn.distil.reason import reason
from epignn.distil.rules import Rule, RuleSet

Floats = NDArray[np.float64]
ALIKE = 1e-7
"""Products that differ by no more are alike, and frequency decides."""
KEPT = 1 << 16
"""So many walks are remembered with what they come to; walks repeat in many graphs."""


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
    strength[several] = Derivations(rules).along_walks(data.select(several))
    score = np.where(possible, strength.round(6) + ALIKE * preference / preference.max(), 0.0)
    return np.asarray(score.argmax(1)) if len(data) else np.zeros(0, dtype=np.int64)


class Derivations:
    """How strongly rules derive each answer."""

    def __init__(self, rules: RuleSet) -> None:
        self.rules, self._known = rules, Contractions(_weights(rules))
        self._kept: dict[Walk, dict[int, float]] = {}

    def strengths(self, data: Dataset) -> Floats:
        """(G, R): how strong the strongest derivation of each answer along a walk is; 0 for what is not derived.

        Where no walk is short enough to be read, it is as strong as the weakest rule that is needed.
        """
        found = self.along_walks(data)
        unread = np.flatnonzero(~found.any(1))
        told = reason(self.rules, data.select(unread))
        found[unread] = told.possible * told.strength[:, None]
        return found

    def along_walks(self, data: Dataset) -> Floats:
        """(G, R): the largest product of the weights of a derivation, over all walks that are read."""
        strength = np.zeros((len(data), self.rules.named))
        for query, (walks, _) in enumerate(problems(data)):
            for walk in walks:
                for relation, weight in self._come_to(walk).items():
                    strength[query, relation] = max(strength[query, relation], weight)
        return strength

    def _come_to(self, walk: Walk) -> dict[int, float]:
        """What a walk comes to, with the product of weights."""
        if walk not in self._kept:
            if len(self._kept) == KEPT:
                self._kept.clear()
            answers = self._known.chart(walk)[0, len(walk)].items()
            self._kept[walk] = {r: math.exp(-made.cost) for r, made in answers if r < self.rules.named}
        return self._kept[walk]


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
