"""Where the published benchmark lies, and what the tests of this folder compare."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data import Dataset, read_csv
from epignn.data.generate import file_name


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
