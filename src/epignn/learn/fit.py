"""The training loop, plain. A killed run resumes to the same bits: randomness depends on seed and epoch alone."""

import copy
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from epignn.data.prepare import Prepared, repath
from epignn.errors import BadArgument, EpignnError
from epignn.kernels import Backend
from epignn.learn.checkpoint import (
    HISTORY,
    STATE,
    WEIGHTS,
    load_config,
    load_tensors,
    make_folder,
    restore,
    save_config,
    save_tensors,
    write_text,
)
from epignn.learn.collate import Graphs, collate, labels
from epignn.learn.config import Experiment, TrainConfig
from epignn.learn.evaluate import accuracy
from epignn.models import losses
from epignn.models.epignn import EpiGNN


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch."""

    number: int
    epochs: int
    loss: float
    validation: float
    seconds: float
    graphs_per_second: float
    seconds_left: float


class Diverged(EpignnError):
    """The loss is no longer a number."""


def fit(
    experiment: Experiment,
    train: Graphs,
    validation: Graphs,
    seed: int,
    out: Path | None = None,
    report: Callable[[Epoch], None] | None = None,
    backend: Backend = "auto",
) -> EpiGNN:
    """Train a model and return the one of the best validation accuracy, the latest among equals.

    Args:
        experiment: model and training; its data section is taken as done.
        train: prepared graphs to learn from.
        validation: prepared graphs that choose the epoch.
        seed: of initial values, order of graphs and negative examples.
        out: a run folder: weights, config and the state to resume from. A run that was interrupted there goes on.
        report: called after every epoch.
        backend: which kernels serve.

    Raises:
        Diverged: the loss became infinite or not a number; `out` keeps the last good weights.
    """
    config = experiment.training
    model, optimiser, average = _start(experiment, len(train.relations), seed, 0)
    best: dict[str, Tensor] = {}
    best_accuracy, done = -1.0, 0
    if out is not None:
        make_folder(out)
        if (out / STATE).exists():
            best, best_accuracy, done = _resume(out, experiment, train.relations, seed, model, optimiser, average)
        else:
            save_config(out, experiment, train.relations, seed, {})
    steps = math.ceil(len(train) / config.batch_size)
    started, epochs = time.perf_counter(), config.starts * config.epochs
    for epoch in range(done, epochs):
        if epoch and epoch % config.epochs == 0:
            model, optimiser, average = _start(experiment, len(train.relations), seed, epoch // config.epochs)
        begun, begun_cpu = time.perf_counter(), time.process_time()
        loss = _epoch(model, optimiser, average, config, train, seed, epoch, steps, backend)
        reached = accuracy(average.model, validation, backend=backend) if len(validation) else 1.0
        if reached >= best_accuracy:
            best_accuracy = reached
            best = {name: value.detach().clone() for name, value in average.model.state_dict().items()}
        now = time.perf_counter()
        seconds = now - begun
        if out is not None:
            save_tensors(out / WEIGHTS, best)
            _append_history(
                out,
                {
                    "epoch": epoch + 1,
                    "loss": loss,
                    "validation": reached,
                    "seconds": round(seconds, 3),
                    "cpu_seconds": round(time.process_time() - begun_cpu, 3),
                },
            )
            save_tensors(out / STATE, _state(model, optimiser, average, best, best_accuracy, epoch + 1))
        if report is not None:
            left = (now - started) / (epoch + 1 - done) * (epochs - epoch - 1)
            report(Epoch(epoch + 1, epochs, loss, reached, seconds, len(train) / seconds, left))
    model.load_state_dict(best)
    return model.eval()


def _start(experiment: Experiment, relations: int, seed: int, start: int) -> "tuple[EpiGNN, _Adam, _Average]":
    """A model with the initial values of a start, and what trains it."""
    generator = torch.Generator().manual_seed(seed + start * 1_000_003)
    model, config = EpiGNN(relations, experiment.model, generator), experiment.training
    return model, _Adam(list(model.parameters()), config), _Average(model, config.average)


def read_history(out: Path) -> list[dict[str, float]]:
    """Loss, validation accuracy and seconds of every epoch of a run, over all its resumptions."""
    path = out / HISTORY
    history: list[dict[str, float]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return history


def _append_history(out: Path, entry: dict[str, float]) -> None:
    """Add an epoch; one that was recorded before the run was killed, and is run again, replaces itself."""
    history = [known for known in read_history(out) if known["epoch"] < entry["epoch"]]
    write_text(out / HISTORY, json.dumps([*history, entry]) + "\n")


def _epoch(
    model: EpiGNN,
    optimiser: "_Adam",
    average: "_Average",
    config: TrainConfig,
    train: Graphs,
    seed: int,
    epoch: int,
    steps: int,
    backend: Backend,
) -> float:
    """One pass over the training graphs in a random order; returns the mean loss."""
    rng = np.random.default_rng([seed, epoch])
    shuffled = train.select(rng.permutation(len(train)))
    if config.random_path and isinstance(shuffled, Prepared):
        shuffled = repath(shuffled, rng)
    negatives = torch.Generator().manual_seed(seed * 100_003 + epoch)
    total = torch.zeros(())
    for step in range(steps):
        graphs = shuffled.slice(step * config.batch_size, min((step + 1) * config.batch_size, len(train)))
        scores = model(collate(graphs), backend)
        if config.loss == "margin":
            loss = losses.margin(scores, labels(graphs), config.margin, negatives)
        else:
            loss = losses.cross_entropy(scores, labels(graphs), config.temperature)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimiser.step(rate_at(config, epoch % config.epochs * steps + step, config.epochs * steps))
        average.follow(model)
        total += loss.detach()
    mean = float(total) / steps
    if not math.isfinite(mean) or not all(torch.isfinite(p).all() for p in model.parameters()):
        raise Diverged(
            f"training diverged in epoch {epoch + 1}: the loss is {mean}. The best weights before it, if any, "
            "are kept; try a smaller training.learning_rate, or training.clip=1."
        )
    return mean


def rate_at(config: TrainConfig, step: int, steps: int) -> float:
    """The learning rate of a step."""
    if config.schedule == "constant":
        return config.learning_rate
    rise = 0.3 * steps
    if step < rise:
        low = config.learning_rate / 25
        return low + (config.learning_rate - low) * (1 - math.cos(math.pi * step / rise)) / 2
    return config.learning_rate * (1 + math.cos(math.pi * (step - rise) / (steps - rise))) / 2


class _Adam:
    """Adam with decoupled weight decay over few small tensors, as one flat vector."""

    def __init__(self, parameters: list[torch.nn.Parameter], config: TrainConfig) -> None:
        self.parameters, self.config = parameters, config
        size = sum(p.numel() for p in parameters)
        self.first, self.second, self.steps = torch.zeros(size), torch.zeros(size), 0

    def zero_grad(self) -> None:
        for parameter in self.parameters:
            parameter.grad = None

    @torch.no_grad()
    def step(self, rate: float) -> None:
        grad = torch.cat([p.grad.flatten() for p in self.parameters if p.grad is not None])
        if self.config.clip:
            grad *= min(1.0, self.config.clip / (float(grad.norm()) + 1e-12))
        self.steps += 1
        self.first.lerp_(grad, 0.1)
        self.second.mul_(0.999).addcmul_(grad, grad, value=0.001)
        spread = (self.second / (1 - 0.999**self.steps)).sqrt_().add_(1e-8)
        move = self.first / spread * (-rate / (1 - 0.9**self.steps))
        at = 0
        for parameter in self.parameters:
            part = move[at : at + parameter.numel()].view_as(parameter)
            parameter.mul_(1 - rate * self.config.decay).add_(part)
            at += parameter.numel()


class _Average:
    """A moving average of the weights, which is what is kept; with decay 0 it is the weights themselves."""

    def __init__(self, model: EpiGNN, decay: float) -> None:
        self.decay = decay
        self.model = copy.deepcopy(model) if decay else model

    @torch.no_grad()
    def follow(self, model: EpiGNN) -> None:
        if self.decay:
            for mean, value in zip(self.model.parameters(), model.parameters(), strict=True):
                mean.lerp_(value, 1 - self.decay)


def _state(
    model: EpiGNN,
    optimiser: _Adam,
    average: _Average,
    best: dict[str, Tensor],
    best_accuracy: float,
    epochs: int,
) -> dict[str, Tensor]:
    """Everything a resumed run needs."""
    state = {f"model.{name}": value for name, value in model.state_dict().items()}
    if average.decay:
        state |= {f"average.{name}": value for name, value in average.model.state_dict().items()}
    state |= {f"best.{name}": value for name, value in best.items()}
    numbers = torch.tensor([best_accuracy, epochs, optimiser.steps], dtype=torch.float64)
    return state | {"adam.first": optimiser.first, "adam.second": optimiser.second, "numbers": numbers}


def _resume(
    out: Path,
    experiment: Experiment,
    relations: tuple[str, ...],
    seed: int,
    model: EpiGNN,
    optimiser: _Adam,
    average: _Average,
) -> tuple[dict[str, Tensor], float, int]:
    """Take up an interrupted run."""
    there, known, its_seed, _ = load_config(out)
    if (there, known, its_seed) != (experiment, relations, seed):
        raise BadArgument(f"{out} holds another run (other settings, data or seed); choose another folder.")
    state = load_tensors(out / STATE)

    def part(name: str) -> dict[str, Tensor]:
        return {key.removeprefix(name): value for key, value in state.items() if key.startswith(name)}

    restore(model, part("model."), out / STATE)
    if average.decay:
        restore(average.model, part("average."), out / STATE)
    best = part("best.")
    optimiser.first, optimiser.second = state["adam.first"], state["adam.second"]
    best_accuracy, done, steps = state["numbers"].tolist()
    optimiser.steps = int(steps)
    return best, best_accuracy, int(done)
