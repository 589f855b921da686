"""Published sets of labelled graphs, CLUTRR's and Graphlog's, by their names in the registry of data sets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument, lookup
from epignn.formats.readers import read_graphs, vocabulary
from epignn.tasks.api import GraphTask, Report
from epignn.tasks.registry import find, locate


@dataclass(frozen=True)
class Published(GraphTask):
    """`clutrr:089907f8` is the data set `clutrr-089907f8` of `epignn data list`."""

    @property
    def source(self) -> str:
        """The name in the registry."""
        return self.task.replace(":", "-")

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """The training files, and the validation files if there are some."""
        train, valid = (self.files(part) for part in ("train", "valid"))
        if not train:
            raise BadArgument(f"{self.task} has no training file; `epignn data info {self.source}` tells why.")
        relations = vocabulary([*train, *valid])
        parts = [[read_graphs(path, relations) for path in paths] for paths in (train, valid)]
        return Dataset.concat(parts[0]), Dataset.concat(parts[1]) if valid else None

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """The test file of k hops; of 0 hops, the one whose name tells none."""
        files = {str(_hops(path.name)): path for path in self.files("test")}
        return read_graphs(lookup(f"test file of {self.task}, by hops", str(k), files), relations)

    def tested_on(self, cells: Sequence[tuple[int, int]], per_label: int) -> str:
        """The published test files."""
        return f"the published test files of {self.task}"

    def files(self, part: str) -> list[Path]:
        """Its files of one part: train, valid or test."""
        return [locate(self.source, name) for name in find(self.source).files if part in name]


def _hops(name: str) -> int:
    """`1.10_test.csv` has 10 hops; 0 where a name does not tell."""
    number = name.split("_")[0].rpartition(".")[2]
    return int(number) if number.isdigit() else 0
