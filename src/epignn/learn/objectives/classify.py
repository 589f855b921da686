"""Classification: which relation holds between head and tail of a graph."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn import losses
from epignn.learn.calibrate import Calibration, calibration
from epignn.learn.evaluate import accuracy, scores
from epignn.learn.objectives.api import ObjectiveConfig
from epignn.models.api import Batch, Model
from epignn.models.batch import GraphBatch
from epignn.models.prepare import repath
from epignn.tasks.api import GraphTask, Report


@dataclass(frozen=True)
class ClassifyConfig(ObjectiveConfig):
    """The settings of classification; defaults follow the paper's text.

    Attributes:
        loss: `margin` against one random other relation, `cross_entropy` against all, or `binary`: the
            cross-entropy of a yes or no for each relation by itself, whose scores are log-odds.
        margin: Δ of the margin loss.
        temperature: scores are divided by it in either cross-entropy; above 1 it makes states sharper.
        random_path: choose among shortest paths anew in every epoch, as the paper says; if false, the first found
            is used, as in the published code.
    """

    loss: str = "margin"
    margin: float = 1.0
    random_path: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.loss not in ("margin", "cross_entropy", "binary"):
            raise BadArgument(f"loss must be margin, cross_entropy or binary, not {self.loss!r}.")


class Lesson(NamedTuple):
    """An epoch of graphs.

    Attributes:
        graphs: all of them.
        order: (G) in which they are learnt.
        other: (G) in that order, a relation other than the right one for each, if the loss asks for it.
    """

    graphs: Any
    order: Tensor
    other: Tensor | None


class Step(NamedTuple):
    """The graphs of a step, and a relation other than the right one for each, if the loss asks for it."""

    graphs: Any
    other: Tensor | None


class Classify:
    """Labelled graphs, as a model learns them."""

    Config: ClassVar[type[ObjectiveConfig]] = ClassifyConfig
    metric, unit = "accuracy", "graphs"

    def __init__(
        self,
        config: ClassifyConfig,
        train: Dataset,
        valid: Dataset,
        prepare: Callable[[Dataset], Batch],
        device: torch.device | str = "cpu",
    ) -> None:
        self.config, self.device = config, device
        self.relations, self.outputs = train.relations, len(train.relations)
        self.train, self.valid = prepare(train), prepare(valid)
        self._digest = _digest(train, valid)

    @classmethod
    def of(
        cls,
        config: ClassifyConfig,
        task: GraphTask,
        prepare: Callable[[Dataset], Batch],
        seed: int,
        device: torch.device | str = "cpu",
        report: Report | None = None,
    ) -> Self:
        """The objective of a task; see `Objective.of`."""
        if not isinstance(task, GraphTask):
            raise BadArgument(f"{task.task} holds links, not labelled graphs; objective.kind = 'rank' learns them.")
        return cls(config, *task.split(seed, report), prepare, device)

    def __len__(self) -> int:
        return len(self.train)

    def notes(self) -> list[str]:
        """How many graphs there are."""
        return [f"train: {len(self.train):,} graphs; validation: {len(self.valid):,}"]

    def digest(self) -> str:
        """Of all graphs, their questions and labels."""
        return self._digest

    def lesson(self, seed: int, epoch: int) -> Lesson:
        """All training graphs in a random order."""
        rng = np.random.default_rng([seed, epoch])
        graphs, order = self.train, torch.from_numpy(rng.permutation(len(self.train)))
        if self.config.random_path and isinstance(graphs, GraphBatch):
            graphs, order = repath(graphs.select(order), rng), torch.arange(len(order))
        other = None
        if self.config.loss == "margin":
            generator = torch.Generator().manual_seed(seed * 100_003 + epoch)
            step = torch.randint(1, self.outputs, order.shape, generator=generator)
            other = (graphs.label[order] + step) % self.outputs
        return Lesson(graphs, order, other)

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[Step]:
        """The steps of a lesson."""
        graphs, order, others = self.lesson(seed, epoch)
        shuffled = graphs.select(order) if graphs is self.train else graphs  # else in order already
        for first in range(0, len(shuffled), size):
            last = min(first + size, len(shuffled))
            other = None if others is None else others[first:last].to(self.device)
            yield Step(shuffled.slice(first, last).to(self.device), other)

    def loss(self, model: Model, batch: Step) -> Tensor:
        """The mean loss of the graphs of a step."""
        found, label = model.scores(batch.graphs), batch.graphs.label
        if batch.other is None:
            loss = losses.binary if self.config.loss == "binary" else losses.cross_entropy
            return loss(found, label, self.config.temperature)
        right, wrong = (found.gather(1, relation[:, None]) for relation in (label, batch.other))
        return losses.margin(right.squeeze(1), wrong, self.config.margin)

    def part(self, batch: Step, number: int, of: int) -> tuple[Step | None, float]:
        """Some of the graphs of a step, and their share of all."""
        count = len(batch.graphs)
        first, last = count * number // of, count * (number + 1) // of
        if first == last:
            return None, 0.0
        other = None if batch.other is None else batch.other[first:last]
        return Step(batch.graphs.slice(first, last), other), (last - first) / count

    def validate(self, model: Model) -> float | None:
        """Accuracy on the graphs kept for validation."""
        return accuracy(model, self.valid) if len(self.valid) else None

    def calibrate(self, model: Model, report: Report | None = None) -> Calibration | None:
        """The temperature that makes the labels of the validation graphs likeliest."""
        if not len(self.valid):
            return None
        found = scores(model, self.valid, report=report).astype(np.float64)
        return calibration(found, self.valid.label.cpu().numpy(), self.config.temperature)


def _digest(*parts: Dataset) -> str:
    """Of everything in some data sets."""
    digest = hashlib.sha256("\0".join(parts[0].relations).encode())
    for part in parts:
        arrays = (part.node_count, part.edge_offset, part.edge_source, part.edge_target, part.edge_label)
        for array in (*arrays, part.query_head, part.query_tail, part.label):
            digest.update(array.tobytes())
    return digest.hexdigest()[:16]
