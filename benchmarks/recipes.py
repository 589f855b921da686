"""What each idea of the recipe for links gains, on graphs cut out of the training graph.

    python benchmarks/recipes.py [STEP ...] [--seed N] [--out DIR]

The steps stand in `recipes.toml`: settings, each a change of those of another step. Every step is trained on what
is left of a training graph when a fifth of its entities are cut out (`epignn.data.cut`), for the epochs that it
names, and its last weights are ranked on the graph that was cut out, each tenth of whose triples is asked in turn.
No test triple is read. One record is written for each step, graph and seed; what is recorded is not run again.
"""

import argparse
import json
import time
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import torch

from epignn.learn.config import Experiment, load_experiment, model_class
from epignn.learn.fit import fit
from epignn.learn.objectives.rank import Rank
from epignn.learn.protocols import full_ranks
from epignn.learn.ranking import metrics, together
from epignn.learn.run import objective_of
from epignn.models.api import Model, build
from epignn.report.record import circumstances, forget_peak, named_records, peak_mb, put_record

HERE = Path(__file__).resolve().parent
STEPS = HERE / "recipes.toml"
FOLDER = HERE.parent / "results" / "links-recipe"


class Last(Rank):
    """Ranking, of which the weights after the last epoch are kept: nothing chooses among epochs."""

    def validate(self, model: Model) -> float | None:
        """Nothing."""
        return None


def settings_of(steps: dict[str, Any], name: str) -> dict[str, str]:
    """The settings of a step over those of the one it changes."""
    step = steps[name]
    before = settings_of(steps, step["of"]) if "of" in step else {}
    return before | {key: json.dumps(value) for key, value in step["set"].items()}


def experiment_of(steps: dict[str, Any], name: str) -> Experiment:
    """What a step trains and where; what it leaves open is as in the preset for triples of one's own."""
    settings = settings_of(steps, name)
    task = [f"data.task={settings.pop('split')}", 'data.holdout="entities"']
    return load_experiment("links", [*task, *(f"{key}={value}" for key, value in settings.items())])


def run(experiment: Experiment, seed: int) -> dict[str, Any]:
    """Train on what is left, rank on what was cut out."""
    torch.set_num_threads(1)
    forget_peak()
    found = objective_of(experiment, seed)
    assert isinstance(found, Rank)
    objective = Last(found.config, found.side, judged=found.judged)
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
    with torch.no_grad():
        parts = []
        for side, known in zip(objective.judged, objective._known, strict=True):
            relations = len(side.graph.relations)
            turned = np.stack([side.valid[:, 2], side.valid[:, 1] + relations, side.valid[:, 0]], 1)
            asked = np.concatenate([side.valid, turned]).astype(np.int32)
            parts.append(full_ranks(asked, model.scorer(side.graph), known))
    ranks = together(parts)
    return {
        "figures": metrics(ranks),
        "questions": len(ranks),
        "losses": [round(loss, 4) for loss in losses],
        "parameters": sum(p.numel() for p in model.parameters()),
        "training_cpu_seconds": round(trained, 1),
        "peak_mb": peak_mb(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("steps", nargs="*", help="which steps; all without")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=FOLDER)
    chosen = parser.parse_args()
    steps = tomllib.loads(STEPS.read_text())
    for name in chosen.steps or steps:
        stem = f"{name}_seed{chosen.seed}"
        if stem in named_records(chosen.out):
            continue
        experiment = experiment_of(steps, name)
        print(f"{name}, seed {chosen.seed}: {steps[name]['about']}", flush=True)
        split = experiment.data.task
        record = {"step": name, "split": split, "seed": chosen.seed, "experiment": experiment.to_dict()}
        found = run(experiment, chosen.seed)
        put_record(chosen.out, stem, {**record, **circumstances(), **found})
        print(f"  {found['figures']} {found['training_cpu_seconds']} s", flush=True)


if __name__ == "__main__":
    main()
