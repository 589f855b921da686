"""Benchmark files for any calculus: CSV files for each cell (k, b), and a manifest that says what they hold.

The problems come from `stream`, the format from `star_csv`, one file from `shards`. The same seed gives the same
bytes, whoever writes them; a cell depends on nothing but the calculus, the seed, k, b and its number of files.
"""

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from epignn.calculus.algebra import Calculus
from epignn.errors import BadArgument
from epignn.files import load_json, make_folder, read_text, write_text
from epignn.tasks.output import LONGEST, MANIFEST, MOST_PROBLEMS, MOST_SEED, prepare_folder, within, write_manifest
from epignn.tasks.registry import PUBLISHED_NAMES
from epignn.tasks.shards import Digests, Prove, Shard, clashes, write_shard
from epignn.version import __version__
from epignn.workers import Here, Shared, Workers, run

Progress = Callable[[int, int], None]
Entry = dict[str, Any]

WORK = ".epignn-generate"
"""The folder that tells what is done, until all is."""
PLAN = "plan.json"
MOST_SHARDS = 100_000


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
    shards: int = 1,
    workers: Workers | None = None,
) -> dict[str, Any]:
    """Write `per_label` problems of every label for each cell of `k` x `b`; returns the manifest.

    What was interrupted goes on, if it is called again with the same arguments.

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
        shards: files of each cell; no two share a problem, unless a label has too few.
        workers: who writes the files; this process, if nobody is named.

    Raises:
        BadArgument: a value is out of range, a file is already there, or a label has no problem.
        EpignnError: a problem is not proved; that is a mistake in this package.
    """
    cells = list(product(dict.fromkeys(k), dict.fromkeys(b)))
    _check(cells, per_label, seed, shards)
    names = {cell: _names(calculus, cell, prefix, shards) for cell in cells}
    about = {
        "epignn": __version__,
        "calculus": calculus.name,
        "relations": list(calculus.relations),
        "seed": seed,
        "per_label": per_label,
        **({"shards": shards} if shards > 1 else {}),
    }
    plan = json.dumps({**about, "composition": calculus.composition, "files": [*names.values()]})
    files = [name for several in names.values() for name in several]
    work = Path(out) / WORK
    goes_on = work.is_dir() and _read(work / PLAN) == json.loads(plan)
    with prepare_folder(out, [*files, MANIFEST], overwrite or goes_on) as out:
        if not goes_on:
            shutil.rmtree(work, ignore_errors=True)
        done = _Done(work.resolve(), plan)
        if shards > 1:
            done.make()
        jobs = []
        for cell in cells:
            sizes = [per_label * (s + 1) // shards - per_label * s // shards for s in range(shards)]
            jobs += [
                Shard(
                    calculus, *cell, sizes[s], seed, s, shards, out.resolve() / name,
                    done.digests(name, 1) if shards > 1 else None, prove,
                )
                for s, name in enumerate(names[cell])
            ]  # fmt: skip
        total = len(cells) * per_label * len(calculus)
        found = _write(jobs, 1, done, workers or Here(), _Counter(progress, total))
        if shards > 1:
            found = _settle(jobs, found, done, workers or Here())
            about["totals"] = [_total(found[c * shards : (c + 1) * shards], done) for c in range(len(cells))]
        manifest = {**about, "cells": found}
        write_manifest(out, manifest)
        shutil.rmtree(work, ignore_errors=True)
        return manifest


def _write(
    jobs: list[Shard], stage: int, done: "_Done", workers: Workers, counter: "_Counter | None" = None
) -> list[Entry]:
    """Write files; what was written before an interruption is taken as it is."""
    counter = counter or _Counter(None, 0)
    found = [done.entry(job.path, stage) for job in jobs]
    todo = [number for number, entry in enumerate(found) if entry is None]
    counter.add(sum(entry["instances"] for entry in found if entry is not None))

    def take(place: int, entry: Entry) -> None:
        found[todo[place]] = entry
        done.keep(entry, stage)
        counter.reach(sum(one["instances"] for one in found if one is not None))

    run(workers, write_shard, [jobs[n] for n in todo], tell=counter.add, take=take).check("files")
    return [entry for entry in found if entry is not None]


def _settle(jobs: list[Shard], found: list[Entry], done: "_Done", workers: Workers) -> list[Entry]:
    """Write files anew that hold what another of their cell holds, with other problems instead."""
    shards = jobs[0].parts
    again: dict[int, Shard] = {}
    for first in range(0, len(jobs), shards):
        cell = jobs[first : first + shards]
        dropped, taken = clashes([done.digests(job.path.name, 1) for job in cell])
        if any(map(len, dropped)):
            shared = done.share(taken, f"taken_{first}", workers)
            again |= {
                first + s: replace(job, dropped=left, taken=shared, digests=done.digests(job.path.name, 2))
                for s, (job, left) in enumerate(zip(cell, dropped, strict=True))
                if len(left)
            }
    found = _replaced(found, again, _write([*again.values()], 2, done, workers))
    for place, job in again.items():
        if np.load(done.digests(job.path.name, 2))["short"]:  # few are left: one file after the other takes them
            others = [
                one for one in range(place // shards * shards, place // shards * shards + shards) if one != place
            ]
            taken = clashes([done.last(jobs[one].path.name) for one in others])[1]
            shared = done.share(taken, f"others_{place}", workers)
            alone = replace(job, taken=shared, alone=True, digests=done.digests(job.path.name, 3))
            found = _replaced(found, {place: alone}, _write([alone], 3, done, workers))
    return found


def _replaced(found: list[Entry], again: dict[int, Shard], entries: list[Entry]) -> list[Entry]:
    """The entries of files, with those that were written again."""
    new = dict(zip(again, entries, strict=True))
    return [new.get(place, entry) for place, entry in enumerate(found)]


def _total(entries: list[Entry], done: "_Done") -> Entry:
    """What the files of a cell hold together."""
    return {
        "k": entries[0]["k"],
        "b": entries[0]["b"],
        "instances": sum(entry["instances"] for entry in entries),
        "distinct": len(clashes([done.last(entry["file"]) for entry in entries])[1]),
    }


class _Done:
    """What is done of a plan, in a folder that outlives an interruption."""

    def __init__(self, folder: Path, plan: str) -> None:
        self.folder, self._plan = folder, plan

    def keep(self, entry: Entry, stage: int) -> None:
        """Note a file that is whole."""
        self.make()
        write_text(self.folder / f"{entry['file']}.{stage}.json", json.dumps(entry))

    def entry(self, path: Path, stage: int) -> Entry | None:
        """What was noted of a file that is still there."""
        return _read(self.folder / f"{path.name}.{stage}.json") if path.exists() else None

    def digests(self, name: str, stage: int) -> Path:
        """Where the digests of a file are."""
        return self.folder / f"{name}.{stage}.npz"

    def last(self, name: str) -> Path:
        """Where the digests of a file are, as it was written last."""
        return next(path for stage in (3, 2, 1) if (path := self.digests(name, stage)).exists())

    def share(self, taken: Digests, name: str, workers: Workers) -> Shared:
        """Let workers see digests."""
        make_folder(self.folder / name)
        return workers.share({"taken": taken}, self.folder / name)

    def make(self) -> None:
        """Make the folder, if it is not there."""
        if not self.folder.is_dir():
            make_folder(self.folder)
            write_text(self.folder / PLAN, self._plan)


def _read(path: Path) -> Any:
    return load_json(read_text(path), str(path)) if path.exists() else None


def _names(calculus: Calculus, cell: tuple[int, int], prefix: str, shards: int) -> list[str]:
    """The files of a cell."""
    name = file_name(calculus, *cell, prefix)
    if shards == 1:
        return [name]
    stem, width = name.removesuffix(".csv.gz"), len(str(shards))
    return [f"{stem}_part_{s + 1:0{width}}_of_{shards}.csv.gz" for s in range(shards)]


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


def _check(cells: list[tuple[int, int]], per_label: int, seed: int, shards: int) -> None:
    if not cells:
        raise BadArgument("nothing to generate: give at least one k and one b.")
    for k, b in cells:
        within("k", k, 2, LONGEST)
        within("b", b, 1, LONGEST)
    within("per_label", per_label, 1, MOST_PROBLEMS)
    within("seed", seed, 0, MOST_SEED)
    within("shards", shards, 1, MOST_SHARDS)
    if shards > min(per_label, MOST_SHARDS):
        raise BadArgument(f"a cell of {per_label} problems of a label has at most so many files, not {shards}.")


@dataclass
class _Counter:
    """Counts problems over all files."""

    report: Progress | None
    total: int
    done: int = 0

    def add(self, count: int) -> None:
        """Count what a job tells, or what was there."""
        if count:
            self.reach(self.done + count)

    def reach(self, count: int) -> None:
        """Have counted so many at least: not all workers tell."""
        if self.report and count > self.done:
            self.report(count, self.total)
        self.done = max(self.done, count)
