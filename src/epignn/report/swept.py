"""What a search of settings found: a table, two pictures, and the best trial as an experiment file."""

import json
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from epignn.extras import optional
from epignn.files import write_text
from epignn.learn.config import Experiment, experiment_for
from epignn.report import pictures
from epignn.report.sweep import Result, Search

BEST, TRIALS = "best.toml", "trials.json"
SHOWN = 10
"""Trials that a table for people has."""
PATHS, IMPORTANCE = "parallel.png", "importance.png"


def table(search: Search, most: int = SHOWN) -> tuple[list[str], list[list[str]]]:
    """Columns and rows: the best trials first, and the recipe."""
    keys = [*search.space.tried]
    ranked = sorted(search.trials, key=lambda trial: (-trial["validation"], trial["number"]))[:most]
    columns = ["trial", "validation", "epochs", *keys]
    return columns, [_row(trial, keys) for trial in (*ranked, search.recipe)]


def _row(trial: Result, keys: Sequence[str]) -> list[str]:
    values = dict(text.split("=", 1) for text in trial["settings"])
    ran = f"{len(trial['curve'])}" + ("" if trial["ended"] == "complete" else f", {trial['ended']}")
    name = "the recipe" if trial["number"] < 0 else str(trial["number"] + 1)
    return [name, f"{trial['validation']:.4f}", ran, *(_short(values.get(key, "–")) for key in keys)]


def _short(text: str) -> str:
    """A value with few digits."""
    try:
        return text if text.lstrip("-").isdigit() else f"{float(text):.4g}"
    except ValueError:
        return text


def write(search: Search, out: Path, code: Sequence[Path] = ()) -> list[Path]:
    """Write all trials, the best as an experiment file, and pictures; returns the files."""
    write_text(out / TRIALS, json.dumps([search.recipe, *search.trials], indent=1) + "\n")
    space, best = search.space, search.best
    experiment = experiment_for(space.experiment, (*space.settings, *best["settings"]), code=code)
    which = "the recipe" if best["number"] < 0 else f"trial {best['number'] + 1}"
    about = f"The best of {len(search.trials)} trials and the recipe: {which}, validation {best['validation']:.4f}."
    write_text(out / BEST, experiment_toml(experiment, about))
    files = [out / BEST, out / TRIALS]
    if len(search.trials) > 1 and search.space.tried:
        title = f"{space.experiment}: {len(search.trials)} trials"
        trials = sorted(search.trials, key=lambda trial: trial["validation"])  # the best is drawn last
        places = {key: _places(search, key, trials) for key in search.space.tried}
        lines = pictures.parallel(places, [trial["validation"] for trial in trials], "validation", title)
        files.append(pictures.save(lines, out / PATHS, also=(".svg",)))
        if weights := importance(search):
            drawn = pictures.bars(weights, "share of the variance of validation", title)
            files.append(pictures.save(drawn, out / IMPORTANCE, also=(".svg",)))
    return files


def experiment_toml(experiment: Experiment, about: str) -> str:
    """An experiment as a TOML file, every setting written out."""
    sections = {name: values for name, values in experiment.to_dict().items() if isinstance(values, dict)}
    lines = [f"# {about}", f"name = {json.dumps(experiment.name)}"]
    for name, values in sections.items():
        lines += ["", f"[{name}]"]
        lines += [f"{key} = {json.dumps(value)}" for key, value in values.items() if value is not None]
    return "\n".join(lines) + "\n"


def importance(search: Search) -> dict[str, float]:
    """How much of the variance of validation each setting explains, by PED-ANOVA; empty where all are equal."""
    optuna = optional("optuna", "a search of settings")
    if len({trial["validation"] for trial in search.trials if trial["ended"] != "pruned"}) < 2:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is called experimental, and tells of settings with one value
        found: Mapping[str, float] = optuna.importance.get_param_importances(
            search.study, evaluator=optuna.importance.PedAnovaImportanceEvaluator()
        )
    return {key: value for key, value in found.items() if np.isfinite(value)}


def _places(search: Search, key: str, trials: Sequence[Result]) -> pictures.Axis:
    """The height of each trial on the axis of a setting, from 0 to 1, and what is written beside the axis."""
    values = [dict(text.split("=", 1) for text in trial["settings"])[key] for trial in trials]
    tried = search.space.tried[key]
    if isinstance(tried, tuple):
        steps = max(len(tried) - 1, 1)
        return [tried.index(v) / steps for v in values], [(n / steps, _short(v)) for n, v in enumerate(tried)]
    scale: Any = np.log if tried.log else float
    low, high = scale(tried.low), scale(tried.high)
    heights = [float((scale(float(value)) - low) / (high - low)) for value in values]
    return heights, [(0.0, _short(str(tried.low))), (1.0, _short(str(tried.high)))]
