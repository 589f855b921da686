"""Rules from weights and walks: what the model says of r1 ∘ r2, weighed with what training walks show.

Walks are taken by their length, since the shorter one is, the fewer other rules it takes to read it. A walk shows
a body wherever it may be parted into two, and its label is the head. The weight of a rule is its share among the
shortest walks that show its body, with the model's probability as one walk more and one walk against; it falls by
a tenth for every step of these walks beyond two:

    weight = 0.9^(steps - 2) (walks with this head + p(head | body)) / (walks with this body + 2)

A body that no walk shows has the model's word alone, and its rules half the weight at most of those best shown.
"""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.distil.chart import Heads, bodies, derived
from epignn.distil.walks import Walk, Walks

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Body = tuple[int, int]
TRUST = 0.9
"""What is left of the weight of a rule with every step more of the walks that show it."""
HALF = 0.5
"""Heads of more than this share let longer walks be read."""


@dataclass(frozen=True, eq=False)
class Counts:
    """What walks, with repetitions, show of every rule.

    Attributes:
        head: (E, E, E) those that show a body with a head.
        body: (E, E) those that show a body.
        steps: (E, E) their length; 0 where no walk shows the body.
    """

    head: Floats
    body: Floats
    steps: Ints

    @classmethod
    def none(cls, size: int) -> "Counts":
        """Nothing seen yet."""
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
        probability: (E, E, E) what the model says of each head, given the body.
        walks: the training walks.
        defined: bodies that invented relations stand for.
    """
    counts = Counts.none(len(probability))
    for length in sorted({len(walk) for walk in walks.labels if len(walk) > 1}):
        labels = {walk: seen for walk, seen in walks.labels.items() if len(walk) == length}
        counts = _count(labels, readable(counts, probability, defined), counts)
    return counts


def readable(counts: Counts, probability: Floats, defined: Mapping[Body, int]) -> Heads:
    """The rules by which longer walks are read: heads of the larger share, and definitions."""
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
