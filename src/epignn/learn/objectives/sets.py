"""Sets: a state learns which relations are possible, of expressions whose sets a calculus knows exactly.

Graphs have one label each, so that a model never sees which relations were still possible on the way there. Random
expressions have a set for every state. They are made as message passing makes states: relations are composed, what
comes of it is composed again, and several such states are pooled. The relations of the set are to be equally likely
then, and all others impossible. Of the calculus the composition table alone is used, which may be a learnt one.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.calibrate import Calibration, calibration
from epignn.learn.evaluate import scores
from epignn.learn.objectives.api import ObjectiveConfig
from epignn.models.api import Batch, Model
from epignn.models.epignn import EpiGNN, phi, pool
from epignn.tasks.api import GraphTask, Report
from epignn.tasks.star import larger_problems

Bools = NDArray[np.bool_]
LARGER_SEED = 3
"""Of the larger problems that calibrate a model."""


@dataclass(frozen=True)
class SetsConfig(ObjectiveConfig):
    """The settings of learning from sets.

    Attributes:
        temperature: scores are divided by it; above 1 it makes states sharper.
        depth: how deep expressions are nested; each depth is composed of those of the depth before.
        branches: how many states are pooled, at most.
        expressions: how many expressions of every depth an epoch has.
        larger: how many problems of each label, in each of three cells larger than training graphs, calibrate it.
    """

    kind: str = "sets"
    temperature: float = 8.0
    depth: int = 8
    branches: int = 3
    expressions: int = 25_600
    larger: int = 20

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.depth, self.branches, self.expressions) < 1 or self.larger < 0:
            raise BadArgument("depth, branches and expressions must be 1 or more, larger 0 or more.")


class Level(NamedTuple):
    """Expressions of one depth, by numbers: relations come first, then the expressions of the level before.

    Attributes:
        left, right: (B, N) what is composed in each of B branches.
        sets: (N, R) the relations that all branches leave possible: neither none nor all.
    """

    left: NDArray[np.int64]
    right: NDArray[np.int64]
    sets: Bools


def expressions(table: Bools, count: int, config: SetsConfig, rng: np.random.Generator) -> list[Level]:
    """Random expressions over a composition table (R, R, R): first every pair of relations, then deeper ones."""
    relations = len(table)
    single, weights = np.eye(relations, dtype=bool), table.astype(np.float32)
    every = np.indices((relations, relations)).reshape(2, 1, -1)
    levels = [Level(every[0], every[1], table.reshape(-1, relations))]
    for _ in range(config.depth):
        known = np.concatenate([single, levels[-1].sets])
        shape = (int(rng.integers(1, config.branches + 1)), count)
        left, right = rng.integers(0, len(known), (2, *shape))
        reached = np.einsum("bna,bnc,acd->bnd", known[left], known[right], weights, optimize=True) > 0
        sets = reached.all(0)
        told = sets.any(1) & ~sets.all(1)
        if told.any():
            levels.append(Level(left[:, told], right[:, told], sets[told]))
    return levels


class Sets:
    """A calculus, as a model learns it.

    Args:
        config: the settings.
        calculus: whose composition table is learnt; its relations are those of the model.
        prepare: does the graph work that the model needs.
        device: where the model is.
    """

    Config: ClassVar[type[ObjectiveConfig]] = SetsConfig
    metric, unit = "accuracy", "expressions"

    def __init__(
        self,
        config: SetsConfig,
        calculus: Calculus,
        prepare: Callable[[Dataset], Batch],
        device: torch.device | str = "cpu",
    ) -> None:
        self.config, self.device = config, device
        self.relations, self.outputs = calculus.relations, len(calculus)
        masks = np.array(calculus.composition, dtype=np.uint64)
        self.table: Bools = (masks[..., None] >> np.arange(len(calculus), dtype=np.uint64)) & np.uint64(1) > 0
        valid = larger_problems(calculus, config.larger, LARGER_SEED) if config.larger else None
        self.valid = None if valid is None else prepare(valid)

    @classmethod
    def of(
        cls,
        config: SetsConfig,
        task: GraphTask,
        prepare: Callable[[Dataset], Batch],
        seed: int,
        device: torch.device | str = "cpu",
        report: Report | None = None,
    ) -> Self:
        """The objective of a task about a calculus; its graphs are not used. See `Objective.of`."""
        if not isinstance(task, GraphTask) or not task.calculus:
            raise BadArgument(f"{task.task} is not about a calculus, so that there are no sets to learn.")
        return cls(config, load(task.calculus), prepare, device)

    def __len__(self) -> int:
        return self.config.expressions

    def notes(self) -> list[str]:
        """What is learnt, and what calibrates the model."""
        judged = f"; calibration: {len(self.valid):,} larger graphs" if self.valid is not None else ""
        return [f"train: expressions over {self.outputs} relations{judged}"]

    def digest(self) -> str:
        """Of the composition table."""
        told = hashlib.sha256("\0".join(self.relations).encode())
        told.update(np.packbits(self.table).tobytes())
        return told.hexdigest()[:16]

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[list[Level]]:
        """Expressions, drawn anew for every step."""
        rng = np.random.default_rng([seed, epoch])
        for first in range(0, len(self), size):
            yield expressions(self.table, min(size, len(self) - first), self.config, rng)

    def loss(self, model: Model, batch: list[Level]) -> Tensor:
        """How far states are from their sets: the divergence of what is likely from what is possible."""
        if not isinstance(model, EpiGNN) or model.config.ablated:
            raise BadArgument("sets are learnt by the states of an EpiGNN, whose embeddings are distributions.")
        vectors, table = model.algebra()
        assert table is not None  # ablations have none
        known, total = vectors, vectors.new_zeros(())
        for left, right, sets in batch:
            made = phi(known[left.reshape(-1)], known[right.reshape(-1)], table)
            which = torch.arange(left.shape[1], device=made.device).repeat(len(left))
            states = pool(made, which, left.shape[1], model.config.pooling)
            likely = torch.log_softmax(model.state_scores(states, vectors) / self.config.temperature, 1)
            possible = torch.from_numpy(sets).to(likely)
            share = possible / possible.sum(1, keepdim=True)
            total = total - (share * (likely + possible.sum(1, keepdim=True).log())).sum(1).mean()
            known = torch.cat([vectors, states])
        return total / len(batch)

    def part(self, batch: list[Level], number: int, of: int) -> tuple[list[Level] | None, float]:
        """Expressions are made of one another: the first of several processes has them all."""
        return (batch, 1.0) if number == 0 else (None, 0.0)

    def validate(self, model: Model) -> float | None:
        """Nothing is held out: an epoch never sees what another saw. So the last one is kept."""
        return None

    def calibrate(self, model: Model, report: Report | None = None) -> Calibration | None:
        """The temperature that makes the labels of the larger graphs likeliest."""
        if self.valid is None:
            return None
        found = scores(model, self.valid, report=report).astype(np.float64)
        return calibration(found, self.valid.label.cpu().numpy(), self.config.temperature)
