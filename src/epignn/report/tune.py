"""A search of settings for a model, of the same size for every model: few trials, each on a part of the data.

Trials are judged by validation graphs larger than any they are trained on, and never by test cells. The first trial
is the authors' recipe, so a search can only leave it for something better by that measure.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.entries import allowed
from epignn.errors import lookup
from epignn.files import write_text
from epignn.learn.config import load_experiment, model_class
from epignn.report.models import GROUNDS
from epignn.report.record import circumstances, put_record
from epignn.report.space import Space
from epignn.report.suites import file_stem
from epignn.report.sweep import sweep
from epignn.workers import Workers

Say = Callable[[str], None]
CHOICES: Mapping[str, tuple[Any, ...]] = MappingProxyType(
    {
        "training.learning_rate": (0.0003, 0.001, 0.003, 0.01),
        "training.batch_size": (64, 128),
        "training.schedule": ("one_cycle",),  # which suits any number of steps
        "model.width": (32, 64, 128),
        "model.dim": (32, 64, 128),
        "model.facets": (2, 4, 8),
        "model.rounds": (3, 6, 12),
        "model.layers": (4, 8, 12),
        "model.inverse": (False, True),
        "model.dropout": (0.0, 0.2),
    }
)
"""What is tried of each setting, where a model has it."""
VALIDATION = 600
"""So many larger graphs judge a trial."""


def choices(config: type) -> dict[str, tuple[str, ...]]:
    """What is tried for a kind of model, by its settings, as `--set` takes it."""
    own = {field.name: field.type for field in fields(config)}
    return {
        key: tuple(json.dumps(value) for value in values)
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
    workers: Workers | None = None,
) -> dict[str, Any]:
    """Search settings of a model on the ground of a table; the record of the search, trial by trial.

    A search that was interrupted goes on.

    Args:
        table: whose data are trained on.
        kind: of model.
        trials: how many settings are tried, the recipe among them.
        share: of the training graphs that a trial sees.
        epochs: of a trial.
        seed: of settings and of runs.
        out: the folder of the record, and of the best settings, `KIND.toml`.
        say: called with what goes on.
        code: files that the model is a class of.
        workers: who trains.

    Raises:
        BadArgument: the model has nothing to search for.
    """
    ground = lookup("table of models", table, GROUNDS)
    base = next(iter(ground.bases.values())).partition(" ")[0]
    name = file_stem(kind.rpartition(":")[2])
    chosen = () if kind == "epignn" else (f"model.kind={json.dumps(kind)}",)
    fixed = (*ground.settings, *chosen, 'data.holdout="larger"', f"training.epochs={epochs}")
    config = model_class(load_experiment(base, chosen, code).model, allowed(code)).Config
    space = Space(base, fixed, share, VALIDATION, choices(config))
    search = sweep(
        space,
        trials=trials - 1,
        seed=seed,
        out=out / f"{name}.search" / f"share_{share:g}_epochs_{epochs}_seed_{seed}",
        workers=workers,
        say=lambda text: say(f"{kind}, {text}"),
        code=code,
    )
    done = [_told(trial) for trial in (search.recipe, *search.trials)]
    best = _told(search.best)
    record = {"table": table, "model": kind, "seed": seed, "share": share, "trials": done, "best": best}
    put_record(out, name, {**record, **circumstances()})
    write_text(out / f"{name}.toml", _toml(kind, best, trials))
    return record


def _told(trial: Mapping[str, Any]) -> dict[str, Any]:
    """What a record tells of a trial."""
    return {key: value for key, value in trial.items() if key not in ("number", "curve")}


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
