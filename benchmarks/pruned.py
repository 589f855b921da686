"""What pruned passes lose: Hits@10 on validation triples, and processor seconds, by the share of entities followed.

    python benchmarks/pruned.py [--quick] [--out DIR]

A model is trained on each graph by its preset, in `runs/`, or is there already from `epignn reproduce kgc`. Test
triples play no part. Passes are measured alone, too: the presets add rules to their scores, which are never pruned.
"""

import time
from pathlib import Path

import torch

from epignn.data.graph import both_sides
from epignn.learn.config import load_experiment
from epignn.learn.protocols import full_ranks
from epignn.learn.ranking import metrics
from epignn.learn.run import objective_of, train
from epignn.learn.scorers import scorer_of
from epignn.models.epignn import EpiGNN

from record import options, save

GRAPHS = {"wn18rr:v1": "wn18rr-v1", "fb237:v1": "fb237-v1"}
SHARES = (1, 0.3, 0.1, 0.03, 0.01)
TRIPLES = 300
"""Validation triples that are asked, from both ends."""


def main() -> None:
    chosen = options(__doc__)
    torch.set_num_threads(1)
    figures: dict[str, dict[str, dict[str, float]]] = {}
    for graph, name in list(GRAPHS.items())[: 1 if chosen.quick else None]:
        small = ("training.epochs=1", "model.dim=16", "model.facets=4", "objective.validation_triples=20")
        experiment = load_experiment(name, small if chosen.quick else ())
        out = None if chosen.quick else Path("runs") / f"{name}_seed0"
        trained = train(experiment, objective_of(experiment, 0), seed=0, out=out).trained
        side = experiment.data.links(0).train  # type: ignore[attr-defined]
        asked = both_sides(side.valid[: 20 if chosen.quick else TRIPLES], len(side.graph.relations))
        known = side.known()
        rows = figures.setdefault(graph, {})
        model = trained.model
        for share in SHARES:
            passes = (
                EpiGNN.scorer(model, side.graph) if share == 1 else EpiGNN.pruned_scorer(model, side.graph, share)
            )
            cpu = time.process_time()
            alone = metrics(full_ranks(asked, passes, known))
            spent = time.process_time() - cpu
            whole = metrics(full_ranks(asked, scorer_of(model, trained.relations, side.graph, share), known))
            rows[f"{share:g}"] = {
                "passes_hits@10": alone["hits@10"],
                "passes_mrr": alone["mrr"],
                "cpu_seconds": spent,
                "hits@10": whole["hits@10"],
                "mrr": whole["mrr"],
            }
            print(
                f"  {graph} {share}: Hits@10 {alone['hits@10']:.4f}, with rules {whole['hits@10']:.4f}", flush=True
            )
    save("pruned", figures, chosen)


if __name__ == "__main__":
    main()
