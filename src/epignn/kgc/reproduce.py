"""Run the link prediction table: splits, presets and seeds, a record each; finished runs are not run again."""

import dataclasses
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from epignn.data.graph import both_sides
from epignn.errors import BadArgument
from epignn.kgc.baselines import BASELINES
from epignn.kgc.calibrate import calibrate
from epignn.kgc.config import KgcExperiment, load_experiment
from epignn.kgc.evaluate import ModelScorer
from epignn.kgc.measure import NEGATIVES_SEED, measure, stored_negatives
from epignn.kgc.splits import SPLITS, Task, load_task
from epignn.kgc.store import RunConfig, save_config
from epignn.kgc.suite import PRESETS, PUBLISHED, experiment_for, published
from epignn.kgc.train import Epoch, fit, read_history
from epignn.models.epignn import EpiGNN
from epignn.report.record import circumstances, read_records, write_record

Say = Callable[[str], None]
Record = dict[str, Any]
CALIBRATION = 500
"""Validation triples that choose the temperature, at most."""
COSTS = {"parameters": "parameters", "training, CPU s": "training_cpu_seconds"}
"""What a model takes: the heads of columns, and where records have it."""
QUICK = ("training.epochs=1", "training.validation_triples=50", "model.dim=16", "model.facets=4")


def reproduce(
    splits: Sequence[str],
    presets: Sequence[str],
    seeds: Sequence[int],
    results: Path,
    runs: Path,
    quick: bool,
    say: Say,
    data: Path | None = None,
) -> list[Record]:
    """All runs; a record that is there already, from the same settings, is taken as it is.

    Args:
        splits: names such as `wn18rr:v1`.
        presets: `paper`, `best` or both.
        seeds: a run for each.
        results: records go to `results/kgc`.
        runs: where models are kept, so that a killed run resumes.
        quick: a smoke test, whose records are kept apart.
        say: called with what goes on.
        data: where the splits are; by default EPIGNN_DATA.
    """
    folder = results / ("kgc-quick" if quick else "kgc")
    records = []
    for split in splits:
        task = load_task(split, data)
        records.append(_baselines(task, folder / f"{_stem(split)}_baselines.json", say))
        for preset in presets:
            experiment = load_experiment(experiment_for(split, preset), QUICK if quick else ())
            for seed in seeds:
                path = folder / f"{_stem(split)}_{preset}_seed{seed}.json"
                known = _read(path)
                if known is not None and known["experiment"] == _plain(experiment):
                    say(f"{split} {preset}, seed {seed}: recorded already")
                    records.append(known)
                    continue
                run = runs / f"kgc_{path.stem}{'-quick' if quick else ''}"
                record = run_one(task, preset, experiment, seed, run, say)
                write_record(path, record)
                records.append(record)
    return records


def recorded(splits: Sequence[str], presets: Sequence[str], results: Path) -> list[Record]:
    """The records that are there, in the order of the splits."""
    found = read_records(results / "kgc")
    wanted = [r for r in found if r["split"] in splits and r["model"] in (*presets, "baselines")]
    if not wanted:
        raise BadArgument(f"{results / 'kgc'} holds no record of such a run; run it without --report.")
    return sorted(wanted, key=lambda record: splits.index(record["split"]))


def run_one(task: Task, preset: str, experiment: KgcExperiment, seed: int, run: Path, say: Say) -> Record:
    """Train and test one model."""
    name = f"{task.name} {preset}, seed {seed}"

    def report(epoch: Epoch) -> None:
        say(
            f"{name}: epoch {epoch.number}/{epoch.epochs}, loss {epoch.loss:.4f}, validation "
            f"{epoch.validation:.4f}, {epoch.seconds:.0f} s, {epoch.seconds_left:.0f} s left"
        )

    model = fit(experiment, task.train, seed, run, report)
    say(f"{name}: testing")
    calibration = calibration_of(model, task)
    history = read_history(run)
    record = {
        "split": task.name,
        "model": preset,
        "experiment": _plain(experiment),
        "seed": seed,
        "negatives_seed": NEGATIVES_SEED,
        "parameters": sum(p.numel() for p in model.parameters()),
        "epochs": len(history),
        "training_seconds": round(sum(epoch["seconds"] for epoch in history), 2),
        "training_cpu_seconds": round(sum(epoch["cpu_seconds"] for epoch in history), 2),
        "peak_mb": _peak_mb(),
        "validation": max(epoch["validation"] for epoch in history),
        "calibration": calibration,
        "test": measure(ModelScorer(model, task.test.graph), task.test),
        **circumstances(),
    }
    known = {"calibration": calibration, "data": task.name}
    save_config(run, RunConfig(experiment, task.train.graph.relations, seed, known, task.train.digest()))
    return record


def calibration_of(model: EpiGNN, task: Task) -> dict[str, float]:
    """The temperature that the validation triples choose, and what it is worth there."""
    side = task.train
    chosen = np.random.default_rng(0).permutation(len(side.valid))[:CALIBRATION]
    questions = both_sides(side.valid[np.sort(chosen)], len(side.graph.relations))
    return dataclasses.asdict(calibrate(questions, ModelScorer(model, side.graph), side.known()))


def _baselines(task: Task, path: Path, say: Say) -> Record:
    """What scorers that learn nothing reach."""
    known = _read(path)
    if known is not None:
        return known
    say(f"{task.name}: baselines")
    negatives = stored_negatives(task.test)
    graph = task.test.graph
    figures = {name: measure(make(graph), task.test, negatives) for name, make in BASELINES.items()}
    record = {"split": task.name, "model": "baselines", "figures": figures, **circumstances()}
    write_record(path, record)
    return record


def rows(records: Sequence[Record], metric: str = "grail_hits@10") -> tuple[list[str], list[list[str]]]:
    """The table: a row a split, in percent; our runs as mean and two standard deviations over seeds.

    Where presets have different numbers of seeds, all are told. Parameters and processor seconds of training are
    those of the last preset.
    """
    ours = [preset for preset in PRESETS if any(r["model"] == preset for r in records)]
    columns = ["split", *(f"ours, {preset}" for preset in ours), "seeds", *PUBLISHED, *BASELINES, *COSTS]
    table = []
    for split, here in _by_split(records):
        by_preset = {preset: [r for r in here if r["model"] == preset] for preset in ours}
        figures = next(r["figures"] for r in here if r["model"] == "baselines")
        seeds = dict.fromkeys(str(len(runs)) for runs in by_preset.values())
        last = by_preset[ours[-1]] if ours else []
        table.append(
            [
                split,
                *(_spread([100 * r["test"][metric] for r in runs]) for runs in by_preset.values()),
                ", ".join(seeds) or "0",
                *(f"{published(model, split):.1f}" for model in PUBLISHED),
                *(f"{100 * figures[name][metric]:.1f}" for name in BASELINES),
                *(f"{np.mean([r[key] for r in last]):,.0f}" if last else "–" for key in COSTS.values()),
            ]
        )
    return columns, table


def protocols(records: Sequence[Record], preset: str = "best") -> tuple[list[str], list[list[str]]]:
    """Every metric under its own name, in percent: a row a split, the mean over the seeds of a preset."""
    runs = [record for record in records if record["model"] == preset]
    names = list(runs[0]["test"]) if runs else []
    table = [
        [split, *(f"{100 * np.mean([r['test'][name] for r in here]):.1f}" for name in names)]
        for split, here in _by_split(runs)
    ]
    return ["split", *names], table


def _by_split(records: Sequence[Record]) -> list[tuple[str, list[Record]]]:
    """The records of each split, in the order of the paper's table."""
    splits = sorted({record["split"] for record in records}, key=SPLITS.index)
    return [(split, [record for record in records if record["split"] == split]) for split in splits]


def _spread(values: Sequence[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.1f}" if len(values) else "–"
    return f"{np.mean(values):.1f} ± {2 * np.std(values):.1f}"


def _peak_mb() -> int | None:
    """The most memory that this process has had; not every system tells."""
    try:
        import resource
    except ImportError:
        return None
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def _stem(split: str) -> str:
    return split.replace(":", "-")


def _read(path: Path) -> Record | None:
    return read_records(path.parent, path.name)[0] if path.exists() else None


def _plain(experiment: KgcExperiment) -> dict[str, Any]:
    """As JSON gives it back."""
    plain: dict[str, Any] = json.loads(json.dumps(dataclasses.asdict(experiment)))
    return plain
