"""Distil rules `r1(X, Y), r2(Y, Z) -> r3(X, Z)`: what the model says of r1 ∘ r2, weighed with training walks.

Walks are taken by their length, since the shorter one is, the fewer other rules are needed to read it. A walk shows
the body r1, r2 where its first part derives r1 and the rest r2; its label is the head r3. The weight of a rule is
the share of its head among the shortest walks that show its body, counting the model's probability as one walk
more and one walk against. It falls by a tenth for every step of these walks beyond two:

    weight = 0.9^(steps - 2) (walks with this head + p(head | body)) / (walks with this body + 2)

A body that no walk shows has the model's probability alone, and its rules at most half the weight of the best.

A walk whose label does not follow from the rules has a stretch for which no rule derives a relation. The bodies of
its shortest such stretches become relations of their own, `a∘b`; bodies that the model composes to the same state
share one. Only its definition concludes such an invented relation.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset
from epignn.distil.reading import Body, Floats, body_states, read_weights, same_relations
from epignn.distil.reason import reason
from epignn.distil.rules import Rule, RuleSet
from epignn.distil.walks import Chart, Heads, Stretch, Walk, Walks, bodies, derived
from epignn.models.epignn import EpiGNN

LEAST = 0.05
"""Rules below this weight are left out."""
LONG_WALKS = 12
"""Walks of more steps add little to what shorter ones show, and take long to read."""
TRUST = 0.9
"""What is left of the weight of a rule with every step more of the walks that show it."""
HALF = 0.5
"""Rules whose head has more than this share are used to read longer walks."""
MOST = 64
"""So many bodies at most become relations of their own, those of the most walks."""
SAME = 0.02
"""States of a smaller distance (total variation, averaged over facets) are the same relation."""


@dataclass(frozen=True)
class DistilledRules:
    """Rules, and the training walks behind them.

    Attributes:
        rules: the rules.
        walks: how many distinct training walks were read.
        steps: how many bodies are shown by walks of each length, and, at 0, by no walk.
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
    reading = read_weights(model, relations)
    probability = probabilities(reading.triple, temperature)
    if data is None:
        counts = Counts.none(len(relations))
        return DistilledRules(
            _rules(relations, len(relations), probability, counts, probability, {}, source), 0, {}
        )
    walks = Walks.of(data).upto(LONG_WALKS)
    counts = induce(probability, walks, {})
    found = nameless(walks, readable(counts, probability, {}))
    defined: dict[Body, int] = {}
    if found:
        groups = group(body_states(model, found), found)
        defined = {body: len(relations) + g for g, members in enumerate(groups) for body in members}
        reading = read_weights(model, relations, groups)
        probability = probabilities(reading.triple, temperature)
        probability[:, :, len(relations) :] = 0  # only its definition concludes an invented relation
        counts = induce(probability, walks, defined)
    weight = counts.weight(probability)
    rules = _rules(reading.relations, len(relations), weight, counts, probability, defined, source)
    lengths, shown = np.unique(counts.steps, return_counts=True)
    steps = dict(zip(lengths.tolist(), shown.tolist(), strict=True))
    return DistilledRules(replace(rules, ties=_ties(rules, data)), len(walks.labels), steps)


@dataclass(frozen=True, eq=False)
class Counts:
    """How many walks, with repetitions, show every rule.

    Attributes:
        head: (E, E, E) those that show a body with a head.
        body: (E, E) those that show a body.
        steps: (E, E) their length; 0 where no walk shows the body.
    """

    head: Floats
    body: Floats
    steps: NDArray[np.int64]

    @classmethod
    def none(cls, size: int) -> "Counts":
        """No walks yet."""
        return cls(np.zeros((size, size, size)), np.zeros((size, size)), np.zeros((size, size), dtype=np.int64))

    def share(self, probability: Floats) -> Floats:
        """(E, E, E) the share of each head among the walks that show its body."""
        return np.asarray((self.head + probability) / (self.body[..., None] + 2))

    def weight(self, probability: Floats) -> Floats:
        """(E, E, E) the weight of every rule."""
        longest = max(2, int(self.steps.max(initial=2)))
        steps = np.where(self.steps == 0, longest, self.steps)
        return np.asarray(TRUST ** (steps - 2)[..., None] * self.share(probability))


def probabilities(triple: Floats, temperature: float = 1.0) -> Floats:
    """p(c | a, b), a softmax of the scores, at the temperature of training."""
    logits = -triple / temperature
    powers = np.exp(logits - logits.max(2, keepdims=True))
    return np.asarray(powers / powers.sum(2, keepdims=True))


def induce(probability: Floats, walks: Walks, defined: Mapping[Body, int]) -> Counts:
    """Count what walks show of all rules, shortest walks first.

    Args:
        probability: (E, E, E) the model's probability of each head, given the body.
        walks: the training walks.
        defined: the invented relation of each body that has one.
    """
    counts = Counts.none(len(probability))
    for length in sorted({len(walk) for walk in walks.labels if len(walk) > 1}):
        labels = {walk: seen for walk, seen in walks.labels.items() if len(walk) == length}
        counts = _count(labels, readable(counts, probability, defined), counts)
    return counts


def readable(counts: Counts, probability: Floats, defined: Mapping[Body, int]) -> Heads:
    """The rules by which longer walks are read: heads of more than half the share, and definitions."""
    share = counts.share(probability)
    bits = np.array([1 << c for c in range(share.shape[2])], dtype=object)
    masks = np.where(share > HALF, bits, 0).sum(2)
    for body, invented in defined.items():
        masks[body] |= 1 << invented
    return Heads(tuple(tuple(int(mask) for mask in row) for row in masks))


def _count(labels: Mapping[Walk, Counter[int]], heads: Heads, shorter: Counts) -> Counts:
    """Add what walks of one length show of bodies that no shorter one shows."""
    head, body, steps = shorter.head.copy(), shorter.body.copy(), shorter.steps.copy()
    for walk, seen in labels.items():
        for a, b in set(bodies(derived(walk, heads), (0, len(walk)))):
            if not shorter.steps[a, b]:
                steps[a, b] = len(walk)
                for label, times in seen.items():
                    head[a, b, label] += times
                    body[a, b] += times
    return Counts(head, body, steps)


def nameless(walks: Walks, heads: Heads) -> list[Body]:
    """Bodies that need a relation of their own, those of the most walks first."""
    needed: Counter[Body] = Counter()
    for walk, seen in walks.labels.items():
        chart = derived(walk, heads)
        label = seen.most_common(1)[0][0]
        if not chart[0, len(walk)] >> label & 1:
            for body in {body for stretch in _shortest(chart, len(walk)) for body in bodies(chart, stretch)}:
                needed[body] += seen.total()
    return [body for body, _ in needed.most_common(MOST)]


def _shortest(chart: Chart, steps: int) -> list[Stretch]:
    """The shortest stretches inside a walk for which nothing is derived."""
    for length in range(2, steps):
        found = [(i, i + length) for i in range(steps - length + 1) if not chart[i, i + length]]
        if found:
            return found
    return []


def group(states: Floats, found: Sequence[Body]) -> list[list[Body]]:
    """Bodies of the same state together; `states` is (N, F, K), a state for each body."""
    groups: list[tuple[Floats, list[Body]]] = []
    for state, body in zip(states, found, strict=True):
        near = [members for first, members in groups if np.abs(first - state).sum(-1).mean() / 2 < SAME]
        if near:
            near[0].append(body)
        else:
            groups.append((state, [body]))
    return [members for _, members in groups]


def _rules(
    relations: tuple[str, ...],
    named: int,
    weight: Floats,
    counts: Counts,
    probability: Floats,
    defined: Mapping[Body, int],
    source: str,
) -> RuleSet:
    """The rules of some weight, and the definitions of invented relations, which are certain."""
    found = [
        Rule(
            int(a),
            int(b),
            int(c),
            round(float(weight[a, b, c]), 4),
            support=int(counts.head[a, b, c]),
            confidence=round(float(counts.head[a, b, c] / max(counts.body[a, b], 1)), 4),
            model=round(float(probability[a, b, c]), 4),
        )
        for a, b, c in np.argwhere(weight >= LEAST)
    ]
    found += [Rule(a, b, invented, 1.0) for (a, b), invented in defined.items()]
    return RuleSet(relations, named, tuple(found), source=source)


def _ties(rules: RuleSet, data: Dataset) -> tuple[int, ...]:
    """How many training queries with several equally strong answers have each label."""
    possible: NDArray[np.bool_] = reason(rules, data).possible
    ambiguous = possible.sum(1) > 1
    return tuple(np.bincount(data.label[ambiguous], minlength=len(data.relations)).tolist())
