"""Scores of a model on graphs, and its accuracy; what an evaluation tells of a set of problems."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from epignn.data.figures import figures
from epignn.errors import BadArgument, BadFile, EpignnError
from epignn.models.api import Batch, Model
from epignn.tasks.api import Report
from epignn.tasks.own import read
from epignn.workers.api import Tell

if TYPE_CHECKING:
    from epignn.learn.checkpoint import Kept, Trained


@torch.no_grad()
def scores(
    model: Model, graphs: Batch, batch_size: int = 1024, report: Report | None = None
) -> NDArray[np.floating]:
    """(G, R): the score of every relation for every graph; high is likely."""
    parts, done = [], 0
    for part in graphs.chunks(batch_size):
        parts.append(model.scores(part.to(model.device)).cpu().numpy())
        done += len(part)
        if report is not None:
            report(done, len(graphs))
    found = np.concatenate(parts) if parts else np.zeros((0, model.relations), dtype=np.float32)
    if np.isnan(found).any():
        raise BadArgument("the model gives scores that are no numbers, so that it has no answer. Train it again.")
    return found


def accuracy(model: Model, graphs: Batch, batch_size: int = 1024) -> float:
    """The share of graphs whose relation of highest score is the label."""
    found = scores(model, graphs, batch_size).argmax(1)
    return float((found == graphs.label.cpu().numpy()).mean()) if len(graphs) else 0.0


def evaluate_file(trained: "Trained", path: Path) -> dict[str, Any]:
    """Accuracy of a model on a file of problems, with its interval, and the number of distinct problems.

    Raises:
        BadFile: the model cannot read a graph of the file.
    """
    data = read(path, trained.experiment.calculus, trained.relations)
    try:
        graphs = type(trained.model).prepare(data, trained.model.config)
    except EpignnError as error:
        raise BadFile(str(error), str(path)) from error
    right = int((scores(trained.model, graphs).argmax(1) == data.label).sum())
    return {"file": str(path), **figures(data, right)}


class Asked(NamedTuple):
    """A model, and a file of problems."""

    model: "Kept"
    file: Path


def evaluate_asked(asked: Asked, tell: Tell) -> dict[str, Any]:
    """What `evaluate_file` tells, and of which model: a job for workers."""
    torch.set_num_threads(1)
    return {"model": asked.model.name, **evaluate_file(asked.model.load(), asked.file)}
