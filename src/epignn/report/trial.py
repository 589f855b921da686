"""One trial of a search of settings, as a job: a training run, judged by validation data, never by test cells."""

import statistics
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from epignn.entries import allowed
from epignn.errors import BadArgument
from epignn.learn.config import Experiment, experiment_for, model_class
from epignn.learn.fit import Diverged, Epoch
from epignn.learn.objectives.api import Objective
from epignn.learn.objectives.classify import Classify, ClassifyConfig
from epignn.learn.run import objective_of, train
from epignn.learn.track import tracker
from epignn.tasks.api import GraphTask
from epignn.workers.api import Tell

ENOUGH = 5
"""A trial is ended early only where so many others tell what to expect."""


@dataclass(frozen=True)
class Trial:
    """What is trained and how it is judged: plain values.

    Attributes:
        about: what messages call it.
        experiment: what `epignn train` takes.
        settings: as given to `--set`.
        share: of the training graphs that it sees.
        judges: how many validation graphs judge it; 0 is all.
        seed: of the run.
        code: files that models are classes of.
        track: where its curves go, as `tracker` takes it; empty for nowhere.
        others: the validation of other trials, epoch by epoch; one that stays below half of them is ended.
    """

    about: str
    experiment: str
    settings: tuple[str, ...]
    share: float = 1.0
    judges: int = 0
    seed: int = 0
    code: tuple[Path, ...] = ()
    track: str = ""
    others: tuple[tuple[float, ...], ...] = ()


class _Pruned(Exception):
    """A trial is ended early."""


def run_trial(trial: Trial, tell: Tell) -> dict[str, Any]:
    """Train, and tell what validation data say of it; a run that diverges is worth nothing."""
    torch.set_num_threads(1)  # the same bits wherever it runs, and no more threads than workers
    experiment = experiment_for(trial.experiment, trial.settings, code=trial.code)
    began, curve, ended = time.process_time(), [], "complete"
    objective = _objective(trial, experiment)

    def report(epoch: Epoch) -> None:
        curve.append(float(epoch.validation or 0.0))
        follow(epoch)
        tell(f"{trial.about}: epoch {epoch.number}/{epoch.epochs}, {epoch.seconds_left:.0f} s left")
        if epoch.number < epoch.epochs and is_hopeless(curve, trial.others):
            raise _Pruned

    name = trial.about.replace(" ", "_")
    tracked = tracker(trial.track, objective.metric, objective.unit, name) if trial.track else nullcontext(_ignore)
    try:
        with tracked as follow:
            train(experiment, objective, seed=trial.seed, code=trial.code, report=report)
    except Diverged:
        curve, ended = [*curve, 0.0], "diverged"
    except _Pruned:
        ended = "pruned"
    return {
        "epochs": experiment.training.epochs,
        objective.unit: len(objective),
        "curve": curve,
        "validation": 0.0 if ended == "diverged" else max(curve),
        "ended": ended,
        "cpu_seconds": round(time.process_time() - began, 1),
    }


def _ignore(epoch: Epoch) -> None:
    """Where nobody follows."""


def is_hopeless(curve: Sequence[float], others: Sequence[Sequence[float]]) -> bool:
    """Whether the best validation so far is below that of half of the others after as many epochs.

    >>> is_hopeless([0.1, 0.2], [[0.5, 0.6]] * 5), is_hopeless([0.1, 0.7], [[0.5, 0.6]] * 5)
    (True, False)
    """
    reached = [max(other[: len(curve)]) for other in others if len(other) >= len(curve)]
    return len(reached) >= ENOUGH and max(curve) < statistics.median(reached)


def _objective(trial: Trial, experiment: Experiment) -> Objective:
    """What a trial learns; of labelled graphs a part may do."""
    task, kind = experiment.data, model_class(experiment.model, allowed(trial.code))
    if trial.share == 1.0 and not trial.judges:
        return objective_of(experiment, trial.seed, code=trial.code)
    if not isinstance(task, GraphTask) or not isinstance(experiment.objective, ClassifyConfig):
        raise BadArgument(f"{experiment.name} is not about labelled graphs: a trial cannot have a part of it.")
    rng = np.random.default_rng([trial.seed, 0x5A])
    learnt, larger = task.split(trial.seed)
    some, judges = (
        part.select(rng.permutation(len(part))[:most])
        for part, most in ((learnt, int(trial.share * len(learnt))), (larger, trial.judges or len(larger)))
    )
    return Classify(experiment.objective, some, judges, lambda part: kind.prepare(part, experiment.model))
