"""Distil trained models and test what was read off them, against the true table and on problems up to k = 100.

    python benchmarks/distil.py runs/rcc8_seed0 runs/ia_seed1 …

Writes a record a model to `results/distil`; the variable EPIGNN_BENCH_OUT names another folder than
results/. The true table is used to compare with the result alone. With EPIGNN_DATA set, the published files of a
calculus, or of kinship, are tested as well.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.distil.calculus import distil_calculus
from epignn.distil.evaluate import compared, exact_figures, rule_figures
from epignn.distil.induce import distil_rules
from epignn.distil.reading import read_weights
from epignn.formats.readers import read_graphs
from epignn.formats.star_csv import read_csv
from epignn.learn.checkpoint import Trained, load_model
from epignn.report.record import circumstances, put_record
from epignn.report.suites import EXPANDED, MAIN
from epignn.tasks.published import Published
from epignn.tasks.registry import PUBLISHED_NAMES
from epignn.tasks.star import generated

from record import RESULTS

CELLS = (*((*cell, 20) for cell in MAIN), *((*cell, 5) for cell in EXPANDED), (100, 1, 10), (100, 3, 2))
"""k, b and problems of each label."""
SEED = 2026
OUT = Path(os.environ.get("EPIGNN_BENCH_OUT", RESULTS)) / "distil"


def calculus_record(trained: Trained, data: Dataset) -> dict[str, Any]:
    true = load(trained.experiment.calculus)
    reading = read_weights(trained.model, trained.relations)
    start = time.perf_counter()
    found = distil_calculus(reading, data)
    seconds = time.perf_counter() - start
    alone = distil_calculus(reading, None)
    cells = [exact_figures(found.calculus, generated(true, k, b, n, SEED)) for k, b, n in CELLS]
    published = []
    if folder := os.environ.get("EPIGNN_DATA"):
        name = PUBLISHED_NAMES.get(true.name, true.name)
        for path in sorted((Path(folder) / "rcc8_ia").glob(f"test_{name}_*.csv.gz")):
            published.append({"file": path.name, **exact_figures(found.calculus, read_csv(path, found.calculus))})
    return {
        "seconds": round(seconds, 2),
        "recovery": compared(found.calculus, true),
        "recovery_by_weights": compared(alone.calculus, true),
        "certificate": found.certificate.to_dict(),
        "cells": cells,
        "published": published,
    }


def rules_record(trained: Trained, data: Dataset, tests: list[Path]) -> dict[str, Any]:
    start = time.perf_counter()
    found = distil_rules(trained.model, trained.relations, data, trained.experiment.objective.temperature)
    seconds = time.perf_counter() - start
    alone = distil_rules(trained.model, trained.relations, None, trained.experiment.objective.temperature)
    files = []
    for path in tests:
        test = read_graphs(path, trained.relations)
        files.append(
            {
                "file": path.name,
                **rule_figures(found.rules, test),
                "by_weights": rule_figures(alone.rules, test),
            }
        )
    return {
        "seconds": round(seconds, 2),
        "rules": len(found.rules.rules),
        "shown": sum(rule.support > 0 for rule in found.rules.rules),
        "invented": found.rules.relations[found.rules.named :],
        "files": files,
    }


def tests_beside(trained: Trained) -> list[Path]:
    """The test files of a published data set, or those in the folder of the training files."""
    task = trained.experiment.data
    if isinstance(task, Published):
        return task.files("test")
    folder = Path(task.files[0]).parent
    return sorted([*folder.glob("*test*.csv.gz"), *folder.glob("test.jsonl.gz")])


def main() -> None:
    torch.set_num_threads(1)
    for name in sys.argv[1:]:
        trained = load_model(name)
        data, _ = trained.experiment.data.examples()
        if trained.experiment.calculus:
            figures = calculus_record(trained, data)
            print(f"  {name}: {figures['recovery']}, by weights {figures['recovery_by_weights']}")
        else:
            figures = rules_record(trained, data, tests_beside(trained))
            shown = ", ".join(f"{f['file'].split('_')[0]} {f['unambiguous']:.3f}" for f in figures["files"])
            print(f"  {name}: {figures['rules']} rules; unambiguous rows right: {shown}")
        experiment = trained.experiment.to_dict()
        experiment["data"]["files"] = [Path(file).name for file in experiment["data"]["files"]]
        record = {"experiment": experiment, "seed": trained.seed, **figures, **circumstances()}
        put_record(OUT, Path(name).name, {"model": Path(name).name, **record})


main()
