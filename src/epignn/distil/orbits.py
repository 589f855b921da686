"""Facts of composition, each once: `c ∈ a∘b` has six forms, which a table that obeys the laws has all or none of.

    c ∈ a∘b    a ∈ c∘b˘    b ∈ a˘∘c    c˘ ∈ b˘∘a˘    a˘ ∈ b∘c˘    b˘ ∈ c˘∘a

The first three are Peirce's law, the others their converses. A set of orbits is therefore a table that obeys both
laws whatever it is read from; whether the identity is neutral, too, is settled by the orbits that hold it.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus

Converses = tuple[int, ...]
Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]


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
        settled: (N,) orbits that hold the identity: `c ∈ e∘b` is possible if c is b, and impossible otherwise.
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
        """An orbit in words, by its first form."""
        a, b, c = np.unravel_index(self.first[orbit], self.number.shape)
        names = self.relations
        return f"{names[c]} ∈ {names[a]} ∘ {names[b]}"

    def cells(self, chosen: NDArray[np.int64]) -> list[str]:
        """The cells `a ∘ b` of the table that hold a form of a chosen orbit."""
        held = np.isin(self.number, chosen).any(2)
        return [f"{self.relations[a]} ∘ {self.relations[b]}" for a, b in zip(*np.nonzero(held), strict=True)]
