"""Run the experiments of a suite and write one record a run; finished runs are not run again."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.data.families import TERMS
from epignn.data.kin_rules import ambiguous_by_rules
from epignn.data.prove import answers
from epignn.distil.learnt import accuracy, distil
from epignn.formats.readers import read_graphs
from epignn.learn.checkpoint import WEIGHTS, load_model
from epignn.learn.collate import prepare_for
from epignn.learn.config import DataConfig, Experiment, from_dict, load_experiment, to_dict
from epignn.learn.evaluate import scores
from epignn.learn.fit import Epoch, fit, read_history
from epignn.learn.sources import (
    FAMILIES,
    WORLD,
    evidence,
    families,
    files_by_hops,
    generated,
    split,
    training_data,
    world,
)
from epignn.models.epignn import EpiGNN
from epignn.report.figures import figures
from epignn.report.record import circumstances, read_records, write_record
from epignn.report.suites import TEST_SEED, Suite, Variant, file_stem

Say = Callable[[str], None]
QUICK = ("training.epochs=2", "data.per_label=20")


def reproduce(
    name: str, suite: Suite, seeds: Sequence[int], results: Path, runs: Path, quick: bool, say: Say
) -> list[dict[str, Any]]:
    """All runs of a suite; a record that is there already, from the same settings, is taken as it is.

    Args:
        name: of the suite; records go to `results/name`.
        suite: what to run.
        seeds: a run for each.
        results: where records are kept.
        runs: where models are kept while they train, so that a killed run resumes.
        quick: a smoke test: small data, few epochs, and records apart from the real ones.
        say: called with what goes on.
    """
    records = []
    folder = results / (f"{name}-quick" if quick else name)
    for variant in suite.variants:
        experiment = load_experiment(variant.experiment, (*variant.settings, *(QUICK if quick else ())))
        for seed in seeds:
            path = folder / f"{file_stem(variant.name)}_seed{seed}.json"
            run = runs / f"{file_stem(variant.run)}_seed{seed}{'-quick' if quick else ''}"
            record = next((record for record in _read(path) if _same(record, experiment)), None)
            if record is None:
                record = _run(variant, experiment, seed, suite, run, quick, say)
                write_record(path, record)
            else:
                say(f"{variant.name}, seed {seed}: recorded already")
            if suite.distil and "distilled" not in record["cells"][0] and (run / WEIGHTS).exists():
                say(f"{variant.name}, seed {seed}: distilling")
                write_record(path, _with_distilled(record, experiment, run, 5 if quick else suite.per_label))
                record = _read(path)[0]
            records.append(record)
    return records


def _read(path: Path) -> list[dict[str, Any]]:
    return read_records(path.parent, path.name) if path.exists() else []


def _same(record: dict[str, Any], experiment: Experiment) -> bool:
    """Whether a record tells of this experiment; settings that it does not name are as by default."""
    return from_dict(Experiment, record["experiment"], "the record") == experiment


def _plain(experiment: Experiment) -> dict[str, Any]:
    """As JSON gives it back: lists, not tuples."""
    plain: dict[str, Any] = json.loads(json.dumps(to_dict(experiment)))
    return plain


def _run(
    variant: Variant, experiment: Experiment, seed: int, suite: Suite, run: Path, quick: bool, say: Say
) -> dict[str, Any]:
    """Train and test one model."""
    say(f"{variant.name}, seed {seed}: preparing")
    data = training_data(experiment.data)
    train, validation = split(data, experiment.data, experiment.model, seed)

    def report(epoch: Epoch) -> None:
        say(
            f"{variant.name}, seed {seed}: epoch {epoch.number}/{epoch.epochs}, loss {epoch.loss:.4f}, "
            f"validation {epoch.validation:.4f}, {epoch.seconds_left:.0f} s left"
        )

    model = fit(experiment, train, validation, seed, run, report)
    history = read_history(run)
    if variant.test_rounds:
        model.config = replace(model.config, rounds=variant.test_rounds)
    cells = []
    for k, b in suite.cells:
        say(f"{variant.name}, seed {seed}: testing k={k} b={b}")
        test = cell_problems(experiment.data, train.relations, k, b, 5 if quick else suite.per_label)
        cells.append({**measure(model, test, experiment.data), "k": k, "b": b})
    return {
        "variant": variant.name,
        "experiment": _plain(experiment),
        "seed": seed,
        "test_seed": TEST_SEED,
        "parameters": sum(p.numel() for p in model.parameters()),
        "training_seconds": round(sum(epoch["seconds"] for epoch in history), 2),
        **_cpu_seconds(history),
        "validation": max(epoch["validation"] for epoch in history),
        "cells": cells,
        **circumstances(),
    }


def _cpu_seconds(history: list[dict[str, float]]) -> dict[str, float]:
    """Processor seconds of training, where the run tells them of every epoch."""
    if not all("cpu_seconds" in epoch for epoch in history):
        return {}
    return {"training_cpu_seconds": round(sum(epoch["cpu_seconds"] for epoch in history), 2)}


def _with_distilled(record: dict[str, Any], experiment: Experiment, run: Path, per_label: int) -> dict[str, Any]:
    """A record that also tells how exact reasoning does with what the model of its run was distilled into."""
    trained = load_model(str(run))
    data = evidence(training_data(experiment.data)[0], experiment.data, trained.seed)
    learnt = distil(trained.model, trained.relations, experiment, data)
    cells = []
    for cell in record["cells"]:
        test = cell_problems(experiment.data, trained.relations, cell["k"], cell["b"], per_label)
        figures = {"distilled": accuracy(learnt, test)}
        if cell.get("ambiguous", {}).get("n"):
            figures["distilled_clear"] = accuracy(learnt, test.select(~ambiguous_by_rules(test)))
        cells.append({**cell, **figures})
    return {**record, "cells": cells}


def cell_problems(config: DataConfig, relations: Sequence[str], k: int, b: int, per_label: int) -> Dataset:
    """The test problems of one cell: of the published file, or generated."""
    if config.source == FAMILIES:
        return families(k, per_label, TEST_SEED)
    if config.source.startswith(WORLD):
        return world(config.source, config.seed)[2]
    if config.source:
        return read_graphs(files_by_hops(config.source)[k], relations)
    return generated(load(config.calculus), k, b, per_label, TEST_SEED)


def measure(model: EpiGNN, data: Dataset, config: DataConfig) -> dict[str, Any]:
    """Accuracy of a model on test problems, and of exact closure where the calculus is known.

    Of kinship, rows for which the rules that made the labels derive several terms are counted apart as well.
    """
    right = scores(model, prepare_for(model.config, data), batch_size=256).argmin(1) == data.label
    found = figures(data, int(right.sum()))
    if config.calculus:
        exact = answers(data, load(config.calculus)) == np.uint64(1) << data.label.astype(np.uint64)
        found["closure"] = float(exact.mean())
    if set(data.relations) <= set(TERMS):
        several = ambiguous_by_rules(data)
        found["ambiguous"] = {"n": int(several.sum()), "right": int(right[several].sum())}
    return found
