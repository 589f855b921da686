"""Walks whose label is known: products of a small group, and chains of any relations."""

import numpy as np

from epignn.data.dataset import Dataset, offsets


def chains(walks: list[list[int]], label: list[int], relations: int) -> Dataset:
    """Graphs that are one path each."""
    length = np.array([len(walk) for walk in walks])
    source = np.concatenate([np.arange(n) for n in length])
    names = tuple(f"r{i}" for i in range(relations))
    edges = np.concatenate([np.array(walk) for walk in walks])
    heads = np.zeros(len(walks), dtype=int)
    return Dataset(names, length + 1, offsets(length), source, source + 1, edges, heads, length, np.array(label))


def products(length: int, count: int, rng: np.random.Generator, order: int = 5) -> Dataset:
    """Walks over the numbers below `order`; two neighbours come to their sum modulo `order`."""
    walks = rng.integers(0, order, (count, length))
    return chains(walks.tolist(), (walks.sum(1) % order).tolist(), order)
