"""Questions about links: passes of message passing from several heads over one knowledge graph."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import spans
from epignn.data.graph import Edges, Graph, Ints


@dataclass(frozen=True, eq=False)
class Heads:
    """Passes to make over one graph, one a head.

    Attributes:
        head: (H) where each pass starts.
        left_out_offset, left_out: edges that each pass leaves out, with their inverses.
        wanted_offset, wanted: (W) nodes that each pass is asked about.
        followed: nodes that each pass follows, its head among them, if passes are pruned; such leave nothing out.
    """

    head: Ints
    left_out_offset: NDArray[np.int64]
    left_out: Ints
    wanted_offset: NDArray[np.int64]
    wanted: Ints
    followed: tuple[Ints, ...] | None = None

    @classmethod
    def of(cls, heads: Sequence[int] | Ints, left_out: Sequence[Ints], wanted: Sequence[Ints]) -> "Heads":
        """Passes from lists, one entry a head."""
        return cls(np.asarray(heads, dtype=np.int32), *packed(left_out), *packed(wanted))

    @classmethod
    def everything(
        cls, heads: Sequence[int] | Ints, nodes: int, followed: tuple[Ints, ...] | None = None
    ) -> "Heads":
        """Passes that leave nothing out and are asked about all nodes."""
        none = np.zeros(0, dtype=np.int32)
        found = cls.of(heads, [none] * len(heads), [np.arange(nodes, dtype=np.int32)] * len(heads))
        return found if followed is None else replace(found, followed=followed)

    def __len__(self) -> int:
        return len(self.head)

    @cached_property
    def packed_followed(self) -> list[NDArray[Any]]:
        """What is followed as one list, and where that of each pass begins; nothing where passes are whole."""
        return [] if self.followed is None else [*packed(self.followed)]

    def left_out_by(self, h: int) -> Ints:
        """The edges that one pass leaves out."""
        return self.left_out[self.left_out_offset[h] : self.left_out_offset[h + 1]]

    def wanted_by(self, h: int) -> Ints:
        """The nodes that one pass is asked about."""
        return self.wanted[self.wanted_offset[h] : self.wanted_offset[h + 1]]


def packed(parts: Sequence[Ints]) -> tuple[NDArray[np.int64], Ints]:
    """Lists one after the other, and where each begins."""
    offset = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offset[1:])
    flat = np.concatenate(parts) if parts else np.zeros(0)
    return offset, np.ascontiguousarray(flat, dtype=np.int32)


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions (head, relation, ?) with candidates for their answers.

    Attributes:
        edges: over which messages pass.
        heads: the passes that answer them.
        relation: (Q) of each question, in the order of the passes; inverses are numbered after the relations.
        row: (Q, C) where the candidates of a question stand among the wanted nodes of all passes.
    """

    edges: Edges
    heads: Heads
    relation: NDArray[np.int64]
    row: NDArray[np.int64]

    @classmethod
    def everything(cls, graph: Graph, head: int, relations: Ints) -> "Questions":
        """Questions of one head, with all entities as candidates."""
        nodes = len(graph.entities)
        row = np.broadcast_to(np.arange(nodes), (len(relations), nodes))
        return cls(graph.edges, Heads.everything([head], nodes), relations.astype(np.int64), row)

    def of_heads(self, first: int, last: int) -> tuple["Questions", slice]:
        """The questions of the passes from `first` up to `last`, and which rows of all they are."""
        heads, begin = self.heads, self.heads.wanted_offset[first]
        passes = Heads.of(
            heads.head[first:last],
            [heads.left_out_by(h) for h in range(first, last)],
            [heads.wanted_by(h) for h in range(first, last)],
        )
        places = np.searchsorted(self.row[:, 0], [begin, heads.wanted_offset[last]])  # questions come by head
        rows = slice(*places.tolist())
        return Questions(self.edges, passes, self.relation[rows], self.row[rows] - begin), rows

    @property
    def candidate(self) -> NDArray[np.int64]:
        """(Q, C): the candidates themselves, as nodes."""
        return self.heads.wanted[self.row].astype(np.int64)

    @property
    def of_head(self) -> NDArray[np.int64]:
        """(Q): the pass that each question belongs to."""
        return np.searchsorted(self.heads.wanted_offset, self.row[:, 0], side="right") - 1

    def by_head(self) -> Iterator[tuple[slice, slice]]:
        """The wanted rows of each pass, and its questions, which are asked in the order of the passes."""
        first = np.searchsorted(self.of_head, np.arange(len(self.heads) + 1))
        begin = self.heads.wanted_offset
        for h in range(len(self.heads)):
            yield slice(int(begin[h]), int(begin[h + 1])), slice(int(first[h]), int(first[h + 1]))

    def passes(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """For models that make a pass for every head and relation that is asked.

        Returns:
            place: (P) which of the heads each pass starts at.
            relation: (P) what it asks.
            pass_of: (Q) the pass of each question.
        """
        asked = self.of_head * (int(self.relation.max(initial=0)) + 1) + self.relation
        _, first, pass_of = np.unique(asked, return_index=True, return_inverse=True)
        return self.of_head[first], self.relation[first], pass_of

    def open_edges(self, place: NDArray[np.int64]) -> NDArray[np.bool_]:
        """(P, E): which edges each pass may use: all but what its head leaves out."""
        heads, number = self.heads, np.arange(len(place))
        first = heads.left_out_offset[place]
        count = heads.left_out_offset[place + 1] - first
        left_out = heads.left_out[spans(first, count)]
        stays = np.ones((len(place), len(self.edges.source)), dtype=bool)
        stays[np.repeat(number, count), left_out] = False
        return stays
