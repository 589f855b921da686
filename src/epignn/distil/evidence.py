"""What training data say of a table: its likelihood, from closing every problem with it.

A problem's label is *entailed* if closure leaves only it, *open* if closure leaves others as well, *contradicted*
if closure excludes it. The likelihood of the labels assumes that a share of them is wrong (the contradicted share)
and that all relations which closure leaves are equally likely. A table that lacks a fact contradicts labels, and
one with a fact too many leaves more of them open; both lower the likelihood, whether or not labels are noisy.
"""

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.data.dataset import Dataset
from epignn.data.prove import answers
from epignn.data.stream import digests
from epignn.kernels import Backend

ODD = np.uint64(0x9E3779B97F4A7C15)
"""Multiplies the query pair, so that its bits spread over those of a digest."""


@dataclass(frozen=True)
class Verdict:
    """How many labels a table entails, leaves open and contradicts; `log_likelihood` is 0 if all are entailed."""

    instances: int
    entailed: int
    open: int
    contradicted: int
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """Distinct problems, and the labels that training data give them.

    Attributes:
        problems: each once.
        counts: (G, R) how many copies of each problem have each label.
    """

    problems: Dataset
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, data: Dataset) -> "Evidence":
        """All problems of a data set, smallest first."""
        asked = data.query_head.astype(np.uint64) << np.uint64(32) | data.query_tail.astype(np.uint64)
        _, first, copy_of = np.unique(digests(data) ^ asked * ODD, return_index=True, return_inverse=True)
        counts = np.zeros((len(first), len(data.relations)), dtype=np.int64)
        np.add.at(counts, (copy_of, data.label), 1)
        order = np.argsort(data.edge_count[first], kind="stable")
        return cls(data.select(first[order]), counts[order])

    def __len__(self) -> int:
        return len(self.problems)

    def smallest(self, limit: int) -> "Evidence":
        """The problems with the fewest edges: they depend on the fewest compositions, and are closed fastest."""
        return Evidence(self.problems.select(slice(limit)), self.counts[:limit])

    def judge(self, calculus: Calculus, backend: Backend = "auto") -> Verdict:
        """Close every problem with a calculus over the relations of the data."""
        return verdict(answers(self.problems, calculus, backend=backend), self.counts)


def verdict(left: Masks, counts: NDArray[np.int64]) -> Verdict:
    """The verdict, given what closure leaves of each problem's query."""
    relations = counts.shape[1]
    possible = (left[:, None] >> np.arange(relations, dtype=np.uint64) & np.uint64(1)).astype(bool)
    size = possible.sum(1)
    explained = np.where(possible, counts, 0).sum(1)
    total, right = int(counts.sum()), int(explained.sum())
    wrong, entailed = total - right, int(explained[size == 1].sum())
    likelihood = -float(explained @ np.log(np.maximum(size, 1)))
    if right:
        likelihood += right * math.log(right / total)
    if wrong:
        likelihood += wrong * math.log(wrong / total / max(1, relations - 1))
    return Verdict(total, entailed, right - entailed, wrong, likelihood)


def corrupt(data: Dataset, share: float, rng: np.random.Generator) -> Dataset:
    """The same problems, a share of them with a random wrong label, for tests of robustness."""
    wrong = rng.random(len(data)) < share
    step = rng.integers(1, len(data.relations), len(data))
    label = np.where(wrong, (data.label + step) % len(data.relations), data.label)
    return replace(data, label=label.astype(np.int32))
