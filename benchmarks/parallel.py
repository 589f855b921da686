"""From what size on a step is faster by two processes that share it: `epignn train --workers 2` beside one process.

    python benchmarks/parallel.py [--quick] [--out DIR]

The shortest of many steps counts, so that other work on the machine shows little.
"""

import importlib
import os
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import distributed

from epignn.data.graph import Graph, Side
from epignn.learn.config import load_experiment, model_class
from epignn.learn.group import Alone, Gloo
from epignn.learn.objectives.api import Objective
from epignn.learn.objectives.rank import Rank
from epignn.learn.run import objective_of
from epignn.models.api import Model, build
from epignn.workers import run, workers_of

from record import options, save

GRAPHS = ("data.per_label=40", "data.k=[2, 3, 4]", "data.b=[1, 2, 3]")
EDGES = ('model.kind="edge-transformer"', "model.width=64")
WIDE = ("facts=4000", "model.dim=256", "model.facets=64")
SIZES: dict[str, tuple[str, tuple[str, ...], int]] = {
    "epignn, RCC-8, 128 graphs a step": ("rcc8", GRAPHS, 128),
    "epignn, RCC-8, 1,024 graphs a step": ("rcc8", GRAPHS, 1024),
    "edge-transformer of width 64, 128 graphs a step": ("rcc8", (*GRAPHS, *EDGES), 128),
    "links, dim 32, 4,000 facts, 16 heads a step": ("links", ("facts=4000",), 16),
    "links, dim 32, 40,000 facts, 16 heads a step": ("links", ("facts=40000",), 16),
    "links, dim 256, 4,000 facts, 16 heads a step": ("links", WIDE, 16),
}  # fmt: skip
"""Experiment, settings and the size of a step; `facts` are those of a graph that is drawn."""
SECONDS, LEAST = 8.0, 4
"""How long steps are measured, and how many at least; the first does not count."""


class Member(NamedTuple):
    """A process of a group of `size`, and for how long it measures."""

    name: str
    rank: int
    size: int
    where: str
    seconds: float


def step_of(name: str) -> tuple[Objective, Model, object]:
    """An objective, a model and the batch of a step."""
    experiment, settings, size = SIZES[name]
    own = [text for text in settings if not text.startswith("facts=")]
    chosen = load_experiment(experiment, own)
    objective: Objective
    if experiment == "links":
        facts = int(settings[0].partition("=")[2])
        rng = np.random.default_rng(0)
        triples = np.unique(rng.integers(0, [facts // 5, 20, facts // 5], (facts, 3), dtype=np.int32), axis=0)
        names = tuple(map(str, range(facts // 5)))
        graph = Graph(names, tuple(f"r{r}" for r in range(20)), triples)
        objective = Rank(chosen.objective, Side(graph, triples[:9], triples[:0]))  # type: ignore[arg-type]
    else:
        objective = objective_of(chosen, 0)
    model = build(model_class(chosen.model), objective.outputs, chosen.model, 0)
    return objective, model.train(), next(iter(objective.batches(size, 0, 0)))


class Shortest(NamedTuple):
    """Of a step: seconds, processor seconds of this process, and the number of parameters."""

    seconds: float
    cpu: float
    parameters: int


def measure(member: Member, tell: object) -> Shortest:
    """The shortest of many steps: a job for workers, which run at once."""
    torch.set_num_threads(1)
    objective, model, batch = step_of(member.name)
    them = Alone() if member.size == 1 else Gloo(member.rank, member.size, f"file://{member.where}")
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    seconds, cpus, end, over = [], [], time.perf_counter() + member.seconds, False
    while not over or len(seconds) < LEAST:
        start, cpu = time.perf_counter(), time.process_time()
        them.gradient(objective, model, batch)
        optimiser.step()
        seconds.append(time.perf_counter() - start)
        cpus.append(time.process_time() - cpu)
        over = bool(them.same(float(time.perf_counter() > end)))  # the first one tells all when to end
    if member.size > 1:
        distributed.destroy_process_group()
    return Shortest(min(seconds[1:]), min(cpus[1:]), sum(p.numel() for p in model.parameters()))


def main() -> None:
    chosen = options(__doc__)
    seconds = 0.2 if chosen.quick else SECONDS
    figures: dict[str, dict[str, float]] = {}
    os.environ["PYTHONPATH"] = str(Path(__file__).parent)  # where workers find the job
    job = importlib.import_module("parallel")
    with workers_of("2") as workers, tempfile.TemporaryDirectory() as folder:
        for number, name in enumerate(SIZES if not chosen.quick else list(SIZES)[:1]):
            where = str(Path(folder) / f"meet{number}")
            (alone,) = run(workers, job.measure, [job.Member(name, 0, 1, "", seconds)]).all()
            both = run(workers, job.measure, [job.Member(name, rank, 2, where, seconds) for rank in range(2)]).all()
            together = max(one.seconds for one in both), max(one.cpu for one in both)
            figures[name] = {
                "parameters": alone.parameters,
                "alone_seconds": alone.seconds,
                "together_seconds": together[0],
                "alone_cpu_seconds": alone.cpu,
                "together_cpu_seconds": together[1],
                "load": os.getloadavg()[0],
            }
            print(f"  {name}: {alone.seconds:.4f} s alone, {together[0]:.4f} s by two", flush=True)
    save("parallel", figures, chosen)


if __name__ == "__main__":
    main()
