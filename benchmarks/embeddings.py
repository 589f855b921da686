"""Embeddings of entities, models of PyKEEN, on graphs whose entities are known, beside ours.

    python benchmarks/embeddings.py [--graphs nations,umls] [--models ComplEx] [--trials N] [--seeds N] [--out DIR]

PyKEEN has to be installed beside epignn (`pip install pykeen`). Every head and relation is asked against all
entities (PyKEEN's LCWA, with inverse relations; its own loop takes many times as long on small graphs, since it
gathers questions one by one). For every model and graph so many settings are tried; the one of the best mean
reciprocal rank on validation triples is trained with each seed and tested once, by the code that tests all models
here. A record is written for each, into the table `kgc-known`; what is recorded is not run again.
"""

import argparse
import logging
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pykeen import get_version
from pykeen.models import model_resolver
from pykeen.triples import TriplesFactory

from epignn.data.graph import Ints, Side, both_sides
from epignn.learn.protocols import examine, full_ranks
from epignn.learn.ranking import reciprocal
from epignn.models.api import Scores
from epignn.report.links import BY_TRIPLE
from epignn.report.record import circumstances, forget_peak, named_records, peak_mb, put_record
from epignn.report.suites import file_stem
from epignn.tasks import CARRIED, task_of

RESULTS = Path(__file__).resolve().parent.parent / "results"
MODELS = ("TransE", "DistMult", "ComplEx", "RotatE")
TRIALS = 8
DIMS, LOSSES, DECAYS = (32, 64, 128, 256), ("crossentropy", "bceaftersigmoid"), (0.0, 1e-5, 1e-4, 1e-3)
SLOWEST, FASTEST = 1e-3, 3e-2
EPOCHS, BATCH, LOOKS, PATIENCE = 500, 256, 10, 5
"""At most so many epochs; every tenth is validated, and the fifth without a better one is the last."""
Settings = dict[str, Any]


class Embedded:
    """Scores of all entities by a model of PyKEEN."""

    chunk = 1

    def __init__(self, model: Any, relations: int) -> None:
        self.model, self.relations = model, relations

    def prepare(self, heads: Ints) -> None:
        """Nothing is shared between questions."""

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): an inverse relation asks for heads."""
        asked = torch.from_numpy(np.asarray(relations, dtype=np.int64))
        own = torch.full_like(asked, head)
        backwards = asked >= self.relations
        found = torch.empty(len(asked), self.model.num_entities)
        with torch.no_grad():
            if not backwards.all():
                found[~backwards] = self.model.predict_t(torch.stack([own, asked], 1)[~backwards])
            if backwards.any():
                found[backwards] = self.model.predict_h(torch.stack([asked - self.relations, own], 1)[backwards])
        return found.numpy()


def drawn(trials: int) -> list[Settings]:
    """Settings to be tried, the same for all models and graphs."""
    rng = np.random.default_rng(0)
    return [
        {
            "dim": int(rng.choice(DIMS)),
            "loss": str(rng.choice(LOSSES)),
            "decay": float(rng.choice(DECAYS)),
            "learning_rate": round(float(np.exp(rng.uniform(np.log(SLOWEST), np.log(FASTEST)))), 5),
        }
        for _ in range(trials)
    ]


def factory(side: Side, triples: Ints, inverses: bool = False) -> TriplesFactory:
    """Triples of a graph as PyKEEN wants them, entities and relations numbered as here."""
    names = (
        {name: number for number, name in enumerate(own)} for own in (side.graph.entities, side.graph.relations)
    )
    mapped = torch.from_numpy(triples.astype(np.int64))
    return TriplesFactory(mapped, *names, create_inverse_triples=inverses)


def train(kind: str, side: Side, settings: Settings, seed: int) -> tuple[Embedded, dict[str, Any]]:
    """The model of the best validation, and what is told of it."""
    before = time.process_time()
    triples = factory(side, side.graph.facts, inverses=True)
    own = {"embedding_dim": settings["dim"], "loss": settings["loss"], "random_seed": seed}
    model = model_resolver.make(kind, triples_factory=triples, **own)
    optimiser = torch.optim.Adam(model.parameters(), settings["learning_rate"], weight_decay=settings["decay"])
    found = Embedded(model, len(side.graph.relations))
    # Where there are inverses, relation r is 2r to a model of PyKEEN, and its inverse 2r + 1.
    head, relation, tail = triples.mapped_triples.T
    asked_of = torch.stack([torch.cat([head, tail]), torch.cat([2 * relation, 2 * relation + 1])], 1)
    pairs, which = asked_of.unique(dim=0, return_inverse=True)
    right = torch.zeros(len(pairs), model.num_entities)
    right[which, torch.cat([tail, head])] = 1
    generator = torch.Generator().manual_seed(seed)
    asked, known = both_sides(side.valid, found.relations), side.known()
    reached, at, weights = -1.0, 0, model.state_dict()
    for epoch in range(1, EPOCHS + 1):
        model.train()
        for chosen in torch.randperm(len(pairs), generator=generator).split(BATCH):
            optimiser.zero_grad()
            scores = model.score_t(pairs[chosen])
            loss = model.loss.process_lcwa_scores(scores, right[chosen]) + model.collect_regularization_term()
            loss.backward()
            optimiser.step()
            model.post_parameter_update()
        if epoch % LOOKS == 0:
            model.eval()
            now = reciprocal(full_ranks(asked, found, known))
            if now > reached:
                reached, at = now, epoch
                weights = {name: value.clone() for name, value in model.state_dict().items()}
            if epoch - at >= PATIENCE * LOOKS:
                break
    model.load_state_dict(weights)
    model.eval()
    spent = round(time.process_time() - before, 1)
    return found, {
        "validation": round(reached, 4),
        "epochs": epoch,
        "best_epoch": at,
        "training_cpu_seconds": spent,
    }


def run(graph: str, kind: str, trials: int, seeds: range, folder: Path) -> None:
    """Search, train and test a model on a graph."""
    row = f"{graph} {kind} (PyKEEN)"
    wanted = [seed for seed in seeds if f"{file_stem(row)}_seed{seed}" not in named_records(folder)]
    if not wanted:
        return
    side = task_of(graph).links(0).test
    tried = [{**settings, **train(kind, side, settings, 0)[1]} for settings in drawn(trials)]
    best = max(tried, key=lambda one: one["validation"])
    print(f"{row}: {best}", flush=True)
    for seed in wanted:
        forget_peak()
        found, told = train(kind, side, best, seed)
        outcome = examine(found, side)
        by_triple = [round(value, 5) for value in outcome.by_triple().tolist()]
        record = {
            "variant": row,
            "outside": True,
            "tried": tried,
            "seed": seed,
            "parameters": sum(p.numel() for p in found.model.parameters()),
            **told,
            "peak_mb": peak_mb(),
            "cells": [{"k": 0, "b": 0, **outcome.metrics(), BY_TRIPLE: by_triple}],
            "pykeen": get_version(),
            **circumstances(),
        }
        put_record(folder, f"{file_stem(row)}_seed{seed}", record)
        print(f"  seed {seed}: {record['cells'][0]['mrr']:.4f}, {told}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--graphs", default=",".join(CARRIED))
    parser.add_argument("--models", default=",".join(MODELS))
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    chosen = parser.parse_args()
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    for graph in chosen.graphs.split(","):
        for kind in chosen.models.split(","):
            run(graph, kind, chosen.trials, range(chosen.seeds), chosen.out / "kgc-known")


if __name__ == "__main__":
    main()
