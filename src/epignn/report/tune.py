"""A search of settings for a model, of the same size for every model: few trials, each on a part of the data.

Trials are judged by validation graphs larger than any they are trained on, and never by test cells. The first trial
is the authors' recipe, so a search can only leave it for something better by that measure.
"""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.entries import allowed
from epignn.errors import BadArgument, lookup
from epignn.files import make_folder, write_text
from epignn.learn.config import load_experiment, model_class
from epignn.learn.fit import Diverged, Epoch
from epignn.learn.objectives.classify import Classify, ClassifyConfig
from epignn.learn.run import train
from epignn.report.models import GROUNDS
from epignn.report.record import circumstances, read_records, write_record
from epignn.report.suites import file_stem
from epignn.tasks.api import GraphTask

Say = Callable[[str], None]
CHOICES: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "training.learning_rate": (0.0003, 0.001, 0.003, 0.01),
        "training.batch_size": (64, 128),
        "model.width": (32, 64, 128),
        "model.dim": (32, 64, 128),
        "model.facets": (2, 4, 8),
        "model.rounds": (3, 6, 12),
        "model.layers": (4, 8, 12),
        "model.inverse": ("false", "true"),
        "model.dropout": (0.0, 0.2),
    }
)
"""What is tried of each setting, where a model has it."""
WHOLE = 'training.schedule="one_cycle"'
"""Trials follow one schedule, which suits any number of steps."""
VALIDATION = 600
"""So many larger graphs judge a trial."""


def space(config: type) -> dict[str, tuple[Any, ...]]:
    """What is tried for a kind of model, by its settings."""
    own = {field.name: field.type for field in fields(config)}
    return {
        key: values
        for key, values in CHOICES.items()
        if key.startswith("training.") or own.get(key.removeprefix("model.")) in (int, float, bool)
    }


def tune(
    table: str,
    kind: str,
    *,
    trials: int,
    share: float,
    epochs: int,
    seed: int,
    out: Path,
    say: Say,
    code: Sequence[Path] = (),
) -> dict[str, Any]:
    """Search settings of a model on the ground of a table; the record of the search, trial by trial.

    Trials that were recorded with the same settings are not run again.

    Args:
        table: whose data are trained on.
        kind: of model.
        trials: how many settings are tried.
        share: of the training graphs that a trial sees.
        epochs: of a trial.
        seed: of settings and of runs.
        out: the folder of the record `KIND.json`, and of the best settings, `KIND.toml`.
        say: called with what goes on.
        code: files that the model is a class of.

    Raises:
        BadArgument: the model has nothing to search for.
    """
    ground = lookup("table of models", table, GROUNDS)
    base = next(iter(ground.bases.values())).partition(" ")[0]
    name = file_stem(kind.rpartition(":")[2])
    chosen = () if kind == "epignn" else (f"model.kind={json.dumps(kind)}",)
    common = (*ground.settings, *chosen, 'data.holdout="larger"', f"training.epochs={epochs}")
    config = model_class(load_experiment(base, chosen, code).model, allowed(code)).Config
    choices, rng = space(config), np.random.default_rng([seed, 0x7E5])
    path = out / f"{name}.json"
    before = read_records(out, path.name) if path.exists() else []
    alike = [one for one in before if (one["table"], one["seed"], one["share"]) == (table, seed, share)]
    known = [trial for one in alike for trial in one["trials"]]
    done: list[dict[str, Any]] = []
    for number in range(trials):
        drawn = {key: values[rng.integers(len(values))] for key, values in choices.items()}
        settings = [f"{key}={value}" for key, value in drawn.items()] + [WHOLE] if number else []
        same = [trial for trial in known if trial["settings"] == settings and trial["epochs"] == epochs]
        about = f"{kind}, trial {number + 1} of {trials}"
        done.append(
            same[0]
            if same
            else _trial(base, (*common, *settings), settings, share, seed, code, _epochs(about, say))
        )
        say(f"{about}: {done[-1]['validation']:.4f}, {done[-1]['cpu_seconds']:.0f} s")
        best = max(done, key=lambda trial: trial["validation"])
        record = {"table": table, "model": kind, "seed": seed, "share": share, "trials": done, "best": best}
        write_record(path, {**record, **circumstances()})
    make_folder(out)
    write_text(out / f"{name}.toml", _toml(kind, best, trials))
    return record


def _epochs(about: str, say: Say) -> Callable[[Epoch], None]:
    """Tells of every epoch of a trial."""
    return lambda epoch: say(f"{about}: epoch {epoch.number}/{epoch.epochs}, {epoch.seconds_left:.0f} s left")


def _trial(
    base: str,
    overrides: Sequence[str],
    settings: list[str],
    share: float,
    seed: int,
    code: Sequence[Path],
    report: Callable[[Epoch], None],
) -> dict[str, Any]:
    """Train on a part of the graphs, and tell what larger ones say of it; a run that diverges is worth nothing."""
    experiment = load_experiment(base, overrides, code)
    task, kind = experiment.data, model_class(experiment.model, allowed(code))
    if not isinstance(task, GraphTask) or not isinstance(experiment.objective, ClassifyConfig):
        raise BadArgument(f"{experiment.name} is not about labelled graphs.")
    rng, began = np.random.default_rng([seed, 0x5A]), time.process_time()
    learnt, larger = task.split(seed)
    some, judges = (
        part.select(rng.permutation(len(part))[:most])
        for part, most in ((learnt, int(share * len(learnt))), (larger, VALIDATION))
    )
    objective = Classify(experiment.objective, some, judges, lambda part: kind.prepare(part, experiment.model))
    trial = {"settings": settings, "epochs": experiment.training.epochs, "graphs": len(some)}
    try:
        history = train(experiment, objective, seed=seed, code=code, report=report).history
    except Diverged as error:
        return {**trial, "validation": 0.0, "cpu_seconds": time.process_time() - began, "diverged": str(error)}
    reached = max(epoch["validation"] or 0.0 for epoch in history)
    return {**trial, "validation": reached, "cpu_seconds": round(time.process_time() - began, 1)}


def _toml(kind: str, best: Mapping[str, Any], trials: int) -> str:
    """The best settings as an experiment file without data."""
    sections: dict[str, list[str]] = {}
    for text in best["settings"]:
        section, _, entry = text.partition(".")
        key, _, value = entry.partition("=")
        sections.setdefault(section, []).append(f"{key} = {value}")
    about = (
        f"# {kind}: the best of {trials} trials by graphs larger than those trained on, {best['validation']:.3f}."
    )
    told = [line for name, lines in sections.items() for line in ("", f"[{name}]", *lines)]
    return "\n".join([about, *(told or ["# The authors' recipe was the best."])]) + "\n"
