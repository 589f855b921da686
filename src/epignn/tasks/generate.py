"""Benchmark files for any calculus: one CSV file a cell (k, b), and a manifest that says what they hold.

The problems come from `stream`, the format from `star_csv`. The same seed gives the same bytes; a cell
depends on nothing but the calculus, the seed, k and b.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.stream import Problems
from epignn.errors import BadArgument, EpignnError
from epignn.files import sha256
from epignn.formats.star_csv import CsvWriter
from epignn.tasks.output import MANIFEST, prepare_folder, write_manifest
from epignn.version import __version__

Prove = Callable[[Dataset], NDArray[np.bool_]]
Progress = Callable[[int, int], None]

PUBLISHED_NAMES = MappingProxyType({"allen": "interval"})


def generate(
    calculus: Calculus,
    k: Sequence[int],
    b: Sequence[int],
    per_label: int,
    seed: int,
    out: Path,
    prove: Prove | None = None,
    progress: Progress | None = None,
    prefix: str = "test",
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write `per_label` problems of every label for each cell of `k` x `b`; returns the manifest.

    Args:
        calculus: gives relations and composition; every base relation is a label.
        k: path lengths, 2 or more.
        b: numbers of base branches, 1 or more.
        per_label: problems of each label in each cell.
        seed: the same seed gives the same files. The prefix plays no part: training and test files need
            different seeds.
        out: the folder; made if it is not there.
        prove: tells for each problem of a chunk whether it is consistent and entails its label.
        progress: called with the number of problems done and of all.
        prefix: what the file names begin with.
        overwrite: replace files of the same names; others in the folder are never touched.

    Raises:
        BadArgument: a value is out of range, a file is already there, or a label has no problem.
        EpignnError: a problem is not proved; that is a mistake in this package.
    """
    cells = list(product(dict.fromkeys(k), dict.fromkeys(b)))
    names = {cell: file_name(calculus, *cell, prefix) for cell in cells}
    _check(cells, per_label, seed)
    with prepare_folder(out, [*names.values(), MANIFEST], overwrite) as out:
        advance = _Progress(progress, len(cells) * per_label * len(calculus))
        manifest: dict[str, Any] = {
            "epignn": __version__,
            "calculus": calculus.name,
            "relations": list(calculus.relations),
            "seed": seed,
            "per_label": per_label,
            "cells": [],
        }
        for cell in cells:
            rng = np.random.default_rng([seed, *cell])
            problems = Problems(calculus, *cell, per_label, rng)
            chunks = advance.over(_proved(problems, prove, f"{calculus.name}, seed {seed}"))
            manifest["cells"].append(_write_cell(out / names[cell], problems, chunks))
        write_manifest(out, manifest)
        return manifest


def file_name(calculus: Calculus, k: int, b: int, prefix: str = "test") -> str:
    """The name of a cell's file, as in the published benchmark.

    >>> from epignn.calculus import load
    >>> file_name(load("allen"), 2, 1)
    'test_interval_k_2_b_1.csv.gz'
    """
    name = f"{prefix}_{PUBLISHED_NAMES.get(calculus.name, calculus.name)}_k_{k}_b_{b}.csv.gz"
    if Path(name).name != name or "\\" in name:
        raise BadArgument(f"{name!r} is no file name: prefix and calculus must not name folders.")
    return name


def _check(cells: list[tuple[int, int]], per_label: int, seed: int) -> None:
    if not cells:
        raise BadArgument("nothing to generate: give at least one k and one b.")
    ranges = [("k", k, 2) for k, _ in cells] + [("b", b, 1) for _, b in cells]
    for name, value, least in [*ranges, ("per_label", per_label, 1), ("seed", seed, 0)]:
        if value < least:
            raise BadArgument(f"{name} must be {least} or more, not {value}.")


@dataclass
class _Progress:
    """Counts problems over all cells."""

    report: Progress | None
    total: int
    done: int = 0

    def over(self, chunks: Iterator[Dataset]) -> Iterator[Dataset]:
        for chunk in chunks:
            yield chunk
            self.done += len(chunk)
            if self.report:
                self.report(self.done, self.total)


def _proved(problems: Problems, prove: Prove | None, origin: str) -> Iterator[Dataset]:
    for chunk in problems:
        if prove is not None:
            proved = np.asarray(prove(chunk), dtype=bool)
            if not proved.all():
                raise EpignnError(
                    f"a mistake in epignn: a generated problem ({origin}, k={chunk.k}, b={chunk.b}) is not "
                    f"proved. Please report it: {chunk.example(int(np.argmin(proved)))}"
                )
        yield chunk


@dataclass
class _Totals:
    """What the manifest says of the graphs of a cell."""

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


def _write_cell(path: Path, problems: Problems, chunks: Iterator[Dataset]) -> dict[str, Any]:
    """Write the file of a cell; returns its entry in the manifest."""
    totals = _Totals()
    with CsvWriter(path) as writer:
        for chunk in chunks:
            writer.write(chunk)
            totals.add(chunk)
    return {
        "file": path.name,
        "k": problems.k,
        "b": problems.b,
        "instances": totals.graphs,
        "distinct": problems.distinct,
        "mean_nodes": round(totals.nodes / totals.graphs, 4),
        "max_nodes": totals.max_nodes,
        "mean_edges": round(totals.edges / totals.graphs, 4),
        "max_edges": totals.max_edges,
        "labels": dict(zip(problems.calculus.relations, totals.labels.tolist(), strict=True)),
        "sha256": sha256(path),
    }
