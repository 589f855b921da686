"""Answers to questions about links, one by one and as columns."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints
from epignn.explain.support import Path

COLUMNS = ("head", "relation", "rank", "tail", "probability", "score", "known")
"""What files of answers have; with paths, `path` behind them."""


class Finder(Protocol):
    """Finds the path of facts that supports an answer most."""

    def best(self, head: int, relation: int, tail: int) -> Path | None:
        """The path from head to tail, asked by number; None where there is none."""


@dataclass(frozen=True)
class LinkAnswer:
    """One answer to a question.

    Attributes:
        head, relation: the question.
        rank: from 1 for the likeliest.
        tail: the entity.
        probability: that this is an answer, of a question that has one which the graph does not state. Those of all
            answers sum to the number to be expected. None where the model was not calibrated for it.
        score: of the model; it rises with likelihood, and is compared within one question only.
        known: whether the graph states it.
        path: the facts that support it most, or None where no short path leads to it or none was asked for.
    """

    head: str
    relation: str
    rank: int
    tail: str
    probability: float | None
    score: float
    known: bool
    path: Path | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values; the path in words."""
        return {**vars(self), "path": str(self.path) if self.path is not None else ""}


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers to the questions of some heads, as columns of numbers.

    Attributes:
        graph: whose entities and relations are meant.
        head, relation, rank, tail: of each answer.
        probability: not a number where the model was not calibrated.
        score, known: see `LinkAnswer`.
    """

    graph: Graph
    head: Ints
    relation: Ints
    rank: Ints
    tail: Ints
    probability: NDArray[np.float64]
    score: NDArray[np.float32]
    known: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.tail)

    def __iter__(self) -> Iterator[LinkAnswer]:
        return self.rows(None)

    def rows(self, finder: Finder | None) -> Iterator[LinkAnswer]:
        """One after the other; with the paths that a finder finds."""
        columns = self.columns()
        for row, values in enumerate(zip(*columns.values(), strict=True)):
            head, relation, tail = int(self.head[row]), int(self.relation[row]), int(self.tail[row])
            path = finder.best(head, relation, tail) if finder is not None else None
            yield LinkAnswer(**dict(zip(columns, values, strict=True)), path=path)

    def columns(self) -> dict[str, list[Any]]:
        """The columns of a table, by name."""
        names, relations = self.graph.entities, [self.graph.relation_name(r) for r in range(2 * self._relations)]
        chances = [None if np.isnan(p) else p for p in self.probability.tolist()]
        return {
            "head": [names[v] for v in self.head.tolist()],
            "relation": [relations[r] for r in self.relation.tolist()],
            "rank": self.rank.tolist(),
            "tail": [names[v] for v in self.tail.tolist()],
            "probability": chances,
            "score": self.score.tolist(),
            "known": self.known.tolist(),
        }

    @property
    def _relations(self) -> int:
        return len(self.graph.relations)
