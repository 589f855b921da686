"""How fast the model trains and answers: compiled kernels beside plain torch, in one run.

    python benchmarks/model.py

The published code took 105 to 120 ms of CPU for the same training step, on a machine of the kind used here.
"""

import time
from itertools import pairwise

import torch

from epignn.bench.collate import collate, labels
from epignn.bench.config import TrainConfig, load_experiment
from epignn.bench.evaluate import scores
from epignn.bench.sources import generated, split, training_data
from epignn.bench.train import _Adam
from epignn.calculus import load
from epignn.data.prepare import prepare
from epignn.models import losses
from epignn.models.epignn import EpiGNN

from record import save

PUBLISHED_STEP_MS = 105.0


def step_times(model: EpiGNN, graphs, backend: str, steps: int) -> dict[str, float]:
    """Milliseconds of each part of a training step of 128 graphs."""
    optimiser = _Adam(list(model.parameters()), TrainConfig())
    spent = dict.fromkeys(("pack", "forward", "backward", "update"), 0.0)
    for step in range(-3, steps):
        at = [time.perf_counter()]
        part = graphs.slice((step % 100) * 128, (step % 100) * 128 + 128)
        batch, label = collate(part), labels(part)
        at.append(time.perf_counter())
        loss = losses.margin(model(batch, backend), label, 4.0)
        at.append(time.perf_counter())
        optimiser.zero_grad()
        loss.backward()
        at.append(time.perf_counter())
        optimiser.step(0.01)
        at.append(time.perf_counter())
        if step >= 0:
            for name, (before, after) in zip(spent, pairwise(at), strict=True):
                spent[name] += (after - before) / steps * 1000
    return spent


def main() -> None:
    torch.set_num_threads(1)
    experiment = load_experiment("rcc8-paper")
    graphs, _ = split(training_data(experiment.data), experiment.data, experiment.model, 0)
    model = EpiGNN(8, experiment.model, torch.Generator().manual_seed(0))
    figures = {}
    for backend, steps in (("native", 300), ("numpy", 30)):
        spent = step_times(model, graphs, backend, steps)
        total = sum(spent.values())
        shares = ", ".join(f"{name} {value / total:.0%}" for name, value in spent.items())
        kernels = "compiled kernels" if backend == "native" else "plain torch"
        print(f"  training step, {kernels}: {total:.2f} ms ({shares})")
        figures[f"step_{backend}"] = {"milliseconds": total, **spent}
    native, plain = figures["step_native"]["milliseconds"], figures["step_numpy"]["milliseconds"]
    figures["step_published"] = {"milliseconds": PUBLISHED_STEP_MS}
    published = PUBLISHED_STEP_MS / native
    print(f"  plain torch / compiled: {plain / native:.1f}; published code / compiled: {published:.0f}")
    large = prepare(generated(load("rcc8"), 9, 3, 300, 3))
    start = time.perf_counter()
    scores(model, large, batch_size=256)
    rate = len(large) / (time.perf_counter() - start)
    print(f"  inference at k=9, b=3: {rate:,.0f} graphs a second")
    figures["inference_k9_b3"] = {"graphs_per_second": rate}
    save("model", figures)


main()
