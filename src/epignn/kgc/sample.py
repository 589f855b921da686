"""What a training step asks: a part of each head's facts, which its pass leaves out, against sampled entities.

A pass that asked every fact of its head would leave the head alone, so a random part is asked.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Edges, Graph, Ints, Known, both_sides
from epignn.kgc.heads import HeadBatch


@dataclass(frozen=True, eq=False)
class Asked:
    """The questions of a step.

    Attributes:
        edges: over which messages pass.
        batch: the passes that answer them.
        relation: (Q) of each question, below 2R.
        row: (Q, 1 + S) where the states of the answer and of the negatives stand among the wanted ones.
        allowed: (Q, 1 + S) whether a candidate counts: the answer does, an entity known as another answer does not.
    """

    edges: Edges
    batch: HeadBatch
    relation: NDArray[np.int64]
    row: NDArray[np.int64]
    allowed: NDArray[np.bool_]


class Sampler:
    """Draws the questions of a graph's facts, head by head.

    Args:
        graph: whose facts are asked.
        share: of a head's facts that are asked.
        negatives: drawn for each head.
        thin: up to this share of all facts is missing in a step, at random, so that sparser graphs are met too.
    """

    def __init__(self, graph: Graph, share: float, negatives: int, thin: float = 0.0) -> None:
        self.graph, self.share, self.negatives, self.thin = graph, share, negatives, thin
        self.known = Known([graph.facts], len(graph.entities), len(graph.relations))
        questions = both_sides(graph.facts, len(graph.relations))
        order = np.argsort(questions[:, 0], kind="stable")
        self._question = questions[order]
        self._fact = order % max(len(graph.facts), 1)
        self._offset = np.searchsorted(self._question[:, 0], np.arange(len(graph.entities) + 1))

    @cached_property
    def heads(self) -> Ints:
        """Entities that occur in facts."""
        return np.flatnonzero(np.diff(self._offset)).astype(np.int32)

    def ask(self, heads: Ints, rng: np.random.Generator) -> Asked:
        """Questions of some heads."""
        chosen = [self._choose(int(head), rng) for head in heads]
        negatives = rng.integers(0, len(self.graph.entities), (len(heads), self.negatives), dtype=np.int32)
        edges = self._edges(rng)
        left_out = [np.unique(edges.of_fact[self._fact[rows]]) for rows in chosen]
        left_out = [places[places >= 0] for places in left_out]
        wanted = [
            np.concatenate([drawn, self._question[rows, 2]]) for drawn, rows in zip(negatives, chosen, strict=True)
        ]
        batch = HeadBatch.of(heads, left_out, wanted)
        counts = np.array([len(rows) for rows in chosen])
        of_head = np.repeat(np.arange(len(heads)), counts)
        head, relation, tail = self._question[np.concatenate(chosen)].T
        begin = batch.wanted_offset[:-1][of_head][:, None]
        place = np.arange(len(of_head)) - np.repeat(np.cumsum(counts) - counts, counts)
        answer_row = begin + self.negatives + place[:, None]
        row = np.concatenate([answer_row, begin + np.arange(self.negatives)], 1)
        candidate = negatives[of_head]
        known = self.known.holds(head[:, None], relation[:, None], candidate)
        allowed = np.concatenate([np.ones((len(tail), 1), dtype=bool), ~known], 1)
        return Asked(edges, batch, relation.astype(np.int64), row, allowed)

    def _edges(self, rng: np.random.Generator) -> Edges:
        """The edges of a step."""
        if not self.thin:
            return self.graph.edges
        kept = rng.random(len(self.graph.facts)) >= rng.random() * self.thin
        return self.graph.edges.thinned(kept)

    def _choose(self, head: int, rng: np.random.Generator) -> NDArray[np.int64]:
        first, last = self._offset[head], self._offset[head + 1]
        count = max(1, round(self.share * (last - first)))
        chosen: NDArray[np.int64] = first + rng.permutation(last - first)[:count]
        return chosen
