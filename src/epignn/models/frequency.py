"""How often entities are the answer to a relation in a graph, whoever asks: what is likely before any path is seen.

States and rules tell whether paths lead to an entity, not how many facts do. Counts are of the graph that is asked,
so they hold for entities that were never learnt.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Edges, Graph, Ints
from epignn.models.links import Questions
from epignn.models.listed import Listed, Longs

UNKNOWN = 3.0
"""Facts that every entity is given to begin with: few facts more or less then say little."""


class Counts(NamedTuple):
    """So many facts (N) of each kind (N), in the order of kinds."""

    kind: Longs
    number: Longs

    @classmethod
    def of(cls, kinds: Longs) -> "Counts":
        """Count them; there is always one of no kind, so that something can be looked up."""
        return cls(*np.unique(np.append(kinds, -1), return_counts=True))

    def look_up(self, kinds: Longs) -> Longs:
        """How many there are of some kinds."""
        place = np.searchsorted(self.kind, kinds).clip(max=len(self.kind) - 1)
        return np.where(self.kind[place] == kinds, self.number[place], 0)


def likelier(count: NDArray[np.number]) -> NDArray[np.floating]:
    """How much likelier so many facts make an answer, as a logarithm."""
    found: NDArray[np.floating] = np.log1p(count / UNKNOWN)
    return found


def frequencies(questions: Questions, relations: int) -> Longs:
    """(Q, C): how many facts of its relation each candidate is the tail of, but for what the pass leaves out."""
    edges, heads, nodes = questions.edges, questions.heads, len(questions.edges.offset) - 1
    asked = questions.relation[:, None] * nodes + questions.candidate
    left = edges.label[heads.left_out].astype(np.int64) * nodes + _targets(edges)[heads.left_out]
    by = np.repeat(np.arange(len(heads)), np.diff(heads.left_out_offset)) * np.int64(relations * nodes)
    without = Counts.of(by + left).look_up(questions.of_head[:, None] * (relations * nodes) + asked)
    return Counts.of(_kinds(edges)).look_up(asked) - without


def _targets(edges: Edges) -> Longs:
    return np.repeat(np.arange(len(edges.offset) - 1), np.diff(edges.offset))


def _kinds(edges: Edges) -> Longs:
    """(E): relation and target of every edge as one number."""
    return edges.label.astype(np.int64) * (len(edges.offset) - 1) + _targets(edges)


class RelationFrequency:
    """How many facts of the relation an entity is the tail of; the head does not matter."""

    chunk = 1

    def __init__(self, graph: Graph) -> None:
        self.nodes = len(graph.entities)
        kind, number = np.unique(_kinds(graph.edges), return_counts=True)
        self.counts = Listed.of(kind, number, 2 * len(graph.relations), self.nodes)

    def prepare(self, heads: Ints) -> None:
        """Nothing depends on heads."""

    def __call__(self, head: int, relations: Ints) -> NDArray[np.float32]:
        """(Q, V): the counts."""
        return self.counts.table(relations, self.nodes)
