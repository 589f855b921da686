"""Refine a model by what it has learnt: its own calculus, distilled, makes its states sets.

A model trained on small graphs knows which relation holds in the end, but hardly how possible each was on the way;
on large graphs what is blurred adds up. The calculus that its weights and its training data agree on tells every
set exactly: its weights can be set to it, or it can teach the model by examples. Where relations belong to no
calculus, the rules that it has learnt stand beside it (`epignn.distil.beside`); or what training walks come to
(`epignn.data.contract`) makes longer walks, whose labels it tells, and these teach the model. No other knowledge is
used.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from epignn.data.augment import augment
from epignn.data.dataset import Dataset
from epignn.distil.beside import EpiGNNWalks, WalksConfig
from epignn.distil.calculus import Distilled
from epignn.distil.induce import DistilledRules
from epignn.distil.learnt import Report, distil_trained, examples, kind_of, save, task_of
from epignn.distil.weights import exact_model
from epignn.errors import BadArgument
from epignn.files import new_folder
from epignn.learn.checkpoint import (
    WEIGHTS,
    RunConfig,
    RunFolder,
    Trained,
    save_calibration,
    save_config,
    save_tensors,
)
from epignn.learn.config import TrainConfig
from epignn.learn.fit import Epoch
from epignn.learn.objectives.api import Objective
from epignn.learn.objectives.classify import Classify, ClassifyConfig
from epignn.learn.objectives.sets import Sets, SetsConfig
from epignn.learn.run import Run, train
from epignn.locks import only_one
from epignn.models.api import Model, device_of
from epignn.models.epignn import EpiGNN
from epignn.tasks.api import GraphTask

CALCULUS, RULES = "calculus.toml", "rules.toml"
"""What it has learnt, in its run folder."""
SOFTER = 0.3
"""What weights are multiplied by at first, so that what had settled can move: facets in which two relations had
become the same would never part."""
TRAINING = TrainConfig(epochs=8, batch_size=256, learning_rate=0.1, schedule="one_cycle")
"""How it is taught; chosen by larger problems of RCC-8 and intervals that no table tests."""
WALKS, LONGEST, HELD = 2500, 24, 200
"""Walks that teach a model of no calculus, edges of the longest, and how many of them choose the epoch instead."""
BY_WALKS = TrainConfig(epochs=8, batch_size=64, learning_rate=0.02, schedule="one_cycle", decay=0.01)
"""How walks teach it; chosen by families of 10 to 100 hops, of a seed that no table tests."""
SHARPER = 2.0
"""The temperature at which they do."""


def refine(
    trained: Trained,
    out: Path,
    *,
    taught: bool = False,
    settings: SetsConfig | None = None,
    training: TrainConfig | None = None,
    device: str = "cpu",
    record: dict[str, Any] | None = None,
    tables: Report = lambda done, total: None,
    report: Callable[[Epoch], None] | None = None,
) -> Run:
    """A refined model, in a run folder of its own with the calculus or the rules that the model had learnt.

    Args:
        trained: the model.
        out: the new run folder.
        taught: teach it by examples, which goes on where it was killed; without, its weights are set, or its rules
            stand beside it.
        settings: of the objective that teaches and calibrates it.
        training: how it is taught; `training_of` by default.
        device: where.
        record: how it is made, for the folder.
        tables: called with the tables, or other steps, that are done and to be done, while it is distilled.
        report: called after every epoch.

    Raises:
        BadFile: there can be no such folder.
        BadArgument: there is no such device; it is no EpiGNN that was trained on graphs; or it was trained on a
            calculus, and what it has learnt is none: it breaks a law, or entails less than half of its training
            data.
    """
    device_of(device)  # refused, as the folder is, before what takes long
    training = training or training_of(trained)
    with new_folder(out):
        if _of_rules(trained):
            _refuse_others(trained)
            if taught:
                return _by_walks(trained, out, training, device, record, report)
            return _beside_rules(trained, out, device, record, tables)
        found = _learnt(trained, tables)
        sets, kind = settings or SetsConfig(), type(trained.model)
        exact = None if taught else exact_model(found.calculus, trained.model.config)
        model = trained.experiment.model if exact is None else exact.config
        experiment = replace(trained.experiment, model=model, objective=sets)
        objective = Sets(sets, found.calculus, lambda data: kind.prepare(data, model), device_of(device))
        if exact is not None:
            config = RunConfig(experiment, trained.relations, trained.seed, objective.digest(), record or {})
            with only_one(out, "train"):
                return _keep(exact.to(device_of(device)).eval(), found, objective, config, out)
        run = train(
            replace(experiment, training=training or TRAINING),
            objective,
            seed=trained.seed,
            out=out,
            device=device,
            record=record,
            report=report,
            begin={name: SOFTER * value for name, value in trained.model.state_dict().items()},
        )
        save(found, out / CALCULUS)  # not before: the folder may be that of another run, which is refused
        return run


def training_of(trained: Trained) -> TrainConfig:
    """How a model is taught by default."""
    return BY_WALKS if _of_rules(trained) else TRAINING


def _of_rules(trained: Trained) -> bool:
    """Whether a model learnt labelled graphs whose relations belong to no calculus."""
    return isinstance(trained.experiment.data, GraphTask) and kind_of(trained.experiment) == "rules"


def _by_walks(
    trained: Trained,
    out: Path,
    training: TrainConfig,
    device: str,
    record: dict[str, Any] | None,
    report: Callable[[Epoch], None] | None,
) -> Run:
    """A model of rules, taught by walks that are longer than those it was trained on; a killed one goes on."""
    given, kind = examples(trained, [], lambda done, total: None), type(trained.model)
    made = augment(given, WALKS, LONGEST, np.random.default_rng([trained.seed, 0x1046]), 0)
    if len(made) == len(given):
        raise BadArgument(f"the graphs that {trained.name} was trained on have no walks that could be made longer.")
    walks = made.select(np.arange(len(given), len(made)))
    config = ClassifyConfig(loss="cross_entropy", temperature=SHARPER)
    objective = Classify(
        config,
        walks.select(np.arange(HELD, len(walks))),
        walks.select(np.arange(HELD)),
        lambda data: kind.prepare(data, trained.experiment.model),
        device_of(device),
    )
    return train(
        replace(trained.experiment, objective=config, training=training),
        objective,
        seed=trained.seed,
        out=out,
        device=device,
        record=record,
        report=report,
        begin=dict(trained.model.state_dict()),
    )


def _beside_rules(trained: Trained, out: Path, device: str, record: dict[str, Any] | None, steps: Report) -> Run:
    """A model of rules beside its rules; graphs held out of both choose how much each counts, and calibrate it."""
    task, model = task_of(trained), trained.model
    settings = WalksConfig(**vars(model.config) | {"kind": WalksConfig.kind})
    experiment = replace(trained.experiment, model=settings)
    assert isinstance(experiment.objective, ClassifyConfig)
    given, held = replace(task, augment=0).split(trained.seed)
    objective = Classify(
        experiment.objective,
        given,
        held,
        lambda data: EpiGNNWalks.prepare(data, settings),
        device_of(device),
    )
    steps(1, 4)
    found = _rules(trained, given)
    steps(2, 4)
    judged = EpiGNNWalks.of(model, settings, found.rules).to(device_of(device)).eval()
    judged.choose(held)
    steps(3, 4)
    if task.examples()[1] is None:  # what was held out of them may tell rules, too, but judges the former
        found = _rules(trained, task.examples()[0])
    ruled = EpiGNNWalks.of(model, settings, found.rules, float(judged.trust))
    config = RunConfig(experiment, trained.relations, trained.seed, objective.digest(), record or {})
    with only_one(out, "train"):
        run = _keep(ruled.to(device_of(device)).eval(), found, objective, config, out, judged)
    steps(4, 4)
    return run


def _rules(trained: Trained, given: Dataset) -> DistilledRules:
    found = distil_trained(trained, given, "rules", "", lambda done, total: None)
    assert isinstance(found, DistilledRules)
    return found


def _refuse_others(trained: Trained) -> None:
    if not isinstance(trained.model, EpiGNN) or trained.model.config.ablated:
        raise BadArgument(
            f"{trained.name} is no EpiGNN whose embeddings are distributions; no other can be refined."
        )


def _learnt(trained: Trained, tables: Report) -> Distilled:
    """The calculus that a model has learnt."""
    if trained.config.ranks or kind_of(trained.experiment) != "calculus":
        raise BadArgument(
            f"{trained.name} was not trained on labelled graphs; only a model of these can be refined."
        )
    _refuse_others(trained)
    graphs = examples(trained, [], lambda done, total: None)
    found = distil_trained(trained, graphs, "calculus", CALCULUS.partition(".")[0], tables)
    assert isinstance(found, Distilled) and found.calculus.relations == trained.relations
    verdict = found.certificate.table
    if not found.certificate.lawful or (verdict is not None and 2 * verdict.entailed < verdict.instances):
        raise BadArgument(
            f"what {trained.name} has learnt is no calculus that could refine it; `epignn distil` tells why. Train "
            "it longer, or on more graphs."
        )
    return found


def _keep(
    model: Model,
    found: Distilled | DistilledRules,
    objective: Objective,
    config: RunConfig,
    out: Path,
    judged: Model | None = None,
) -> Run:
    """Calibrate a model that is not trained, and keep it in its folder with what was distilled.

    Where it has seen what was held out, another is `judged` in its place.
    """
    RunFolder(out, config)  # refuses that of another run
    with torch.no_grad():
        calibration, reached = objective.calibrate(judged or model), objective.validate(judged or model)
    config = replace(config, record={**config.record, "validation": reached, objective.unit: len(objective)})
    save(found, out / (RULES if isinstance(found, DistilledRules) else CALCULUS))
    save_tensors(out / WEIGHTS, model.state_dict())
    save_config(out, config)
    trained = Trained(str(out), model, config)
    if calibration is not None:
        save_calibration(out, calibration)
        trained = replace(trained, calibrated=calibration.temperature, answers=calibration.answers)
    return Run(trained, objective, [], calibration)
