"""A run from its experiment to a model in use: data, training, calibration, record."""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.entries import allowed
from epignn.errors import BadArgument
from epignn.files import make_folder
from epignn.learn.calibrate import Calibration
from epignn.learn.checkpoint import (
    CALIBRATION,
    RunConfig,
    RunFolder,
    Trained,
    read_history,
    save_calibration,
    save_config,
)
from epignn.learn.config import Experiment, model_class
from epignn.learn.fit import Doing, Epoch, fit
from epignn.learn.group import Alone, Group
from epignn.learn.objectives import OBJECTIVES
from epignn.learn.objectives.api import Objective
from epignn.learn.objectives.classify import Classify, ClassifyConfig
from epignn.locks import only_one
from epignn.models.api import Model, build, device_of
from epignn.tasks.api import GraphTask, Report

Files = Iterable[Path | str]
RISE = 0.005
"""What validation has to gain in the last quarter of all epochs for a run to be still improving."""


@dataclass(frozen=True, eq=False)
class Run:
    """A run that has ended.

    Attributes:
        trained: the model of the best epoch.
        objective: what it was trained on.
        history: loss, validation and seconds of every epoch, over all resumptions.
        calibration: what chose its temperature, if there was something to choose it by.
        ended_before: whether nothing was left to train.
    """

    trained: Trained
    objective: Objective
    history: list[dict[str, Any]]
    calibration: Calibration | None
    ended_before: bool = False

    @property
    def best(self) -> dict[str, Any]:
        """The epoch that was kept: of the best validation, the latest among equals."""
        return max(self.history, key=lambda epoch: (epoch["validation"] or 0.0, epoch["epoch"]))

    @property
    def first(self) -> dict[str, Any]:
        """The first epoch of that validation."""
        return max(self.history, key=lambda epoch: epoch["validation"] or 0.0)

    @property
    def ended_early(self) -> bool:
        """Whether validation no longer rose before all epochs were trained."""
        training = self.trained.experiment.training
        return len(self.history) < training.epochs * training.starts

    @property
    def rising(self) -> bool:
        """Whether one start had all its epochs, and validation still rose by `RISE` in their last quarter."""
        training, count = self.trained.experiment.training, len(self.history)
        values = [epoch["validation"] or 0.0 for epoch in self.history]
        if training.starts > 1 or count < max(training.epochs, 4):
            return False
        return max(values[-(count // 4) :]) - max(values[: -(count // 4)]) >= RISE


def files_of(experiment: Experiment, code: Iterable[Path]) -> tuple[Path | str, ...]:
    """Files whose classes an experiment of the user may use: those that are given, and those that it names."""
    named = (experiment.model.kind, experiment.data.task, experiment.objective.kind)
    return (*code, *(name.rpartition(":")[0] for name in named if ".py:" in name))


def objective_of(
    experiment: Experiment, seed: int, device: str = "cpu", code: Files = (), report: Report | None = None
) -> Objective:
    """What an experiment learns: its task, read or generated, for its kind of model."""
    files = allowed(code)
    kind = model_class(experiment.model, files)
    chosen = OBJECTIVES.get(experiment.objective.kind, files)
    objective: Objective = chosen.of(
        experiment.objective,
        experiment.data,
        lambda data: kind.prepare(data, experiment.model),
        seed,
        device_of(device),
        report,
    )
    kind.admit(objective, experiment.model)
    return objective


def train_on(data: Dataset, experiment: Experiment, seed: int = 0, out: Path | None = None) -> Run:
    """Train the model of an experiment on given graphs, of which its data section holds some out.

    Raises:
        BadArgument: the experiment does not classify graphs.
    """
    task, kind = experiment.data, model_class(experiment.model)
    if not isinstance(task, GraphTask) or not isinstance(experiment.objective, ClassifyConfig):
        raise BadArgument(f"the experiment {experiment.name} is not about labelled graphs.")
    divided = task.divided((data, None), seed)
    objective = Classify(experiment.objective, *divided, lambda part: kind.prepare(part, experiment.model))
    return train(experiment, objective, seed=seed, out=out)


def train(
    experiment: Experiment,
    objective: Objective,
    *,
    seed: int,
    out: Path | None = None,
    device: str = "cpu",
    code: Files = (),
    record: dict[str, Any] | None = None,
    report: Callable[[Epoch], None] | None = None,
    doing: Doing | None = None,
    group: Group | None = None,
    begin: dict[str, Tensor] | None = None,
) -> Run:
    """Train the model of an experiment, calibrate it, and keep both in a run folder if one is named.

    A run that was interrupted in its folder goes on, and so does one that had ended, if it now has more epochs.

    Args:
        experiment: model and training.
        objective: what `objective_of` gives.
        seed: of the run.
        out: the run folder.
        device: where the model is trained.
        code: files whose classes the experiment names.
        record: how it is made, for the folder.
        report: called after every epoch.
        doing: called after every step, and while the model is calibrated.
        group: the processes that train it together, each of which calls this with the same arguments.
        begin: the weights to begin with; random ones by default.

    Raises:
        Busy: another process trains in the folder.
    """
    them = group or Alone()
    with nullcontext() if out is None or them.rank else _alone(out):
        return _train(experiment, objective, seed, out, device, code, record, report, doing, them, begin)


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    """A run folder in which nobody else trains; made if it is not there."""
    make_folder(out)
    with only_one(out, "train"):
        yield


def _train(
    experiment: Experiment,
    objective: Objective,
    seed: int,
    out: Path | None,
    device: str,
    code: Files,
    record: dict[str, Any] | None,
    report: Callable[[Epoch], None] | None,
    doing: Doing | None,
    group: Group,
    begin: dict[str, Tensor] | None,
) -> Run:
    files = allowed(code)
    kind = model_class(experiment.model, files)
    config = RunConfig(experiment, objective.relations, seed, objective.digest(), record or {})
    history: list[dict[str, Any]] = []
    folder = None if out is None else RunFolder(out, config, files)
    ran = 0

    def keep(epoch: Epoch) -> None:
        nonlocal ran
        ran += 1
        history.append({"epoch": epoch.number, "loss": epoch.loss, "validation": epoch.validation})
        if report is not None:
            report(epoch)

    def make(start: int) -> Model:
        made = build(kind, objective.outputs, experiment.model, start)
        if begin is not None:
            made.load_state_dict(begin)
        return made

    model = fit(
        make,
        objective,
        experiment.training,
        seed=seed,
        folder=folder,
        device=device_of(device),
        report=keep,
        doing=doing,
        group=group,
    )
    calibrating = None if doing is None else partial(doing, "calibrating")
    with torch.no_grad():
        calibration = objective.calibrate(model, calibrating) if group.rank == 0 else None
    if out is not None and group.rank == 0:
        history = read_history(out)
        if ran or not (out / CALIBRATION).exists():
            reached = max((epoch["validation"] or 0.0 for epoch in history), default=0.0)
            made = {**(record or {}), "validation": reached, objective.unit: len(objective)}
            config = replace(config, record=json.loads(json.dumps(made)))
            save_config(out, config)
            if calibration is not None:
                save_calibration(out, calibration)  # last: where it is missing, all of this is done again
    name = experiment.name if out is None else str(out)
    chosen = () if calibration is None else (calibration.temperature, calibration.answers)
    trained = Trained(name, model, config, *chosen)
    return Run(trained, objective, history, calibration, ended_before=not ran)
