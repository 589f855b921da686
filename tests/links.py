"""Family trees: a knowledge graph whose one rule is known, so that what a model answers can be checked."""

import numpy as np
import torch

from epignn.data.graph import Graph, Side
from epignn.learn.config import Experiment, TrainConfig
from epignn.learn.objectives.rank import Rank, RankConfig
from epignn.learn.run import Run, train
from epignn.models.epignn import EpiGNNConfig
from epignn.tasks.links import Triples

RELATIONS = ("grandparent", "parent", "sibling")


def family(seed: int, people: int = 60, prefix: str = "p") -> Side:
    """Everyone but a few founders has one parent; a fifth of the grandparents are held out, half for the test."""
    rng = np.random.default_rng(seed)
    founders = 4
    parent = {child: int(rng.integers(max(0, child - 20), child)) for child in range(founders, people)}
    triples = [(p, 1, c) for c, p in parent.items()]
    triples += [(a, 2, b) for a in parent for b in parent if a != b and parent[a] == parent[b]]
    grand = np.array([(parent[p], 0, c) for c, p in parent.items() if p in parent], dtype=np.int32)
    grand = rng.permutation(grand)
    held = len(grand) // 10
    facts = np.concatenate([np.array(triples, dtype=np.int32), grand[2 * held :]])
    names = tuple(f"{prefix}{i:03}" for i in range(people))
    return Side(Graph(names, RELATIONS, facts), grand[:held], grand[held : 2 * held])


def experiment(**training: object) -> Experiment:
    """A small model, and settings that learn the rule."""
    settings = {"epochs": 6, "batch_size": 16, "learning_rate": 0.05, **training}
    model = EpiGNNConfig(dim=16, facets=2, rounds=3, a_ij="coupled", forward_only=True)
    return Experiment(
        "family", Triples("triples", "family.tsv"), model, RankConfig(negatives=16), TrainConfig(**settings)
    )


def trained_on(side: Side, chosen: Experiment | None = None, seed: int = 0, **options: object) -> Run:
    """A run on one side."""
    torch.set_num_threads(1)
    chosen = chosen or experiment()
    return train(chosen, Rank(chosen.objective, side), seed=seed, **options)


def lines(triples: np.ndarray, graph: Graph) -> str:
    """Triples as a file's text."""
    return "".join(
        f"{graph.entities[h]}\t{graph.relations[r]}\t{graph.entities[t]}\n" for h, r, t in triples.tolist()
    )
