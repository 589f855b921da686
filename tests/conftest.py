"""Shared by all tests: where real data is, seeds, and random networks."""

import os
from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network


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
