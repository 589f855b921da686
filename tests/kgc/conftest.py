"""Small random knowledge graphs."""

import numpy as np
import pytest
import torch

from epignn.kgc.graph import Graph
from epignn.kgc.store import RunConfig, Trained
from epignn.kgc.train import fit

from .families import RELATIONS, experiment, family


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="session")
def trained() -> Trained:
    """A model that has learnt what a grandparent is."""
    torch.set_num_threads(1)
    chosen = experiment(epochs=50, batch_size=4, schedule="one_cycle")
    model = fit(chosen, family(0), seed=0)
    return Trained("family", model, RunConfig(chosen, RELATIONS, 0, {"calibration": {"temperature": 1.5}}))


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
