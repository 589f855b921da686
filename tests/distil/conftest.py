"""Models and readings that say exactly what a calculus says."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.distil.orbits import Orbits
from epignn.distil.reading import Reading
from epignn.tasks.star import generated


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def table(calculus: Calculus) -> np.ndarray:
    """(R, R, R): whether c ∈ a ∘ b."""
    bits = calculus.composition_table[..., None] >> np.arange(len(calculus), dtype=np.uint64) & np.uint64(1)
    return bits.astype(bool)


def exact_reading(calculus: Calculus) -> Reading:
    """Scores of 0 for what is possible, 10 for what is not."""
    return Reading(calculus.relations, np.where(table(calculus), 0.0, 10.0))


def orbits_of(calculus: Calculus) -> Orbits:
    """The facts of composition over a calculus's relations, identity and converses."""
    return Orbits.of(calculus.relations, calculus.identity, calculus.converses)


def problems(calculus: Calculus, per_label: int, seed: int = 1) -> Dataset:
    """Training problems of the benchmark's cells."""
    return Dataset.concat([generated(calculus, k, b, per_label, seed) for k in (2, 3, 4) for b in (1, 2, 3)])


def renamed(calculus: Calculus, rng: np.random.Generator) -> Calculus:
    """The same calculus with its relations in another order, under other names."""
    order = rng.permutation(len(calculus))
    position = np.argsort(order)
    moved = table(calculus)[np.ix_(order, order, order)]
    masks = (moved * (1 << np.arange(len(calculus)))).sum(2)
    return replace(
        calculus,
        name="other",
        relations=tuple(f"r{number}" for number in range(len(calculus))),
        identity=int(position[calculus.identity]),
        converses=tuple(int(position[calculus.converses[r]]) for r in order),
        composition=tuple(map(tuple, masks.tolist())),
        aliases={},
        tractable=frozenset(),
    )
