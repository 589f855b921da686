"""Refine a model by what it has learnt: its own calculus, distilled, teaches its states to be sets.

A model trained on small graphs knows which relation holds in the end, but hardly how possible each was on the way;
on large graphs what is blurred adds up. The calculus that its weights and its training data agree on tells every
set exactly. No other knowledge is used.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from epignn.distil.calculus import Distilled
from epignn.distil.learnt import Report, distil_trained, examples, kind_of, save
from epignn.errors import BadArgument
from epignn.learn.checkpoint import Trained
from epignn.learn.config import TrainConfig
from epignn.learn.fit import Epoch
from epignn.learn.objectives.sets import Sets, SetsConfig
from epignn.learn.run import Run, train
from epignn.models.api import device_of

CALCULUS = "calculus.toml"
"""What teaches it, in its run folder."""
SOFTER = 0.3
"""What weights are multiplied by at first, so that what had settled can move: facets in which two relations had
become the same would never part."""
TRAINING = TrainConfig(epochs=8, batch_size=256, learning_rate=0.1, schedule="one_cycle")
"""How it is taught; chosen by larger problems of RCC-8 and intervals that no table tests."""


def refine(
    trained: Trained,
    out: Path,
    *,
    settings: SetsConfig | None = None,
    training: TrainConfig = TRAINING,
    device: str = "cpu",
    record: dict[str, Any] | None = None,
    tables: Report = lambda done, total: None,
    report: Callable[[Epoch], None] | None = None,
) -> Run:
    """A refined model, in a run folder of its own with the calculus that taught it; a killed one goes on.

    Args:
        trained: the model.
        out: the new run folder.
        settings: of the objective.
        training: how it is taught.
        device: where.
        record: how it is made, for the folder.
        tables: called with the tables tried and to be tried, while it is distilled.
        report: called after every epoch.

    Raises:
        BadArgument: it was not trained on a calculus, or what it has learnt is none: it breaks a law, or entails
            less than half of its training data.
    """
    if trained.config.ranks or kind_of(trained.experiment) != "calculus":
        raise BadArgument(f"{trained.name} was not trained on a calculus; only the model of one can be refined.")
    graphs = examples(trained, [], lambda done, total: None)
    found = distil_trained(trained, graphs, "calculus", CALCULUS.partition(".")[0], tables)
    assert isinstance(found, Distilled) and found.calculus.relations == trained.relations
    verdict = found.certificate.table
    if not found.certificate.lawful or (verdict is not None and 2 * verdict.entailed < verdict.instances):
        raise BadArgument(
            f"what {trained.name} has learnt is no calculus that could teach it; `epignn distil` tells why. Train "
            "it longer, or on more graphs."
        )
    config, kind = settings or SetsConfig(), type(trained.model)
    objective = Sets(
        config,
        found.calculus,
        lambda data: kind.prepare(data, trained.experiment.model),
        device_of(device),
    )
    experiment = replace(trained.experiment, objective=config, training=training)
    run = train(
        experiment,
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
