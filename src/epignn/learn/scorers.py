"""Scorers made of others: of a graph with relations that a model never saw, and of several models together."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints
from epignn.models.api import Model, Scorer, Scores


def scorer_of(model: Model, relations: tuple[str, ...], graph: Graph, pruned: float = 1.0) -> Scorer:
    """What scores all entities of a graph by a model that knows some relations, by their names.

    Facts of other relations tell the model nothing, and questions about them have the same score for all entities.
    Where `pruned` is below 1, passes follow at most this share of all entities.
    """
    own, number = (graph, None) if graph.relations == relations else translated(graph, relations)
    scorer = model.scorer(own) if pruned == 1 else model.pruned_scorer(own, pruned)
    return scorer if number is None else Translated(scorer, number)


def translated(graph: Graph, relations: tuple[str, ...]) -> tuple[Graph, Ints]:
    """A graph in other relations, without the facts of all others; and (2R) their numbers, -1 for the others."""
    place = {name: number for number, name in enumerate(relations)}
    own = np.array([place.get(name, -1) for name in graph.relations], dtype=np.int32)
    head, relation, tail = graph.facts[own[graph.facts[:, 1]] >= 0].T
    facts = np.stack([head, own[relation], tail], 1)
    inverse = np.where(own >= 0, own + len(relations), -1).astype(np.int32)
    return Graph(graph.entities, relations, facts), np.concatenate([own, inverse])


class Translated:
    """A scorer asked in other numbers of relations (2R); -1 stands for a relation that it does not know."""

    def __init__(self, scorer: Scorer, number: Ints) -> None:
        self.scorer, self.number, self.chunk = scorer, number, scorer.chunk

    def prepare(self, heads: Ints) -> None:
        """As the scorer does."""
        self.scorer.prepare(heads)

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): its scores; the same for all entities where the relation is not known."""
        asked = self.number[relations]
        found = self.scorer(head, np.maximum(asked, 0))
        return np.where((asked >= 0)[:, None], found, np.float32(0))

    def knows(self, relations: Ints) -> NDArray[np.bool_]:
        """(Q): which relations it knows."""
        known: NDArray[np.bool_] = self.number[relations] >= 0
        return known


class Mean:
    """The mean of the normalised scores of several scorers, of those that know the relation; see `normalised`."""

    def __init__(self, scorers: Sequence[Scorer]) -> None:
        self.scorers, self.chunk = scorers, min(scorer.chunk for scorer in scorers)

    def prepare(self, heads: Ints) -> None:
        """As every scorer does."""
        for scorer in self.scorers:
            scorer.prepare(heads)

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): the mean."""
        found = np.stack([normalised(scorer(head, relations)) for scorer in self.scorers])
        count = np.sum([knows(scorer, relations) for scorer in self.scorers], axis=0)  # the others say 0 of all
        mean: Scores = found.sum(0, dtype=np.float32) / count.clip(1).astype(np.float32)[:, None]
        return mean


def knows(scorer: Scorer, relations: Ints) -> NDArray[np.bool_]:
    """(Q): which relations a scorer knows; all, unless it is asked in the numbers of another graph."""
    return scorer.knows(relations) if isinstance(scorer, Translated) else np.ones(len(relations), dtype=bool)


def normalised(scores: NDArray[np.floating]) -> Scores:
    """(Q, V): scores less their mean, divided by their deviation, question by question; no number is the least.

    >>> normalised(np.array([[1.0, 3.0], [5.0, 5.0]])).tolist()
    [[-1.0, 1.0], [0.0, 0.0]]
    """
    found = np.asarray(scores, dtype=np.float64)
    finite = np.isfinite(found)
    least = np.where(finite, found, np.inf).min(1, keepdims=True)
    found = np.where(finite, found, np.where(np.isfinite(least), least, 0.0))
    centred = found - found.mean(1, keepdims=True)
    deviation = centred.std(1, keepdims=True)
    result: Scores = (centred / np.where(deviation > 0, deviation, 1.0)).astype(np.float32)
    return result
