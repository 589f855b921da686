"""Small experiments on labelled graphs, and models trained by them."""

from collections.abc import Sequence
from pathlib import Path

from epignn.learn.checkpoint import RunConfig, Trained
from epignn.learn.config import Experiment, TrainConfig
from epignn.learn.objectives.classify import ClassifyConfig
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.tasks.api import GraphTask
from epignn.tasks.own import Files
from epignn.tasks.star import Star

TRAINED = Path(__file__).parent / "trained" / "rcc8"
"""A model of RCC-8 as training leaves it: nearly always right, where the shipped one is exact."""
MODEL = EpiGNNConfig(dim=16, facets=2, rounds="auto", self_message=False)


def small(
    task: GraphTask | None = None, model: EpiGNNConfig = MODEL, name: str = "small", **training: object
) -> Experiment:
    """An experiment that takes a moment: on RCC-8, unless a task is given."""
    settings = TrainConfig(**{"epochs": 2, "batch_size": 32, "schedule": "one_cycle", **training})
    return Experiment(name, task or Star("star", "rcc8"), model, ClassifyConfig(loss="cross_entropy"), settings)


def own(files: Sequence[Path] = ()) -> Files:
    """A task whose relations belong to no calculus."""
    return Files("files", "own", files=tuple(map(str, files)))


def untrained(
    relations: Sequence[str],
    model: EpiGNNConfig = MODEL,
    task: GraphTask | None = None,
    name: str = "untrained",
    calibrated: float | None = None,
    double: bool = False,
) -> Trained:
    """A model with its initial values."""
    experiment = small(task, model)
    weights = build(EpiGNN, len(relations), model, 0)
    return Trained(
        name, weights.double() if double else weights, RunConfig(experiment, tuple(relations), 0), calibrated
    )
