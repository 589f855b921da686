"""Where to cut between possible and impossible: facts in the order of their scores, and the best prefix of them.

With training data the cut is the one whose table makes the labels likeliest. Without, the laws choose: among the
cuts whose table is associative and has no empty cell, the one of the largest product of gap and facts excluded. (A
wide gap that excludes little says little: near the universal table every table is associative.) The true table
plays no part.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from epignn.distil.evidence import Evidence
from epignn.distil.orbits import Bools, Floats, Orbits

Progress = Callable[[int, int], None]


def choose_cut(orbits: Orbits, score: Floats, evidence: Evidence | None, report: Progress) -> tuple[Bools, float]:
    """Which facts are possible, and the score of the cut.

    Args:
        orbits: the facts.
        score: (N,) of each; low is possible.
        evidence: training problems, or None to go by the laws alone.
        report: called with the cuts done and all of them.
    """
    order = orbits.free[np.argsort(score[orbits.free], kind="stable")]
    # Cut c lies between facts c - 1 and c of different scores; the gap beyond either end counts as none.
    low, high = score[order].take([0, *range(len(order))]), score[order].take([*range(len(order)), -1])
    cuts = [c for c in range(len(order) + 1) if c in (0, len(order)) or low[c] < high[c]]
    tables = [_prefix(orbits, order[:c]) for c in cuts]
    lawful = np.array([breaches(orbits, table) == 0 for table in tables])
    likelihood = np.zeros(len(cuts))
    if evidence is not None:
        for number, table in enumerate(tables):
            likelihood[number] = evidence.judge(orbits.calculus(table)).log_likelihood
            report(number + 1, len(cuts))
    worth = [(high[c] - low[c]) * (len(order) - c) for c in cuts]
    best = int(np.lexsort((worth, lawful, likelihood))[-1])
    return tables[best], float((low[cuts[best]] + high[cuts[best]]) / 2)


def _prefix(orbits: Orbits, chosen: NDArray[np.int64]) -> Bools:
    possible = orbits.neutral.copy()
    possible[chosen] = True
    return possible


def breaches(orbits: Orbits, possible: Bools) -> int:
    """How many cells break a law: empty cells, and (a ∘ b) ∘ c unlike a ∘ (b ∘ c) at some result.

    The other laws hold for every set of orbits.
    """
    table = possible[orbits.number].astype(np.float32)
    count = len(table)
    empty = int((table.sum(2) == 0).sum())
    left = (table.reshape(count * count, count) @ table.reshape(count, count * count)) > 0
    right = np.einsum("bdc,ace->abde", table, table, optimize=True) > 0
    return empty + int((left.reshape(right.shape) != right).any(3).sum())
