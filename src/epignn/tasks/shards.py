"""One file of problems as a job, and files of one cell that share no problem.

A cell of many files is drawn by each file for itself, so that they can be made at once. Then the digests of all
are compared: a problem that several files have stays in one of them, and the others draw another instead, each from
a part of all problems that is its own. Where a label has no more problems than one file holds, all files hold the
same ones: there are no others.
"""

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.stream import Problems, digests
from epignn.errors import EpignnError
from epignn.files import sha256, writing
from epignn.formats.star_csv import CsvWriter
from epignn.workers import Shared
from epignn.workers.api import Tell

Prove = Callable[[Dataset], NDArray[np.bool_]]
Digests = NDArray[np.uint64]
RANGES = 16
"""Digests of a cell are compared in so many ranges, one after the other, so that few are in memory."""


@dataclass(frozen=True)
class Shard:
    """What one file is made from: a plain value, and all that its bytes depend on.

    Attributes:
        calculus, k, b, per_label, seed: as of `generate`; `per_label` is that of this file.
        part, parts: which file of the cell it is, from 0, and of how many.
        path: the file.
        digests: where the digests of its problems go; None where there is one file alone.
        prove: tells for each problem of a chunk whether it is consistent and entails its label.
        dropped: digests of problems that other files keep.
        taken: the digests of all files, sorted, where some are dropped.
        alone: no other file of the cell is made now, so that it may take any problem that is not taken.
    """

    calculus: Calculus
    k: int
    b: int
    per_label: int
    seed: int
    part: int
    parts: int
    path: Path
    digests: Path | None
    prove: Prove | None
    dropped: Digests | None = None
    taken: Shared | None = None
    alone: bool = False

    @property
    def rng(self) -> np.random.Generator:
        """What it is drawn by; a cell of one file has the same problems as ever."""
        which = [] if self.parts == 1 else [self.parts, self.part]
        return np.random.default_rng([self.seed, self.k, self.b, *which])


def write_shard(shard: Shard, tell: Tell) -> dict[str, Any]:
    """Write the file; tells how many problems a chunk had, and returns its entry in the manifest."""
    problems = Problems(shard.calculus, shard.k, shard.b, shard.per_label, shard.rng)
    totals, own = _Totals(), []
    with CsvWriter(shard.path) as writer:
        for chunk in _proved(_chunks(problems, shard), shard):
            writer.write(chunk)
            totals.add(chunk)
            own += [] if shard.digests is None else [(digests(chunk), chunk.label)]
            tell(len(chunk))
    if shard.digests is not None:
        _save_digests(shard.digests, own, problems)
    parts = {} if shard.parts == 1 else {"part": shard.part + 1, "parts": shard.parts}
    return {
        "file": shard.path.name,
        "k": shard.k,
        "b": shard.b,
        **parts,
        "instances": totals.graphs,
        "distinct": problems.distinct if shard.digests is None else len(np.load(shard.digests)["every"]),
        "mean_nodes": round(totals.nodes / totals.graphs, 4),
        "max_nodes": totals.max_nodes,
        "mean_edges": round(totals.edges / totals.graphs, 4),
        "max_edges": totals.max_edges,
        "labels": dict(zip(shard.calculus.relations, totals.labels.tolist(), strict=True)),
        "sha256": sha256(shard.path),
    }


def _chunks(problems: Problems, shard: Shard) -> Iterator[Dataset]:
    """The problems of a file; those that others keep are left out, and others come at the end."""
    if shard.dropped is None or shard.taken is None:
        yield from problems
        return
    missing = np.zeros(len(shard.calculus), dtype=np.int64)
    for chunk in problems:
        kept = ~np.isin(digests(chunk), shard.dropped)
        missing += np.bincount(chunk.label[~kept], minlength=len(missing))
        if kept.any():
            yield chunk.select(kept)
    taken = shard.taken.open()["taken"]
    part, parts = (0, 1) if shard.alone else (shard.part, shard.parts)
    yield problems.instead(missing, functools.partial(_mine, taken=taken, part=part, parts=parts), parts)


def _mine(found: Digests, taken: Digests, part: int, parts: int) -> NDArray[np.bool_]:
    """Which problems a file may take instead: nobody has them, and they are of its part of all."""
    place = np.minimum(np.searchsorted(taken, found), len(taken) - 1)
    free: NDArray[np.bool_] = (found % np.uint64(parts) == part) & (taken[place] != found)
    return free


def _proved(chunks: Iterator[Dataset], shard: Shard) -> Iterator[Dataset]:
    for chunk in chunks:
        if shard.prove is not None:
            proved = np.asarray(shard.prove(chunk), dtype=bool)
            if not proved.all():
                raise EpignnError(
                    f"a mistake in epignn: a generated problem ({shard.calculus.name}, seed {shard.seed}, "
                    f"k={chunk.k}, b={chunk.b}) is not proved. Please report it: "
                    f"{chunk.example(int(np.argmin(proved)))}"
                )
        yield chunk


@dataclass
class _Totals:
    """What the manifest says of the graphs of a file."""

    graphs: int = 0
    nodes: int = 0
    edges: int = 0
    max_nodes: int = 0
    max_edges: int = 0
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, dtype=np.int64))

    def add(self, chunk: Dataset) -> None:
        labels = np.bincount(chunk.label, minlength=len(chunk.relations))
        self.graphs += len(chunk)
        self.nodes += int(chunk.node_count.sum())
        self.edges += len(chunk.edge_label)
        self.max_nodes = max(self.max_nodes, int(chunk.node_count.max()))
        self.max_edges = max(self.max_edges, int(chunk.edge_count.max()))
        self.labels = self.labels + labels


def _save_digests(path: Path, own: list[tuple[Digests, NDArray[Any]]], problems: Problems) -> None:
    """Keep the digests of a file, sorted: of every problem, and of those whose label had more than it took."""
    every, first = np.unique(np.concatenate([digest for digest, _ in own]), return_index=True)
    plenty = ~problems.exhausted[np.concatenate([label for _, label in own])[first]]
    with writing(path) as part, part.open("wb") as file:
        np.savez(file, every=every, plenty=every[plenty], short=problems.short)


def clashes(files: Sequence[Path]) -> tuple[list[Digests], Digests]:
    """What each of some files has to drop so that no two hold the same problem; and all digests, sorted.

    Of the files that have a problem, its digest chooses the one that keeps it. Labels of which a file has all
    problems are left alone.
    """
    dropped: list[list[Digests]] = [[] for _ in files]
    taken: list[Digests] = []
    edges = np.linspace(0, 2.0**64, RANGES + 1)[1:-1].astype(np.uint64)
    loaded = [np.load(path) for path in files]
    every, plenty = ([_ranges(one[name], edges) for one in loaded] for name in ("every", "plenty"))
    for r in range(RANGES):
        held = [mine[r] for mine in every]
        found, count = np.unique(np.concatenate(held), return_counts=True)
        taken.append(found)
        several = found[count > 1]
        few = np.concatenate(
            [np.setdiff1d(a[r], p[r], assume_unique=True) for a, p in zip(every, plenty, strict=True)]
        )
        several = np.setdiff1d(several, few, assume_unique=False)
        if not len(several):
            continue
        has = np.stack([np.isin(several, mine, assume_unique=True) for mine in held])  # (files, problems)
        chosen = (several >> np.uint64(20)) % has.sum(0).astype(np.uint64)
        keeps = has & (np.cumsum(has, 0) - 1 == chosen)
        for f, leaves in enumerate(has & ~keeps):
            dropped[f].append(several[leaves])
    empty = np.zeros(0, dtype=np.uint64)
    return [np.concatenate([empty, *parts]) for parts in dropped], np.concatenate([empty, *taken])


def _ranges(values: Digests, edges: Digests) -> list[Digests]:
    return np.split(values, np.searchsorted(values, edges))
