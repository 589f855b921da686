"""A model of your own: one class in one file. `docs/extending.md` goes through it step by step.

    epignn train rcc8 --model examples/model.py:Path --out runs/path
    epignn evaluate runs/path FILE.csv --code examples/model.py
    epignn reproduce rcc8 --models examples/model.py:Path

It reads the relations along one shortest path from head to tail with a recurrent network, and scores every relation
at its end. Everything else is epignn's: data, training, resuming, calibration, evaluation, tables. A run folder
never makes code run by itself, so the file is named again with --code when the model is used.
"""

from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.models.api import Model, ModelConfig
from epignn.models.walks import NOTHING, Walks, walks


@dataclass(frozen=True)
class PathConfig(ModelConfig):
    """The settings, set as `--set model.width=64`; a default is written here and nowhere else."""

    width: int = 32


class Path(Model):
    """Reads the relations along a path, one after the other."""

    Config = PathConfig
    recipes = MappingProxyType(
        {"classify": ('objective.loss="cross_entropy"', "training.learning_rate=0.01", "training.epochs=20")}
    )

    def __init__(self, relations: int, config: PathConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Embedding(relations, config.width)
        self.cell = nn.GRUCell(config.width, config.width)
        self.output = nn.Linear(config.width, relations)

    @classmethod
    def prepare(cls, data: Dataset, config: PathConfig) -> Walks:
        """The work that is done once for a data set: the relations along one shortest path of each graph."""
        return walks(data)

    def scores(self, batch: Walks) -> Tensor:
        """(B, R): high is likely."""
        state = torch.zeros(len(batch), self.config.width, device=self.device)
        for relation in batch.relation.T:  # all graphs together, step by step
            moved = self.cell(self.embedding(relation.clamp(min=0)), state)
            state = torch.where((relation == NOTHING)[:, None], state, moved)  # shorter paths have ended
        return self.output(state)
