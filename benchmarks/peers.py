"""How long a training step of every model takes, beside EpiGNN's in plain torch, and how fast it answers.

A step has 128 RCC-8 graphs of 2 to 4 steps and 1 to 3 branches; what is answered has 9 steps and 3 branches. Every
model has its default settings, and all run one after the other in one process, on one thread, whose processor time
is told. How much of a step is products of matrices tells how much faster it could be on this machine.
"""

import time
from collections.abc import Iterator
from statistics import median
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.losses import cross_entropy
from epignn.models import LINKS_ALONE, MODELS, REFINED
from epignn.models.api import Batch, Model, build
from epignn.models.epignn import EpiGNN
from epignn.tasks.star import generated

from record import Options, options, save

BATCH, TOGETHER = 128, 256
"""Graphs of a training step, and graphs that are answered together at most."""
LONGEST = 10.0
"""Seconds that the graphs answered together may take; a slow model answers fewer together."""
PLAIN = "epignn, plain torch"


def problems(cells: list[tuple[int, int]], per_label: int) -> Dataset:
    """Graphs of some cells in a random order, so that batches are alike."""
    data = Dataset.concat([generated(load("rcc8"), k, b, per_label, 1) for k, b in cells])
    return data.select(np.random.default_rng(0).permutation(len(data)))


def models(relations: int) -> Iterator[tuple[str, Model]]:
    """EpiGNN in plain torch, which the others are compared with, and every model of the list."""
    plain = build(EpiGNN, relations, EpiGNN.Config(), 0)
    plain.backend = "plain"
    yield PLAIN, plain
    for name in MODELS.names():
        if name in LINKS_ALONE | REFINED:
            continue
        kind = MODELS.get(name)
        yield name, build(kind, relations, kind.Config(kind=name), 0)


def again_and_again(graphs: Batch, size: int) -> Iterator[Batch]:
    """Parts of at most so many graphs, without end."""
    while True:
        yield from graphs.chunks(size)


def step_figures(model: Model, graphs: Batch, seconds: float) -> dict[str, float]:
    """Median milliseconds of a training step, of all that fit into a time, and the products of matrices of one.

    The first steps, at most three, warm up.
    """
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.001, weight_decay=0.0, fused=True)
    model.train()

    def step(number: int) -> None:
        first = number * BATCH % len(graphs)
        batch = graphs.slice(first, first + BATCH)
        loss = cross_entropy(model.scores(batch), batch.label)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()

    taken: list[float] = []
    began = time.process_time()
    while len(taken) < 2 or time.process_time() - began < seconds:
        start = time.process_time()
        step(len(taken))
        taken.append((time.process_time() - start) * 1000)
    with FlopCounterMode(display=False) as counted:
        step(0)
    return {
        "step_milliseconds": median(taken[min(3, len(taken) // 2) :]),
        "step_gflop": counted.get_total_flops() / 1e9,
    }


def product_gflops() -> float:
    """What the machine reaches in one large product of matrices, GFLOP a second of one thread."""
    square = torch.rand(1024, 1024)
    taken = []
    for _ in range(8):
        start = time.process_time()
        square @ square
        taken.append(time.process_time() - start)
    return 2 * 1024**3 / min(taken) / 1e9


@torch.no_grad()
def answers(model: Model, graphs: Batch, seconds: float) -> float:
    """Graphs a second."""
    model.eval()
    start = time.process_time()
    model.scores(graphs.slice(0, 1))
    together = min(TOGETHER, max(1, int(LONGEST / (time.process_time() - start))))
    parts, done, start = again_and_again(graphs, together), 0, time.process_time()
    while not done or time.process_time() - start < seconds:
        part = next(parts)
        model.scores(part)
        done += len(part)
    return done / (time.process_time() - start)


def figures_of(model: Model, train: Dataset, test: Dataset, seconds: float) -> dict[str, Any]:
    """What is measured of a model; a model that cannot take the graphs says so."""
    kind, parameters = type(model), sum(p.numel() for p in model.parameters())
    found: dict[str, Any] = {"parameters": parameters}
    try:
        graphs, larger = kind.prepare(train, model.config), kind.prepare(test, model.config)
        if parameters:
            found |= step_figures(model, graphs, seconds)
        else:
            found["step"] = "no step: it learns by counting"
            with torch.no_grad():
                model.count(graphs.chunks(BATCH), 0)
        found["graphs_per_second"] = answers(model, larger, seconds)
    except BadArgument as refusal:
        found["refusal"] = str(refusal)
    return found


def line(name: str, found: dict[str, Any]) -> str:
    """The figures of a model, for people."""
    step, rate = found.get("step", ""), ""
    if "step_milliseconds" in found:
        step = f"{found['step_milliseconds']:9.1f} ms a step, {found['times_plain']:7.2f} times plain EpiGNN"
        step += f", {found['step_gflop']:7.2f} GFLOP, {100 * found['share_of_product']:3.0f} %"
    if "graphs_per_second" in found:
        rate = f"{found['graphs_per_second']:9,.0f} graphs a second"
    told = f"  {name:<20} {found['parameters']:9,} parameters {step:<70} {rate} {found.get('refusal', '')}"
    return told.rstrip()


def measure(chosen: Options) -> dict[str, dict[str, Any]]:
    """All figures, printed as they come."""
    seconds = 0.1 if chosen.quick else 5.0
    train = problems([(k, b) for k in (2, 3, 4) for b in (1, 2, 3)], 16)
    test = problems([(9, 3)], 8 if chosen.quick else 64)
    figures: dict[str, dict[str, Any]] = {}
    product = product_gflops()
    for name, model in models(len(train.relations)):
        found = figures[name] = figures_of(model, train, test, seconds)
        if "step_milliseconds" in found:
            found["times_plain"] = found["step_milliseconds"] / figures[PLAIN]["step_milliseconds"]
            speed = found["step_gflop"] / found["step_milliseconds"] * 1000
            found["share_of_product"] = speed / product
        print(line(name, found), flush=True)
    return figures


def main() -> None:
    chosen = options(__doc__)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    save("peers", measure(chosen), chosen)


if __name__ == "__main__":
    main()
