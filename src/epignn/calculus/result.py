"""The results of the algorithms: whether the facts can hold together, what follows, and the cost."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property

import numpy as np

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Fact, Indices, Network


class Answer(StrEnum):
    """Whether a network has a model."""

    CONSISTENT = "consistent"
    """It has one."""
    CLOSED = "closed"
    """No contradiction was found, by a method that does not exclude one for relations such as these."""
    INCONSISTENT = "inconsistent"
    """It has none; this is certain."""
    UNDECIDED = "undecided"
    """The search reached its limit."""


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of an algorithm on a network.

    Attributes:
        network: what was asked about.
        algorithm: its name.
        answer: whether the facts can hold together.
        first, second, masks: the refined sets, one for each pair that the algorithm kept; others are unknown.
        statistics: seconds, steps, refinements and the like.
    """

    network: Network
    algorithm: str
    answer: Answer
    first: Indices
    second: Indices
    masks: Masks
    statistics: Mapping[str, float]
    _explain: Callable[[], list[int]] = field(repr=False, default=list)

    @property
    def consistent(self) -> bool:
        """Whether no contradiction was found."""
        return self.answer is not Answer.INCONSISTENT

    @cached_property
    def conflict_facts(self) -> tuple[int, ...]:
        """The numbers of a minimal set of facts that cannot hold together: without any one of them the others can.

        Empty for a network that is not inconsistent. Minimal as far as the algorithm can tell.
        """
        return () if self.consistent else tuple(self._explain())

    @property
    def conflict(self) -> tuple[Fact, ...]:
        """The same facts in words."""
        return tuple(self.network.fact(f) for f in self.conflict_facts)

    @cached_property
    def _sets(self) -> dict[tuple[int, int], int]:
        pairs = zip(self.first.tolist(), self.second.tolist(), strict=True)
        return dict(zip(pairs, self.masks.tolist(), strict=True))

    def relations(self, head: str, tail: str) -> int:
        """What may hold from head to tail; everything, where the algorithm kept nothing of the pair."""
        i, j = self.network.position(head), self.network.position(tail)
        calculus = self.network.calculus
        if i == j:
            return calculus.identity_mask
        if (i, j) in self._sets:
            return self._sets[i, j]
        return calculus.converse(self._sets.get((j, i), calculus.anything))

    @property
    def closed(self) -> Network:
        """The refined network; pairs of which nothing is known are left out."""
        known = self.masks != np.uint64(self.network.calculus.anything)
        return replace(self.network, heads=self.first[known], tails=self.second[known], masks=self.masks[known])


def decided(calculus: Calculus, masks: Iterable[int], *, atomic_only: bool = False) -> bool:
    """Whether closure decides consistency of networks over these sets.

    With `atomic_only` the method is known to decide networks of single relations, not the larger tractable
    classes.
    """
    classes = frozenset() if atomic_only else calculus.tractable
    return calculus.decides and all(
        mask.bit_count() == 1 or mask == calculus.universal or mask in classes for mask in masks
    )


def verdict(network: Network, consistent: bool, *, atomic_only: bool = False) -> Answer:
    """The answer of a closure method: `CONSISTENT` only where closure decides such relations."""
    if not consistent:
        return Answer.INCONSISTENT
    masks = np.unique(network.masks).tolist()
    certain = decided(network.calculus, masks, atomic_only=atomic_only)
    return Answer.CONSISTENT if certain else Answer.CLOSED


def doubt(calculus: Calculus, search: str = "search") -> str:
    """Why a network that is `CLOSED` may still have no model; `search` is what to call search."""
    if calculus.decides:
        return f"for such relations only {search} can exclude one"
    return "whether closure finds every one is not known of this calculus"


def upper_triangle(matrix: Masks) -> tuple[Indices, Indices, Masks]:
    """The pairs of a square matrix with `first < second`."""
    first, second = np.triu_indices(len(matrix), 1)
    return first.astype(np.int32), second.astype(np.int32), matrix[first, second]
