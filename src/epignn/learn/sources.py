"""Graphs for an experiment: generated in memory from a calculus, or read from published or given files."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.data.augment import augment
from epignn.data.dataset import Dataset
from epignn.data.family_walks import as_dataset, family_walks
from epignn.data.stream import Problems, digests
from epignn.data.worlds import LIKE
from epignn.errors import BadArgument, lookup
from epignn.formats.readers import read_graphs, vocabulary
from epignn.formats.star_csv import read_csv
from epignn.learn.collate import Graphs, prepare_for
from epignn.learn.config import DataConfig
from epignn.models.epignn import ModelConfig
from epignn.tasks.registry import find, locate
from epignn.tasks.world_files import SPLITS, generate_world

Report = Callable[[int, int], None]
FAMILIES, WORLD = "families", "world-"
"""Sources that are generated: families, and worlds of rules by the number of the world they are shaped like."""
SUFFIXES = (".csv", ".csv.gz", ".jsonl", ".jsonl.gz")


def generated(calculus: Calculus, k: int, b: int, per_label: int, seed: int) -> Dataset:
    """A cell of the benchmark in memory: the same graphs that `epignn generate` writes."""
    return Dataset.concat(list(Problems(calculus, k, b, per_label, np.random.default_rng([seed, k, b]))))


def training_data(config: DataConfig, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
    """All graphs of an experiment's data section; those for validation apart, where a file holds them."""
    if config.source == FAMILIES:
        walks = [families(k, config.per_label, config.seed) for k in config.k]
        return Dataset.concat([replace(part, k=0) for part in walks]), None
    if config.source.startswith(WORLD):
        train, valid, _ = world(config.source, config.seed)
        return train, valid
    if config.source:
        return _published(config.source)
    parts = []
    if config.files:
        names = None if config.calculus else vocabulary(map(Path, config.files))
        for number, file in enumerate(config.files, start=1):
            parts.append(read(Path(file), config.calculus, names))
            if report is not None:
                report(number, len(config.files))
    else:
        calculus = load(config.calculus)
        cells = [(k, b) for k in config.k for b in config.b]
        for number, (k, b) in enumerate(cells, start=1):
            parts.append(generated(calculus, k, b, config.per_label, config.seed))
            if report is not None:
                report(number, len(cells))
    return Dataset.concat(parts), None


def families(k: int, count: int, seed: int) -> Dataset:
    """Walks of k facts through simulated families, in CLUTRR's manner."""
    return as_dataset(list(family_walks(k, count, np.random.default_rng([seed, k]))), k)


@cache
def world(source: str, seed: int) -> tuple[Dataset, ...]:
    """Training, validation and test graphs of a generated world: `world-32` is shaped like Graphlog's world 32."""
    shapes = {f"{WORLD}{number}": shape for number, shape in LIKE.items()}
    with TemporaryDirectory() as folder:
        generate_world(lookup("world", source, shapes), seed, Path(folder), overwrite=True)
        paths = [Path(folder) / f"{split}.jsonl.gz" for split in SPLITS]
        relations = vocabulary(paths)
        return tuple(read_graphs(path, relations) for path in paths)


def _published(source: str) -> tuple[Dataset, Dataset | None]:
    """The training and validation files of a data set."""
    names = find(source).files
    train = [locate(source, name) for name in names if "train" in name]
    valid = [locate(source, name) for name in names if "valid" in name]
    if not train:
        raise BadArgument(f"{source} has no training file; `epignn data info {source}` lists what it has.")
    relations = vocabulary([*train, *valid])
    return (
        Dataset.concat([read_graphs(path, relations) for path in train]),
        Dataset.concat([read_graphs(path, relations) for path in valid]) if valid else None,
    )


def files_by_hops(source: str) -> dict[int, Path]:
    """The test files of a published data set by their hops; 0 where a file does not tell."""
    names = [name for name in find(source).files if "test" in name]
    paths = [locate(source, name) for name in names]
    return {_hops(name): path for name, path in zip(names, paths, strict=True)}


def _hops(name: str) -> int:
    """`1.10_test.csv` has 10 hops."""
    number = name.split("_")[0].rpartition(".")[2]
    return int(number) if number.isdigit() else 0


def read(path: Path, calculus: str, relations: Sequence[str] | None) -> Dataset:
    """A file of problems in the words of a calculus, or over a vocabulary where there is none."""
    return read_csv(path, load(calculus)) if calculus else read_graphs(path, relations)


def split(
    data: tuple[Dataset, Dataset | None], config: DataConfig, model: ModelConfig, seed: int
) -> tuple[Graphs, Graphs]:
    """Training and validation graphs, prepared for a kind of model."""
    train, valid = data
    if not 0 <= config.validation < 1:
        raise BadArgument(f"data.validation must be at least 0 and below 1, not {config.validation}.")
    if valid is None and config.holdout == "longer":
        valid = _longer(train, config, np.random.default_rng([seed, 0x5011]))
    elif valid is None:
        held = _held_out(train, config, np.random.default_rng([seed, 0x5011]))
        train, valid = train.select(held.learnt), train.select(held.kept)
    return prepare_for(model, augmented(train, config, seed)), prepare_for(model, valid)


def augmented(train: Dataset, config: DataConfig, seed: int) -> Dataset:
    """Training graphs with as many walks more as an experiment asks for, parts of them replaced by their equals."""
    if not config.augment:
        return train
    rng = np.random.default_rng([seed, 0xA06])
    return augment(train, config.augment, config.longest, rng, config.equals)


def evidence(train: Dataset, config: DataConfig, seed: int) -> Dataset:
    """What rules are distilled from: the training graphs, and added walks if parts of any length are replaced.

    Such walks say what two edges come to where only longer walks show it. Others say nothing new.
    """
    return augmented(train, config, seed) if config.equals > 2 else train


class _HeldOut(NamedTuple):
    """Graphs to learn from, and graphs that are kept for validation."""

    learnt: NDArray[np.int64]
    kept: NDArray[np.int64]


def _held_out(data: Dataset, config: DataConfig, rng: np.random.Generator) -> _HeldOut:
    if config.holdout == "longest":
        held = _longest(data, config.validation, rng)
        return _HeldOut(np.flatnonzero(~held), np.flatnonzero(held))
    order = rng.permutation(len(data))
    count = int(len(data) * config.validation)
    return _HeldOut(order[count:], order[:count])


def _longer(data: Dataset, config: DataConfig, rng: np.random.Generator) -> Dataset:
    """Walks with parts replaced by their equals, of more edges than any to learn from."""
    count = int(len(data) * config.validation)
    made = augment(data, 8 * count, 2 * config.longest, rng, config.equals)
    longer = np.flatnonzero(made.edge_count > max(config.longest, data.edge_count.max(initial=0)))
    if len(longer) < count:
        raise BadArgument(f"too few walks of up to {2 * config.longest} edges can be made; choose another holdout.")
    return made.select(longer[:count])


def _longest(data: Dataset, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """All copies of a share of the distinct problems with the most edges."""
    problem = digests(data)
    longest = np.unique(problem[data.edge_count == data.edge_count.max()])
    return np.isin(problem, rng.permutation(longest)[: int(len(longest) * share)])


def folder_files(path: Path) -> Iterable[str]:
    """The files of problems in a folder, in order."""
    files = sorted(str(file) for file in path.iterdir() if file.name.endswith(SUFFIXES))
    if not files:
        raise BadArgument(f"{path} holds no files ending in {', '.join(SUFFIXES)}.")
    return files
