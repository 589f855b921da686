"""Bodies of rules on a knowledge graph: which entities a sequence of relations joins, and how often a rule holds.

A body such as `capital^-1, part of` joins two entities where facts lead from one to the other along these relations
without visiting an entity twice. The rule `capital^-1, part of -> lies in` holds of a pair if the graph states so.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import spans
from epignn.data.graph import Graph, Ints, Known, both_sides

Body = tuple[int, ...]
"""Relations by number, inverses counted."""
Longs = NDArray[np.int64]
MOST_WALKS = 2_000_000
"""Walks of one body that are looked at; where there are more, some of the heads are drawn."""
DRAWN = 20_000
"""Walks of two steps from one head that are followed further."""


@dataclass(frozen=True)
class Counts:
    """How often a rule holds.

    Attributes:
        support: pairs that its body joins and of which it holds.
        pairs: all pairs that its body joins.
        whole: whether all heads were looked at, or some that were drawn.
    """

    support: int
    pairs: int
    whole: bool = True

    @property
    def confidence(self) -> float:
        """The share of pairs of which it holds."""
        return self.support / self.pairs if self.pairs else 0.0


class Bodies:
    """Finds the walks of bodies in a graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph, self.entities, self._base = graph, len(graph.entities), 2 * len(graph.relations) + 1
        facts = both_sides(graph.facts, len(graph.relations)).astype(np.int64)
        order = np.lexsort((facts[:, 2], facts[:, 0], facts[:, 1]))
        self._key = (facts[:, 1] * self.entities + facts[:, 0])[order]
        self._tail = facts[order, 2]
        self._known = Known([graph.facts], self.entities, len(graph.relations))

    def walks(self, body: Body, heads: Longs | Ints) -> Longs:
        """(N, steps + 1): all walks of a body from some heads, that visit no entity twice."""
        walks = np.asarray(heads, dtype=np.int64)[:, None]
        for relation in body:
            key = relation * self.entities + walks[:, -1]
            first, last = np.searchsorted(self._key, [key, key + 1])
            counts = last - first
            row = np.repeat(np.arange(len(walks)), counts)
            edge = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
            target = self._tail[edge]
            kept = ~(walks[row] == target[:, None]).any(1)
            walks = np.column_stack([walks[row[kept]], target[kept]])
        return walks

    def ends(self, body: Body, head: int) -> Longs:
        """Entities that a body joins a head to, once each."""
        return np.unique(self.walks(body, np.array([head]))[:, -1])

    def counts(self, body: Body, relation: int) -> Counts:
        """How often the rule from a body to a relation holds."""
        key = self._key[(self._key // self.entities) == body[0]]
        heads = np.random.default_rng(0).permutation(np.unique(key % self.entities))
        support = pairs = walked = done = 0
        size = 64
        while done < len(heads) and walked < MOST_WALKS:
            walks = self.walks(body, heads[done : done + size])
            done, walked = done + size, walked + len(walks)
            found = np.unique(walks[:, [0, -1]], axis=0)
            pairs += len(found)
            support += int(self._known.holds(found[:, 0], np.full(len(found), relation), found[:, 1]).sum())
        return Counts(support, pairs, done >= len(heads))

    def between(self, head: int, tail: int, longest: int, rng: np.random.Generator) -> Longs:
        """The bodies of up to three steps that join a pair, by number (`body_of`), in order.

        Of very many walks, those of some that are drawn. The facts that join the pair at once are the bodies of one
        step.
        """
        out = slice(*self.graph.edges.offset[[tail, tail + 1]])  # turned round, these lead into the tail
        entity = self.graph.edges.source[out]
        order = np.argsort(entity, kind="stable")
        entity, into = entity[order], self.graph.edges.label[out][order].astype(np.int64) + 1
        walks, number = np.array([[head]], dtype=np.int64), np.zeros(1, dtype=np.int64)
        found = [into[entity == head]]
        for _ in range(longest - 1):
            walks, number = self._step(walks, number, tail, rng)
            first, last = (np.searchsorted(entity, walks[:, -1], side) for side in ("left", "right"))
            found.append(np.repeat(number, last - first) * self._base + into[spans(first, last - first)])
        return np.unique(np.concatenate(found))

    def _step(self, walks: Longs, number: Longs, tail: int, rng: np.random.Generator) -> tuple[Longs, Longs]:
        """Walks one fact longer that have not reached the tail, and the numbers of their bodies."""
        edges, count = self.graph.edges, len(self.graph.relations)
        degree = edges.offset[walks[:, -1] + 1] - edges.offset[walks[:, -1]]
        edge, row = spans(edges.offset[walks[:, -1]], degree), np.repeat(np.arange(len(walks)), degree)
        target = edges.source[edge].astype(np.int64)
        kept = np.flatnonzero((target != tail) & ~(walks[row] == target[:, None]).any(1))
        if len(kept) > DRAWN:
            kept = kept[rng.permutation(len(kept))[:DRAWN]]
        edge, row = edge[kept], row[kept]
        label = (edges.label[edge].astype(np.int64) + count) % (2 * count)  # what leads in leads out, turned round
        return np.column_stack([walks[row], target[kept]]), number[row] * self._base + label + 1

    def _turned(self, relation: int) -> int:
        """The inverse of a relation."""
        count = len(self.graph.relations)
        return int((relation + count) % (2 * count))

    def reversed(self, body: Body) -> Body:
        """The body that leads the other way."""
        return tuple(self._turned(relation) for relation in body[::-1])

    def text(self, body: Body, relation: int) -> str:
        """A rule as text."""
        name = self.graph.relation_name
        return f"{', '.join(map(name, body))} -> {name(relation)}"
