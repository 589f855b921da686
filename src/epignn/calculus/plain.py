"""Plain twins of the dense kernels, in numpy: closure row by row, and search over refinements.

Slower than `native/closure.cpp` and `native/search.cpp` and easier to read; tests hold the two together.
"""

from collections import deque
from functools import cache

import numpy as np

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Indices

Answer = int
INCONSISTENT, CONSISTENT, UNDECIDED = 0, 1, 2


class PlainClosure:
    """A dense network that is refined and closed; see `native/closure.hpp`."""

    def __init__(self, calculus: Calculus, entities: int) -> None:
        self.calculus = calculus
        self._matrix = np.full((entities, entities), calculus.universal, dtype=np.uint64)
        np.fill_diagonal(self._matrix, np.uint64(calculus.identity_mask))
        self._awake: list[set[int]] = [set() for _ in range(entities)]
        self._queue: deque[int] = deque()
        self.steps = 0
        self.refinements = 0
        self.conflict = (-1, -1)

    def copy(self) -> "PlainClosure":
        """An independent copy."""
        return self.grown(len(self._matrix))

    def grown(self, entities: int) -> "PlainClosure":
        """The same knowledge, with further entities of which nothing is known."""
        larger = PlainClosure(self.calculus, entities)
        size = len(self._matrix)
        larger._matrix[:size, :size] = self._matrix
        larger._awake[:size] = [set(ks) for ks in self._awake]
        larger._queue = deque(self._queue)
        larger.steps, larger.refinements, larger.conflict = self.steps, self.refinements, self.conflict
        return larger

    def matrix(self) -> Masks:
        """The set of every pair."""
        return self._matrix.copy()

    def label(self, i: int, j: int) -> int:
        """The set of one pair."""
        return int(self._matrix[i, j])

    def refine(self, heads: Indices, tails: Indices, masks: Masks) -> bool:
        """Restrict pairs; what follows waits for `close`. False when nothing is left of one."""
        triples = zip(heads.tolist(), tails.tolist(), masks.tolist(), strict=True)
        return all(self._refine(i, j, mask) for i, j, mask in triples)

    def _refine(self, i: int, j: int, mask: int) -> bool:
        before = self.label(i, j)
        if before & mask == before:
            return True
        self._matrix[i, j] = before & mask
        self._matrix[j, i] = self.calculus.converse(before & mask)
        self.refinements += 1
        if not self._matrix[i, j]:
            self.conflict = (i, j)
            return False
        self._wake(i, j)
        self._wake(j, i)
        return True

    def _wake(self, i: int, k: int) -> None:
        if not self._awake[i]:
            self._queue.append(i)
        self._awake[i].add(k)

    def close(self) -> bool:
        """Propagate until nothing changes. False when a pair has become empty: `conflict` names it."""
        if self.conflict != (-1, -1):
            return False
        while self._queue:
            i = self._queue.popleft()
            through = np.fromiter(sorted(self._awake[i]), dtype=np.intp)
            self._awake[i] = set()
            before = self._matrix[i].copy()
            messages = self.calculus.compose_array(self._matrix[i, through, None], self._matrix[through])
            now = before & np.bitwise_and.reduce(messages, axis=0)
            self.steps += len(through)
            changed = np.flatnonzero(now != before)
            self._matrix[i] = now
            self._matrix[changed, i] = self.calculus.converse_array(now[changed])
            self.refinements += len(changed)
            if not now.all():
                self.conflict = (i, int(np.argmin(now)))
                return False
            for j in changed.tolist():
                self._wake(i, j)
                self._wake(j, i)
        return True


def split(mask: int, tractable: frozenset[int]) -> list[int]:
    """Cut a set into parts that closure can decide, by a greedy cover with tractable sets."""
    by_size = _largest_first(tractable)
    parts = []
    while mask:
        part = next((candidate for candidate in by_size if not candidate & ~mask), mask & -mask)
        parts.append(part)
        mask &= ~part
    return parts


@cache
def _largest_first(tractable: frozenset[int]) -> list[int]:
    return sorted(tractable, key=lambda mask: (-mask.bit_count(), mask))


def solve(closure: PlainClosure, tractable: frozenset[int], max_nodes: int) -> tuple[Answer, int]:
    """Search for a closed network of single relations inside `closure`, which is left holding it.

    Returns the answer and the number of refinements tried; `max_nodes < 0` sets no limit.
    """
    if not closure.close():
        return INCONSISTENT, 0
    tried = 0

    def descend(network: PlainClosure, parts_of: frozenset[int]) -> tuple[Answer, PlainClosure]:
        nonlocal tried
        choices = [
            (parts, i, j)
            for i in range(len(network._matrix))
            for j in range(i + 1, len(network._matrix))
            if len(parts := split(network.label(i, j), parts_of)) > 1
        ]
        if not choices:
            return descend(network, frozenset()) if parts_of else (CONSISTENT, network)
        parts, i, j = min(choices, key=lambda choice: len(choice[0]))
        for part in parts:
            if 0 <= max_nodes <= tried:
                return UNDECIDED, network
            tried += 1
            branch = network.copy()
            if branch._refine(i, j, part) and branch.close():
                answer, found = descend(branch, parts_of)
                if answer != INCONSISTENT:
                    return answer, found
        return INCONSISTENT, network

    answer, found = descend(closure, tractable)
    closure._matrix = found._matrix
    return answer, tried
