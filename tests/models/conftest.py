"""Graphs for models: generated problems, and random graphs with cycles, parallel edges and loose nodes."""

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset, offsets
from epignn.models.batch import GraphBatch
from epignn.models.prepare import prepare
from epignn.tasks.star import generated


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def problems(name: str = "rcc8", per_label: int = 2) -> Dataset:
    cells = [(2, 1), (3, 2), (4, 3), (6, 1)]
    return Dataset.concat([generated(load(name), k, b, per_label, 5) for k, b in cells])


def random_graphs(rng: np.random.Generator, count: int, relations: int = 8) -> Dataset:
    """Any directed graphs in which a path leads from head to tail."""
    names = tuple(f"r{i}" for i in range(relations))
    sizes = rng.integers(3, 8, count)
    source, target, counts = [], [], []
    for size in sizes:
        chain = rng.permutation(size)
        extra = rng.integers(0, size, (2, rng.integers(0, 8)))
        source += [*chain[:-1], *extra[0]]
        target += [*chain[1:], *extra[1]]
        counts.append(size - 1 + extra.shape[1])
    first = offsets(np.array(counts))
    label = rng.integers(0, relations, len(source))
    starts = [source[i] for i in first[:-1]]
    ends = [target[i + size - 2] for i, size in zip(first[:-1], sizes, strict=True)]
    answers = rng.integers(0, relations, count)
    return Dataset(names, sizes, first, source, target, label, starts, ends, answers)


@pytest.fixture(scope="session")
def ordered() -> GraphBatch:
    """Acyclic graphs of several sizes."""
    return prepare(problems())


@pytest.fixture(scope="session")
def cyclic() -> GraphBatch:
    """Graphs with cycles among them."""
    graphs = prepare(random_graphs(np.random.default_rng(3), 40))
    assert not graphs.acyclic.all()
    assert graphs.acyclic.any()
    return graphs


@pytest.fixture
def batch(ordered):
    return ordered
