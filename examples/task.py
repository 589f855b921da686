"""A task of your own: one class in one file.

    epignn train examples/task.py:Clock --out runs/clock
    epignn train examples/task.py:Clock --set data.hours=7 --out runs/clock7

Events on a clock: "b is 3 hours after a" and "c is 4 hours after b" make c 7 hours after a, modulo the hours of the
clock. Training walks have 2 and 3 facts; the cells to be tested on are longer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from epignn.data.dataset import Dataset
from epignn.tasks.api import TEST_SEED, GraphTask, Report


@dataclass(frozen=True)
class Clock(GraphTask):
    """Walks around a clock; the fields are settings, set as `--set data.hours=7`."""

    hours: int = 5
    walks: int = 2000
    seed: int = 1

    def examples(self, report: Report | None = None) -> tuple[Dataset, Dataset | None]:
        """What there is to learn from; a second data set would be for validation."""
        rng = np.random.default_rng(self.seed)
        return Dataset.concat([self._walks(steps, self.walks, rng) for steps in (2, 3)]), None

    def cell(self, k: int, b: int, per_label: int, relations: Sequence[str]) -> Dataset:
        """What is tested: walks of k steps."""
        return self._walks(k, per_label * self.hours, np.random.default_rng([TEST_SEED, k]))

    def _walks(self, steps: int, count: int, rng: np.random.Generator) -> Dataset:
        """Many walks of one length, and the hour between their ends."""
        names = tuple(f"+{hour}" for hour in range(self.hours))
        hour = rng.integers(0, self.hours, (count, steps))
        node = np.tile(np.arange(steps), count)
        zero = np.zeros(count, dtype=int)
        return Dataset(
            names,
            node_count=zero + steps + 1,
            edge_offset=np.arange(count + 1) * steps,
            edge_source=node,
            edge_target=node + 1,
            edge_label=hour.ravel(),
            query_head=zero,
            query_tail=zero + steps,
            label=hour.sum(1) % self.hours,
        )
