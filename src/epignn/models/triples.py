"""Triples: all facts of every graph in one order, with its entities by number, which models of sequences read.

Facts are in order of the distance of their source from the head, those that no path from the head joins last, and
equals as the data set has them. Entities are numbered as they are met: the head is 0, then source and target of
one fact after the other, then the tail. So names of nodes mean nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.data.reach import distances
from epignn.errors import TooLarge
from epignn.models.batch import owner, ranges

Longs = NDArray[np.int64]
FACTS = 1 << 20
"""So many facts, those that fill up shorter graphs counted, are answered together: about 150 MB."""


@dataclass(frozen=True, eq=False)
class Triples:
    """The facts of G graphs, E in all; tensors are of int64.

    Attributes:
        offset: (G+1) where the facts of each graph begin.
        fact: (E, 3) number of the source, relation, number of the target.
        query: (G, 2) the numbers of head and tail.
        label: (G) the relation that holds between them.
    """

    offset: Tensor
    fact: Tensor
    query: Tensor
    label: Tensor

    def __len__(self) -> int:
        return len(self.label)

    @property
    def graph(self) -> Tensor:
        """(E) the graph of each fact."""
        return owner(self.offset)

    @property
    def length(self) -> Tensor:
        """(G) the number of facts of each graph."""
        return self.offset.diff()

    def select(self, graphs: Tensor) -> "Triples":
        """Some of the graphs, in the given order."""
        facts, offset, _ = ranges(self.offset, graphs)
        return Triples(offset, self.fact[facts], self.query[graphs], self.label[graphs])

    def slice(self, first: int, last: int) -> "Triples":
        """The graphs from `first` up to `last`."""
        begin, end = int(self.offset[first]), int(self.offset[last])
        offset = self.offset[first : last + 1] - begin
        return Triples(offset, self.fact[begin:end], self.query[first:last], self.label[first:last])

    def chunks(self, size: int) -> Iterator["Triples"]:
        """Consecutive parts of at most `size` graphs, fewer where graphs have more than `FACTS / size` facts."""
        longest = int(self.length.max()) if len(self) else 0
        size = max(1, min(size, FACTS // max(longest, 1)))
        for first in range(0, len(self), size):
            yield self.slice(first, min(first + size, len(self)))

    def to(self, device: torch.device | str) -> "Triples":
        """The same facts on another device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def triples(data: Dataset, most: int) -> Triples:
    """The facts of every graph.

    Args:
        data: the graphs.
        most: how many entities there are numbers for.

    Raises:
        TooLarge: the facts of some graph speak of more entities.
    """
    whole = data.disjoint()
    nodes = int(whole.start[-1])
    ahead = distances(whole.source, whole.target, whole.head, nodes)
    order = np.lexsort((ahead[whole.source], whole.graph))
    ends = np.column_stack([whole.source[order], whole.target[order]]).ravel()
    met: Longs = np.full(nodes, len(ends) + 1, dtype=np.int64)  # where each node is met first; here, nowhere
    met[whole.tail] = len(ends)
    met[ends[::-1]] = np.arange(len(ends))[::-1]  # of several, the first is written last
    met[whole.head] = -1
    graph = np.repeat(np.arange(len(data)), data.node_count)
    _refuse_more(np.bincount(graph[met <= len(ends)], minlength=len(data)), most)
    number = np.empty(nodes, dtype=np.int64)
    number[np.lexsort((met, graph))] = np.arange(nodes) - whole.start[graph]
    source, target = number[ends].reshape(-1, 2).T
    return Triples(
        torch.from_numpy(data.edge_offset),
        torch.from_numpy(np.column_stack([source, data.edge_label[order], target])),
        torch.from_numpy(np.column_stack([number[whole.head], number[whole.tail]])),
        torch.from_numpy(data.label.astype(np.int64)),
    )


def _refuse_more(entities: Longs, most: int) -> None:
    """Refuse graphs of more entities than there are numbers for."""
    larger = np.flatnonzero(entities > most)
    if len(larger):
        raise TooLarge(
            f"{len(larger)} of {len(entities)} graphs have more than {most} entities, first number {larger[0]}, of "
            f"{entities[larger[0]]}; train with model.entities={entities.max()} or more."
        )
