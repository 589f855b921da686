"""Prepared graphs to batches: the only bridge from numpy to torch."""

import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.data.pairs import Pairs, prepare_pairs
from epignn.data.prepare import Prepared, between, prepare
from epignn.models.batch import GraphBatch
from epignn.models.closure import AnyBatch, PairBatch, PairRound
from epignn.models.epignn import ModelConfig

Graphs = Prepared | Pairs


def prepare_for(config: ModelConfig, data: Dataset) -> Graphs:
    """The graph work that a model of this kind needs."""
    if config.closure == "full":
        return prepare_pairs(data, None if config.rounds == "auto" else int(config.rounds))
    return prepare(between(data) if config.silent else data)


def collate(graphs: Graphs) -> AnyBatch:
    """Pack prepared graphs; arrays are shared, not copied."""
    tensor = torch.from_numpy
    if isinstance(graphs, Pairs):
        rounds = tuple(PairRound(tensor(r.offset), tensor(r.left), tensor(r.right)) for r in graphs.rounds)
        return PairBatch(tensor(graphs.pair_offset), tensor(graphs.query), rounds)
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


def labels(graphs: Graphs) -> Tensor:
    """The right answers, as indices."""
    return torch.from_numpy(graphs.label).long()
