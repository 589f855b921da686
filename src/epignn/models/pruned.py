"""Pruned passes over a knowledge graph: only entities that matter are followed, as in A*Net (Zhu et al., 2023).

A*Net chooses, in every round, the entities of the highest priority, and lets messages pass among these alone. Its
priority is learnt. Here it is the chance that a walk from the head is there, which is known before a pass and the
same for all relations: the walk takes any edge of an entity alike, and in every round goes on from the likeliest
entities alone. What is not followed has the state that it would have if there were no head.
"""

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import spans
from epignn.data.graph import Edges, Ints
from epignn.errors import BadArgument


class Pruning:
    """Chooses what the passes over a graph follow.

    Args:
        edges: of the graph; each has its inverse.
        share: of all entities that a pass follows, at most.
        rounds: of a pass.
    """

    def __init__(self, edges: Edges, share: float, rounds: int) -> None:
        if not 0 < share <= 1:
            raise BadArgument(f"a share of entities is above 0 and at most 1, not {share}.")
        self._edges, self._rounds = edges, rounds
        self.nodes = len(edges.offset) - 1
        self.most = max(1, round(share * self.nodes))

    def followed(self, head: int) -> Ints:
        """The entities that a pass from a head follows, in their order; the head is one of them."""
        total = np.zeros(self.nodes)
        total[head] = self._rounds + 1.0  # more than a walk can be anywhere
        there, chance = np.array([head]), np.ones(1)
        for _ in range(self._rounds):
            ahead = self._step(there, chance)
            total += ahead
            there = self._likeliest(ahead)
            chance = ahead[there]
        return np.sort(self._likeliest(total)).astype(np.int32)

    def _step(self, there: NDArray[np.intp], chance: NDArray[np.float64]) -> NDArray[np.float64]:
        """(V): the chance of every entity after one edge more, from some entities."""
        offset = self._edges.offset
        first = offset[there].astype(np.int64)
        count = offset[there + 1] - first
        edge = spans(first, count)  # edges into an entity lead out of it, too
        each = np.repeat(chance / np.maximum(count, 1), count)
        found: NDArray[np.float64] = np.bincount(self._edges.source[edge], each, self.nodes).astype(np.float64)
        return found

    def _likeliest(self, chance: NDArray[np.float64]) -> NDArray[np.intp]:
        """The entities of the highest chances above zero, at most `most`; among equals the first."""
        reached = np.flatnonzero(chance)
        if len(reached) <= self.most:
            return reached
        least = np.partition(chance[reached], -self.most)[-self.most]
        above, equal = np.flatnonzero(chance > least), np.flatnonzero(chance == least)
        return np.concatenate([above, equal[: self.most - len(above)]])
