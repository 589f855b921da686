"""A model of your own: one class in one file.

    epignn train rcc8 --model examples/model.py:Path --out runs/path
    epignn evaluate runs/path FILE.csv --code examples/model.py
    epignn reproduce rcc8 --models examples/model.py:Path

It walks one shortest path from head to tail with a recurrent network, and scores every relation at its end.
Everything else is epignn's: data, training, resuming, calibration, evaluation, tables. A run folder never makes
code run by itself, so the file is named again with --code when the model is used.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from epignn.models.api import Model, ModelConfig
from epignn.models.batch import GraphBatch, owner


@dataclass(frozen=True)
class PathConfig(ModelConfig):
    """The settings, set as `--set model.width=64`; a default is written here and nowhere else."""

    width: int = 32


class Path(Model):
    """Reads the relations along a path, one after the other."""

    Config = PathConfig

    def __init__(self, relations: int, config: PathConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Embedding(relations, config.width)
        self.cell = nn.GRUCell(config.width, config.width)
        self.output = nn.Linear(config.width, relations)

    def scores(self, batch: GraphBatch) -> Tensor:
        """(B, R): high is likely."""
        state = torch.zeros(len(batch), self.config.width, device=self.device)
        for graph, relation in self._steps(batch):
            state = state.index_copy(0, graph, self.cell(self.embedding(relation), state[graph]))
        return self.output(state)

    def _steps(self, batch: GraphBatch) -> list[tuple[Tensor, Tensor]]:
        """For each step of the paths: the graphs whose path has it, and the relation there."""
        source, target, label = batch.edges()
        ends = torch.stack([source, target], 1)
        relation = {tuple(pair): r for pair, r in zip(ends.tolist(), label.tolist(), strict=True)}
        walks: list[list[int]] = [[tail] for tail in batch.tail.tolist()]
        for graph, node in zip(owner(batch.path_offset).tolist(), batch.path_node.tolist(), strict=True):
            walks[graph].append(node)  # from the tail back to the head
        for walk, head in zip(walks, batch.head.tolist(), strict=True):
            walk.append(head)
        steps = []
        for n in range(max(map(len, walks)) - 1):
            here = [(g, walk[::-1]) for g, walk in enumerate(walks) if len(walk) > n + 1]
            graphs = torch.tensor([g for g, _ in here], device=self.device)
            labels = torch.tensor([relation[walk[n], walk[n + 1]] for _, walk in here], device=self.device)
            steps.append((graphs, labels))
        return steps
