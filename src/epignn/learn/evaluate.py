"""Scores of a model on prepared graphs, and its accuracy."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from epignn.kernels import Backend
from epignn.learn.collate import Graphs, collate
from epignn.models.epignn import EpiGNN


@torch.no_grad()
def scores(
    model: EpiGNN,
    graphs: Graphs,
    batch_size: int = 1024,
    backend: Backend = "auto",
    report: Callable[[int, int], None] | None = None,
) -> NDArray[np.float32]:
    """(G, R): the score of every relation for every graph; low is likely."""
    parts, done = [], 0
    for part in graphs.chunks(batch_size):
        parts.append(model(collate(part), backend).numpy())
        done += len(part)
        if report is not None:
            report(done, len(graphs))
    return np.concatenate(parts) if parts else np.zeros((0, len(graphs.relations)), dtype=np.float32)


def accuracy(model: EpiGNN, graphs: Graphs, batch_size: int = 1024, backend: Backend = "auto") -> float:
    """The share of graphs whose relation of least score is the label."""
    found = scores(model, graphs, batch_size, backend).argmin(1)
    return float((found == graphs.label).mean()) if len(graphs) else 0.0
