"""Scorers of links that learn nothing: what a model has to surpass. High scores are likely, as for models."""

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints
from epignn.models.frequency import RelationFrequency

Scores = NDArray[np.float32]


class _ByHead:
    """Heads share no work."""

    chunk = 1

    def prepare(self, heads: Ints) -> None:
        """Nothing to do."""


class PageRank(_ByHead):
    """Personalised PageRank: how often a random walk that returns to the head now and then visits an entity.

    Facts are walked both ways; the relation that is asked does not matter.
    """

    def __init__(self, graph: Graph, damping: float = 0.85, rounds: int = 30) -> None:
        self.graph, self.damping, self.rounds = graph, damping, rounds
        edges = graph.edges
        self._target = np.repeat(np.arange(len(graph.entities)), np.diff(edges.offset))
        self._share = 1 / np.bincount(edges.source, minlength=len(graph.entities)).clip(1)

    def visits(self, head: int) -> NDArray[np.float64]:
        """(V): the share of visits to each entity."""
        start = np.zeros(len(self.graph.entities))
        start[head] = 1
        visits = start
        source = self.graph.edges.source
        for _ in range(self.rounds):
            moved = np.bincount(self._target, (visits * self._share)[source], minlength=len(start))
            visits = (1 - self.damping) * start + self.damping * moved
        return visits

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): the visits, the same for all relations."""
        scores = self.visits(head).astype(np.float32)
        return np.broadcast_to(scores, (len(relations), len(scores)))


class Constant(_ByHead):
    """The same score for all: chance."""

    def __init__(self, graph: Graph) -> None:
        self._entities = len(graph.entities)

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): zeros."""
        return np.zeros((len(relations), self._entities), dtype=np.float32)


BASELINES = {"pagerank": PageRank, "relation frequency": RelationFrequency, "chance": Constant}
