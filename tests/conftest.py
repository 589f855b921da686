"""Shared by all tests: where real data is, seeds, and random networks."""

import os
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.data import Dataset
from epignn.data.graph import Graph
from epignn.formats.star_csv import read_csv
from epignn.tasks.generate import file_name


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.fixture(params=list(CALCULI))
def calculus(request: pytest.FixtureRequest) -> Calculus:
    return load(request.param)


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of published benchmark files."""
    folder = os.environ.get("EPIGNN_DATA")
    if not folder:
        pytest.skip("EPIGNN_DATA does not name a folder of benchmark files")
    return Path(folder)


@pytest.fixture(scope="session")
def published(data: Path) -> Path:
    """The folder of the published RCC-8 and interval files."""
    folder = data / "rcc8_ia"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: the published files cannot be compared")
    return folder


@pytest.fixture(scope="session")
def cell(published: Path) -> Callable[[str, int, int], Dataset]:
    """A published file by calculus, k and b, read once."""

    @cache
    def read(name: str, k: int, b: int) -> Dataset:
        calculus = load(name)
        return read_csv(published / file_name(calculus, k, b), calculus)

    return read


@pytest.fixture(scope="session")
def same() -> Callable[[Dataset, Dataset], bool]:
    """Whether two data sets are equal in everything."""

    def check(a: Dataset, b: Dataset) -> bool:
        return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in Dataset.__dataclass_fields__)

    return check


def random_network(
    calculus: Calculus,
    rng: np.random.Generator,
    entities: int,
    density: float,
    size: float,
) -> Network:
    """A network with random facts; each set holds about `size` relations."""
    facts = []
    for i in range(entities):
        for j in range(i + 1, entities):
            if rng.random() < density:
                chosen = rng.random(len(calculus)) < size / len(calculus)
                chosen[rng.integers(len(calculus))] = True
                mask = sum(1 << r for r in np.flatnonzero(chosen).tolist())
                facts.append((str(i), mask, str(j)) if rng.random() < 0.5 else (str(j), mask, str(i)))
    return Network.of(calculus, facts, names=[str(i) for i in range(entities)])


def random_graph(seed: int, entities: int = 30, relations: int = 3, facts: int = 40) -> Graph:
    """Facts between random entities, without repetition; some entities may have none."""
    rng = np.random.default_rng(seed)
    columns = [rng.integers(0, n, 2 * facts) for n in (entities, relations, entities)]
    triples = np.unique(np.stack(columns, 1), axis=0)
    triples = rng.permutation(triples)[:facts].astype(np.int32)
    return Graph(tuple(f"e{i}" for i in range(entities)), tuple(f"r{i}" for i in range(relations)), triples)


@pytest.fixture
def graph() -> Graph:
    return random_graph(0)
