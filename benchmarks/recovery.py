"""How much of a calculus is recovered from fewer examples, and from wrong labels: records and a picture.

    python benchmarks/recovery.py                      # all settings, a model each: hours on one core
    python benchmarks/recovery.py rcc8:100:0:0 …       # calculus : graphs a label and cell : wrong share : seed
    python benchmarks/recovery.py --draw               # the picture, from records alone

Models are the `rcc8` recipe with as many training steps as on the full set, and are kept in `runs/recovery`. The
variable EPIGNN_BENCH_OUT names another folder than results/ for the records.
"""

import os
import sys
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from statistics import fmean

import numpy as np
import torch

from epignn.calculus import load
from epignn.distil.calculus import distil_calculus
from epignn.distil.evaluate import compared
from epignn.distil.evidence import corrupt
from epignn.distil.reading import read_weights
from epignn.learn.checkpoint import load_model, read_history
from epignn.learn.config import load_experiment
from epignn.learn.objectives.classify import Classify
from epignn.learn.run import train
from epignn.models.epignn import EpiGNN
from epignn.report.distilled import recovery
from epignn.report.record import circumstances, put_record, read_records

from record import RESULTS

RUNS = RESULTS.parent / "runs" / "recovery"
OUT = Path(os.environ.get("EPIGNN_BENCH_OUT", RESULTS)) / "distil"
FULL = 800
SWEEP = (
    *(f"rcc8:{n}:0:{seed}" for n in (1, 3, 10, 25, 100) for seed in range(3)),
    *(f"rcc8:800:{noise}:{seed}" for noise in (0.05, 0.2, 0.4, 0.6, 0.8) for seed in range(3)),
    *(f"{name}:800:0:{seed}" for name in ("rcc5", "point", "cardinal") for seed in range(3)),
)


def run(setting: str) -> None:
    """Train a model, distil it, and record how its table compares with the true one."""
    name, per_label, noise, seed = setting.split(":")
    preset = load_experiment("rcc8")
    epochs = preset.training.epochs * FULL // int(per_label)
    experiment = replace(
        preset,
        data=replace(preset.data, task=name, per_label=int(per_label)),
        training=replace(preset.training, epochs=epochs),
    )
    clean, _ = experiment.data.examples()
    data = corrupt(clean, float(noise), np.random.default_rng([int(seed), 7]))
    folder = RUNS / setting.replace(":", "_")
    if len(read_history(folder)) < epochs:
        divided = experiment.data.divided((data, None), int(seed))
        objective = Classify(experiment.objective, *divided, lambda part: EpiGNN.prepare(part, experiment.model))
        train(experiment, objective, seed=int(seed), out=folder)
    trained = load_model(str(folder))
    true, reading = load(name), read_weights(trained.model, trained.relations)
    found, alone = distil_calculus(reading, data), distil_calculus(reading, None)
    certificate = found.certificate.to_dict()
    record = {
        "setting": setting,
        "calculus": name,
        "graphs": len(data),
        "noise": float(noise),
        "seed": int(seed),
        "epochs": epochs,
        "validation": max(epoch["validation"] for epoch in read_history(folder)),
        "recovery": compared(found.calculus, true),
        "recovery_by_weights": compared(alone.calculus, true),
        "uncertain_cells": len(certificate.pop("uncertain_cells")),
        "turned": len(certificate.pop("turned")),
        "uncertain": len(certificate.pop("uncertain")),
        "certificate": certificate,
        **circumstances(),
    }
    put_record(OUT, f"recovery_{setting.replace(':', '_')}", record)
    print(f"  {setting}: {record['recovery']}, by weights {record['recovery_by_weights']}", flush=True)


def draw() -> None:
    """Draw all records of RCC-8, those of `benchmarks/distil.py` on the full set among them: means over seeds."""
    records = [r for r in read_records(OUT, "recovery_*") if r["calculus"] == "rcc8"]
    records += [{**r, "graphs": 72 * FULL, "noise": 0.0} for r in read_records(OUT, "rcc8_seed*")]
    panels = {}
    for title, key, chosen in (
        ("training graphs", "graphs", [r for r in records if not r["noise"]]),
        ("share of wrong labels, 57,600 graphs", "noise", [r for r in records if r["graphs"] == 72 * FULL]),
    ):
        by_x = defaultdict(list)
        for r in chosen:
            cells, equal, excluding = (r["recovery"][k] for k in ("cells", "equal", "excluding"))
            by_x[r[key]].append(
                {
                    "equal": equal / cells,
                    "excluding": excluding / cells,
                    "disjunctive": (cells - equal - excluding) / cells,
                    "by_weights": r["recovery_by_weights"]["equal"] / cells,
                }
            )
        panels[title] = [
            {"x": x, **{k: fmean(p[k] for p in points) for k in points[0]}} for x, points in by_x.items()
        ]
    recovery(panels, OUT / "recovery.png")


def main() -> None:
    torch.set_num_threads(1)
    arguments = sys.argv[1:]
    for setting in [a for a in arguments if a != "--draw"] or ([] if arguments else SWEEP):
        run(setting)
    draw()


main()
