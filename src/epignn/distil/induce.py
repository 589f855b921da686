"""Distil rules `r1(X, Y), r2(Y, Z) -> r3(X, Z)`: what training walks come to, weighed with what the model says.

What walks and their parts come to, of any number of edges, is learnt from the walks (see `epignn.data.contract`);
the model's probability of a relation counts as one walk more. A body of three relations or more that shorter ones
do not explain is read from the left: its first two relations are a relation of their own, `a∘b`, which is invented;
so are these with the third, and so on. Only its definition concludes an invented relation. A body that no walk
shows has a fifth of the model's probability for its weight.
"""

from collections import Counter
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from epignn.data.contract import Said, Walk, Weights, contractions, guessed, needed
from epignn.data.dataset import Dataset
from epignn.data.ways import problems
from epignn.distil.reading import Floats, read_weights, same_relations
from epignn.distil.reason import reason
from epignn.distil.rules import Rule, RuleSet
from epignn.models.epignn import EpiGNN

LEAST = 0.05
"""Rules below this weight are left out."""
WORD = 0.2
"""What the model's word alone weighs: less than what any walk shows, so that it answers where nothing else does."""


@dataclass(frozen=True)
class DistilledRules:
    """Rules, and the training walks behind them.

    Attributes:
        rules: the rules.
        walks: how many distinct training walks were read.
        steps: how many bodies of each length walks show, and, at 0, how many of two relations none shows.
    """

    rules: RuleSet
    walks: int
    steps: dict[int, int]


def distil_rules(
    model: EpiGNN, relations: tuple[str, ...], data: Dataset | None, temperature: float = 1.0, source: str = ""
) -> DistilledRules:
    """The rules that a model has learnt.

    Args:
        model: the model.
        relations: names of its relations.
        data: its training data, over the same relations; None to go by the weights alone.
        temperature: of the softmax in training.
        source: where the rules come from, for the file.

    Raises:
        BadArgument: the data are over other relations.
    """
    same_relations(relations, data)
    probability = probabilities(read_weights(model, relations).triple, temperature)
    told = problems(data) if data is not None else []
    word: Weights = {(a, b): dict(enumerate(row)) for (a, b), row in _cells(probability)}
    said = contractions(told, word)
    shown = needed(said.weights) | guessed(said.weights)
    rules = _rules(relations, shown, said, probability, source)
    if data is not None:
        rules = replace(rules, ties=_ties(rules, data))
    lengths, count = np.unique([len(body) for body in shown], return_counts=True)
    steps = dict(zip(map(int, lengths), map(int, count), strict=True))
    steps[0] = len(relations) ** 2 - steps.get(2, 0)
    return DistilledRules(rules, len({walk for walks, _ in told for walk in walks}), steps)


def probabilities(triple: Floats, temperature: float = 1.0) -> Floats:
    """p(c | a, b), a softmax of the scores, at the temperature of training."""
    logits = -triple / temperature
    powers = np.exp(logits - logits.max(2, keepdims=True))
    return np.asarray(powers / powers.sum(2, keepdims=True))


def _cells(probability: Floats) -> list[tuple[Walk, list[float]]]:
    return [((a, b), row) for a, rows in enumerate(probability.tolist()) for b, row in enumerate(rows)]


def _rules(relations: tuple[str, ...], shown: Weights, said: Said, probability: Floats, source: str) -> RuleSet:
    """The rules of some weight, and the definitions of invented relations, which are certain."""
    names = list(relations)
    number: dict[Walk, int] = {(r,): r for r in range(len(relations))}
    found: list[Rule] = []
    for body, heads in sorted(shown.items(), key=lambda item: (len(item[0]), item[0])):
        kept = {head: weight for head, weight in heads.items() if weight >= LEAST}
        for end in range(2, len(body)) if kept else ():
            if body[:end] not in number:
                number[body[:end]] = len(names)
                found.append(Rule(number[body[: end - 1]], body[end - 1], len(names), 1.0))
                names.append("∘".join(relations[r] for r in body[:end]))
        seen = said.votes.get(body, Counter())
        for head, weight in kept.items():
            found.append(
                Rule(
                    number[body[:-1]],
                    body[-1],
                    head,
                    round(weight, 4),
                    support=seen[head],
                    confidence=round(seen[head] / max(seen.total(), 1), 4),
                    model=round(float(probability[body][head]), 4) if len(body) == 2 else 0.0,
                )
            )
    for (a, b), row in _cells(probability):
        if (a, b) not in shown:
            found += [
                Rule(a, b, c, round(WORD * p, 4), model=round(p, 4)) for c, p in enumerate(row) if WORD * p >= LEAST
            ]
    return RuleSet(tuple(names), len(relations), tuple(found), source=source)


def _ties(rules: RuleSet, data: Dataset) -> tuple[int, ...]:
    """How many training queries with several equally strong answers have each label."""
    possible: NDArray[np.bool_] = reason(rules, data).possible
    ambiguous = possible.sum(1) > 1
    return tuple(np.bincount(data.label[ambiguous], minlength=len(data.relations)).tolist())
