"""Run the experiments of a suite and write one record a run; finished runs are not run again."""

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.calculus.calculi.families import TERMS
from epignn.calculus.solve.many import close_many
from epignn.data.dataset import Dataset
from epignn.data.figures import figures
from epignn.data.kin_rules import ambiguous_by_rules
from epignn.data.prove import answers, networks
from epignn.distil.evaluate import accuracy
from epignn.distil.learnt import distil
from epignn.distil.refine import refine
from epignn.errors import EpignnError, TooLarge
from epignn.formats.star_csv import read_csv
from epignn.learn.checkpoint import Trained, load_model
from epignn.learn.config import Experiment
from epignn.learn.evaluate import scores
from epignn.learn.fit import Epoch
from epignn.learn.protocols import NEGATIVES_SEED, examine, measure, stored_negatives
from epignn.learn.run import objective_of, train
from epignn.learn.scorers import scorer_of
from epignn.models.api import Model
from epignn.models.baselines import BASELINES
from epignn.report.links import BY_TRIPLE
from epignn.report.plan import Plan, Row, rows_of
from epignn.report.record import circumstances, forget_peak, peak_mb
from epignn.report.suites import Suite
from epignn.tasks.api import TEST_SEED, GraphTask, LinkTask
from epignn.workers import Here, Results, Workers, run

Say = Callable[[str], None]
Record = dict[str, Any]
LIMIT = 1800
"""Processor seconds that a model may take for the answers of a test cell: the paper's half an hour."""


class Refused(EpignnError):
    """A model did not answer a test cell."""


def reproduce(
    name: str,
    suite: Suite,
    seeds: Sequence[int],
    results: Path,
    runs: Path,
    quick: bool,
    say: Say,
    device: str = "cpu",
    code: Sequence[Path] = (),
) -> list[Record]:
    """All runs of a suite; a record that is there already, from the same settings, is taken as it is.

    Args:
        name: of the suite; records go to `results/name`.
        suite: what to run.
        seeds: a run for each.
        results: where records are kept.
        runs: where models are kept while they train, so that a killed run resumes.
        quick: a smoke test: small data, few epochs, and records apart from the real ones.
        say: called with what goes on.
        device: where models are trained.
        code: files that rows name models of.

    Raises:
        JobsFailed: some runs failed; the others were run.
    """
    plan = Plan(rows_of(name, suite, seeds, results, runs, quick, device, code))
    follow(plan, Here(), say).check("runs")
    return [record for row in plan.rows if (record := row.record()) is not None]


def follow(
    plan: Plan, workers: Workers, say: Say, report: Callable[[int, int], None] | None = None
) -> Results[int]:
    """Run what a plan has to run; what fails is told by the result, after all else is done."""
    for row in plan.rows:
        if row.key in plan.known and not row.variant.baselines:
            say(f"{row.name}: recorded already")
    return run(workers, run_rows, plan.jobs, report, tell=say)


def run_rows(rows: tuple[Row, ...], tell: Say) -> int:
    """Train and test the model of some rows, and write a record for each: a job for workers."""
    for row in rows:
        if row.variant.baselines:
            row.keep(_baselines(row, tell))
            continue
        if row.record() is None:
            row.keep(_run(row, tell))
        record = row.record()
        if record is None or not row.unfinished(record):
            continue
        trained = load_model(str(row.model), code=row.code)
        trained.model.config = replace(trained.model.config, **dict(row.variant.tested))
        if row.to_distil(record):
            tell(f"{row.name}: distilling")
            record = _with_distilled(record, trained, row.per_label)
        if row.to_compare(record):
            tell(f"{row.name}: testing on published files")
            record = _with_published(record, trained)
        row.keep(record)
    return len(rows)


def _run(row: Row, say: Say) -> Record:
    """Train and test one model."""
    variant, about, experiment = row.variant, row.name, row.experiment()
    say(f"{about}: preparing")
    forget_peak()

    def report(epoch: Epoch) -> None:
        say(
            f"{about}: epoch {epoch.number}/{epoch.epochs}, loss {epoch.loss:.4f}, validation "
            f"{epoch.validation or 0:.4f}, {epoch.seconds_left:.0f} s left"
        )

    objective = objective_of(experiment, row.seed, row.device, row.code)
    found = train(
        experiment, objective, seed=row.seed, out=row.run, device=row.device, code=row.code, report=report
    )
    history = found.history
    if variant.refined:
        say(f"{about}: distilling")
        taught = variant.refined == "taught"
        found = refine(found.trained, row.model, taught=taught, device=row.device, report=report)
        history = [*history, *found.history]
    model = found.trained.model
    model.config = replace(model.config, **dict(variant.tested))
    spent = [epoch["cpu_seconds"] for epoch in history if "cpu_seconds" in epoch]
    return {
        "variant": variant.name,
        "experiment": experiment.to_dict(),
        "seed": row.seed,
        **({"negatives_seed": NEGATIVES_SEED} if found.trained.config.ranks else {"test_seed": TEST_SEED}),
        "parameters": sum(p.numel() for p in model.parameters()),
        "epochs": len(history),
        "training_seconds": round(sum(epoch["seconds"] for epoch in history), 2),
        **({"training_cpu_seconds": round(sum(spent), 2)} if len(spent) == len(history) else {}),
        "peak_mb": peak_mb(),
        "device": str(model.device),
        "validation": found.best["validation"] if found.history else None,
        **({"refined": variant.refined} if variant.refined else {}),
        "calibration": None if found.calibration is None else found.calibration.to_dict(),
        "cells": measure_cells(found.trained, row.cells, row.per_label, lambda text: say(f"{about}: {text}")),
        **circumstances(),
    }


def measure_cells(trained: Trained, cells: Sequence[tuple[int, int]], per_label: int, say: Say) -> list[Record]:
    """What a model reaches on the test sets of its task."""
    task = trained.experiment.data
    if isinstance(task, LinkTask):
        say("testing")
        side = task.links(trained.seed).test
        outcome = examine(scorer_of(trained.model, trained.relations, side.graph), side)
        by_triple = [round(value, 5) for value in outcome.by_triple().tolist()]
        return [{"k": 0, "b": 0, **outcome.metrics(), BY_TRIPLE: by_triple}]
    assert isinstance(task, GraphTask)
    found = []
    for k, b in cells:
        say(f"testing k={k} b={b}")
        test = task.cell(k, b, per_label, trained.relations)
        found.append({**measure_graphs(trained.model, test, trained.experiment), "k": k, "b": b})
    return found


def measure_graphs(model: Model, data: Dataset, experiment: Experiment) -> Record:
    """Accuracy of a model on test problems, what it took, and accuracy of exact closure where one is known.

    A model that needs more than `LIMIT` for a cell, or cannot take its graphs, gets nothing right, and the record
    says so. Of kinship, rows for which the rules that made the labels derive several terms are counted apart, too.
    """
    began, refused = time.process_time(), ""

    def within(done: int, of: int) -> None:
        if done < of and time.process_time() - began > LIMIT:
            raise Refused(f"{done} of {of} answers took {LIMIT} s")

    try:
        graphs = type(model).prepare(data, model.config)
        right = scores(model, graphs, batch_size=64, report=within).argmax(1) == data.label
    except (Refused, TooLarge) as error:
        right, refused = np.zeros(len(data), dtype=bool), str(error)
    found = figures(data, int(right.sum())) | {"answer_cpu_seconds": round(time.process_time() - began, 3)}
    if refused:
        found["refused"] = refused
    if experiment.calculus:
        exact = answers(data, load(experiment.calculus)) == np.uint64(1) << data.label.astype(np.uint64)
        found["closure"] = float(exact.mean())
    if set(data.relations) <= set(TERMS):
        several = ambiguous_by_rules(data)
        found["ambiguous"] = {"n": int(several.sum()), "right": int(right[several].sum())}
        found["entailed"] = float(entailed_kinship(data).mean())
    return found


def entailed_kinship(data: Dataset) -> NDArray[np.bool_]:
    """Which labels follow in every family, by the calculus of kinship; the labels' own rules assume more."""
    kinship = load("kinship")
    means = np.array([kinship.parse(name) for name in data.relations], dtype=np.uint64)
    possible = close_many(networks(data, kinship, means), "auto")
    follows: NDArray[np.bool_] = (possible & ~means[data.label]) == 0
    return follows


def _with_distilled(record: Record, trained: Trained, per_label: int) -> Record:
    """A record that also tells how exact reasoning does with what the model of its run was distilled into."""
    task = trained.experiment.data
    assert isinstance(task, GraphTask)
    learnt = distil(trained.model, trained.relations, trained.experiment, task.examples()[0])
    cells = []
    for cell in record["cells"]:
        test = task.cell(cell["k"], cell["b"], per_label, trained.relations)
        told = {"distilled": accuracy(learnt, test)}
        if cell.get("ambiguous", {}).get("n"):
            told["distilled_clear"] = accuracy(learnt, test.select(~ambiguous_by_rules(test)))
        cells.append({**cell, **told})
    return {**record, "cells": cells}


def _with_published(record: Record, trained: Trained) -> Record:
    """A record that also tells how its model does on the published test files that are at hand."""
    task, model = trained.experiment.data, trained.model
    assert isinstance(task, GraphTask)
    cells = []
    for cell in record["cells"]:
        path = task.published_cell(cell["k"], cell["b"])
        if path is None:
            cells.append(cell)
            continue
        told = measure_graphs(model, read_csv(path, load(trained.experiment.calculus)), trained.experiment)
        cells.append({**cell, "published": {"file": path.name, **told}})
    return {**record, "cells": cells}


def _baselines(row: Row, say: Say) -> Record:
    """What scorers that learn nothing reach on the links of a row."""
    say(row.name)
    task = row.experiment().data
    assert isinstance(task, LinkTask)
    side = task.links(0).test
    negatives = stored_negatives(side)
    told = {name: measure(make(side.graph), side, negatives) for name, make in BASELINES.items()}
    return {"variant": row.variant.name, "figures": told, **circumstances()}
