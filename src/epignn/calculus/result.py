"""The results of the algorithms: whether the facts can hold together, what follows, and the cost."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Fact, Indices, Network

TABLE = 5_000
"""Entities of which a table of all pairs is small."""


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


def _found(conflict: Conflict) -> Conflict:
    return conflict


@dataclass(frozen=True, eq=False, repr=False)
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

    def settled(self) -> "Result":
        """The same with its conflict found, so that nothing is left to compute and it can be sent elsewhere."""
        conflict = Conflict([*self.conflict_facts], self.conflict_is_minimal)
        return replace(self, _explain=partial(_found, conflict))

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

    def __repr__(self) -> str:
        network = self.network
        told = f"{len(network.names):,} entities, {len(network):,} facts, {len(self.masks):,} pairs"
        return f"Result({network.calculus.name}: {self.answer} by {self.algorithm}; {told})"

    @cached_property
    def _by_pair(self) -> tuple[NDArray[np.int64], Masks]:
        """A number for each pair, sorted, and the sets in that order: a tenth of the memory of a dictionary."""
        pairs = self.first.astype(np.int64)
        pairs *= len(self.network.names)
        pairs += self.second
        if len(pairs) and (pairs[1:] <= pairs[:-1]).any():
            masks = self.masks[np.argsort(pairs, kind="stable")]
            pairs.sort(kind="stable")
            return pairs, masks
        return pairs, self.masks

    def _kept(self, i: int, j: int) -> int | None:
        """The set that the algorithm kept from i to j."""
        n = len(self.network.names)
        if len(self.masks) == n * (n - 1) // 2 and i < j:  # of all pairs, row by row, the place can be told
            place = i * (2 * n - i - 1) // 2 + j - i - 1
            if self.first[place] == i and self.second[place] == j:
                return int(self.masks[place])
        pairs, masks = self._by_pair
        pair = i * n + j
        place = int(np.searchsorted(pairs, pair))
        return int(masks[place]) if place < len(pairs) and pairs[place] == pair else None

    def mask(self, head: str, tail: str) -> int:
        """What may hold from head to tail, as a mask; everything, where the algorithm kept nothing of the pair."""
        i, j = self.network.position(head), self.network.position(tail)
        calculus = self.network.calculus
        if i == j:
            return calculus.identity_mask
        low, high = (i, j) if i < j else (j, i)
        kept = self._kept(low, high)
        if kept is None and (turned := self._kept(high, low)) is not None:
            kept = calculus.converse(turned)
        if kept is None:
            return calculus.anything
        return kept if low == i else calculus.converse(kept)

    def relations(self, head: str, tail: str) -> tuple[str, ...]:
        """What may hold from head to tail, as names; `mask` gives the same set as bits.

        >>> from epignn import Network, close, load
        >>> close(Network.of(load("rcc8"), [("a", "tpp", "b"), ("b", "tpp", "c")])).relations("a", "c")
        ('TPP', 'NTPP')
        """
        return self.network.calculus.words(self.mask(head, tail))

    def matrix(self) -> Masks:
        """The set of every pair, as masks: `matrix[i, j]` from entity i to entity j, in the order of the names."""
        n, calculus = len(self.network.names), self.network.calculus
        matrix = np.full((n, n), calculus.anything, dtype=np.uint64)
        np.fill_diagonal(matrix, np.uint64(calculus.identity_mask))
        matrix[self.first, self.second] = self.masks
        matrix[self.second, self.first] = calculus.converse_array(self.masks)
        return matrix

    @cached_property
    def _new(self) -> NDArray[np.intp]:
        """Which pairs of the closed network no fact tells of."""
        closed, told = self.closed, self.network
        n = len(told.names)
        if n <= TABLE:  # a table of all pairs is filled faster than pairs are sorted
            stated = np.zeros((n, n), dtype=bool)
            stated[told.heads, told.tails] = stated[told.tails, told.heads] = True
            return np.flatnonzero(~stated[closed.heads, closed.tails])
        pairs, known = (
            np.minimum(one.heads, one.tails).astype(np.int64) * n + np.maximum(one.heads, one.tails)
            for one in (closed, told)
        )
        return np.flatnonzero(~np.isin(pairs, known))

    @cached_property
    def inferred(self) -> Network:
        """What is known of pairs of which no fact tells, the smallest sets first."""
        return self.sharpest(len(self._new))

    @property
    def inferred_count(self) -> int:
        """How many pairs are known of which no fact tells."""
        return len(self._new)

    def sharpest(self, most: int) -> Network:
        """The first of `inferred`, without the work of sorting them all."""
        new = self._new
        sizes = np.bitwise_count(self.closed.masks[new])
        enough = np.searchsorted(np.cumsum(np.bincount(sizes)), min(most, len(new)))
        few = np.flatnonzero(sizes <= enough)
        return self.closed.select(new[few[np.argsort(sizes[few], kind="stable")][:most]])

    def to_pandas(self, inferred: bool = False) -> Any:
        """What is known of every pair, or with `inferred` only of those of which no fact tells, as a data frame.

        It has the columns `head`, `relations` (as `TPP|NTPP`) and `tail`.

        Raises:
            BadArgument: pandas is not installed.
        """
        return (self.inferred if inferred else self.closed).to_pandas()

    def to_networkx(self, inferred: bool = False) -> Any:
        """The same as a directed graph of networkx, with `relations` and `mask` on every edge.

        Raises:
            BadArgument: networkx is not installed.
        """
        return (self.inferred if inferred else self.closed).to_networkx()

    @cached_property
    def closed(self) -> Network:
        """The refined network; pairs of which nothing is known are left out."""
        known = self.masks != np.uint64(self.network.calculus.anything)
        if known.all():  # as in most networks: the arrays are large, and copies take time
            return replace(self.network, heads=self.first, tails=self.second, masks=self.masks)
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
    certain = decided(network.calculus, network.distinct_sets()[0], atomic_only=atomic_only)
    return Answer.CONSISTENT if certain else Answer.CLOSED


def doubt(calculus: Calculus, search: str = "search") -> str:
    """Why a network that is `CLOSED` may still have no model; `search` is what to call search."""
    if calculus.decides:
        return f"for such relations only {search} can exclude one"
    return "whether closure finds every one is not known of this calculus"


def triangle_ends(size: int) -> tuple[Indices, Indices]:
    """The pairs of so many entities with `first < second`, row by row."""
    places = np.arange(size, dtype=np.int32)
    if size < 2:
        return places[:0], places[:0]
    # Row by row: the indices of numpy's own function take twice the memory of the result.
    return np.repeat(places, size - 1 - places), np.concatenate([places[i + 1 :] for i in range(size - 1)])


def upper_triangle(matrix: Masks) -> tuple[Indices, Indices, Masks]:
    """The pairs of a square matrix with `first < second`."""
    rows = [matrix[i, i + 1 :] for i in range(len(matrix))]
    return *triangle_ends(len(matrix)), np.concatenate(rows) if rows else matrix.ravel()
