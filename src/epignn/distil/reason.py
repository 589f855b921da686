"""Reasoning with weighted rules on any graph, in any order of composition.

A derivation is as strong as the weakest rule it uses, and a fact as strong as its strongest derivation. Rules are
therefore taken by falling weight, in tenths: all that follows from the rules so far is derived before a weaker one
is tried, and a query is answered by the relations that are derived for it first. Facts are rows of bits: `facts[r,
i]` has a bit for every entity j with r(i, j), and a rule r1(X, Y), r2(Y, Z) -> r3(X, Z) joins rows. All graphs are
treated together. A chain of a thousand facts takes seconds.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, offsets
from epignn.distil.rules import GRADES, RuleSet
from epignn.errors import BadArgument

Rows = NDArray[np.uint64]
Ints = NDArray[np.int64]
Bodies = dict[tuple[int, int], list[int]]
"""Rules by their bodies: what r1, r2 conclude."""
BATCH_NODES = 1 << 15


@dataclass(frozen=True, eq=False)
class Answers:
    """What rules derive for each query.

    Attributes:
        possible: (G, R) the named relations derived first; all of them are equally strong.
        strength: (G,) the weight of the weakest rule needed, in tenths rounded up; 0 where nothing is derived.
    """

    possible: NDArray[np.bool_]
    strength: NDArray[np.float64]


def reason(rules: RuleSet, data: Dataset) -> Answers:
    """Answer the queries of all graphs.

    Raises:
        BadArgument: the data are over other relations.
    """
    if rules.relations[: rules.named] != data.relations:
        raise BadArgument("the rules and the data speak of different relations.")
    parts = [_Batch(rules, data.select(slice(*part))).answers() for part in _parts(data)]
    return Answers(
        np.concatenate([part.possible for part in parts]) if parts else np.zeros((0, rules.named), bool),
        np.concatenate([part.strength for part in parts]) if parts else np.zeros(0),
    )


def strengths(rules: RuleSet, data: Dataset) -> NDArray[np.float64]:
    """(G, R): how strongly each named relation follows for each query, in tenths; 0 where it does not at all."""
    batch = _Batch(rules, data)
    found: NDArray[np.float64] = np.where(batch.asked(), 1.0, 0.0)
    for grade in batch.by_grade():
        found = np.where((found == 0) & batch.asked(), grade / GRADES, found)
    return found


def first_rounds(rules: RuleSet, data: Dataset) -> NDArray[np.int32]:
    """(E, N, N): the round in which each fact of one graph is first known, by all rules at once; -1 if never.

    Given facts are known in round 0; what is derived in a round follows from facts known before it.
    """
    batch = _Batch(rules, data)
    bodies: Bodies = {}
    for rule in rules.rules:
        bodies.setdefault((rule.left, rule.right), []).append(rule.head)
    first = np.where(batch.matrix(), 0, -1).astype(np.int32)
    for number, _ in enumerate(batch.rounds(bodies, bodies), start=1):
        first[(first < 0) & batch.matrix()] = number
    return first


def _parts(data: Dataset) -> Iterator[tuple[int, int]]:
    """Ranges of graphs that have at most `BATCH_NODES` nodes together, or one graph."""
    first, nodes = 0, 0
    for g, count in enumerate(data.node_count.tolist()):
        if nodes and nodes + count > BATCH_NODES:
            yield first, g
            first, nodes = g, 0
        nodes += count
    if len(data):
        yield first, len(data)


class _Batch:
    """Graphs that are closed together; entities are numbered across graphs, bits from 0 in each graph."""

    def __init__(self, rules: RuleSet, data: Dataset) -> None:
        self.rules = rules
        self.size = data.node_count.astype(np.int64)
        self.query_head, self.query_tail = data.query_head.astype(np.int64), data.query_tail.astype(np.int64)
        start = offsets(self.size)
        nodes, words = int(start[-1]), (int(self.size.max(initial=1)) + 63) // 64
        source = np.repeat(start[:-1], data.edge_count) + data.edge_source
        self.facts: Rows = np.zeros((len(rules.relations), nodes, words), dtype=np.uint64)
        word, bit = _place(data.edge_target.astype(np.int64))
        np.bitwise_or.at(self.facts, (data.edge_label, source, word), bit)
        self.loops: Rows = np.zeros((nodes, words), dtype=np.uint64)
        word, bit = _place(np.arange(nodes) - np.repeat(start[:-1], self.size))
        self.loops[np.arange(nodes), word] = bit
        self.facts &= ~self.loops
        self.base = np.repeat(start[:-1], self.size)  # the first entity of each entity's graph

    def answers(self) -> Answers:
        """Derive by falling weight until every query is answered, or no rule is left."""
        possible = self.asked()
        strength: NDArray[np.float64] = np.where(possible.any(1), 1.0, 0.0)
        waiting = self._keep(np.arange(len(possible)), strength == 0)
        for grade in self.by_grade():
            asked = self.asked()
            possible[waiting], strength[waiting] = asked, np.where(asked.any(1), grade / GRADES, 0)
            waiting = self._keep(waiting, strength[waiting] == 0)
        return Answers(possible, strength)

    def by_grade(self) -> Iterator[int]:
        """Derive with the rules of every grade, strongest first, as long as graphs are left; yields each grade."""
        known: Bodies = {}
        for grade, group in groupby(self.rules.rules, key=lambda rule: rule.grade):
            if not len(self.size):
                return
            fresh: Bodies = {}
            for rule in group:
                for bodies in (fresh, known):
                    bodies.setdefault((rule.left, rule.right), []).append(rule.head)
            for _ in self.rounds(fresh, known):
                pass
            yield grade

    def _keep(self, graphs: Ints, chosen: NDArray[np.bool_]) -> Ints:
        """Go on with some of the graphs."""
        nodes = np.repeat(chosen, self.size)
        self.facts, self.loops = self.facts[:, nodes], self.loops[nodes]
        self.size = self.size[chosen]
        self.query_head, self.query_tail = self.query_head[chosen], self.query_tail[chosen]
        self.base = np.repeat(offsets(self.size)[:-1], self.size)
        return graphs[chosen]

    def matrix(self) -> NDArray[np.bool_]:
        """(E, N, N): what is known now, if there is one graph."""
        bits = np.unpackbits(self.facts.view(np.uint8), axis=2, bitorder="little")
        return bits[:, :, : self.facts.shape[1]].astype(bool)

    def asked(self) -> NDArray[np.bool_]:
        word, bit = _place(self.query_tail)
        rows = self.facts[: self.rules.named, offsets(self.size)[:-1] + self.query_head, word]
        return np.asarray((rows & bit) != 0).T.copy()

    def rounds(self, fresh: Bodies, known: Bodies) -> Iterator[None]:
        """Derive all that follows, a round at a time; fresh rules are first applied to every known fact."""
        new = np.zeros_like(self.facts)
        pairs = {left: self._pairs(self.facts[left]) for left in {left for left, _ in fresh}}
        for (left, right), heads in fresh.items():
            _join(new, heads, *pairs[left], self.facts[right])
        while self._add(new):
            yield
            frontier, new = new, np.zeros_like(new)
            grown: NDArray[np.bool_] = np.any(frontier, axis=2)  # (E, N) whether an entity has new facts
            some: NDArray[np.bool_] = np.any(grown, axis=1)
            fresh_pairs = {left: self._pairs(frontier[left]) for left in np.flatnonzero(some).tolist()}
            every_pair = {left: self._pairs(self.facts[left]) for left in {a for a, b in known if some[b]}}
            for (left, right), heads in known.items():
                if some[left]:
                    _join(new, heads, *fresh_pairs[left], self.facts[right])
                if some[right]:
                    i, m = every_pair[left]
                    met = grown[right][m]
                    _join(new, heads, i[met], m[met], frontier[right])

    def _add(self, new: Rows) -> bool:
        """Add the facts that are new and of two different entities; whether there are any."""
        new &= ~self.facts
        new &= ~self.loops
        self.facts |= new
        return bool(new.any())

    def _pairs(self, rows: Rows) -> tuple[Ints, Ints]:
        """The entities (i, m) of the facts in some rows, in the order of i."""
        active = np.flatnonzero(rows.any(1))
        bits = np.unpackbits(rows[active].view(np.uint8), axis=1, bitorder="little")
        at, m = np.divmod(np.flatnonzero(bits), bits.shape[1])
        i = active[at]
        return i, m + self.base[i]


def _place(entity: Ints) -> tuple[Ints, Rows]:
    """The word of an entity's bit, and the bit."""
    word, bit = np.divmod(entity, 64)
    return word, np.uint64(1) << bit.astype(np.uint64)


def _join(result: Rows, heads: list[int], i: Ints, m: Ints, right: Rows) -> None:
    """Add row m of `right` to row i of every head, for all pairs (i, m), which are in the order of i."""
    if len(i):
        first = np.ones(len(i), dtype=bool)
        np.not_equal(i[1:], i[:-1], out=first[1:])
        starts = np.flatnonzero(first)
        joined = np.bitwise_or.reduceat(right[m], starts, axis=0)
        for head in heads:
            result[head, i[starts]] |= joined
