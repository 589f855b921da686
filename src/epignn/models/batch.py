"""Several graphs packed as one disjoint graph: what a model reads."""

from dataclasses import dataclass, fields, replace
from typing import Any

import torch
from torch import Tensor


@dataclass(frozen=True, eq=False)
class GraphBatch:
    """B graphs with V nodes, E edges and P nodes on paths; every index is int32 and counts within the batch.

    Attributes:
        node_offset: (B+1) where the nodes of each graph begin.
        in_offset, in_source, in_label: edges by target: those into node v are in_offset[v]..in_offset[v+1].
        out_offset, out_target, out_label: the same edges by source.
        head, tail: (B) the nodes that are asked about.
        path_offset, path_node: (B+1), (P) the nodes inside one shortest path from head to tail of each graph.
        depth: rounds after which states no longer change.
        ordered: whether every edge runs from a smaller to a larger node.
    """

    node_offset: Tensor
    in_offset: Tensor
    in_source: Tensor
    in_label: Tensor
    out_offset: Tensor
    out_target: Tensor
    out_label: Tensor
    head: Tensor
    tail: Tensor
    path_offset: Tensor
    path_node: Tensor
    depth: int
    ordered: bool

    def __len__(self) -> int:
        return len(self.head)

    @property
    def nodes(self) -> int:
        """V, the number of nodes."""
        return len(self.in_offset) - 1

    def to(self, device: torch.device | str) -> "GraphBatch":
        """The same batch on another device."""
        values = {f.name: getattr(self, f.name) for f in fields(self)}
        moved: dict[str, Any] = {k: v.to(device) for k, v in values.items() if isinstance(v, Tensor)}
        return replace(self, **moved)


@dataclass(frozen=True, eq=False)
class Flow:
    """One direction of message passing: the edges over which each node hears, and where states start.

    Attributes:
        node_offset: (B+1) where the nodes of each graph begin.
        offset, source, label: node v hears from source[e] over label[e] for e in offset[v]..offset[v+1].
        start: (B) the nodes whose state is the identity.
        depth: rounds after which states no longer change.
        ordered: whether sources come before their nodes, in the order of this flow.
        descending: whether that order runs from the last node to the first.
    """

    node_offset: Tensor
    offset: Tensor
    source: Tensor
    label: Tensor
    start: Tensor
    depth: int
    ordered: bool
    descending: bool


def forward_flow(batch: GraphBatch) -> Flow:
    """From the heads along the edges."""
    edges = batch.in_offset, batch.in_source, batch.in_label
    return Flow(batch.node_offset, *edges, batch.head, batch.depth, batch.ordered, descending=False)


def backward_flow(batch: GraphBatch) -> Flow:
    """From the tails against the edges."""
    edges = batch.out_offset, batch.out_target, batch.out_label
    return Flow(batch.node_offset, *edges, batch.tail, batch.depth, batch.ordered, descending=True)
