"""The sparse kernels in Python: chordal completion, and sweeps along an elimination order.

They give the same orders and labels as `native/sparse.cpp`; see `native/sparse.hpp`.
"""

import heapq
from collections.abc import Sequence

import numpy as np

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Indices

Edge = tuple[int, int]


ALL = (1 << 63) - 1
"""No limit of edges."""


def complete(
    entities: int, pairs: Sequence[Edge], order: Sequence[int], rank: Sequence[int], most: int = ALL
) -> tuple[list[int], list[list[int]]]:
    """Eliminate entity after entity, making the neighbours of each a clique.

    Without an order the entity with the fewest neighbours goes next, those of larger rank later. Returns
    the order, and for each place in it the places of the later neighbours; nothing, if these are more than `most`.
    """
    neighbours: list[set[int]] = [set() for _ in range(entities)]
    for a, b in pairs:
        neighbours[a].add(b)
        neighbours[b].add(a)
    waiting = [(rank[v], len(neighbours[v]), v) for v in range(entities)]
    heapq.heapify(waiting)
    position = [-1] * entities
    done: list[int] = []
    later: list[set[int]] = []
    edges = 0
    while len(done) < entities:
        if order:
            v = order[len(done)]
        else:
            _, degree, v = heapq.heappop(waiting)
            if position[v] >= 0 or degree != len(neighbours[v]):
                continue
        position[v] = len(done)
        done.append(v)
        later.append(neighbours[v])
        edges += len(later[-1])
        if edges > most:
            return [], []
        for u in neighbours[v]:
            neighbours[u] = (neighbours[u] | neighbours[v]) - {u, v}
            heapq.heappush(waiting, (rank[u], len(neighbours[u]), u))
    return done, [sorted(position[u] for u in clique) for clique in later]


class _Empty(Exception):
    """An edge has lost its last relation."""


class Sweeper:
    """Labels of a chordal graph, from each place of the elimination order to its later neighbours."""

    def __init__(self, calculus: Calculus, later: list[list[int]]) -> None:
        self.calculus, self.later = calculus, later
        self.labels = {(v, u): calculus.universal for v, clique in enumerate(later) for u in clique}
        self.triangles = 0
        self.refinements = 0
        self.conflict: Edge | None = None

    def refine(self, edge: Edge, mask: int) -> None:
        """Intersect a label."""
        now = self.labels[edge] & mask
        if now != self.labels[edge]:
            self.labels[edge] = now
            self.refinements += 1
            if not now:
                self.conflict = edge
                raise _Empty

    def up(self) -> None:
        """Directional path consistency: refine the pairs of later neighbours through each place, in order."""
        compose, converse, unknown = self.calculus.compose, self.calculus.converse, self.calculus.universal
        for v, clique in enumerate(self.later):
            for at, a in enumerate(clique):
                back = converse(self.labels[v, a])
                for b in clique[at + 1 :]:
                    self.triangles += 1
                    if unknown not in (back, self.labels[v, b]):
                        self.refine((a, b), compose(back, self.labels[v, b]))

    def down(self) -> None:
        """The way back: refine each place's pairs with its later neighbours through these, in reverse order."""
        compose, converse = self.calculus.compose, self.calculus.converse
        for v in reversed(range(len(self.later))):
            clique = self.later[v]
            for at, a in enumerate(clique):
                for b in clique[at + 1 :]:
                    self.triangles += 1
                    across = self.labels[a, b]
                    if across != self.calculus.universal:
                        self.refine((v, a), compose(self.labels[v, b], converse(across)))
                        self.refine((v, b), compose(self.labels[v, a], across))


def sweep(
    calculus: Calculus,
    entities: int,
    first: Indices,
    second: Indices,
    masks: Masks,
    order: Indices,
    rank: Indices,
    sweeps: int,
    most: int = ALL,
) -> tuple[Indices, Indices, Indices, Masks, int, int, int, int]:
    """Sweep up and down until nothing changes, or `sweeps` times if that is positive.

    Returns order, both ends and label of every edge of the chordal graph, the number of the edge that became
    empty or -1, triangles seen, refinements and sweeps made; all empty if there were more than `most` edges.
    """
    pairs = list(zip(first.tolist(), second.tolist(), strict=True))
    done, later = complete(entities, pairs, order.tolist(), rank.tolist(), most)
    if len(done) < entities:
        return order[:0], first[:0], second[:0], masks[:0], -1, 0, 0, 0
    position = {v: place for place, v in enumerate(done)}
    sweeper = Sweeper(calculus, later)
    made = quiet = 0
    try:
        for (a, b), mask in zip(pairs, masks.tolist(), strict=True):
            low, high = position[a], position[b]
            if low < high:
                sweeper.refine((low, high), mask)
            else:
                sweeper.refine((high, low), calculus.converse(mask))
        sweeper.refinements = 0
        while quiet < 2 and (sweeps <= 0 or made < sweeps):
            before = sweeper.refinements
            made += 1
            (sweeper.up if made % 2 else sweeper.down)()
            quiet = quiet + 1 if sweeper.refinements == before else 0
    except _Empty:
        pass  # the conflict is in the sweeper
    edges = list(sweeper.labels)
    ends = np.array([(done[v], done[u]) for v, u in edges], dtype=np.int32).reshape(-1, 2)
    return (
        np.array(done, dtype=np.int32),
        ends[:, 0].copy(),
        ends[:, 1].copy(),
        np.array(list(sweeper.labels.values()), dtype=np.uint64),
        edges.index(sweeper.conflict) if sweeper.conflict else -1,
        sweeper.triangles,
        sweeper.refinements,
        made,
    )


def spread(calculus: Calculus, order: Indices, first: Indices, second: Indices, masks: Masks) -> Masks:
    """What follows of every pair from the edges of `sweep`, entity after entity against the order.

    Each row follows from those of its later neighbours alone. Gives the pairs i < j, row by row; nothing when a
    pair is left without a relation.
    """
    n = len(order)
    matrix = np.full((n, n), calculus.universal, dtype=np.uint64)
    starts = np.flatnonzero(np.r_[True, first[1:] != first[:-1]][: len(first)])
    edges_of = dict(zip(first[starts].tolist(), np.split(np.arange(len(first)), starts[1:]), strict=True))
    for place in reversed(range(n)):
        v, after = order[place], order[place + 1 :]
        for edge in edges_of.get(int(v), ()):
            matrix[v] &= calculus.compose_array(masks[edge], matrix[second[edge]])
        matrix[v, v] = calculus.identity_mask
        if not matrix[v].all():
            return masks[:0]
        matrix[after, v] = calculus.converse_array(matrix[v, after])
    return matrix[np.triu_indices(n, 1)]
