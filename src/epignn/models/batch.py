"""Several graphs packed as one disjoint graph: what models read.

Arrays are tensors of int32. Nodes and edges are numbered through all graphs of a batch, so that message passing
treats a batch as one graph; `offset[g]..offset[g+1]` are those of graph g.
"""

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """G graphs with V nodes, E edges and P nodes on paths.

    Attributes:
        node_offset: (G+1) where the nodes of each graph begin.
        edge_offset: (G+1) where its edges begin, in both orders below.
        in_offset, in_source, in_label: edges by target: those into node v are in_offset[v]..in_offset[v+1].
        out_offset, out_target, out_label: the same edges by source.
        head, tail: (G) the nodes that are asked about.
        label: (G) the relation that holds between them, int64.
        path_offset, path_node: (G+1), (P) the nodes strictly inside one shortest path from head to tail.
        depth: (G) rounds of message passing after which states no longer change.
        acyclic: (G) whether a graph has no cycle; its edges then run from smaller to larger nodes.
    """

    node_offset: Tensor
    edge_offset: Tensor
    in_offset: Tensor
    in_source: Tensor
    in_label: Tensor
    out_offset: Tensor
    out_target: Tensor
    out_label: Tensor
    head: Tensor
    tail: Tensor
    label: Tensor
    path_offset: Tensor
    path_node: Tensor
    depth: Tensor
    acyclic: Tensor

    def __len__(self) -> int:
        return len(self.head)

    @property
    def nodes(self) -> int:
        """V, the number of nodes."""
        return len(self.in_offset) - 1

    @cached_property
    def order(self) -> tuple[int, bool]:
        """Rounds after which no state changes in any graph, and whether none of them has a cycle."""
        return int(self.depth.max()) if len(self) else 1, bool(self.acyclic.all())

    @property
    def node_graph(self) -> Tensor:
        """(V) the graph of each node, int64."""
        return owner(self.node_offset)

    def edges(self) -> tuple[Tensor, Tensor, Tensor]:
        """Source, target and relation of every edge, (E) each, int64, in order of the target."""
        return self.in_source.long(), owner(self.in_offset), self.in_label.long()

    def select(self, graphs: Tensor) -> "GraphBatch":
        """Some of the graphs, in the given order."""
        nodes, node_offset, shift = ranges(self.node_offset, graphs)
        edges, edge_offset, edge_shift = ranges(self.edge_offset, graphs)
        paths, path_offset, _ = ranges(self.path_offset, graphs)
        by_edge = shift.repeat_interleave(edge_offset.diff())
        by_node = edge_shift.repeat_interleave(node_offset.diff())
        return GraphBatch(
            node_offset=node_offset,
            edge_offset=edge_offset,
            in_offset=torch.cat([self.in_offset[nodes] + by_node, edge_offset[-1:]]),
            in_source=self.in_source[edges] + by_edge,
            in_label=self.in_label[edges],
            out_offset=torch.cat([self.out_offset[nodes] + by_node, edge_offset[-1:]]),
            out_target=self.out_target[edges] + by_edge,
            out_label=self.out_label[edges],
            head=self.head[graphs] + shift,
            tail=self.tail[graphs] + shift,
            label=self.label[graphs],
            path_offset=path_offset,
            path_node=self.path_node[paths] + shift.repeat_interleave(path_offset.diff()),
            depth=self.depth[graphs],
            acyclic=self.acyclic[graphs],
        )

    def slice(self, first: int, last: int) -> "GraphBatch":
        """The graphs from `first` up to `last`; on the CPU, where the graphs of a data set are kept."""
        offsets = (self.node_offset.numpy(), self.edge_offset.numpy(), self.path_offset.numpy())
        (n0, n1), (e0, e1), (p0, p1) = ((int(offset[first]), int(offset[last])) for offset in offsets)
        return GraphBatch(
            node_offset=_moved(self.node_offset, first, last + 1, n0),
            edge_offset=_moved(self.edge_offset, first, last + 1, e0),
            in_offset=_moved(self.in_offset, n0, n1 + 1, e0),
            in_source=_moved(self.in_source, e0, e1, n0),
            in_label=self.in_label[e0:e1],
            out_offset=_moved(self.out_offset, n0, n1 + 1, e0),
            out_target=_moved(self.out_target, e0, e1, n0),
            out_label=self.out_label[e0:e1],
            head=_moved(self.head, first, last, n0),
            tail=_moved(self.tail, first, last, n0),
            label=self.label[first:last],
            path_offset=_moved(self.path_offset, first, last + 1, p0),
            path_node=_moved(self.path_node, p0, p1, n0),
            depth=self.depth[first:last],
            acyclic=self.acyclic[first:last],
        )

    def chunks(self, size: int) -> Iterator["GraphBatch"]:
        """Consecutive parts of at most `size` graphs."""
        for first in range(0, len(self), size):
            yield self.slice(first, min(first + size, len(self)))

    def to(self, device: torch.device | str) -> "GraphBatch":
        """The same graphs on another device."""
        return replace(self, **{f.name: getattr(self, f.name).to(device) for f in fields(self)})


def _moved(values: Tensor, first: int, last: int, by: int) -> Tensor:
    """A run of numbers, less an offset: by numpy, which takes a third of torch's time for so few."""
    return torch.from_numpy(values.numpy()[first:last] - np.int32(by))


def owner(offset: Tensor) -> Tensor:
    """The run that each member belongs to, int64.

    >>> owner(torch.tensor([0, 2, 2, 3])).tolist()
    [0, 0, 2]
    """
    runs = torch.arange(len(offset) - 1, device=offset.device)
    return runs.repeat_interleave(offset.diff().long())


def ranges(offset: Tensor, chosen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The members of chosen runs, the offsets of the runs in their new order, and how far each run moves.

    >>> [t.tolist() for t in ranges(torch.tensor([0, 2, 3, 6]), torch.tensor([2, 0]))]
    [[3, 4, 5, 0, 1], [0, 3, 5], [-3, 3]]
    """
    first = offset[chosen]
    counts = offset[chosen + 1] - first
    fresh = torch.zeros(len(chosen) + 1, dtype=offset.dtype, device=offset.device)
    torch.cumsum(counts, 0, out=fresh[1:])
    shift = fresh[:-1] - first
    members = torch.arange(int(fresh[-1]), device=offset.device) - shift.repeat_interleave(counts)
    return members, fresh, shift
