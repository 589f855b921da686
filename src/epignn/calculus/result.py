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


@dataclass(frozen=True)
class Conflict:
    """The numbers of facts that cannot hold together, and whether it is known that none can be left out."""

    facts: list[int]
    minimal: bool


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
    _explain: Callable[[], "Conflict"] = field(repr=False, default=lambda: Conflict([], True))

    @property
    def consistent(self) -> bool:
        """Whether no contradiction was found."""
        return self.answer is not Answer.INCONSISTENT

    @cached_property
    def conflict_facts(self) -> tuple[int, ...]:
        """The numbers of a minimal set of facts that cannot hold together: without any one of them the others can.

        Empty for a network that is not inconsistent. Minimal as far as the algorithm can tell, and within a limit
        of time: see `conflict_is_minimal`.
        """
        return tuple(self._clash.facts)

    @property
    def conflict(self) -> tuple[Fact, ...]:
        """The same facts in words."""
        return tuple(self.network.fact(f) for f in self.conflict_facts)

    @property
    def conflict_is_minimal(self) -> bool:
        """Whether it was found, within the limit of time, that no fact of the conflict can be left out."""
        return self._clash.minimal

    @cached_property
    def _clash(self) -> "Conflict":
        return Conflict([], True) if self.consistent else self._explain()

    @cached_property
    def _sorted(self) -> tuple[Indices, Indices, Masks]:
        """The pairs by their first and then their second entity; a dictionary would take ten times the memory."""
        first, second = self.first, self.second
        in_order = (first[1:] > first[:-1]) | ((first[1:] == first[:-1]) & (second[1:] > second[:-1]))
        if in_order.all():
            return first, second, self.masks
        order = np.lexsort((second, first))
        return first[order], second[order], self.masks[order]

    def _kept(self, i: int, j: int) -> int | None:
        """The set of a pair in this direction, if the algorithm kept it so."""
        first, second, masks = self._sorted
        start, end = np.searchsorted(first, np.array([i, i + 1], dtype=first.dtype)).tolist()
        at = start + int(np.searchsorted(second[start:end], second.dtype.type(j)))
        return int(masks[at]) if at < end and second[at] == j else None

    def relations(self, head: str, tail: str) -> int:
        """What may hold from head to tail; everything, where the algorithm kept nothing of the pair."""
        i, j = self.network.position(head), self.network.position(tail)
        calculus = self.network.calculus
        if i == j:
            return calculus.identity_mask
        if (kept := self._kept(i, j)) is not None:
            return kept
        turned = self._kept(j, i)
        return calculus.anything if turned is None else calculus.converse(turned)

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
    size = len(matrix)
    places = np.arange(size, dtype=np.int32)
    if size < 2:
        return places[:0], places[:0], matrix.ravel()[:0]
    # Row by row: the indices of numpy's own function take twice the memory of the result.
    first = np.repeat(places, size - 1 - places)
    second = np.concatenate([places[i + 1 :] for i in range(size - 1)])
    return first, second, np.concatenate([matrix[i, i + 1 :] for i in range(size - 1)])
