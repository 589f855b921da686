"""Many questions about one graph, as arrays: the likeliest answers, and their probabilities."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints, Known
from epignn.learn.answers import several
from epignn.learn.checkpoint import Trained
from epignn.learn.scorers import Mean, knows
from epignn.models.api import Scorer
from epignn.reason.answers import Answers


class Asking:
    """What the questions about one graph share.

    Args:
        models: what answers.
        scorers: of each, on this graph.
        graph: the facts.
        top, include_known, least: see `Links.answers`.
    """

    def __init__(
        self,
        models: Sequence[Trained],
        scorers: Sequence[Scorer],
        graph: Graph,
        top: int,
        include_known: bool,
        least: float,
    ) -> None:
        self.graph, self.top, self.include_known, self.least = graph, top, include_known, least
        self.models, self.scorers = models, scorers
        self.scorer = scorers[0] if len(scorers) == 1 else Mean(scorers)
        self.chunk, self.known, self.usual = self.scorer.chunk, stated(graph), several(graph)

    def ask(self, questions: Sequence[tuple[int, Ints]]) -> Answers:
        """The answers of some heads, at most a chunk."""
        self.scorer.prepare(np.unique(np.array([head for head, _ in questions], dtype=np.int32)))
        parts = [self._of_head(head, relations) for head, relations in questions]
        return Answers(self.graph, *(np.concatenate(columns) for columns in zip(*parts, strict=True)))

    def _of_head(self, head: int, relations: Ints) -> tuple[Any, ...]:
        scores = np.array(self.scorer(head, relations), dtype=np.float32)
        stated = [self.known.answers(head, int(relation)) for relation in relations]
        scores[np.isnan(scores)] = -np.inf
        if not self.include_known:
            for line, known in zip(scores, stated, strict=True):
                line[known] = -np.inf
        order = _first(scores, self.top)
        chances = self._chances(head, relations, scores, order)
        row, rank = np.nonzero(np.take_along_axis(scores, order, 1) > -np.inf)
        chance = chances[row, rank]
        kept = np.flatnonzero((chance >= self.least) | (self.least == 0))  # some have no probability
        row, rank, chance = row[kept], rank[kept], chance[kept]
        tail = order[row, rank].astype(np.int32)
        known = np.array([t in stated[q] for q, t in zip(row.tolist(), tail.tolist(), strict=True)], dtype=bool)
        heads = np.full(len(row), head, dtype=np.int32)
        return heads, relations[row], (rank + 1).astype(np.int32), tail, chance, scores[row, tail], known

    def _chances(
        self, head: int, relations: Ints, scores: NDArray[np.float32], order: NDArray[np.intp]
    ) -> NDArray[np.float64]:
        """(Q, K): the mean of what the calibrated models say that know the relation; no number where none does."""
        left_out, total, count = np.isneginf(scores), np.zeros(order.shape), np.zeros((len(relations), 1))
        for model, scorer in zip(self.models, self.scorers, strict=True):
            if model.answers is not None:
                own = scores if len(self.models) == 1 else np.where(left_out, -np.inf, scorer(head, relations))
                known = knows(scorer, relations)[:, None]
                said = model.answers.chances(own, self.usual[relations], model.temperature, order)
                total, count = total + np.where(known, said, 0), count + known
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def _first(scores: NDArray[np.float32], count: int) -> NDArray[np.intp]:
    """(Q, K): the entities of the highest scores, the first among equals first."""
    count = min(count, scores.shape[1])
    if count == scores.shape[1]:
        return np.argsort(-scores, axis=1, kind="stable")
    least = np.partition(scores, -count, axis=1)[:, -count]
    order = np.empty((len(scores), count), dtype=np.intp)
    for row, line in enumerate(scores):
        better = np.flatnonzero(line > least[row])
        equal = np.flatnonzero(line == least[row])[: count - len(better)]
        places = np.sort(np.concatenate([better, equal]))
        order[row] = places[np.argsort(-line[places], kind="stable")]
    return order


def stated(graph: Graph) -> Known:
    """What a graph states."""
    return Known([graph.facts], len(graph.entities), len(graph.relations))
