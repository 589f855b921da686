"""What an objective is: which batches a model learns from, their loss, and how good the model is by validation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.calibrate import LEAST, MOST, Calibration
from epignn.models.api import Model
from epignn.tasks.api import Report


@dataclass(frozen=True)
class ObjectiveConfig:
    """The settings of an objective; those of each kind derive from it and are set as `objective.NAME`.

    Attributes:
        kind: which objective: a name of the list, or `path/to/file.py:Class`.
        temperature: scores are divided by it to become the logits of probabilities.
    """

    kind: str = "classify"
    temperature: float = 1.0

    def __post_init__(self) -> None:
        if not LEAST <= self.temperature <= MOST:
            raise BadArgument(f"temperature must be between {LEAST:g} and {MOST:g}, not {self.temperature:g}.")


class Objective(Protocol):
    """A task, as a model learns it."""

    Config: ClassVar[type[ObjectiveConfig]]
    metric: str
    """What `validate` measures."""
    unit: str
    """What a batch holds, for people: `graphs`, `heads`."""
    relations: tuple[str, ...]
    """The names of relations."""
    outputs: int
    """How many relations a model scores."""

    @classmethod
    def of(
        cls,
        config: Any,
        task: Any,
        prepare: Callable[[Dataset], Any],
        seed: int,
        device: torch.device,
        report: Report | None = None,
    ) -> Self:
        """The objective of a task.

        Args:
            config: its settings.
            task: what to learn.
            prepare: does the graph work that the model needs.
            seed: chooses what is held out.
            device: where batches go.
            report: called while data are made or read.
        """

    def __len__(self) -> int:
        """How many units an epoch has."""

    def notes(self) -> list[str]:
        """What a person should know of the data: their size, and what was passed over."""

    def digest(self) -> str:
        """Tells these training data from others."""

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[Any]:
        """The steps of an epoch, in a random order that depends on seed and epoch alone."""

    def loss(self, model: Model, batch: Any) -> Tensor:
        """The loss of a step."""

    def part(self, batch: Any, number: int, of: int) -> tuple[Any | None, float]:
        """One of several parts of a step, None where it is empty, and its share of the loss of the whole step."""

    def validate(self, model: Model) -> float | None:
        """How good a model is on what it does not learn from, high is good; None where nothing was held out."""

    def calibrate(self, model: Model, report: Report | None = None) -> Calibration | None:
        """A temperature for its probabilities; None where there is nothing to choose it by."""
