"""Training data as evidence for or against a table: what exact closure with it says of the labels.

A problem's label is *entailed* if closure leaves nothing else, *open* if it is among what is left, *contradicted*
if it is not. How well a table explains the labels is their likelihood, if a share of them is wrong (estimated as
the contradicted share) and all that closure leaves is equally likely. A table that lacks a fact contradicts labels;
one with a fact too many leaves more open; the likelihood weighs one against the other, with and without noise.
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
"""Scatters the query pair over the bits of a digest."""


@dataclass(frozen=True)
class Verdict:
    """What a table makes of labelled problems; `log_likelihood` is 0 if all labels are entailed."""

    instances: int
    entailed: int
    open: int
    contradicted: int
    log_likelihood: float


@dataclass(frozen=True, eq=False)
class Evidence:
    """Distinct problems with the labels that their copies bear.

    Attributes:
        problems: each once.
        counts: (G, R) how many copies bear each label.
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
        """The smallest problems, which show most of single compositions, and are closed fastest."""
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
    """The same problems, a share of them with a wrong label drawn from all others, for tests of robustness."""
    wrong = rng.random(len(data)) < share
    step = rng.integers(1, len(data.relations), len(data))
    label = np.where(wrong, (data.label + step) % len(data.relations), data.label)
    return replace(data, label=label.astype(np.int32))
