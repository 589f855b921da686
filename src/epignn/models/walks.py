"""Walks: the relations along paths from head to tail of every graph, which models of sequences read.

The paths of all graphs are followed together, edge by edge, with array operations. They are simple: no node is
visited twice. Two edges between the same nodes give two walks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import Dataset, offsets, spans
from epignn.data.reach import FAR, distances, refuse_unreachable
from epignn.data.stream import mix
from epignn.errors import BadArgument
from epignn.models.batch import owner, ranges

Longs = NDArray[np.int64]
OPEN = 256
"""So many unfinished paths of a graph are followed at most; those nearest to the tail are kept."""
NOTHING = -1
"""What stands behind the end of a walk."""


@dataclass(frozen=True, eq=False)
class Walks:
    """The walks of G graphs, W in all, of at most L edges; those of a graph are in order of their length.

    Attributes:
        offset: (G+1) where the walks of each graph begin.
        relation: (W, L) the relations along each walk, `NOTHING` behind its end; int64.
        label: (G) the relation that holds between head and tail, int64.
    """

    offset: Tensor
    relation: Tensor
    label: Tensor

    def __len__(self) -> int:
        return len(self.label)

    @property
    def graph(self) -> Tensor:
        """(W) the graph of each walk."""
        return owner(self.offset)

    @property
    def length(self) -> Tensor:
        """(W) the number of edges of each walk."""
        return (self.relation != NOTHING).sum(1)

    def digests(self) -> NDArray[np.uint64]:
        """(W) a number of 64 bits for the relations of each walk.

        The same walk has the same; two of a million different ones share one with a probability of 3e-8.
        """
        found: NDArray[np.uint64] = np.zeros(len(self.relation), dtype=np.uint64)
        for step in self.relation.cpu().numpy().T:
            inside = step != NOTHING
            found[inside] = mix(found[inside] + step[inside].astype(np.uint64))
        return found

    def select(self, graphs: Tensor) -> "Walks":
        """Some of the graphs, in the given order."""
        walks, offset, _ = ranges(self.offset, graphs)
        return Walks(offset, self.relation[walks], self.label[graphs])

    def slice(self, first: int, last: int) -> "Walks":
        """The graphs from `first` up to `last`; columns that none of them fills are left out."""
        begin, end = int(self.offset[first]), int(self.offset[last])
        relation = self.relation[begin:end]
        longest = int((relation != NOTHING).sum(1).max()) if len(relation) else 0
        offset = self.offset[first : last + 1] - self.offset[first]
        return Walks(offset, relation[:, :longest], self.label[first:last])

    def chunks(self, size: int) -> Iterator["Walks"]:
        """Consecutive parts of at most `size` graphs."""
        for first in range(0, len(self), size):
            yield self.slice(first, min(first + size, len(self)))

    def to(self, device: torch.device | str) -> "Walks":
        """The same walks on another device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def walks(data: Dataset, most: int = 1) -> Walks:
    """Up to `most` of the shortest walks of each graph.

    Raises:
        BadArgument: in some graph no path leads from head to tail.
    """
    whole = data.disjoint()
    nodes = int(whole.start[-1])
    behind = distances(whole.target, whole.source, whole.tail, nodes)
    refuse_unreachable(data, behind[whole.head] == FAR)
    leads = behind[whole.target] != FAR
    order = np.flatnonzero(leads)[np.argsort(whole.source[leads], kind="stable")]
    first = np.searchsorted(whole.source[order], np.arange(nodes + 1))
    graph: Longs = np.arange(len(data), dtype=np.int64)
    visited: Longs = whole.head.astype(np.int64)[:, None]
    relation: Longs = np.empty((len(data), 0), dtype=np.int64)
    found: list[tuple[Longs, Longs]] = []
    count: Longs = np.zeros(len(data), dtype=np.int64)
    followed = 1 if most == 1 else OPEN  # of equally long paths, one nearest to the tail begins a shortest walk
    while len(graph):
        here = visited[:, -1]
        arrived = here == whole.tail[graph]
        found.append((graph[arrived], relation[arrived]))
        count += np.bincount(graph[arrived], minlength=len(data))
        graph, visited, relation, here = (part[~arrived] for part in (graph, visited, relation, here))
        fan = np.where(count[graph] < most, first[here + 1] - first[here], 0)
        path = np.repeat(np.arange(len(graph)), fan)
        edge = order[spans(first[here], fan)]
        target = whole.target[edge]
        fresh = np.flatnonzero((visited[path] != target[:, None]).all(1))
        fresh = fresh[_nearest(graph[path[fresh]], behind[target[fresh]], followed)]
        path, edge, target = path[fresh], edge[fresh], target[fresh]
        graph = graph[path]
        visited = np.column_stack([visited[path], target])
        relation = np.column_stack([relation[path], data.edge_label[edge]])
    return _collected(found, count, most, data)


def _nearest(graph: Longs, behind: Longs, followed: int) -> Longs:
    """The paths to follow further, so many a graph, in order of their graphs."""
    by_graph = np.lexsort((behind, graph))
    place = np.arange(len(graph)) - np.searchsorted(graph[by_graph], graph[by_graph])
    kept: Longs = np.sort(by_graph[place < followed])
    return kept


def _collected(found: list[tuple[Longs, Longs]], count: Longs, most: int, data: Dataset) -> Walks:
    """What was found, a step at a time, in order of graphs."""
    longest = max((relation.shape[1] for graph, relation in found if len(graph)), default=0)
    wide = [np.pad(r, ((0, 0), (0, longest - r.shape[1])), constant_values=NOTHING) for g, r in found if len(g)]
    graph = np.concatenate([g for g, _ in found]) if found else np.empty(0, dtype=np.int64)
    relation = np.concatenate(wide) if wide else np.empty((0, 0), dtype=np.int64)
    order = np.argsort(graph, kind="stable")
    place = np.arange(len(graph)) - np.searchsorted(graph[order], graph[order])
    kept = order[place < most]
    return Walks(
        torch.from_numpy(offsets(np.minimum(count, most))),
        torch.from_numpy(relation[kept]),
        torch.from_numpy(data.label.astype(np.int64)),
    )


def edge_walks(data: Dataset, most: int) -> Walks:
    """As `walks`, for models that need an edge to begin with.

    Raises:
        BadArgument: in some graph no path leads from head to tail, or they are one node.
    """
    same = np.flatnonzero(data.query_head == data.query_tail)
    if len(same):
        raise BadArgument(
            f"head and tail are one node in {len(same)} of {len(data)} graphs, first in number {same[0]}: there is "
            "no relation to read between them. Leave such graphs out."
        )
    return walks(data, most)


def distinct(relation: Tensor) -> tuple[Tensor, Tensor]:
    """(D, L), (W): the walks that differ, and which of them each walk is; many graphs have the same."""
    found, which = torch.unique(relation, dim=0, return_inverse=True)
    return found, which
