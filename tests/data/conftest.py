"""Where the published benchmark lies, and what the tests of this folder compare."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from epignn.data import Dataset


@pytest.fixture(scope="session")
def published(data: Path) -> Path:
    """The folder of the published RCC-8 and interval files."""
    folder = data / "rcc8_ia"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there: the published files cannot be compared")
    return folder


@pytest.fixture(scope="session")
def same() -> Callable[[Dataset, Dataset], bool]:
    """Whether two data sets are equal in everything."""

    def check(a: Dataset, b: Dataset) -> bool:
        return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in Dataset.__dataclass_fields__)

    return check
