"""Proofs from closure: every refinement of a pair remembers what made it, and only what is needed is kept.

Two passes over a small network. `_Trace` closes it and notes for every pair, in order, the parts that refined
it: a fact, or a composition of what was known of two other pairs at that time. `_Wanted` then goes back from the
goal: of each intersection it keeps the parts it cannot do without, and of each premise it asks no more than the
conclusion needs, so that parts fall away further down.
"""

import heapq
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from operator import and_
from typing import NamedTuple

import numpy as np

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Network
from epignn.explain.paths import distances, path_of
from epignn.explain.proof import Proof, anything, compose, converse, distinct, fact, identity, intersect

LONG = 30
"""Along a path of more facts the proof is made by halves, for a trace takes the cube of their number."""
Pair = tuple[int, int]
"""Two entities by their place in the order of the trace, smaller first."""


class _Version(NamedTuple):
    """What was known of a pair when it had so many parts."""

    pair: Pair
    parts: int


@dataclass(frozen=True, eq=False)
class _Part:
    """One thing that refined a pair: a fact, by number, or a composition through an entity."""

    time: int
    mask: int
    cost: float
    fact: int = -1
    left: _Version | None = None
    right: _Version | None = None


def derive(network: Network, head: str, tail: str, need: int) -> Proof:
    """A short proof that no relation outside `need` holds from head to tail, as far as closure can tell.

    The network should be small: a supporting set of facts. `need` has to hold all that closure leaves.
    """
    path = path_of(network, head, tail) if len(network) > LONG else ()
    if path and (along := _halved(network, path)).mask == need:
        return along
    trace = _Trace(network, head)
    goal = trace.rank[network.position(head)], trace.rank[network.position(tail)]
    if goal[0] == goal[1]:
        return identity(network.calculus, head)
    trace.close(goal, need)
    return _Wanted(trace, goal, need).proof()


def _halved(network: Network, path: tuple[str, ...]) -> Proof:
    """Composition along a path whose facts are all there are: of its first half, then of its second."""
    calculus, places = network.calculus, {name: at for at, name in enumerate(path)}
    steps: list[Proof] = [identity(calculus, path[0])] * (len(path) - 1)
    for f in range(len(network)):
        first, last = network.names[network.heads[f]], network.names[network.tails[f]]
        given = fact(first, int(network.masks[f]), last)
        forward = places[first] < places[last]
        steps[min(places[first], places[last])] = given if forward else converse(calculus, given)
    while len(steps) > 1:
        pairs = [compose(calculus, *steps[at : at + 2]) for at in range(0, len(steps) - 1, 2)]
        steps = pairs + steps[2 * len(pairs) :]
    return steps[0]


def refute(network: Network) -> Proof:
    """A short proof that nothing can hold between two entities of an inconsistent network."""
    loop = network.impossible_loop()
    if loop is not None:
        name = network.names[network.heads[loop]]
        return intersect((identity(network.calculus, name), fact(name, int(network.masks[loop]), name)))
    trace = _Trace(network, network.names[0])
    trace.close(None, 0)
    assert trace.empty is not None, "closure finds no contradiction"
    return _Wanted(trace, trace.empty, 0).proof()


class _Trace:
    """Closure of a network, with the parts of every pair."""

    def __init__(self, network: Network, head: str) -> None:
        self.network, self.calculus = network, network.calculus
        far = distances(network, network.position(head))
        self.order = list(far) + [e for e in range(len(network.names)) if e not in far]  # steps lead from the head
        self.rank = {entity: place for place, entity in enumerate(self.order)}
        size = len(self.order)
        self.matrix: Masks = np.full((size, size), self.calculus.anything, dtype=np.uint64)
        np.fill_diagonal(self.matrix, np.uint64(self.calculus.identity_mask))
        self.parts: dict[Pair, list[_Part]] = {}
        self.empty: Pair | None = None
        self._time = 0
        self._queue: deque[Pair] = deque()
        facts = zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True)
        for number, (i, j, mask) in enumerate(facts):
            a, b = self.rank[i], self.rank[j]
            if a != b:
                self._refine((a, b) if a < b else (b, a), mask if a < b else self.calculus.converse(mask), number)

    def close(self, goal: Pair | None, need: int) -> None:
        """Propagate until the goal holds nothing but `need`, a pair is empty, or nothing changes."""
        while self._queue and self.empty is None and not (goal and not int(self.matrix[goal]) & ~need):
            i, j = self._queue.popleft()
            self._through(i, j)
            self._through(j, i)

    def _through(self, i: int, j: int) -> None:
        """Refine the pairs of i with every other entity through j."""
        found = self.calculus.compose_array(self.matrix[i, j], self.matrix[j])
        for k in np.flatnonzero(self.matrix[i] & ~found).tolist():
            if k in (i, j):
                continue
            mask = int(found[k])
            self._refine((i, k) if i < k else (k, i), mask if i < k else self.calculus.converse(mask), through=j)

    def _refine(self, pair: Pair, mask: int, number: int = -1, through: int = -1) -> None:
        before = int(self.matrix[pair])
        if before & mask == before:
            return
        left = right = None
        cost = 1.0
        if through >= 0:
            left, right = self.version(pair[0], through), self.version(through, pair[1])
            cost += self.cost(left) + self.cost(right)
        self._time += 1
        self.parts.setdefault(pair, []).append(_Part(self._time, mask, cost, number, left, right))
        self.matrix[pair] = before & mask
        self.matrix[pair[::-1]] = self.calculus.converse(before & mask)
        self._queue.append(pair)
        if not before & mask and self.empty is None:
            self.empty = pair

    def version(self, i: int, j: int) -> _Version:
        """What is known now of two entities."""
        pair = (i, j) if i < j else (j, i)
        return _Version(pair, len(self.parts.get(pair, ())))

    def cost(self, version: _Version) -> float:
        """About how many steps it takes to prove a version."""
        return sum(part.cost for part in self.parts.get(version.pair, ())[: version.parts])

    def mask(self, version: _Version) -> int:
        """The relations that a version leaves, from the smaller to the larger."""
        return meet(self.calculus, [part.mask for part in self.parts.get(version.pair, ())[: version.parts]])


class _Wanted:
    """What a goal needs of a trace: from the latest version back to the facts."""

    def __init__(self, trace: _Trace, goal: Pair, need: int) -> None:
        self.trace, self.calculus = trace, trace.calculus
        self.root = trace.version(*goal)
        self.needs = {self.root: need}
        self.chosen: dict[_Version, list[_Part]] = {}
        self._heap = [self._entry(self.root)]
        while self._heap:
            _, version = heapq.heappop(self._heap)
            self._choose(version)

    def _entry(self, version: _Version) -> tuple[int, _Version]:
        """Later versions first: whoever needs one comes later than the one it needs."""
        parts = self.trace.parts.get(version.pair, ())
        return (-parts[version.parts - 1].time if version.parts else 0), version

    def _choose(self, version: _Version) -> None:
        """Keep the parts that cannot be left out, dearest first, and tell their premises what is needed."""
        need = self.needs[version]
        kept = list(self.trace.parts.get(version.pair, ())[: version.parts])
        for part in sorted(kept, key=lambda part: -part.cost):
            rest = [other for other in kept if other is not part]
            if not meet(self.calculus, [other.mask for other in rest]) & ~need:
                kept = rest
        self.chosen[version] = kept
        masks = [part.mask for part in kept]
        for number, part in enumerate(kept):
            if part.left is not None and part.right is not None:
                others = meet(self.calculus, masks[:number] + masks[number + 1 :])
                masks[number] = need | self.calculus.universal & ~others  # all that this part may leave
                self._ask(version.pair, part.left, part.right, masks[number])

    def _ask(self, pair: Pair, left: _Version, right: _Version, allowed: int) -> None:
        """Need of two premises only that their composition leaves nothing but `allowed`; spare the dearer one."""
        calculus, trace = self.calculus, self.trace
        (through,) = set(left.pair) - set(pair)
        turned = pair[0] > through, through > pair[1]
        first, second = (self._turn(trace.mask(v), t) for v, t in zip((left, right), turned, strict=True))

        def lefts() -> int:
            return sum(1 << r for r in range(len(calculus)) if not calculus.compose(1 << r, second) & ~allowed)

        def rights() -> int:
            return sum(1 << r for r in range(len(calculus)) if not calculus.compose(first, 1 << r) & ~allowed)

        if trace.cost(left) >= trace.cost(right):
            first = lefts()
            second = rights()
        else:
            second = rights()
            first = lefts()
        self._need(left, self._turn(first, turned[0]))
        self._need(right, self._turn(second, turned[1]))

    def _need(self, version: _Version, mask: int) -> None:
        if version not in self.needs:
            heapq.heappush(self._heap, self._entry(version))
        self.needs[version] = self.needs.get(version, mask) & mask

    def _turn(self, mask: int, turned: bool) -> int:
        return self.calculus.converse(mask) if turned else mask

    # -- what was chosen, as a proof --

    def proof(self) -> Proof:
        """The proof of the goal, from the earliest version to the last; equal choices are one sub-proof."""
        built: dict[_Version, Proof] = {}
        shared: dict[object, Proof] = {}
        for version in sorted(self.chosen, key=self._entry, reverse=True):
            kept = self.chosen[version]
            for part in kept:
                if part.time not in shared:
                    shared[part.time] = self._part(version.pair, part, built)
            parts = [shared[part.time] for part in kept] or [anything(self.calculus, *self._names(version.pair))]
            left = reduce(and_, (part.mask for part in parts)) & ~self.needs[version]
            if left & ~self.calculus.anything:
                parts.append(distinct(self.calculus, *self._names(version.pair)))
            key = version.pair, *(part.time for part in kept), len(parts)
            if key not in shared:
                shared[key] = intersect(tuple(parts))
            built[version] = shared[key]
        return built[self.root]

    def _part(self, pair: Pair, part: _Part, built: dict[_Version, Proof]) -> Proof:
        if part.left is None or part.right is None:
            network = self.trace.network
            i, j = int(network.heads[part.fact]), int(network.tails[part.fact])
            given = fact(network.names[i], int(network.masks[part.fact]), network.names[j])
            return given if given.head == self._names(pair)[0] else converse(self.calculus, given)
        left, right = built[part.left], built[part.right]
        head, tail = self._names(pair)
        return compose(
            self.calculus,
            left if left.head == head else converse(self.calculus, left),
            right if right.tail == tail else converse(self.calculus, right),
        )

    def _names(self, pair: Pair) -> tuple[str, str]:
        names, order = self.trace.network.names, self.trace.order
        return names[order[pair[0]]], names[order[pair[1]]]


def meet(calculus: Calculus, masks: Iterable[int]) -> int:
    """What several sets leave together of two entities; of none, everything.

    >>> meet(Calculus("two", ("a", "b"), 0, (0, 1), ((1, 2), (2, 1))), [])
    3
    """
    return reduce(and_, masks, calculus.anything)
