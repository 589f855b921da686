"""Invented relations: names for compositions that no named relation describes, where training walks need them.

A walk whose label does not follow from the rules needs some stretch of it to be a relation that no rule derives
yet. The bodies of its shortest such stretches are given names: `a∘b`. Bodies that the model composes to the same
state share one.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from epignn.distil.chart import Chart, Heads, Stretch, bodies, derived
from epignn.distil.induce import Body
from epignn.distil.walks import Walks

MOST = 64
"""So many bodies are named at most, those of the most walks."""
SAME = 0.02
"""States of a smaller distance (total variation, on the mean over facets) are the same relation."""


def nameless(walks: Walks, heads: Heads) -> list[Body]:
    """Bodies that need a name, those of the most walks first."""
    needed: Counter[Body] = Counter()
    for walk, seen in walks.labels.items():
        chart = derived(walk, heads)
        label = seen.most_common(1)[0][0]
        if not chart[0, len(walk)] >> label & 1:
            for body in {body for stretch in _shortest(chart, len(walk)) for body in bodies(chart, stretch)}:
                needed[body] += seen.total()
    return [body for body, _ in needed.most_common(MOST)]


def _shortest(chart: Chart, steps: int) -> list[Stretch]:
    """The shortest stretches inside a walk of which nothing is derived."""
    for length in range(2, steps):
        found = [(i, i + length) for i in range(steps - length + 1) if not chart[i, i + length]]
        if found:
            return found
    return []


def group(states: NDArray[np.float64], found: Sequence[Body]) -> list[list[Body]]:
    """Bodies of the same state together; `states` is (N, F, K), a state for each body."""
    groups: list[tuple[NDArray[np.float64], list[Body]]] = []
    for state, body in zip(states, found, strict=True):
        near = [members for first, members in groups if _distance(first, state) < SAME]
        if near:
            near[0].append(body)
        else:
            groups.append((state, [body]))
    return [members for _, members in groups]


def _distance(left: NDArray[np.float64], right: NDArray[np.float64]) -> float:
    return float(np.abs(left - right).sum(-1).mean() / 2)
