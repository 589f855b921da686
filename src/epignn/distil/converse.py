"""Identity and converse from the weights.

The identity is the relation that changes others least, on either side. The converse is the involution under which
the six forms of every fact agree best: each involution says which scores ought to be equal, and the true one is
right. The search starts from the pairs that compose to the identity best, and joins or parts a pair at a time.
"""

from collections.abc import Iterator
from functools import cache

import numpy as np

from epignn.distil.orbits import Converses, Floats, forms

EXACT_MATCHING = 16
"""Relations up to which the best pairs are found exactly (2^R subsets); beyond, the best pair is taken first."""


def choose_identity(triple: Floats) -> tuple[int, float, float]:
    """The relation e for which a ∈ e∘a and a ∈ a∘e score best on the mean, that score, and the next relation's.

    Nearness of its vector to the identity state says less: some models learn a second neutral state.
    """
    a = np.arange(len(triple))
    score = (triple[:, a, a] + triple[a, :, a].T).mean(1) / 2
    order = np.argsort(score, kind="stable")
    return int(order[0]), float(score[order[0]]), float(score[order[1]]) if len(order) > 1 else np.inf


def choose_converse(triple: Floats, identity: int) -> tuple[Converses, float, float]:
    """The converse of every relation, its disagreement, and that of the next best involution near it."""
    chosen = _matching(triple[:, :, identity], identity)
    least = disagreement(triple, chosen)
    while True:
        others = [(disagreement(triple, other), other) for other in _neighbours(chosen, identity)]
        best, other = min(others, default=(np.inf, chosen))
        if best >= least:
            return chosen, least, best
        chosen, least = other, best


def disagreement(triple: Floats, converses: Converses) -> float:
    """The variance of the scores among the six forms of a fact, on the mean over all facts."""
    return float(triple.ravel()[forms(converses)].var(0).mean())


def _matching(cost: Floats, identity: int) -> Converses:
    """The involution of least total cost that leaves the identity alone."""
    others = [r for r in range(len(cost)) if r != identity]
    both = ((cost + cost.T) / 2)[np.ix_(others, others)]
    pairs = _best_pairs(both) if len(others) <= EXACT_MATCHING else _greedy_pairs(both)
    converses = list(range(len(cost)))
    for a, b in pairs:
        converses[others[a]], converses[others[b]] = others[b], others[a]
    return tuple(converses)


def _best_pairs(cost: Floats) -> tuple[tuple[int, int], ...]:
    @cache
    def best(left: int) -> tuple[float, tuple[tuple[int, int], ...]]:
        if not left:
            return 0.0, ()
        a = (left & -left).bit_length() - 1
        found = []
        for b in range(a, len(cost)):
            if left >> b & 1:
                total, pairs = best(left & ~(1 << a | 1 << b))
                found.append((total + float(cost[a, b]) * (1 if a == b else 2), ((a, b), *pairs)))
        return min(found)

    return best((1 << len(cost)) - 1)[1]


def _greedy_pairs(cost: Floats) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    taken: set[int] = set()
    for flat in np.argsort(cost, axis=None, kind="stable").tolist():
        a, b = divmod(flat, len(cost))
        if a not in taken and b not in taken:
            pairs.append((a, b))
            taken |= {a, b}
    return pairs


def _neighbours(converses: Converses, identity: int) -> Iterator[Converses]:
    """Involutions that join or part one pair; partners left over stay alone or are joined, too."""
    for a in range(len(converses)):
        for b in range(a, len(converses)):
            if identity in (a, b) or (a == b == converses[a]):
                continue
            changed = list(converses)
            left = sorted({converses[a], converses[b]} - {a, b})
            changed[a], changed[b] = (a, b) if converses[a] == b else (b, a)
            for r in left:
                changed[r] = r
            yield tuple(changed)
            if len(left) == 2:
                changed[left[0]], changed[left[1]] = left[1], left[0]
                yield tuple(changed)
