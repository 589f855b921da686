"""Labelled graphs in files of one's own: benchmark CSV, CLUTRR's CSV, Graphlog's JSON Lines."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.formats.readers import read_graphs, vocabulary
from epignn.formats.star_csv import read_csv
from epignn.tasks.api import GraphTask, Report

SUFFIXES = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz")


@dataclass(frozen=True)
class Files(GraphTask):
    """Files to train on: those that are listed, or all of the folder that the task is called after.

    Attributes:
        files: the files to train on; empty for all files of the folder.
        speaks: the calculus that the relations of the files belong to; empty if they belong to none.
    """

    files: tuple[str, ...] = ()
    speaks: str = ""

    @property
    def calculus(self) -> str:
        """The calculus of the files."""
        return self.speaks

    def sources(self) -> list[str]:
        """The files."""
        return list(self.files or folder_files(Path(self.task)))

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """The graphs of all files."""
        paths = [Path(file) for file in self.sources()]
        relations = None if self.speaks else vocabulary(paths)
        parts = []
        for number, path in enumerate(paths, start=1):
            parts.append(read(path, self.speaks, relations))
            if report is not None:
                report(number, len(paths))
        return Dataset.concat(parts), None

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """Files of one's own name no test cells."""
        raise BadArgument(f"{self.task} has no test cells; evaluate a model on files by their names.")


def read(path: Path, calculus: str, relations: Sequence[str] | None) -> Dataset:
    """A file of problems in the words of a calculus, or over a vocabulary where there is none."""
    return read_csv(path, load(calculus)) if calculus else read_graphs(path, relations)


def folder_files(folder: Path) -> list[str]:
    """The files of problems in a folder, in order."""
    files = (
        sorted(str(file) for file in folder.iterdir() if file.name.endswith(SUFFIXES)) if folder.is_dir() else []
    )
    if not files:
        raise BadArgument(f"{folder} holds no files ending in {', '.join(SUFFIXES)}.")
    return files
