"""Facts that come and go, in numpy: the plain twin of `native/revise.cpp`, which explains how it works."""

from collections import deque
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks

Pair = tuple[int, int]


@dataclass
class _Fact:
    pair: Pair
    mask: int
    entry: int = -1  # the number of its entry in the trail; -1 if it told nothing new
    there: bool = True


@dataclass(frozen=True)
class _Entry:
    pair: Pair
    why: int  # an entity between, or ~fact
    number: int
    before: int


def _key(i: int, j: int) -> Pair:
    return (i, j) if i < j else (j, i)


class PlainRevision:
    """A dense network that facts leave as well as enter."""

    def __init__(self, calculus: Calculus, entities: int) -> None:
        self.calculus = calculus
        self.conflict: Pair = (-1, -1)
        self.refinements = 0
        self._matrix: Masks = np.zeros((0, 0), dtype=np.uint64)
        self._facts: list[_Fact] = []
        self._of_pair: dict[Pair, list[int]] = {}
        self._trail: list[_Entry] = []
        self._next = 0
        self._news: deque[Pair] = deque()
        self._again: list[Pair] = []
        self._waiting: deque[int] = deque()
        self.grow(entities)

    def grow(self, entities: int) -> None:
        """Make room for more entities."""
        old, calculus = len(self._matrix), self.calculus
        larger = np.full((entities, entities), calculus.anything, dtype=np.uint64)
        np.fill_diagonal(larger, np.uint64(calculus.identity_mask))
        larger[:old, :old] = self._matrix
        self._matrix = larger
        if calculus.anything != calculus.universal:  # that two names mean two things is news too
            self._news.extend((i, j) for j in range(old, entities) for i in range(j))

    def copy(self) -> "PlainRevision":
        """An independent copy."""
        other = PlainRevision.__new__(PlainRevision)
        vars(other).update(
            {key: value if key == "calculus" else deepcopy(value) for key, value in vars(self).items()}
        )
        return other

    def label(self, i: int, j: int) -> int:
        """The set of one pair."""
        return int(self._matrix[i, j])

    def labels(self) -> Masks:
        """The set of every pair, row by row."""
        return self._matrix.ravel().copy()

    def _put(self, i: int, j: int, mask: int) -> None:
        self._matrix[i, j] = mask
        if i != j:
            self._matrix[j, i] = self.calculus.converse(mask)

    def _narrow(self, i: int, j: int, mask: int, why: int) -> bool:
        before = self.label(i, j)
        if before & mask == before:
            return True
        self._trail.append(_Entry((i, j), why, self._next, before))
        self._next += 1
        self.refinements += 1
        self._put(i, j, before & mask)
        if not before & mask:
            self.conflict = (i, j)
            return False
        if (i, j) not in self._news:
            self._news.append((i, j))
        return True

    def _apply(self, fact: int) -> bool:
        one, number = self._facts[fact], self._next
        possible = self._narrow(*one.pair, one.mask, ~fact)
        if self._next > number:
            one.entry = number
        return possible

    def _through(self, i: int, k: int) -> bool:
        """Carry what is known from i to k on to every j."""
        possible = self.calculus.compose_array(self._matrix[i, k : k + 1], self._matrix[k])
        for j in np.flatnonzero(self._matrix[i] & ~possible).tolist():
            if j not in (i, k) and not self._narrow(i, j, int(possible[j]), k):
                return False
        return True

    def _derive_again(self, i: int, j: int) -> bool:
        for fact in self._of_pair.get(_key(i, j), []):
            if self._facts[fact].entry < 0 and not self._apply(fact):
                return False
        possible = self.calculus.compose_array(self._matrix[i], self._matrix[:, j])
        between = (k for k in range(len(self._matrix)) if k not in (i, j))
        return all(self._narrow(i, j, int(possible[k]), k) for k in between)

    def _settle(self) -> bool:
        """Do all that waits, until nothing changes. What a contradiction interrupts waits on."""
        while self.conflict == (-1, -1):
            if self._again:
                if self._derive_again(*self._again[-1]):
                    self._again.pop()
            elif self._waiting:
                self._apply(self._waiting.popleft())
            elif self._news:
                i, j = self._news[0]
                if self._through(i, j) and self._through(j, i):
                    self._news.popleft()
            else:
                return True
        return False

    def add(self, i: int, j: int, mask: int) -> bool:
        """Add a fact; False when the facts clash."""
        self._facts.append(_Fact((i, j), mask))
        self._of_pair.setdefault(_key(i, j), []).append(len(self._facts) - 1)
        self._waiting.append(len(self._facts) - 1)
        return self._settle()

    def remove(self, fact: int) -> bool:
        """Take a fact back; False when the others still clash."""
        gone = self._facts[fact]
        if not gone.there:
            return self._settle()
        gone.there = False
        self._of_pair[_key(*gone.pair)].remove(fact)
        if fact in self._waiting:
            self._waiting.remove(fact)
        if gone.entry < 0:
            return self._settle()
        kept, falls = [], set()
        for entry in self._trail:
            i, j = entry.pair
            was = _key(i, j) in falls
            if entry.why < 0:
                rests = was or ~entry.why == fact
            else:
                rests = was or _key(i, entry.why) in falls or _key(entry.why, j) in falls
            if not rests:
                kept.append(entry)
                continue
            if entry.why < 0:
                self._facts[~entry.why].entry = -1
            if not was:
                falls.add(_key(i, j))
                self._put(i, j, entry.before)
                self._again.append((i, j))
                if _key(*self.conflict) == _key(i, j):
                    self.conflict = (-1, -1)
        self._trail = kept
        return self._settle()

    def reasons(self, i: int, j: int) -> NDArray[np.int64]:
        """The numbers of the facts on which the set of a pair rests."""
        wanted, found = {_key(i, j)}, []
        for entry in reversed(self._trail):
            if _key(*entry.pair) not in wanted:
                continue
            if entry.why < 0:
                found.append(~entry.why)
            else:
                wanted |= {_key(entry.pair[0], entry.why), _key(entry.why, entry.pair[1])}
        return np.array(found, dtype=np.int64)
