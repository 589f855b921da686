"""Small random knowledge graphs."""

import pytest
import torch

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
