"""A stream of the problems of one cell: balanced, shuffled, and without repeats while new ones are found.

Small cells hold few distinct problems (RCC-8 has 27 at k = 2, b = 1). When a label has no more of them, the
known ones are repeated evenly. Only digests of all problems are remembered; problems themselves are kept
as long as they are few.
"""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.paths import Integers, ShortPaths
from epignn.data.problems import draw
from epignn.errors import BadArgument

CHUNK_GRAPHS = 8192
CHUNK_EDGES = 400_000
KEPT_EDGES = 12_000_000
"""Problems are kept for repetition until they have so many edges (150 MB) together."""

PATIENCE = 1_000
PATIENCE_PER_PROBLEM = 20
"""A label is exhausted when it was drawn more often than 1,000 times plus 20 times for each problem found."""


class Problems:
    """Problems of cell (k, b), `per_label` for each relation of the calculus, in chunks of some thousands.

    Problems are the same when they list the same edges in the same order, as in the published counts.
    Iterate over it once. `distinct` says how many different problems came so far. A label with more problems
    than memory keeps (`KEPT_EDGES`) repeats only the kept ones when it is exhausted.

    >>> from epignn.calculus import load
    >>> stream = Problems(load("point"), k=2, b=1, per_label=50, rng=np.random.default_rng(0))
    >>> sum(len(chunk) for chunk in stream), stream.distinct
    (150, 7)
    """

    def __init__(self, calculus: Calculus, k: int, b: int, per_label: int, rng: np.random.Generator) -> None:
        for name, value, least in (("k", k, 2), ("b", b, 1), ("per_label", per_label, 1)):
            if value < least:
                raise BadArgument(f"{name} must be {least} or more, not {value}.")
        self.calculus, self.k, self.b, self.per_label, self.rng = calculus, k, b, per_label, rng
        self._short = ShortPaths(calculus, rng)
        self._labels = np.arange(len(calculus))
        self._seen: set[int] = set()
        self._draws = np.zeros(len(calculus), dtype=np.int64)
        self._found = np.zeros(len(calculus), dtype=np.int64)
        self._kept: list[Dataset] = []
        self._kept_edges = 0
        self._known: dict[int, Dataset] = {}
        self._repeated = [0] * len(calculus)
        self._allowed: Callable[[NDArray[np.uint64]], NDArray[np.bool_]] | None = None
        self._patience = 1
        self.short = False
        """Whether `instead` had to repeat problems."""

    @property
    def distinct(self) -> int:
        """The number of different problems so far."""
        return len(self._seen)

    @property
    def exhausted(self) -> NDArray[np.bool_]:
        """Of which labels no new problems are looked for any more."""
        tries: NDArray[np.bool_] = self._draws > self._patience * (PATIENCE + PATIENCE_PER_PROBLEM * self._found)
        return tries

    def __iter__(self) -> Iterator[Dataset]:
        graphs = min(CHUNK_GRAPHS, CHUNK_EDGES // (3 * self.k * self.b))
        quota = max(1, graphs // len(self._labels))
        for first in range(0, self.per_label, quota):
            yield self._chunk(np.full(len(self._labels), min(quota, self.per_label - first)))

    def instead(
        self, missing: Integers, allowed: Callable[[NDArray[np.uint64]], NDArray[np.bool_]], share: int
    ) -> Dataset:
        """Further problems, so many of each label, in place of some that were left out.

        Args:
            missing: how many of each label.
            allowed: tells by digests which problems may be new ones.
            share: one of how many problems that is, about; so much longer they are looked for.
        """
        self._allowed, self._patience = allowed, share
        self._draws[:], self._found[:] = 0, 0
        before = sum(self._repeated)
        chunk = self._chunk(missing.copy())
        self.short = sum(self._repeated) > before
        return chunk

    def _chunk(self, missing: Integers) -> Dataset:
        """A chunk with so many problems of every label, shuffled."""
        parts = list(self._fresh(missing))
        parts += [self._repeats(int(label), int(missing[label])) for label in np.flatnonzero(missing)]
        chunk = Dataset.concat(parts)
        return chunk.select(self.rng.permutation(len(chunk)))

    def _fresh(self, missing: Integers) -> Iterator[Dataset]:
        """New problems of the labels that are not exhausted; counts `missing` down."""
        eagerness = 1
        while True:
            wanted = np.where(self.exhausted, 0, np.minimum(missing * eagerness, CHUNK_GRAPHS))
            if not wanted.any():
                return
            drawn = draw(self._short, self.k, self.b, np.repeat(self._labels, wanted), self.rng)
            self._draws += wanted
            new = drawn.select(self._new(drawn, missing))
            self._keep(new)
            yield new
            eagerness *= 2

    def _new(self, drawn: Dataset, missing: Integers) -> list[int]:
        """Which of the drawn problems were not seen before, no more of a label than are missing."""
        seen, left, new = self._seen, missing.tolist(), []
        found = digests(drawn)
        good = np.ones(len(found), dtype=bool) if self._allowed is None else self._allowed(found)
        rows = zip(found.tolist(), drawn.label.tolist(), good.tolist(), strict=True)
        for g, (digest, label, may) in enumerate(rows):
            if may and left[label] and digest not in seen:
                seen.add(digest)
                left[label] -= 1
                new.append(g)
        self._found += missing - left
        missing[:] = left
        return new

    def _keep(self, new: Dataset) -> None:
        if self._kept_edges < KEPT_EDGES:
            self._kept.append(new)
            self._kept_edges += len(new.edge_label)

    def _repeats(self, label: int, count: int) -> Dataset:
        """Known problems of an exhausted label, each in turn."""
        if label not in self._known:
            self._known[label] = Dataset.concat([part.select(part.label == label) for part in self._kept])
        known, first = self._known[label], self._repeated[label]
        self._repeated[label] += count
        return known.select(np.arange(first, first + count) % len(known))


def digests(data: Dataset) -> NDArray[np.uint64]:
    """A 64-bit digest of the edges of each graph, in their order: equal graphs, equal digests.

    Two of a million different graphs share one with a probability of 3e-8; the later would be left out.
    """
    source, target, label = (a.astype(np.uint64) for a in (data.edge_source, data.edge_target, data.edge_label))
    position = np.arange(len(label)) - np.repeat(data.edge_offset[:-1], data.edge_count)
    code = source << np.uint64(36) | target << np.uint64(8) | label
    mixed = mix(code + mix(position.astype(np.uint64)))
    return np.add.reduceat(mixed, data.edge_offset[:-1]) if len(data) else mixed


def mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scatter 64-bit values (the finaliser of splitmix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
