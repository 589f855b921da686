"""Generated worlds of rules, each shaped like one of Graphlog's."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from epignn.data.dataset import Dataset
from epignn.data.worlds import LIKE
from epignn.errors import lookup
from epignn.formats.readers import read_graphs, vocabulary
from epignn.tasks.api import GraphTask, Report
from epignn.tasks.world_files import SPLITS, generate_world


@dataclass(frozen=True)
class World(GraphTask):
    """`world:32` is shaped like Graphlog's world 32.

    Attributes:
        seed: the seed of the generator.
    """

    task: str = "world:32"
    seed: int = 1

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """The training and validation graphs."""
        train, valid, _ = _world(self.version, self.seed)
        return train, valid

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """The test graphs."""
        return _world(self.version, self.seed)[2]


@cache
def _world(number: str, seed: int) -> tuple[Dataset, ...]:
    """Training, validation and test graphs of a world."""
    shape = lookup("world", number, {str(known): shape for known, shape in LIKE.items()})
    with TemporaryDirectory() as folder:
        generate_world(shape, seed, Path(folder), overwrite=True)
        paths = [Path(folder) / f"{split}.jsonl.gz" for split in SPLITS]
        relations = vocabulary(paths)
        return tuple(read_graphs(path, relations) for path in paths)
