"""What needs no learning: the majority label, and the training walks by heart.

No table is complete without them: what a model has learnt is what it does better.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.data.stream import mix
from epignn.models.api import Model, ModelConfig
from epignn.models.walks import Walks, walks

ONCE: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"classify": ('objective.loss="cross_entropy"', "training.epochs=1", "training.batch_size=8192")}
)
"""How models are trained that have seen everything after one pass."""


def log_shares(counts: Tensor) -> Tensor:
    """(..., R): the logarithm of the share of each label, every label counted half a time more than it was seen."""
    more = counts.double() + 0.5
    return (more / more.sum(-1, keepdim=True)).log().float()


class Majority(Model):
    """Scores every relation by how often it was a training label."""

    recipes: ClassVar[Mapping[str, tuple[str, ...]]] = ONCE
    seen: Tensor

    def __init__(self, relations: int, config: ModelConfig) -> None:
        super().__init__(relations, config)
        self.register_buffer("seen", torch.zeros(relations, dtype=torch.int64))

    @classmethod
    def prepare(cls, data: Dataset, config: ModelConfig) -> Walks:
        """The labels alone are looked at, and one walk of each graph is the least to keep."""
        return walks(data)

    def count(self, graphs: Iterable[Walks], epoch: int) -> float:
        """Count the labels; the loss is their entropy."""
        self.seen = _labels(graphs, self.seen)
        return float(-(log_shares(self.seen) * self.seen).sum() / self.seen.sum().clamp_min(1))

    def scores(self, batch: Walks) -> Tensor:
        """(B, R): the same for every graph."""
        return log_shares(self.seen).expand(len(batch), -1)


def _labels(graphs: Iterable[Walks], like: Tensor) -> Tensor:
    """(R): how often each label occurs."""
    counted = torch.zeros_like(like)
    for part in graphs:
        counted += part.label.bincount(minlength=len(like))
    return counted


@dataclass(frozen=True)
class LookupConfig(ModelConfig):
    """The settings of `Lookup`.

    Attributes:
        walks: how many walks of each graph are kept and looked up, the shortest first.
    """

    walks: int = 64


class Lookup(Model):
    """Knows the training walks by heart, and nothing else.

    A graph with the same walks as some training graphs gets their labels, by how often each was seen. One that is
    not known gets the labels of its known walks, each by itself; where no walk is known either, the majority.
    """

    Config: ClassVar[type[ModelConfig]] = LookupConfig
    recipes: ClassVar[Mapping[str, tuple[str, ...]]] = ONCE
    grown: ClassVar[tuple[str, ...]] = ("graph_key", "graph_seen", "walk_key", "walk_seen")
    seen: Tensor
    graph_key: Tensor
    graph_seen: Tensor
    walk_key: Tensor
    walk_seen: Tensor

    def __init__(self, relations: int, config: LookupConfig) -> None:
        super().__init__(relations, config)
        self.register_buffer("seen", torch.zeros(relations, dtype=torch.int64))
        for what in ("graph", "walk"):
            self.register_buffer(f"{what}_key", torch.empty(0, dtype=torch.int64))
            self.register_buffer(f"{what}_seen", torch.empty(0, relations, dtype=torch.int64))

    @classmethod
    def prepare(cls, data: Dataset, config: LookupConfig) -> Walks:
        """The shortest walks of every graph."""
        return walks(data, config.walks)

    def count(self, graphs: Iterable[Walks], epoch: int) -> float:
        """Learn all walks by heart; the loss is the entropy of the labels that each graph was seen with."""
        parts = list(graphs)
        self.seen = _labels(parts, self.seen)
        keys = [_keys(part) for part in parts]
        label = torch.cat([part.label for part in parts])
        by_walk = torch.cat([part.label[part.graph] for part in parts])
        self.graph_key, self.graph_seen = self._counted(torch.cat([whole for whole, _ in keys]), label)
        self.walk_key, self.walk_seen = self._counted(torch.cat([single for _, single in keys]), by_walk)
        return float(-(log_shares(self.graph_seen) * self.graph_seen).sum() / len(label))

    def _counted(self, key: Tensor, label: Tensor) -> tuple[Tensor, Tensor]:
        """Each key once, in order, and how often it was seen with each label."""
        distinct, place = torch.unique(key, return_inverse=True)
        cell = place * self.relations + label
        counted = cell.bincount(minlength=len(distinct) * self.relations)
        return distinct, counted.view(-1, self.relations)

    def scores(self, batch: Walks) -> Tensor:
        """(B, R): the logarithm of shares of labels."""
        whole, single = _keys(batch)
        graph, known = _found(self.graph_key, self.graph_seen, whole)
        walk, _ = _found(self.walk_key, self.walk_seen, single)
        votes = torch.zeros(len(batch), self.relations, dtype=torch.int64, device=walk.device)
        votes.index_add_(0, batch.graph, walk)
        votes = torch.where(votes.sum(1, keepdim=True) > 0, votes, self.seen)
        return log_shares(torch.where(known[:, None], graph, votes))


def _found(key: Tensor, seen: Tensor, asked: Tensor) -> tuple[Tensor, Tensor]:
    """What was counted for the keys that are asked, nothing for those that are not known; and which are."""
    if not len(key):
        return seen.new_zeros(len(asked), seen.shape[1]), torch.zeros_like(asked, dtype=torch.bool)
    place = torch.searchsorted(key, asked).clamp_max(len(key) - 1)
    known = key[place] == asked
    return seen[place] * known[:, None], known


def _keys(batch: Walks) -> tuple[Tensor, Tensor]:
    """A number for each graph, the same for the same walks in any order, and one for each walk."""
    walk = batch.digests()
    whole = np.zeros(len(batch), dtype=np.uint64)
    np.add.at(whole, batch.graph.cpu().numpy(), mix(walk))
    device = batch.label.device
    return torch.from_numpy(whole.view(np.int64)).to(device), torch.from_numpy(walk.view(np.int64)).to(device)
