"""The path of facts that supports a link: of those tried, the one whose composition alone fits best."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import spans
from epignn.data.graph import Graph
from epignn.models.epignn import EpiGNN, apply, log_likelihood, right_matrices

Longs = NDArray[np.int64]
PRICE = 0.1
"""What one more fact costs: of two paths that fit about equally well, the shorter one explains."""
MOST = 1000
"""Partial paths kept at each length; those nearest to the answer are kept first."""


@dataclass(frozen=True)
class Step:
    """One fact of a path, as it is walked; the relation of a fact walked from its tail is an inverse."""

    source: str
    relation: str
    target: str

    def __str__(self) -> str:
        return f"{self.source} --{self.relation}--> {self.target}"


@dataclass(frozen=True)
class Path:
    """Facts that lead from head to answer, and the score of their composition alone, less their price."""

    steps: tuple[Step, ...]
    score: float

    def __str__(self) -> str:
        ends = [f"--{step.relation}--> {step.target}" for step in self.steps]
        return " ".join([self.steps[0].source, *ends])


def distances(graph: Graph, start: int, limit: int) -> Longs:
    """(V): facts between the start and each entity, walked either way; `limit + 1` where there are more."""
    edges = graph.edges
    distance = np.full(len(graph.entities), limit + 1)
    distance[start] = 0
    frontier = np.array([start])
    for step in range(1, limit + 1):
        near = np.concatenate([edges.source[edges.offset[v] : edges.offset[v + 1]] for v in frontier.tolist()])
        frontier = np.unique(near[distance[near] > step])
        distance[frontier] = step
        if not len(frontier):
            break
    return distance


class PathFinder:
    """Finds supporting paths in a graph, as long as the rounds of a model."""

    def __init__(self, graph: Graph, model: EpiGNN) -> None:
        self.graph, self.longest = graph, int(model.config.rounds)
        with torch.no_grad():
            vectors = model.relation_vectors()
            self.matrices = right_matrices(vectors, model.composition_table()).cpu()
            self.vectors = model.weigh(vectors).cpu()

    @torch.no_grad()
    def best(self, head: int, relation: int, tail: int) -> Path | None:
        """The path from head to tail whose composition fits the relation best; None where none is short enough."""
        to_tail = distances(self.graph, tail, self.longest)
        walks = np.full((1, 1), head, dtype=np.int64)
        labels = np.zeros((1, 0), dtype=np.int64)
        states = torch.zeros((1, *self.vectors.shape[1:]))
        states[:, :, 0] = 1
        best: tuple[float, Longs, Longs] | None = None
        for length in range(1, self.longest + 1):
            walks, labels, states = self._extend(walks, labels, states, to_tail, self.longest - length)
            ends = np.flatnonzero(walks[:, -1] == tail)
            if len(ends):
                fit = log_likelihood(states[ends], self.vectors[relation : relation + 1])[:, 0] - length * PRICE
                most = int(fit.argmax())
                if best is None or float(fit[most]) > best[0]:
                    best = float(fit[most]), walks[ends[most]], labels[ends[most]]
            going = np.flatnonzero(walks[:, -1] != tail)
            walks, labels, states = walks[going], labels[going], states[going]
            if not len(walks):
                break
        return None if best is None else self._named(*best)

    def _extend(
        self, walks: Longs, labels: Longs, states: Tensor, to_tail: Longs, left: int
    ) -> tuple[Longs, Longs, Tensor]:
        """All walks one fact longer from which the tail can still be reached, without visiting an entity twice."""
        edges, relations = self.graph.edges, len(self.graph.relations)
        last = walks[:, -1]
        counts = edges.offset[last + 1] - edges.offset[last]
        walk = np.repeat(np.arange(len(walks)), counts)
        edge = spans(edges.offset[last], counts)
        target = edges.source[edge].astype(np.int64)  # an edge into `last`; its inverse leads out of it
        label = (edges.label[edge].astype(np.int64) + relations) % (2 * relations)
        keep = (to_tail[target] <= left) & ~(walks[walk] == target[:, None]).any(1)
        kept = np.flatnonzero(keep)
        kept = kept[np.argsort(to_tail[target[kept]], kind="stable")[:MOST]]
        walk, target, label = walk[kept], target[kept], label[kept]
        moved = apply(states[walk], self.matrices[label])
        return np.column_stack([walks[walk], target]), np.column_stack([labels[walk], label]), moved

    def _named(self, score: float, walk: Longs, labels: Longs) -> Path:
        names = [self.graph.entities[v] for v in walk.tolist()]
        relations = [self.graph.relation_name(label) for label in labels.tolist()]
        steps = tuple(Step(a, r, b) for a, r, b in zip(names, relations, names[1:], strict=False))
        return Path(steps, score)
