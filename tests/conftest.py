"""Shared by all tests: where real data is, seeds, and random networks."""

import os
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.families import simulate
from epignn.calculus.calculi.kinship import relation_matrix
from epignn.calculus.network import Network
from epignn.data import Dataset
from epignn.data.graph import Graph
from epignn.formats.star_csv import read_csv
from epignn.tasks import registry
from epignn.tasks.generate import file_name
from tests import samples

collect_ignore = ["fuzz/guided.py"]  # a script, which needs a library of its own


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Room for every table: what is tested is what they say."""
    monkeypatch.setenv("COLUMNS", "400")


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


DECIDED = [name for name in CALCULI if load(name).decides]
REALISED = [name for name in CALCULI if name not in ("indu", "star4", "opra1")]  # calculi whose facts get worlds
"""The calculi in which closure decides networks of single relations, with classes of sets that it decides: not
kinship, whose composition is weak. Problems are drawn from the tables of these."""


@pytest.fixture(params=list(CALCULI))
def calculus(request: pytest.FixtureRequest) -> Calculus:
    return load(request.param)


@pytest.fixture(params=DECIDED)
def decided(request: pytest.FixtureRequest) -> Calculus:
    return load(request.param)


AT_HAND = bool(os.environ.get("EPIGNN_DATA"))
"""Whether published files are there to be compared with."""


def if_published(values: Iterable[Any]) -> list[Any]:
    """What to parametrise a test with that compares published files; without them it is skipped once."""
    return list(values) if AT_HAND else list(values)[:1]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of published benchmark files, for figures that hold of these alone."""
    if not AT_HAND:
        pytest.skip("EPIGNN_DATA does not name a folder of benchmark files")
    return Path(os.environ["EPIGNN_DATA"])


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder that is made here, small, of the same layout."""
    folder = tmp_path_factory.mktemp("sample")
    samples.make(folder, random_network)
    return folder


@pytest.fixture(scope="session", params=["sample", "published"] if AT_HAND else ["sample"])
def files(request: pytest.FixtureRequest) -> Path:
    """A data folder: the sample, and the published files where they are at hand."""
    folder: Path = request.getfixturevalue("sample" if request.param == "sample" else "data")
    return folder


def made_here(files: Path) -> bool:
    """Whether a data folder is the sample, of which published figures need not hold."""
    return (files / "registry.toml").is_file()


@pytest.fixture
def registered(files: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A data folder that `EPIGNN_DATA` names and whose files are those of the registry."""
    monkeypatch.setenv("EPIGNN_DATA", str(files))
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path / "no cache"))
    if made_here(files):
        monkeypatch.setattr(registry, "REGISTRY", files / "registry.toml")
    registry.datasets.cache_clear()
    yield files
    registry.datasets.cache_clear()


def known_files(files: Path, name: str, suffix: str) -> list[Path]:
    """The files of a data set that are there, whatever else lies beside them."""
    entry = registry.find(name)
    there = [registry.present(entry, file, files) for file in entry.files.values() if file.name.endswith(suffix)]
    return [path for path in there if path is not None]


@pytest.fixture(scope="session")
def cell(files: Path) -> Callable[[str, int, int], Dataset]:
    """A benchmark file by calculus, k and b, read once."""

    @cache
    def read(name: str, k: int, b: int) -> Dataset:
        calculus = load(name)
        return read_csv(files / "rcc8_ia" / file_name(calculus, k, b), calculus)

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
    """A network with random facts; each set holds about `size` relations.

    Of kinship most such networks clash at once: a person is man and woman. There most sets hold what is true of
    people in a family.
    """
    true = _kin(rng, entities) if calculus.name == "kinship" else None
    facts = []
    for i in range(entities):
        for j in range(i + 1, entities):
            if rng.random() < density:
                chosen = rng.random(len(calculus)) < size / len(calculus)
                sure = int(rng.integers(len(calculus)))
                chosen[sure if true is None or rng.random() < 0.02 else true[i, j]] = True
                mask = sum(1 << r for r in np.flatnonzero(chosen).tolist())
                turned = mask if true is None else calculus.converse(mask)
                facts.append((str(i), mask, str(j)) if rng.random() < 0.5 else (str(j), turned, str(i)))
    return Network.of(calculus, facts, names=[str(i) for i in range(entities)])


def _kin(rng: np.random.Generator, people: int) -> NDArray[np.int64]:
    """The relations between some people of a simulated family, as places in kinship's; shape (people, people)."""
    matrix = relation_matrix(simulate(rng, 4, 4, children=(1, 3)))
    chosen = rng.choice(len(matrix), people, replace=len(matrix) < people)
    return matrix[np.ix_(chosen, chosen)]


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
