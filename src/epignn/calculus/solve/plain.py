"""The dense kernels in numpy: closure row by row, and search over refinements.

They answer as `native/closure.cpp` and `native/search.cpp` do, which tests compare; slower, and easier to read.
"""

from collections import deque
from functools import cache

import numpy as np
from numpy.typing import NDArray

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
        self._trail: list[tuple[int, NDArray[np.integer], Masks]] | None = None  # parts of rows before they changed

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

    def triangle(self) -> Masks:
        """The sets of the pairs i < j, row by row."""
        return self._matrix[np.triu_indices(len(self._matrix), 1)]

    def label(self, i: int, j: int) -> int:
        """The set of one pair."""
        return int(self._matrix[i, j])

    def refine(self, heads: Indices, tails: Indices, masks: Masks) -> bool:
        """Intersect pairs with masks; `close` propagates that. False when nothing is left of a pair."""
        triples = zip(heads.tolist(), tails.tolist(), masks.tolist(), strict=True)
        return all(self._refine(i, j, mask) for i, j, mask in triples)

    def _refine(self, i: int, j: int, mask: int) -> bool:
        before = self.label(i, j)
        if before & mask == before:
            return True
        self._change(i, np.array([j]), np.array([before & mask], dtype=np.uint64))
        if not self._matrix[i, j]:
            self.conflict = (i, j)
            return False
        self._wake(i, j)
        self._wake(j, i)
        return True

    def _change(self, i: int, js: NDArray[np.integer], masks: Masks) -> None:
        if self._trail is not None:
            self._trail.append((i, js, self._matrix[i, js]))
        self._matrix[i, js] = masks
        self._matrix[js, i] = self.calculus.converse_array(masks)
        self.refinements += len(js)

    def mark(self) -> int:
        """A point that `undo` can return to; the network must be closed."""
        self._trail = [] if self._trail is None else self._trail
        return len(self._trail)

    def undo(self, mark: int) -> None:
        """Return to a mark."""
        assert self._trail is not None
        while len(self._trail) > mark:
            i, js, masks = self._trail.pop()
            self._matrix[i, js] = masks
            self._matrix[js, i] = self.calculus.converse_array(masks)
        for i in self._queue:
            self._awake[i] = set()
        self._queue.clear()
        self.conflict = (-1, -1)

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
            self._change(i, changed, now[changed])
            if not now.all():
                self.conflict = (i, int(np.argmin(now)))
                return False
            for j in changed.tolist():
                self._wake(i, j)
                self._wake(j, i)
        return True


def split(mask: int, tractable: frozenset[int]) -> list[int]:
    """Part a set into tractable sets, largest first, and single relations for the rest."""
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
    path: list[tuple[int, int, list[int], int]] = []  # pairs that were parted, parts not yet tried, marks
    while choice := _choose(closure, tractable):
        path.append((*choice, closure.mark()))
        while True:
            i, j, parts, mark = path[-1]
            closure.undo(mark)
            if not parts:
                path.pop()
                if not path:
                    return INCONSISTENT, tried
                continue
            if 0 <= max_nodes <= tried:
                closure.undo(path[0][-1])
                return UNDECIDED, tried
            tried += 1
            if closure._refine(i, j, parts.pop(0)) and closure.close():
                break
    return CONSISTENT, tried


def _choose(closure: PlainClosure, tractable: frozenset[int]) -> tuple[int, int, list[int]] | None:
    """A pair with the fewest parts above one, and these; parts are tractable sets, or else single relations."""
    matrix = np.triu(closure.matrix(), 1)
    masks = [mask for mask in np.unique(matrix).tolist() if mask]
    for sets in (tractable, frozenset[int]()):
        open_parts = [(parts, mask) for mask in masks if len(parts := split(mask, sets)) > 1]
        if open_parts:
            parts, mask = min(open_parts, key=lambda choice: len(choice[0]))
            i, j = divmod(int(np.argmax(matrix == mask)), len(matrix))
            return i, j, list(parts)
    return None
