"""Prepared graphs to batches: the only bridge from numpy to torch."""

import torch
from torch import Tensor

from epignn.data.prepare import Prepared
from epignn.models.batch import GraphBatch


def collate(graphs: Prepared) -> GraphBatch:
    """Pack prepared graphs; arrays are shared, not copied."""
    tensor = torch.from_numpy
    return GraphBatch(
        tensor(graphs.node_offset),
        tensor(graphs.in_offset),
        tensor(graphs.in_source),
        tensor(graphs.in_label),
        tensor(graphs.out_offset),
        tensor(graphs.out_target),
        tensor(graphs.out_label),
        tensor(graphs.head),
        tensor(graphs.tail),
        tensor(graphs.path_offset),
        tensor(graphs.path_node),
        depth=int(graphs.depth.max(initial=1)),
        ordered=bool(graphs.acyclic.all()),
    )


def labels(graphs: Prepared) -> Tensor:
    """The right answers, as indices."""
    return torch.from_numpy(graphs.label).long()
