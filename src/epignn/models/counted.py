"""The sceptic's rivals: composition tables that are counted, not learnt by gradients.

Both keep, for each cell (i, j), how often it gave each relation. `counted` looks at walks of two edges alone,
whose label is what their cell gave; `counted-em` at longer ones too, of which it has to guess what their parts
gave. What was counted is then read as a table of sets, completed by the laws of relation algebras, and used as a
calculus: every graph is closed, in any order of composition.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.cells import MOST_RELATIONS, Cells, completed
from epignn.models.inside import evidence, expected
from epignn.models.pairs import PairBatch, closed_pairs
from epignn.models.walks import Walks, walks

SHARES = (0.3, 0.1, 0.05, 0.02, 0.01, 0.003, 0.0)
"""Shares of a cell that a relation has to exceed to be in its set; by validation one is chosen."""
LEAST = 0.5
"""A relation that is expected to have been seen less often than this was not seen."""
GAIN = 1e-5
"""An epoch ends with a step that gains less than this of the mean log-likelihood."""
FIRST = 0.1
"""How much less likely than a relation a cell gives nothing with a name at first, unless two-step walks speak."""


@dataclass(frozen=True, eq=False)
class Routes:
    """Graphs twice: their walks from head to tail, to be counted, and all their pairs, to be closed."""

    walks: Walks
    pairs: PairBatch

    def __len__(self) -> int:
        return len(self.walks)

    @property
    def label(self) -> Tensor:
        """(G) the right answers."""
        return self.walks.label

    def select(self, graphs: Tensor) -> "Routes":
        """Some of the graphs, in the given order."""
        return Routes(self.walks.select(graphs), self.pairs.select(graphs))

    def slice(self, first: int, last: int) -> "Routes":
        """The graphs from `first` up to `last`."""
        return Routes(self.walks.slice(first, last), self.pairs.slice(first, last))

    def chunks(self, size: int) -> Iterator["Routes"]:
        """Consecutive parts of at most `size` graphs, fewer where they are large."""
        first = 0
        for part in self.pairs.chunks(size):
            yield Routes(self.walks.slice(first, first + len(part)), part)
            first += len(part)

    def to(self, device: torch.device | str) -> "Routes":
        """The same graphs on another device; pairs stay where they are, since sets are closed by numpy."""
        return Routes(self.walks.to(device), self.pairs)


@dataclass(frozen=True)
class CountedConfig(ModelConfig):
    """The settings of `Counted`.

    Attributes:
        walks: how many walks of each graph are counted, the shortest first.
    """

    walks: int = 8


class Counted(Model):
    """Cell (i, j) is the set of labels that were seen with a walk of two edges, i and j; never seen is anything.

    A label has to have some share of its cell, since labels may be wrong. An epoch is a candidate: the shares of
    `SHARES`, first without the laws of relation algebras, then with them; the best by validation is kept. Identity
    and converses, which the laws need, are counted too: where no relation is seen to change nothing, there are no
    laws.
    """

    Config: ClassVar[type[ModelConfig]] = CountedConfig
    recipes: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                f"training.epochs={2 * len(SHARES)}",
                "training.batch_size=8192",
            )
        }
    )
    counts: Tensor
    allowed: Tensor

    def __init__(self, relations: int, config: CountedConfig) -> None:
        super().__init__(relations, config)
        if relations > MOST_RELATIONS:
            raise BadArgument(f"sets of at most {MOST_RELATIONS} relations can be counted, not of {relations}.")
        size = (relations, relations, relations)
        self.register_buffer("counts", torch.zeros(*size, dtype=torch.float64))
        self.register_buffer("allowed", torch.ones(size, dtype=torch.bool))

    @classmethod
    def prepare(cls, data: Dataset, config: CountedConfig) -> Routes:
        """Walks and pairs of every graph."""
        return Routes(walks(data, config.walks), closed_pairs(data))

    def count(self, graphs: Iterable[Routes], epoch: int) -> float:
        """Count two-step walks; the loss is the entropy of their labels, given the cell."""
        self.counts = _two_steps((part.walks for part in graphs), self.counts)
        self._read(self.counts, self.counts.sum(-1) >= LEAST, epoch)
        share = self._shares()
        return float(-(self.counts * share.clamp_min(1e-12).log()).sum() / self.counts.sum().clamp_min(1))

    def _shares(self) -> Tensor:
        """(R, R, R) the share of each relation in each cell; in one that was never seen, its share of all."""
        named = self.counts[..., : self.relations]
        mass = named.sum(-1, keepdim=True)
        whole = named.sum((0, 1)) / mass.sum().clamp_min(LEAST)
        return torch.where(mass >= LEAST, named / mass.clamp_min(LEAST), whole)

    def _read(self, counts: Tensor, known: Tensor, epoch: int) -> None:
        """Read counts as sets, in the way that an epoch tries; cells that are not known were never seen."""
        laws, number = divmod(epoch % (2 * len(SHARES)), len(SHARES))
        share = counts / counts.sum(-1, keepdim=True).clamp_min(LEAST)
        seen = (counts >= LEAST) & (share > SHARES[number]) & known[..., None]
        self.allowed = torch.from_numpy(completed(seen.cpu().numpy(), bool(laws))).to(counts.device)

    def scores(self, batch: Routes) -> Tensor:
        """(B, R): see `Cells.scores`."""
        share = self._shares().float().cpu().numpy()
        found = Cells(self.allowed.cpu().numpy()).scores(batch.pairs, share)
        return torch.from_numpy(found).to(self.device)


def _two_steps(parts: Iterable[Walks], like: Tensor) -> Tensor:
    """(R, R, R): how often each cell was seen with each label."""
    counted = torch.zeros_like(like)
    for part in parts:
        two = part.length == 2
        label, relation = part.label[part.graph[two]], part.relation[two]
        one = torch.ones_like(label, dtype=counted.dtype)
        if len(label):
            counted.index_put_((relation[:, 0], relation[:, 1], label), one, accumulate=True)
    return counted


@dataclass(frozen=True)
class CountedEMConfig(CountedConfig):
    """The settings of `CountedEM`.

    Attributes:
        longest: walks of more edges are not counted.
        most: how many different walks are counted, at most.
        steps: steps of expectation-maximisation in an epoch.
        smoothing: what is added to the count of every entry.
    """

    longest: int = 6
    most: int = 30_000
    steps: int = 5
    smoothing: float = 0.001


class CountedEM(Counted):
    """Counting where walks are longer: expectation-maximisation over what their parts may have been.

    Every walk by itself is a witness of the label of its graph: it has to allow it. An epoch is some steps of
    expectation-maximisation (see `inside`), and the next of the candidates of `Counted`. It begins with the cells
    that walks of two edges show; those that they do not show are as likely as not without a name. Where there are
    no walks of two edges it begins at random, and `training.starts` tries several beginnings.
    """

    Config: ClassVar[type[ModelConfig]] = CountedEMConfig
    recipes: ClassVar[Mapping[str, tuple[str, ...]]] = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                f"training.epochs={4 * len(SHARES)}",
                "training.batch_size=8192",
            )
        }
    )
    begun: Tensor

    def __init__(self, relations: int, config: CountedEMConfig) -> None:
        super().__init__(relations, config)
        drawn = torch.rand(relations, relations, relations + 1, dtype=torch.float64) + 0.1
        self.counts = drawn / drawn.sum(-1, keepdim=True)
        self.register_buffer("begun", torch.zeros((), dtype=torch.bool))

    def count(self, graphs: Iterable[Routes], epoch: int) -> float:
        """Some steps; the loss is the mean of the negative log-likelihood of the labels before the last one."""
        parts = [part.walks for part in graphs]
        if not self.begun:
            self._begin(parts)
        seen = evidence(parts, self.relations, self.config.longest, self.config.most)
        labels = max(1.0, sum(float(label.sum()) for _, label in seen))
        loss, before = 0.0, math.inf
        for _ in range(self.config.steps):
            counts, likelihood = expected(self.table().cpu(), seen)
            self.counts, loss = counts.to(self.device), -likelihood / labels
            if before - loss < GAIN:
                break
            before = loss
        named = self.counts[..., :-1]
        known = (named.sum(-1) >= LEAST) & (self.table()[..., -1] <= 0.5)
        self._read(named, known, epoch)
        return loss

    def table(self) -> Tensor:
        """(R, R, R + 1): the probabilities of each cell; the last is that of no relation that has a name."""
        more: Tensor = self.counts + self.config.smoothing
        return more / more.sum(-1, keepdim=True)

    def _begin(self, parts: list[Walks]) -> None:
        """Add what two-step walks show to what was drawn."""
        shown = _two_steps(parts, torch.zeros_like(self.counts[..., :-1]))
        named, nameless = self.counts[..., :-1], self.counts[..., -1:]
        whole = named.sum(-1, keepdim=True)
        unseen = whole if shown.any() else FIRST * nameless
        nameless = torch.where(shown.sum(-1, keepdim=True) > 0, FIRST * nameless, unseen)
        self.counts, self.begun = torch.cat([named + shown, nameless], -1), torch.ones_like(self.begun)
