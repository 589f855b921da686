"""Runs of a table once more, compared with their records."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from epignn.errors import BadArgument
from epignn.report.plan import Plan, Row, rows_of
from epignn.report.record import circumstances, put_record, run_records
from epignn.report.reproduce import Say, follow
from epignn.report.suites import Suite
from epignn.report.tables import AVERAGE, Record, by_variant, figures
from epignn.workers import Workers

APART = "verify"
"""The folder, beside run folders, of runs that are made once more."""
VERIFIED = "verified"
"""The folder, beside records, that tells how far they agreed."""
LEAST = 0.02
"""So far may an average be from its record where there is one seed, or seeds differ by less."""
COLUMNS = ("row", "seed", "recorded", "now", "cells equal", "largest difference", "agrees")


@dataclass(frozen=True)
class Verified:
    """A run and its record.

    Attributes:
        table, row, seed: which one.
        recorded, now: average accuracy, or that of the one test set.
        cells, equal: how many there are, and of how many the accuracy is the same to the last bit.
        largest: the largest difference of accuracy in a cell.
        allowed: how far averages may be apart: two standard deviations over the recorded seeds, or more.
    """

    table: str
    row: str
    seed: int
    recorded: float
    now: float
    cells: int
    equal: int
    largest: float
    allowed: float

    @property
    def agrees(self) -> bool:
        """Whether averages are no further apart than runs of different seeds are."""
        return abs(self.now - self.recorded) <= self.allowed

    def text(self, column: str) -> str:
        """A cell of the table for people."""
        same = "to the bit" if self.equal == self.cells else f"within {self.allowed:.3f}"
        told = {
            "row": self.row,
            "seed": str(self.seed),
            "recorded": f"{self.recorded:.3f}",
            "now": f"{self.now:.3f}",
            "cells equal": f"{self.equal} of {self.cells}",
            "largest difference": f"{self.largest:.3f}",
            "agrees": same if self.agrees else "no",
        }
        return told[column]

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
        return {**asdict(self), "agrees": self.agrees}


def verify(
    name: str,
    suite: Suite,
    seed: int | None,
    results: Path,
    runs: Path,
    device: str,
    workers: Workers,
    say: Say,
    code: Sequence[Path] = (),
) -> list[Verified]:
    """Run one recorded seed of each row again, and compare; what was found is kept beside the records.

    Args:
        name: of the table.
        suite: its rows.
        seed: which one; the least that is recorded if None.
        results: where records are.
        runs: where models are trained, in a folder of their own: a run that was killed goes on.
        device: where models are trained.
        workers: who trains them.
        say: called with what goes on.
        code: files that rows name models of.

    Raises:
        BadArgument: no row is recorded, or the suite ranks links.
        JobsFailed: some runs failed.
    """
    if suite.links:
        raise BadArgument(
            "--verify compares the tables of graphs; of links, run a row with another --results folder."
        )
    records = run_records(results / name)
    rows = _recorded(name, suite, seed, records, results, runs, device, code)
    if not rows:
        raise BadArgument(f"{results / name} has no record of such a run with its present settings.")
    apart = runs / APART
    again = Plan(
        [replace(row, folder=apart / "results" / name, run=apart / row.run.name, files=False) for row in rows]
    )
    follow(again, workers, say).check("runs")
    found = []
    for row, rerun in zip(rows, again.rows, strict=True):
        before, now = row.record(), rerun.record()
        assert before is not None and now is not None
        told = compared(name, suite, before, now, records)
        put_record(
            results / VERIFIED, f"{name}_{row.stem}", {**told.to_dict(), "of": before["commit"], **circumstances()}
        )
        found.append(told)
    return found


def _recorded(
    name: str,
    suite: Suite,
    seed: int | None,
    records: Sequence[Record],
    results: Path,
    runs: Path,
    device: str,
    code: Sequence[Path],
) -> list[Row]:
    """The run of each row that is made once more."""
    seeds = sorted({one["seed"] for one in records if "seed" in one} if seed is None else {seed})
    first: dict[str, Row] = {}
    for row in rows_of(name, replace(suite, distil=False), seeds, results, runs, device=device, code=code):
        known = row.record() if not row.variant.baselines else None
        if known is not None and (row.variant.name not in first or row.seed < first[row.variant.name].seed):
            first[row.variant.name] = row
    return list(first.values())


def compared(name: str, suite: Suite, before: Record, now: Record, records: Sequence[Record]) -> Verified:
    """How far a run agrees with its record, among all records of its row."""
    old, new = ({(c["k"], c["b"]): float(c["accuracy"]) for c in one["cells"]} for one in (before, now))
    differences = [abs(old[cell] - new[cell]) for cell in suite.cells]
    spread = 2 * float(np.std([_average(suite, one) for one in by_variant(suite, records)[before["variant"]]]))
    return Verified(
        name,
        before["variant"],
        before["seed"],
        _average(suite, before),
        _average(suite, now),
        len(differences),
        sum(one == 0 for one in differences),
        max(differences),
        max(spread, LEAST),
    )


def _average(suite: Suite, record: Record) -> float:
    told = figures(suite, record)
    return told.get(AVERAGE, next(iter(told.values())))
