"""What a reproduction has to do: rows and seeds of tables, what is recorded, and about how long the rest takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.entries import allowed
from epignn.learn.checkpoint import WEIGHTS
from epignn.learn.config import Experiment, load_experiment, model_class, recorded
from epignn.models.api import Model
from epignn.report.record import named_records, put_record
from epignn.report.suites import Suite, Variant, file_stem
from epignn.tasks.api import GraphTask, LinkTask

Record = dict[str, Any]
REFINED = MappingProxyType({"taught": "refined", "exact": "exact"})
"""The folder, within that of a run, of the same model refined."""
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
        folder, stem: where its record is kept, and its name there.
        run: the folder of its model; rows that test the same model share it.
        cells, per_label: of the test sets.
        quick: whether it is a smoke test.
        distil: whether what the model is distilled into is tested too.
        files: whether published test files are tested too, where they are at hand.
        device, code: where models are trained, and the files that they are classes of.
    """

    variant: Variant
    seed: int
    folder: Path
    stem: str
    run: Path
    cells: tuple[tuple[int, int], ...]
    per_label: int
    quick: bool
    distil: bool
    device: str
    code: tuple[Path, ...]
    files: bool = True

    @property
    def name(self) -> str:
        """What messages call it."""
        return self.variant.name if self.variant.baselines else f"{self.variant.name}, seed {self.seed}"

    @property
    def model(self) -> Path:
        """The folder of the model that is tested."""
        return self.run / REFINED[self.variant.refined] if self.variant.refined else self.run

    def experiment(self) -> Experiment:
        """What is trained."""
        return experiment_of(self.variant, self.quick, self.code)

    @property
    def key(self) -> tuple[Path, str]:
        """By which its record is found."""
        return self.folder, self.stem

    def record(self) -> Record | None:
        """Its record, if there is one of the same settings."""
        return self.among(named_records(self.folder))

    def among(self, known: Mapping[str, Record]) -> Record | None:
        """The same among records by name; settings that it does not name are as by default."""
        found = known.get(self.stem)
        if found is None or self.variant.baselines:
            return found
        told = recorded(found["experiment"], "the record", allowed(self.code))
        return found if told == self.experiment() else None

    def keep(self, record: Record) -> None:
        """Write its record."""
        put_record(self.folder, self.stem, record)

    def to_distil(self, record: Record) -> bool:
        """Whether a record has to be told of what its model is distilled into, and the model is there."""
        there = self.distil and not self.variant.baselines and (self.run / WEIGHTS).exists()
        return there and "distilled" not in record["cells"][0] and self.experiment().model.kind == "epignn"

    def to_compare(self, record: Record) -> bool:
        """Whether a record has to be told of published test files, and these and the model are there."""
        if self.quick or not self.files or self.variant.baselines or not (self.model / WEIGHTS).exists():
            return False
        task = self.experiment().data
        untold = [(cell["k"], cell["b"]) for cell in record["cells"] if "published" not in cell]
        return isinstance(task, GraphTask) and any(task.published_cell(*cell) is not None for cell in untold)

    def unfinished(self, record: Record) -> bool:
        """Whether a record can be told of more."""
        return self.to_distil(record) or self.to_compare(record)


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
                    variant, seed, folder, stem, run, tuple(suite.cells), per_label, quick,
                    suite.distil and not variant.refined, device, tuple(code),
                )
            )  # fmt: skip
    return found


def experiment_of(variant: Variant, quick: bool, code: Sequence[Path] = ()) -> Experiment:
    """The experiment of a row, of no more epochs than all rows may have."""
    settings = variant.settings
    experiment = load_experiment(variant.experiment, settings, code)
    if quick:
        settings += QUICK[experiment.objective.kind]
        if isinstance(experiment.data, LinkTask) and experiment.model.kind.startswith("epignn"):
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
    def recorded(self) -> dict[Path, dict[str, Record]]:
        """All records of the folders of its rows, by name."""
        return {folder: named_records(folder) for folder in {row.folder for row in self.rows}}

    @cached_property
    def known(self) -> dict[tuple[Path, str], Record]:
        """Records of its rows that are there, by their keys."""
        found = ((row.key, row.among(self.recorded[row.folder])) for row in self.rows)
        return {key: record for key, record in found if record is not None}

    @cached_property
    def jobs(self) -> list[tuple[Row, ...]]:
        """What has to be run: rows of one model together, because one process at a time trains in a folder."""
        todo: dict[object, list[Row]] = {}
        for row in self.rows:
            record = self.known.get(row.key)
            if record is None or row.unfinished(record):
                todo.setdefault(row.key if row.variant.baselines else row.run, []).append(row)
        return [tuple(rows) for rows in todo.values()]

    def seconds(self) -> tuple[float, int]:
        """About how long all jobs take, one after the other, and of how many no earlier record tells."""
        total, unknown = 0.0, 0
        for rows in self.jobs:
            told = [_took(row, self.recorded[row.folder]) for row in rows]
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


def _took(row: Row, recorded: Mapping[str, Record]) -> tuple[float, float] | None:
    """Seconds that training and testing took in earlier runs of a row, whatever their seed."""
    same = [one for one in recorded.values() if one.get("variant") == row.variant.name]
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
