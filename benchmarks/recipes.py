"""What each idea of the recipe for links gains, on graphs cut out of the training graph or on facts of a new one.

    python benchmarks/recipes.py [STEP ...] [--seed N] [--out DIR]

The steps stand in `recipes.toml`: settings, each a change of those of another step. Every step is trained on what
is left of a training graph when a fifth of its entities are cut out (`epignn.data.cut`), for the epochs that it
names, and its last weights are ranked on the graph that was cut out, each tenth of whose triples is asked in turn.
A step with `data.holdout = "asked"` is trained on the whole graph and ranked on the facts of the graph that will be
asked. A step that weighs rules and frequencies otherwise, and no more, has the weights of the step that it changes.
No test triple is read. One record is written for each step, graph and seed; what is recorded is not run again.
"""

import argparse
import json
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from epignn.data.graph import both_sides
from epignn.learn.config import Experiment, load_experiment, model_class
from epignn.learn.fit import fit
from epignn.learn.objectives.rank import Rank
from epignn.learn.protocols import full_ranks
from epignn.learn.ranking import Ranks, metrics, together
from epignn.learn.run import objective_of
from epignn.models.api import Model, build
from epignn.models.ruled import EpiGNNRules
from epignn.report.record import circumstances, forget_peak, named_records, peak_mb, put_record

HERE = Path(__file__).resolve().parent
STEPS = HERE / "recipes.toml"
FOLDER = HERE.parent / "results" / "links-recipe"
WEIGHED = {"trust", "frequency", "spread", "adapt"}
"""Settings of rules and frequencies beside an EpiGNN, by which it is not trained."""


def unchosen(objective: Rank) -> Rank:
    """An objective of which the weights after the last epoch are kept: nothing chooses among epochs."""

    class Last(type(objective)):
        """The same, without validation."""

        def validate(self, model: Model) -> float | None:
            """Nothing."""
            return None

    return Last(objective.config, objective.side, judged=objective.judged)


def settings_of(steps: dict[str, Any], name: str) -> dict[str, str]:
    """The settings of a step over those of the one it changes."""
    step = steps[name]
    before = settings_of(steps, step["of"]) if "of" in step else {}
    return before | {key: json.dumps(value) for key, value in step["set"].items()}


def experiment_of(steps: dict[str, Any], name: str) -> Experiment:
    """What a step trains and where; what it leaves open, but for rules, is as in the preset `links`."""
    settings = {"data.holdout": '"entities"', **settings_of(steps, name)}
    if settings["model.kind"] == '"epignn-rules"':
        settings = {"model.trust": "1.0", "model.spread": "0.0", **settings}
    settings["data.task"] = settings.pop("split")
    return load_experiment("links", [f"{key}={value}" for key, value in settings.items()])


def trained_as(steps: dict[str, Any], name: str) -> str:
    """The step whose weights a step has: itself, or the one whose rules and frequencies it weighs otherwise."""
    changed = {key.removeprefix("model.") for key in steps[name]["set"]}
    return trained_as(steps, steps[name]["of"]) if "of" in steps[name] and changed <= WEIGHED else name


def run(experiments: dict[str, Experiment], seed: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Train the first experiment; rank it and those that weigh rules and frequencies otherwise."""
    torch.set_num_threads(1)
    experiment = next(iter(experiments.values()))
    forget_peak()
    found = objective_of(experiment, seed)
    assert isinstance(found, Rank)
    objective = unchosen(found)
    losses: list[float] = []
    before = time.process_time()
    model = fit(
        lambda start: build(model_class(experiment.model), objective.outputs, experiment.model, start),
        objective,
        experiment.training,
        seed=seed,
        report=lambda epoch: (losses.append(epoch.loss), print(f"  {epoch.number}: {epoch.loss:.4f}", flush=True)),
    )
    trained = time.process_time() - before
    made = {"losses": [round(loss, 4) for loss in losses], "training_cpu_seconds": round(trained, 1)}
    made["parameters"] = sum(p.numel() for p in model.parameters())
    for name, other in experiments.items():
        if isinstance(model, EpiGNNRules):
            model.weigh_rules(other.model)
        ranks = ranked(model, objective)
        yield name, {"figures": metrics(ranks), "questions": len(ranks), **made, "peak_mb": peak_mb()}


def ranked(model: Model, objective: Rank) -> Ranks:
    """The ranks of all answers that judge."""
    parts = []
    with torch.no_grad():
        for side in objective.judged:
            asked = both_sides(side.valid, len(side.graph.relations))
            parts.append(full_ranks(asked, model.scorer(side.graph), side.known()))
    return together(parts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", help="which steps; all without")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    steps = tomllib.loads(STEPS.read_text())
    missing = [n for n in chosen.steps or steps if f"{n}_seed{chosen.seed}" not in named_records(chosen.out)]
    for first in dict.fromkeys(trained_as(steps, name) for name in missing):
        asked = [name for name in missing if trained_as(steps, name) == first]
        experiments = {name: experiment_of(steps, name) for name in asked}
        print(f"{', '.join(asked)}, seed {chosen.seed}", flush=True)
        for name, found in run(experiments, chosen.seed):
            experiment = experiments[name]
            record = {"step": name, "split": experiment.data.task, "seed": chosen.seed}
            record["experiment"] = experiment.to_dict()
            put_record(chosen.out, f"{name}_seed{chosen.seed}", {**record, **circumstances(), **found})
            print(f"  {name}: {found['figures']} {found['training_cpu_seconds']} s", flush=True)


if __name__ == "__main__":
    main()
