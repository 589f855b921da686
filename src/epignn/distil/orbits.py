"""Facts of composition, and the identity and converse that tie them together.

A fact `c ∈ a∘b` has six forms, of which a table that obeys the laws has all or none (c˘ is the converse of c):

    c ∈ a∘b    a ∈ c∘b˘    b ∈ a˘∘c    c˘ ∈ b˘∘a˘    a˘ ∈ b∘c˘    b˘ ∈ c˘∘a

The first three are Peirce's law, the others their converses. The six forms are an orbit (a "cycle" in the
literature on relation algebras). Every set of orbits is a table that obeys these two laws; the orbits that contain
the identity are settled by the law that it is neutral.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus

Converses = tuple[int, ...]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]

EXACT_MATCHING = 16
"""Up to so many relations the best pairs are found exactly (2^R subsets); beyond, the best pair is taken first."""


def forms(converses: Converses) -> NDArray[np.int64]:
    """(6, R, R, R): flat indices of the six forms of every fact (a, b, c)."""
    count = len(converses)
    turned = np.array(converses)
    a, b, c = np.indices((count, count, count))
    a_, b_, c_ = turned[a], turned[b], turned[c]
    triples = ((a, b, c), (c, b_, a), (a_, c, b), (b_, a_, c_), (b, c_, a_), (c_, a, b_))
    return np.stack([(x * count + y) * count + z for x, y, z in triples])


@dataclass(frozen=True, eq=False)
class Orbits:
    """The facts of composition over relations with a converse and an identity.

    Attributes:
        relations: their names.
        identity: which of them is the identity.
        converses: `converses[r]` is the converse of r.
        number: (R, R, R) the orbit of each fact `c ∈ a∘b`.
        first: (N,) the flat index of the first form of each orbit.
        settled: (N,) orbits that contain the identity e: `c ∈ e∘b` is possible exactly if c is b.
        neutral: (N,) those of them that are possible.
    """

    relations: tuple[str, ...]
    identity: int
    converses: Converses
    number: NDArray[np.int64]
    first: NDArray[np.int64]
    settled: Bools
    neutral: Bools

    @classmethod
    def of(cls, relations: tuple[str, ...], identity: int, converses: Converses) -> "Orbits":
        """The orbits of all facts."""
        first, number = np.unique(forms(converses).min(0), return_inverse=True)
        number = number.reshape((len(relations),) * 3)
        settled, neutral = np.zeros((2, len(first)), dtype=bool)
        settled[number[identity]] = True
        neutral[np.diagonal(number[identity])] = True
        return cls(relations, identity, converses, number, first, settled, neutral)

    def __len__(self) -> int:
        return len(self.first)

    @property
    def free(self) -> NDArray[np.int64]:
        """The orbits that the identity does not settle."""
        return np.flatnonzero(~self.settled)

    def mean(self, triple: Floats) -> Floats:
        """(N,) the mean of a quantity over the forms of each fact."""
        total: Floats = np.bincount(self.number.ravel(), triple.ravel()) / np.bincount(self.number.ravel())
        return total

    def calculus(self, possible: Bools, **about: str | bool) -> Calculus:
        """The calculus whose compositions are the possible facts; `possible` is (N,)."""
        masks = (possible[self.number].astype(np.uint64) << np.arange(len(self.relations), dtype=np.uint64)).sum(2)
        return Calculus(
            relations=self.relations,
            identity=self.identity,
            converses=self.converses,
            composition=tuple(map(tuple, masks.astype(np.uint64).tolist())),
            **{"name": "learnt", **about},  # type: ignore[arg-type]
        )

    def possible(self, calculus: Calculus) -> Bools:
        """(N,) which facts a calculus over the same relations, identity and converses has."""
        bits = calculus.composition_table[..., None] >> np.arange(len(calculus), dtype=np.uint64) & np.uint64(1)
        table: Bools = bits.astype(bool)
        return table.ravel()[self.first]

    def describe(self, orbit: int) -> str:
        """The first form of an orbit as text."""
        a, b, c = np.unravel_index(self.first[orbit], self.number.shape)
        names = self.relations
        return f"{names[c]} ∈ {names[a]} ∘ {names[b]}"

    def cells(self, chosen: NDArray[np.int64]) -> list[str]:
        """The cells `a ∘ b` of the table that contain a form of a chosen orbit."""
        held = np.isin(self.number, chosen).any(2)
        return [f"{self.relations[a]} ∘ {self.relations[b]}" for a, b in zip(*np.nonzero(held), strict=True)]


def choose_identity(triple: Floats) -> tuple[int, float, float]:
    """The relation e with the lowest mean score of a ∈ e∘a and a ∈ a∘e, that score, and the second-lowest.

    The distance of its vector to the identity state says less: some models learn a second neutral state.
    """
    a = np.arange(len(triple))
    score = (triple[:, a, a] + triple[a, :, a].T).mean(1) / 2
    order = np.argsort(score, kind="stable")
    return int(order[0]), float(score[order[0]]), float(score[order[1]]) if len(order) > 1 else np.inf


def choose_converse(triple: Floats, identity: int) -> tuple[Converses, float, float]:
    """The converse of every relation, its disagreement, and that of the best involution one change away.

    An involution says which six scores are forms of one fact and should be equal; the one under which they differ
    least is chosen. The search starts from the pairs a, b for which the identity is likeliest in a∘b, and joins or
    parts one pair at a time as long as that lowers the disagreement.
    """
    chosen = _matching(triple[:, :, identity], identity)
    least = disagreement(triple, chosen)
    while True:
        others = [(disagreement(triple, other), other) for other in _neighbours(chosen, identity)]
        best, other = min(others, default=(np.inf, chosen))
        if best >= least:
            return chosen, least, best
        chosen, least = other, best


def disagreement(triple: Floats, converses: Converses) -> float:
    """The variance of the scores among the six forms of a fact, averaged over all facts."""
    return float(triple.ravel()[forms(converses)].var(0).mean())


def _matching(cost: Floats, identity: int) -> Converses:
    """The involution of least total cost that maps the identity to itself."""
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
    """Involutions that join or part one pair; the partners that this frees are left alone, or joined as well."""
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
