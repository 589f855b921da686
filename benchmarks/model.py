"""How fast the model trains and answers: compiled kernels beside plain torch, in one run, by processor time.

The published code took 105 to 120 ms of CPU for the same training step, and 52 s and 1.2 GB for an epoch of 57,600
graphs, on a machine of the kind used here.
"""

import resource
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count, pairwise
from statistics import median

import torch

from epignn.calculus import load
from epignn.kernels import kernels
from epignn.learn import losses
from epignn.learn.config import Experiment, load_experiment
from epignn.learn.evaluate import scores
from epignn.learn.fit import Epoch
from epignn.learn.fused import FusedSteps
from epignn.learn.group import Alone
from epignn.learn.objectives.classify import Classify
from epignn.learn.run import objective_of, train
from epignn.models.api import build
from epignn.models.batch import GraphBatch
from epignn.models.epignn import EpiGNN
from epignn.models.prepare import prepare
from epignn.tasks.star import generated

from record import Options, options, save

PUBLISHED_STEP_MS, PUBLISHED_EPOCH_S, PUBLISHED_PEAK_MB = 105.0, 52.0, 1200.0
BATCH = 128
STAGES = ("packing", "model", "scores and loss", "model, backward", "optimiser")


@contextmanager
def kernel_times() -> Iterator[dict[str, float]]:
    """Milliseconds spent inside each compiled function of the model while this is open."""
    module = kernels("compiled")
    spent: dict[str, float] = defaultdict(float)
    names = [name for name in vars(module) if name.startswith(("propagate_", "aggregate_"))]
    originals = {name: getattr(module, name) for name in names}

    def timed(name: str):
        def call(*arguments):
            start = time.process_time()
            result = originals[name](*arguments)
            spent[name] += (time.process_time() - start) * 1000
            return result

        return call

    for name in names:
        setattr(module, name, timed(name))
    try:
        yield spent
    finally:
        for name in names:
            setattr(module, name, originals[name])


def step_stages(
    model: EpiGNN, optimiser: torch.optim.Optimizer, graphs: GraphBatch, first: int, backend: str
) -> list[float]:
    """Milliseconds of the stages of one training step.

    Gradients go back in two stages, from the loss to states and from states to weights: the same numbers.
    """
    model.backend = backend
    at = [time.process_time()]
    batch = graphs.slice(first, first + BATCH)
    other = (batch.label + torch.randint(1, 8, batch.label.shape)) % 8
    at.append(time.process_time())
    algebra = model.algebra()
    states = model.predictions(batch, algebra)
    at.append(time.process_time())
    optimiser.zero_grad()
    leaf = states.detach().requires_grad_()
    found = model.state_scores(leaf)
    right, wrong = (found.gather(1, relation[:, None]) for relation in (batch.label, other))
    losses.margin(right.squeeze(1), wrong, 4.0).backward()
    at.append(time.process_time())
    states.backward(leaf.grad)
    at.append(time.process_time())
    optimiser.step()
    at.append(time.process_time())
    return [(after - before) * 1000 for before, after in pairwise(at)]


def adam(model: EpiGNN) -> torch.optim.Optimizer:
    """As the training loop has it."""
    return torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.0, fused=True)


def fused_step(experiment: Experiment, objective: Classify, number: int) -> dict[str, float]:
    """Median milliseconds of a training step in one call of the kernels, as users have it; the first warm up."""
    model = build(EpiGNN, objective.outputs, experiment.model, 0)
    fused = FusedSteps.of(model, objective, adam(model), experiment.training, Alone())
    assert fused is not None
    steps = (loss for epoch in count() for loss in fused.steps(0, epoch))
    taken = []
    for _ in range(number + 3):
        start = time.process_time()
        next(steps)
        taken.append((time.process_time() - start) * 1000)
    return {"milliseconds": median(taken[3:])}


def step(model: EpiGNN, graphs: GraphBatch, backend: str, number: int) -> dict[str, float]:
    """Median milliseconds of a training step of the plain loop; the first ones warm up."""
    optimiser, batches = adam(model), len(graphs) // BATCH
    taken = [sum(step_stages(model, optimiser, graphs, i % batches * BATCH, backend)) for i in range(number + 3)]
    return {"milliseconds": median(taken[3:])}


def profile(model: EpiGNN, graphs: GraphBatch, number: int) -> dict[str, float]:
    """Mean milliseconds of what a step of the plain loop consists of, kernels apart from what surrounds them."""
    optimiser = adam(model)
    total = dict.fromkeys(STAGES, 0.0)
    with kernel_times() as inside:
        for i in range(number):
            stages = step_stages(model, optimiser, graphs, i * BATCH, "compiled")
            for stage, milliseconds in zip(STAGES, stages, strict=True):
                total[stage] += milliseconds
    kernel = {
        "propagation": inside["propagate_float"],
        "propagation, backward": inside["propagate_back_float"],
        "aggregation": inside["aggregate_float"] + inside["aggregate_back_float"],
    }
    around = total["model"] + total["model, backward"] - sum(kernel.values())
    parts = {
        **kernel,
        "tables of relations and torch's overhead": around,
        **{stage: total[stage] for stage in ("scores and loss", "optimiser", "packing")},
    }
    return {name: milliseconds / number for name, milliseconds in parts.items()}


def epoch(experiment: Experiment, objective: Classify) -> dict[str, float]:
    """Seconds of an epoch over all graphs, the better of two, and the largest memory the process ever had."""
    at: list[float] = []
    short = replace(experiment, training=replace(experiment.training, epochs=2))

    def keep(done: Epoch) -> None:
        at.append(time.process_time())

    at.append(time.process_time())
    train(short, objective, seed=0, report=keep)
    seconds = [after - before for before, after in pairwise(at)]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"graphs": len(objective), "seconds": min(seconds), "peak_mb": peak}


def inference(model: EpiGNN, per_label: int) -> dict[str, float]:
    """Graphs a second at k = 9, b = 3, the best of three."""
    large = prepare(generated(load("rcc8"), 9, 3, per_label, 3))
    seconds = []
    for _ in range(3):
        start = time.process_time()
        scores(model, large, batch_size=256)
        seconds.append(time.process_time() - start)
    return {"graphs_per_second": len(large) / min(seconds)}


def measure(chosen: Options) -> dict[str, dict[str, float]]:
    """All figures, printed as they come."""
    experiment = load_experiment("rcc8-paper", ["data.validation=0"] + ["data.per_label=80"] * chosen.quick)
    start = time.process_time()
    objective = objective_of(experiment, 0)
    assert isinstance(objective, Classify)
    graphs = objective.train
    figures = {"data": {"graphs": len(graphs), "seconds": time.process_time() - start}}
    print(f"  generating and preparing {len(graphs):,} graphs: {figures['data']['seconds']:.1f} s")
    figures["epoch"] = epoch(experiment, objective)
    seconds, peak, epochs = figures["epoch"]["seconds"], figures["epoch"]["peak_mb"], experiment.training.epochs
    print(
        f"  an epoch of them: {seconds:.2f} s, so {seconds * epochs:.0f} s for the paper's {epochs}; peak memory "
        f"{peak:.0f} MB (published code: {PUBLISHED_EPOCH_S:.0f} s an epoch, {PUBLISHED_PEAK_MB:.0f} MB)"
    )
    figures["epoch_published"] = {"seconds": PUBLISHED_EPOCH_S, "peak_mb": PUBLISHED_PEAK_MB}
    model = build(EpiGNN, 8, experiment.model, 0)
    figures["step_fused"] = fused_step(experiment, objective, 30 if chosen.quick else 1000)
    figures["step_native"] = step(model, graphs, "compiled", 30 if chosen.quick else 300)
    figures["step_numpy"] = step(model, graphs, "plain", 5 if chosen.quick else 30)
    fused, native, plain = (figures[f"step_{way}"]["milliseconds"] for way in ("fused", "native", "numpy"))
    figures["step_fused"]["of_native"] = fused / native
    figures["step_published"] = {"milliseconds": PUBLISHED_STEP_MS}
    print(
        f"  a training step of {BATCH} graphs: {fused:.2f} ms in one call; by kernels between which torch works "
        f"{native:.2f} ms, {native / fused:.1f} times; plain torch {plain:.0f} ms, {plain / fused:.0f} times; "
        f"published code {PUBLISHED_STEP_MS:.0f} ms, {PUBLISHED_STEP_MS / fused:.0f} times"
    )
    figures["profile"] = profile(model, graphs, 30 if chosen.quick else 300)
    whole = sum(figures["profile"].values())
    for name, milliseconds in figures["profile"].items():
        print(f"    {name:<41} {milliseconds:6.2f} ms {milliseconds / whole:5.0%}")
    figures["inference_k9_b3"] = inference(model, 30 if chosen.quick else 300)
    print(f"  inference at k=9, b=3: {figures['inference_k9_b3']['graphs_per_second']:,.0f} graphs a second")
    return figures


def main() -> None:
    chosen = options(__doc__)
    torch.set_num_threads(1)
    save("model", measure(chosen), chosen)


if __name__ == "__main__":
    main()
