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
from epignn.entries import allowed
from epignn.errors import EpignnError, TooLarge
from epignn.learn.checkpoint import WEIGHTS, Trained, load_model
from epignn.learn.config import Experiment, load_experiment, model_class, recorded
from epignn.learn.evaluate import scores
from epignn.learn.fit import Epoch
from epignn.learn.protocols import NEGATIVES_SEED, measure, stored_negatives
from epignn.learn.run import objective_of, train
from epignn.models.api import Model
from epignn.models.baselines import BASELINES
from epignn.report.record import circumstances, forget_peak, peak_mb, read_records, write_record
from epignn.report.suites import Suite, Variant, file_stem
from epignn.tasks.api import TEST_SEED, GraphTask, LinkTask

Say = Callable[[str], None]
Record = dict[str, Any]
QUICK_LINKS = ("training.epochs=1", "objective.validation_triples=50")
QUICK = {"classify": ("training.epochs=2",), "rank": QUICK_LINKS, "rank-facts": QUICK_LINKS}
"""What a smoke test changes, by objective."""
QUICK_SIZE = ("model.dim=16", "model.facets=4")
"""And of EpiGNN for links."""
QUICK_PROBLEMS = "data.per_label=20"
"""And of tasks that are generated."""
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
    """
    records = []
    folder = results / (f"{name}-quick" if quick else name)
    per_label = 5 if quick else suite.per_label
    for variant in suite.variants:
        if variant.baselines:
            records.append(_baselines(variant, folder, say))
            continue
        experiment = _experiment(variant, quick, code)
        for seed in seeds:
            path = folder / f"{file_stem(variant.name)}_seed{seed}.json"
            run = runs / f"{file_stem(variant.run)}_seed{seed}{'-quick' if quick else ''}"
            record = next((record for record in _read(path) if _same(record, experiment, code)), None)
            if record is None:
                write_record(path, _run(variant, experiment, seed, suite.cells, per_label, run, say, device, code))
                record = _read(path)[0]
            else:
                say(f"{variant.name}, seed {seed}: recorded already")
            distils = suite.distil and experiment.model.kind == "epignn"
            if distils and "distilled" not in record["cells"][0] and (run / WEIGHTS).exists():
                say(f"{variant.name}, seed {seed}: distilling")
                write_record(path, _with_distilled(record, load_model(str(run), code=code), per_label))
                record = _read(path)[0]
            records.append(record)
    return records


def _experiment(variant: Variant, quick: bool, code: Sequence[Path] = ()) -> Experiment:
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


def _read(path: Path) -> list[Record]:
    return read_records(path.parent, path.name) if path.exists() else []


def _same(record: Record, experiment: Experiment, code: Sequence[Path]) -> bool:
    """Whether a record tells of this experiment; settings that it does not name are as by default."""
    return recorded(record["experiment"], "the record", allowed(code)) == experiment


def _run(
    variant: Variant,
    experiment: Experiment,
    seed: int,
    cells: Sequence[tuple[int, int]],
    per_label: int,
    run: Path,
    say: Say,
    device: str,
    code: Sequence[Path],
) -> Record:
    """Train and test one model."""
    about = f"{variant.name}, seed {seed}"
    say(f"{about}: preparing")
    forget_peak()

    def report(epoch: Epoch) -> None:
        say(
            f"{about}: epoch {epoch.number}/{epoch.epochs}, loss {epoch.loss:.4f}, validation "
            f"{epoch.validation or 0:.4f}, {epoch.seconds_left:.0f} s left"
        )

    objective = objective_of(experiment, seed, device, code)
    found = train(experiment, objective, seed=seed, out=run, device=device, code=code, report=report)
    model, history = found.trained.model, found.history
    if variant.test_rounds:
        model.config = replace(model.config, rounds=variant.test_rounds)
    spent = [epoch["cpu_seconds"] for epoch in history if "cpu_seconds" in epoch]
    return {
        "variant": variant.name,
        "experiment": experiment.to_dict(),
        "seed": seed,
        **({"negatives_seed": NEGATIVES_SEED} if found.trained.config.ranks else {"test_seed": TEST_SEED}),
        "parameters": sum(p.numel() for p in model.parameters()),
        "epochs": len(history),
        "training_seconds": round(sum(epoch["seconds"] for epoch in history), 2),
        **({"training_cpu_seconds": round(sum(spent), 2)} if len(spent) == len(history) else {}),
        "peak_mb": peak_mb(),
        "device": str(model.device),
        "validation": found.best["validation"],
        "calibration": None if found.calibration is None else found.calibration.to_dict(),
        "cells": measure_cells(found.trained, cells, per_label, lambda text: say(f"{about}: {text}")),
        **circumstances(),
    }


def measure_cells(trained: Trained, cells: Sequence[tuple[int, int]], per_label: int, say: Say) -> list[Record]:
    """What a model reaches on the test sets of its task."""
    task = trained.experiment.data
    if isinstance(task, LinkTask):
        say("testing")
        side = task.links(trained.seed).test
        return [{"k": 0, "b": 0, **measure(trained.model.scorer(side.graph), side)}]
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
    learnt = distil(trained.model, trained.relations, trained.experiment, task.evidence(trained.seed))
    cells = []
    for cell in record["cells"]:
        test = task.cell(cell["k"], cell["b"], per_label, trained.relations)
        told = {"distilled": accuracy(learnt, test)}
        if cell.get("ambiguous", {}).get("n"):
            told["distilled_clear"] = accuracy(learnt, test.select(~ambiguous_by_rules(test)))
        cells.append({**cell, **told})
    return {**record, "cells": cells}


def _baselines(variant: Variant, folder: Path, say: Say) -> Record:
    """What scorers that learn nothing reach on the links of a row."""
    path = folder / f"{file_stem(variant.name)}.json"
    if known := _read(path):
        return known[0]
    say(variant.name)
    task = load_experiment(variant.experiment).data
    assert isinstance(task, LinkTask)
    side = task.links(0).test
    negatives = stored_negatives(side)
    told = {name: measure(make(side.graph), side, negatives) for name, make in BASELINES.items()}
    record = {"variant": variant.name, "figures": told, **circumstances()}
    write_record(path, record)
    return record
