"""The problems of STaR over any calculus: b branches of length k, and the one relation that follows."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.harder import never_adjacent, with_labels, with_noise, with_wrong_labels
from epignn.data.stream import Problems
from epignn.errors import BadArgument
from epignn.tasks.api import TEST_SEED, GraphTask, Report
from epignn.tasks.registry import PUBLISHED_NAMES, at_hand, datasets, locate

LARGER = ((6, 4), (10, 2), (11, 1))
"""Cells that settings are chosen by: larger than what is trained on, and tested nowhere."""


@dataclass(frozen=True)
class Star(GraphTask):
    """Generated problems; the name of the task is that of a calculus, or its `.toml` file.

    Attributes:
        k: the path lengths of training graphs.
        b: their numbers of branches.
        per_label: how many graphs there are of each label, for each k and b.
        seed: the seed of the generator; test sets use others.
        labels: the relations that occur as labels in training; all of them if none is named.
        apart: pairs of relations, each like `TPP NTPP`, that never follow one another in a training graph.
        noise: how many facts that lead nowhere are added to each training graph, each with an entity of its own.
        wrong: the share of training and validation graphs whose label is replaced by another.
    """

    task: str = "rcc8"
    k: tuple[int, ...] = (2, 3, 4)
    b: tuple[int, ...] = (1, 2, 3)
    per_label: int = 800
    seed: int = 1
    labels: tuple[str, ...] = ()
    apart: tuple[str, ...] = ()
    noise: int = 0
    wrong: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.wrong < 1:
            raise BadArgument(f"data.wrong must be at least 0 and below 1, not {self.wrong}.")
        if self.noise < 0:
            raise BadArgument(f"data.noise must be 0 or more, not {self.noise}.")

    @property
    def calculus(self) -> str:
        """The calculus of the problems."""
        return self.task

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """All training cells, generated in memory."""
        calculus, cells, parts = load(self.task), [(k, b) for k in self.k for b in self.b], []
        for number, (k, b) in enumerate(cells, start=1):
            parts.append(generated(calculus, k, b, self.per_label, self.seed))
            if report is not None:
                report(number, len(cells))
        return self._harder(Dataset.concat(parts)), None

    def _harder(self, data: Dataset) -> Dataset:
        """The training set as the settings want it."""
        if self.labels:
            data = with_labels(data, self.labels)
        if self.apart:
            data = never_adjacent(data, self.apart)
        if not len(data):
            raise BadArgument("no training graph is left; name more data.labels, or fewer pairs in data.apart.")
        rng = np.random.default_rng([self.seed, 0x4A2D])
        if self.noise:
            data = with_noise(data, self.noise, rng)
        if self.wrong:
            data = with_wrong_labels(data, self.wrong, rng)
        return data

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """Problems from the seed of tests."""
        return generated(load(self.task), k, b, per_label, TEST_SEED)

    def published_cell(self, k: int, b: int) -> Path | None:
        """The file of the paper's authors, of those that they have published."""
        calculus = load(self.task).name
        name = PUBLISHED_NAMES.get(calculus, calculus)
        entry = next((one for one in datasets() if one.name == f"star-{name}"), None)
        file = f"test_{name}_k_{k}_b_{b}.csv"
        return locate(entry.name, file) if entry and file in entry.files and at_hand(entry.name, file) else None

    def tested_on(self, cells: Sequence[tuple[int, int]], per_label: int) -> str:
        """Generated problems, and published ones where they are at hand."""
        found = sum(self.published_cell(*cell) is not None for cell in cells)
        beside = f", and the published test files of {found} cells beside them" if found else ""
        return f"{per_label} generated problems of each label in every cell (seed {TEST_SEED}){beside}"

    def larger(self, data: Dataset) -> tuple[Dataset, Dataset]:
        """All graphs to learn from, and larger ones, of cells that no table tests."""
        count = max(1, round(len(data) * self.validation / len(LARGER) / len(data.relations)))
        return data, larger_problems(load(self.task), count, self.seed)


def generated(calculus: Calculus, k: int, b: int, per_label: int, seed: int) -> Dataset:
    """A cell of the benchmark in memory: the same graphs that `epignn generate` writes."""
    return Dataset.concat(list(Problems(calculus, k, b, per_label, np.random.default_rng([seed, k, b]))))


def larger_problems(calculus: Calculus, per_label: int, seed: int) -> Dataset:
    """Problems of the cells that choose settings and epochs."""
    return Dataset.concat([generated(calculus, k, b, per_label, seed) for k, b in LARGER])
