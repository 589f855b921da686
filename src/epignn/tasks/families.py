"""Walks through simulated families, in CLUTRR's manner."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from epignn.data.dataset import Dataset
from epignn.data.family_walks import as_dataset, family_walks
from epignn.tasks.api import TEST_SEED, GraphTask, Report


@dataclass(frozen=True)
class Families(GraphTask):
    """Generated kinship problems.

    Attributes:
        k: how many facts training walks have.
        per_label: how many walks there are of each length.
        seed: the seed of the generator; test sets use others.
    """

    task: str = "families"
    k: tuple[int, ...] = (2, 3, 4)
    per_label: int = 800
    seed: int = 1

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """Walks of all training lengths."""
        return Dataset.concat([replace(walks(k, self.per_label, self.seed), k=0) for k in self.k]), None

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """Walks of k facts from the seed of tests."""
        return walks(k, per_label, TEST_SEED)


def walks(k: int, count: int, seed: int) -> Dataset:
    """Walks of k facts."""
    return as_dataset(list(family_walks(k, count, np.random.default_rng([seed, k]))), k)
