"""What a reproduction has to do: rows and seeds of tables, what is recorded, and about how long the rest takes."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from epignn.entries import allowed
from epignn.learn.checkpoint import WEIGHTS
from epignn.learn.config import Experiment, load_experiment, model_class, recorded
from epignn.models.api import Model
from epignn.report.record import read_records
from epignn.report.suites import Suite, Variant, file_stem
from epignn.tasks.api import LinkTask

Record = dict[str, Any]
QUICK_LINKS = ("training.epochs=1", "objective.validation_triples=50")
QUICK = {"classify": ("training.epochs=2",), "rank": QUICK_LINKS, "rank-facts": QUICK_LINKS}
"""What a smoke test changes, by objective."""
QUICK_SIZE = ("model.dim=16", "model.facets=4")
"""And of EpiGNN for links."""
QUICK_PROBLEMS = "data.per_label=20"
"""And of tasks that are generated."""


@dataclass(frozen=True)
class Row:
    """One run of a row of a table: plain values, from which a worker makes the rest.

    Attributes:
        variant: the row.
        seed: of the run.
        path: of its record.
        run: the folder of its model; rows that test the same model share it.
        cells, per_label: of the test sets.
        quick: whether it is a smoke test.
        distil: whether what the model is distilled into is tested too.
        device, code: where models are trained, and the files that they are classes of.
    """

    variant: Variant
    seed: int
    path: Path
    run: Path
    cells: tuple[tuple[int, int], ...]
    per_label: int
    quick: bool
    distil: bool
    device: str
    code: tuple[Path, ...]

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.variant.name if self.variant.baselines else f"{self.variant.name}, seed {self.seed}"

    def experiment(self) -> Experiment:
        """What is trained."""
        return experiment_of(self.variant, self.quick, self.code)

    def record(self) -> Record | None:
        """Its record, if there is one of the same settings; settings that it does not name are as by default."""
        known = read_records(self.path.parent, self.path.name) if self.path.exists() else []
        if self.variant.baselines:
            return known[0] if known else None
        return next((one for one in known if self._tells_of(one)), None)

    def _tells_of(self, record: Record) -> bool:
        return recorded(record["experiment"], "the record", allowed(self.code)) == self.experiment()

    def to_distil(self, record: Record) -> bool:
        """Whether a record has to be told of what its model is distilled into, and the model is there."""
        there = self.distil and not self.variant.baselines and (self.run / WEIGHTS).exists()
        return there and "distilled" not in record["cells"][0] and self.experiment().model.kind == "epignn"


def rows_of(
    name: str,
    suite: Suite,
    seeds: Sequence[int],
    results: Path,
    runs: Path,
    quick: bool = False,
    device: str = "cpu",
    code: Sequence[Path] = (),
) -> list[Row]:
    """All runs of a suite, row by row; see `reproduce`."""
    folder = results / (f"{name}-quick" if quick else name)
    per_label = 5 if quick else suite.per_label
    found = []
    for variant in suite.variants:
        for seed in seeds[:1] if variant.baselines else seeds:
            stem = file_stem(variant.name) + ("" if variant.baselines else f"_seed{seed}")
            run = runs / f"{file_stem(variant.run)}_seed{seed}{'-quick' if quick else ''}"
            found.append(
                Row(
                    variant, seed, folder / f"{stem}.json", run, tuple(suite.cells), per_label, quick, suite.distil,
                    device, tuple(code),
                )
            )  # fmt: skip
    return found


def experiment_of(variant: Variant, quick: bool, code: Sequence[Path] = ()) -> Experiment:
    """The experiment of a row, of no more epochs than all rows may have."""
    settings = variant.settings
    experiment = load_experiment(variant.experiment, settings, code)
    if quick:
        settings += QUICK[experiment.objective.kind]
        if isinstance(experiment.data, LinkTask) and experiment.model.kind == "epignn":
            settings += QUICK_SIZE
        settings += (QUICK_PROBLEMS,) if hasattr(experiment.data, "per_label") else ()
        experiment = load_experiment(variant.experiment, settings, code)
    training = experiment.training
    counts = model_class(experiment.model, allowed([*code])).count is not Model.count  # an epoch is a candidate
    if variant.epochs and training.epochs > variant.epochs and not counts:
        experiment = replace(experiment, training=replace(training, epochs=variant.epochs))
    return experiment


@dataclass(frozen=True, eq=False)
class Plan:
    """Rows to be run and rows that are recorded."""

    rows: Sequence[Row]

    @cached_property
    def known(self) -> dict[Path, Record]:
        """Records that are there, by their paths."""
        return {row.path: record for row in self.rows if (record := row.record()) is not None}

    @cached_property
    def jobs(self) -> list[tuple[Row, ...]]:
        """What has to be run: rows of one model together, because one process at a time trains in a folder."""
        todo: dict[Path, list[Row]] = {}
        for row in self.rows:
            record = self.known.get(row.path)
            if record is None or row.to_distil(record):
                todo.setdefault(row.path if row.variant.baselines else row.run, []).append(row)
        return [tuple(rows) for rows in todo.values()]

    def seconds(self) -> tuple[float, int]:
        """About how long all jobs take, one after the other, and of how many no earlier record tells."""
        total, unknown = 0.0, 0
        for rows in self.jobs:
            told = [_took(row) for row in rows]
            unknown += any(one is None for one in told)
            known = [one for one in told if one is not None]
            total += max((training for training, _ in known), default=0.0) + sum(tests for _, tests in known)
        return total, unknown

    def text(self, workers: int) -> str:
        """The plan in a sentence or two."""
        runs, left = len(self.rows), len(self.jobs)
        done = f"{runs} runs, {len(self.known)} of them recorded already"
        if not left:
            return f"{done}; nothing is left to do."
        seconds, unknown = self.seconds()
        about = f"about {_duration(seconds / min(workers, left))} by earlier records" if seconds else ""
        open_ = f"of {unknown} no earlier record tells how long they take" if unknown else ""
        told = "; ".join(part for part in (about, open_) if part)
        return f"{done}; {left} models to train or test, {min(workers, left)} at a time: {told}."


def _took(row: Row) -> tuple[float, float] | None:
    """Seconds that training and testing took in earlier runs of a row, whatever their seed."""
    prefix = file_stem(row.variant.name)
    same = [one for one in read_records(row.path.parent, f"{prefix}*.json") if one["variant"] == row.variant.name]
    timed = [one for one in same if "training_seconds" in one]
    if not timed:
        return None
    tests = [sum(cell.get("answer_cpu_seconds", 0.0) for cell in one["cells"]) for one in timed]
    return sum(one["training_seconds"] for one in timed) / len(timed), sum(tests) / len(timed)


def _duration(seconds: float) -> str:
    """Seconds for people.

    >>> _duration(40), _duration(5400), _duration(200_000)
    ('40 s', '90 min', '56 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 3 * 3600 else f"{seconds / 3600:.0f} h"
