"""Distil a trained model: into a calculus if it was trained on one, else into rules."""

from collections.abc import Callable, Sequence
from pathlib import Path

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.distil.calculus import Distilled, certificate_path, distil_calculus
from epignn.distil.induce import DistilledRules, distil_rules
from epignn.distil.reading import read_weights
from epignn.distil.rules import RuleSet, write_rules
from epignn.errors import BadArgument
from epignn.files import write_text
from epignn.formats.readers import read_graphs
from epignn.learn.checkpoint import Trained
from epignn.learn.config import Experiment
from epignn.locks import only_one
from epignn.models.epignn import EpiGNN
from epignn.tasks.api import GraphTask
from epignn.workers import Workers

Report = Callable[[int, int], None]
KINDS = ("calculus", "rules")


def kind_of(experiment: Experiment) -> str:
    """What a model is distilled into, unless it is said otherwise: one of `KINDS`."""
    return KINDS[0] if experiment.calculus else KINDS[1]


def distil(model: EpiGNN, relations: tuple[str, ...], experiment: Experiment, data: Dataset) -> Calculus | RuleSet:
    """The calculus that a model has learnt, or the rules where its relations belong to none."""
    if kind_of(experiment) == "calculus":
        return distil_calculus(read_weights(model, relations), data).calculus
    return distil_rules(model, relations, data, _temperature(experiment)).rules


def distil_trained(
    trained: Trained, data: Dataset | None, kind: str, name: str, report: Report, workers: Workers | None = None
) -> Distilled | DistilledRules:
    """The same for a model of a run folder, with the grounds.

    Args:
        trained: the model.
        data: its training data; None to go by the weights alone.
        kind: one of `KINDS`.
        name: of the calculus.
        report: called with the tables tried and to be tried.
        workers: who tries them; this process, if nobody is named.
    """
    source = f"read off the weights of {trained.name}, seed {trained.seed}"
    if kind == "calculus":
        reading = read_weights(trained.model, trained.relations)
        return distil_calculus(reading, data, name, source, report=report, workers=workers)
    return distil_rules(trained.model, trained.relations, data, _temperature(trained.experiment), source)


def _temperature(experiment: Experiment) -> float:
    """The temperature of the softmax in training, where there was one."""
    objective = experiment.objective
    return objective.temperature if getattr(objective, "loss", "") == "cross_entropy" else 1.0


def examples(trained: Trained, files: Sequence[Path], report: Report) -> Dataset:
    """The graphs of some files over the model's relations; of those it was trained on, if there are no files."""
    if files:
        return Dataset.concat([read_graphs(file, trained.relations) for file in files])
    return task_of(trained).examples(report)[0]


def task_of(trained: Trained) -> GraphTask:
    """The task that a model was trained on.

    Raises:
        BadArgument: it is a model of links.
    """
    task = trained.experiment.data
    if not isinstance(task, GraphTask):
        raise BadArgument(f"{trained.name} predicts links; a calculus or rules are read off models of graphs.")
    return task


def save(found: Distilled | DistilledRules, path: Path) -> None:
    """Write a calculus with its certificate beside it, or rules.

    Raises:
        Busy: another process writes the same file, so that the two might not belong together.
    """
    with only_one(path.parent, f"distil to {path.name}", f".{path.stem}.epignn.lock"):
        if isinstance(found, DistilledRules):
            write_text(path, write_rules(found.rules))
        else:
            write_text(path, found.calculus_text())
            write_text(certificate_path(path), found.certificate_text())
