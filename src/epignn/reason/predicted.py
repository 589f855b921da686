"""What a model says of many graphs, as jobs for workers."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from epignn.data.dataset import Dataset
from epignn.learn.checkpoint import Kept
from epignn.reason.neural import Neural
from epignn.tasks.api import Report
from epignn.workers import Workers, run
from epignn.workers.api import Tell

GRAPHS = 4096
"""Graphs that a worker answers at a time: whole batches of `epignn.learn.evaluate.scores`."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A model of a run folder, and graphs."""

    model: Kept
    graphs: Dataset


def chances(asked: Asked, tell: Tell) -> list[dict[str, Any]]:
    """The relation of each graph's pair, its probability and the runner-up."""
    torch.set_num_threads(1)
    return [answer.chances() for answer in Neural.of(asked.model.load()).answer(asked.graphs)]


def chances_by(
    workers: Workers, model: Neural, data: Dataset, code: Sequence[Path] = (), report: Report | None = None
) -> list[dict[str, Any]]:
    """The same of all graphs, by workers."""
    if not len(data):
        return []
    kept = Kept.of(model.trained_, code)
    asked = [Asked(kept, data.select(slice(n, n + GRAPHS))) for n in range(0, len(data), GRAPHS)]

    def show(done: int, of: int) -> None:
        if report is not None:
            report(min(done * GRAPHS, len(data)), len(data))

    return [one for part in run(workers, chances, asked, show).all("parts") for one in part]
