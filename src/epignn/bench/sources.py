"""Graphs for an experiment: generated in memory from a calculus, or read from files."""

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from epignn.bench.config import DataConfig
from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.prepare import Prepared, prepare
from epignn.data.star_csv import read_csv
from epignn.data.stream import Problems
from epignn.errors import BadArgument


def generated(calculus: Calculus, k: int, b: int, per_label: int, seed: int) -> Dataset:
    """A cell of the benchmark in memory: the same graphs that `epignn generate` writes."""
    return Dataset.concat(list(Problems(calculus, k, b, per_label, np.random.default_rng([seed, k, b]))))


def training_data(config: DataConfig, report: Callable[[int, int], None] | None = None) -> Dataset:
    """All graphs of an experiment's data section."""
    calculus = load(config.calculus)
    parts = []
    if config.files:
        for number, file in enumerate(config.files, start=1):
            parts.append(read_csv(Path(file), calculus))
            if report is not None:
                report(number, len(config.files))
    else:
        cells = [(k, b) for k in config.k for b in config.b]
        for number, (k, b) in enumerate(cells, start=1):
            parts.append(generated(calculus, k, b, config.per_label, config.seed))
            if report is not None:
                report(number, len(cells))
    return Dataset.concat(parts)


def split(data: Dataset, share: float, seed: int) -> tuple[Prepared, Prepared]:
    """Training and validation graphs, at random, prepared."""
    if not 0 <= share < 1:
        raise BadArgument(f"data.validation must be at least 0 and below 1, not {share}.")
    graphs = prepare(data)
    order = np.random.default_rng([seed, 0x5011]).permutation(len(graphs))
    held = int(len(graphs) * share)
    return graphs.select(order[held:]), graphs.select(order[:held])


def folder_files(path: Path) -> Iterable[str]:
    """The CSV files of a folder, in order."""
    files = sorted(str(file) for file in path.iterdir() if file.name.endswith((".csv", ".csv.gz")))
    if not files:
        raise BadArgument(f"{path} holds no .csv or .csv.gz files.")
    return files
