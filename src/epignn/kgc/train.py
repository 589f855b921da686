"""Training for link prediction. A killed run resumes to the same bits: randomness depends on seed and epoch."""

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from epignn.data.graph import both_sides
from epignn.errors import BadArgument
from epignn.kernels import Backend
from epignn.kgc.config import KgcExperiment, KgcModel, KgcTraining
from epignn.kgc.evaluate import ModelScorer, full_ranks, matrices
from epignn.kgc.heads import head_states
from epignn.kgc.rank import METRICS
from epignn.kgc.sample import Asked, Sampler
from epignn.kgc.splits import Side
from epignn.kgc.store import RunConfig, is_run, load_config, save_config
from epignn.learn.checkpoint import HISTORY, STATE, WEIGHTS, load_tensors, restore, save_tensors, write_text
from epignn.learn.fit import Diverged
from epignn.models.epignn import EpiGNN

VALIDATION_SEED = 1
"""Which validation triples are ranked after an epoch, where there are more than `validation_triples`."""


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch."""

    number: int
    epochs: int
    loss: float
    validation: float
    seconds: float
    heads_per_second: float
    seconds_left: float


@dataclass
class _Run:
    """Everything that changes while a model is trained, and that a resumed run needs."""

    model: EpiGNN
    optimiser: torch.optim.AdamW
    best: dict[str, Tensor] = field(default_factory=dict)
    best_metric: float = -1.0
    risen: int = 0  # the epoch in which the validation metric last rose
    done: int = 0


def fit(
    experiment: KgcExperiment,
    side: Side,
    seed: int,
    out: Path | None = None,
    report: Callable[[Epoch], None] | None = None,
    backend: Backend = "auto",
) -> EpiGNN:
    """Train on a graph's facts and return the model of the best validation metric, the latest among equals.

    Args:
        experiment: model and training.
        side: facts to learn from; its `valid` triples choose the epoch. Its test triples are not read.
        seed: of initial values, order of heads, questions and negatives.
        out: a run folder: weights, config, history and the state to resume from.
        report: called after every epoch.
        backend: which kernels serve.

    Raises:
        BadArgument: there are no validation triples, or `out` holds another run.
        Diverged: the loss became infinite or not a number; `out` keeps the last good weights.
    """
    config, graph = experiment.training, side.graph
    if not len(side.valid):
        raise BadArgument(
            "there are no validation triples to choose the epoch by: add a valid.txt to the folder, or train on "
            "its train.txt alone, of which some triples are then held out."
        )
    run = _start(experiment, side, seed, out)
    sampler = Sampler(graph, config.share, config.negatives, config.thin)
    validate = _validation(side, config, backend)
    started, before = time.perf_counter(), run.done
    while run.done < config.epochs and not _stale(run, config):
        begun, cpu = time.perf_counter(), time.process_time()
        loss = _epoch(run, config, sampler, seed, backend)
        reached = validate(run.model)
        run.done += 1
        if reached > run.best_metric:
            run.risen = run.done
        if reached >= run.best_metric:
            run.best_metric = reached
            run.best = {name: value.detach().clone() for name, value in run.model.state_dict().items()}
        now = time.perf_counter()
        if out is not None:
            spent = {"seconds": round(now - begun, 3), "cpu_seconds": round(time.process_time() - cpu, 3)}
            _save(out, run, {"epoch": run.done, "loss": loss, "validation": reached, **spent})
        if report is not None:
            left = (now - started) / (run.done - before) * (config.epochs - run.done)
            speed = len(sampler.heads) / (now - begun)
            report(Epoch(run.done, config.epochs, loss, reached, now - begun, speed, left))
    run.model.load_state_dict(run.best)
    return run.model.eval()


def _stale(run: _Run, config: KgcTraining) -> bool:
    """Whether the validation metric has not risen for too long."""
    return bool(config.patience) and run.done - run.risen >= config.patience


def _validation(side: Side, config: KgcTraining, backend: Backend) -> Callable[[EpiGNN], float]:
    """The metric of a model on the validation triples, ranked among all entities."""
    chosen = np.random.default_rng(VALIDATION_SEED).permutation(len(side.valid))[: config.validation_triples]
    questions = both_sides(side.valid[np.sort(chosen)], len(side.graph.relations))
    known = side.known()

    def validate(model: EpiGNN) -> float:
        return METRICS[config.metric](full_ranks(questions, ModelScorer(model, side.graph, backend), known))

    return validate


def _epoch(run: _Run, config: KgcTraining, sampler: Sampler, seed: int, backend: Backend) -> float:
    """One pass over all heads in a random order; returns the mean loss."""
    rng = np.random.default_rng([seed, run.done])
    heads = rng.permutation(sampler.heads)
    steps = math.ceil(len(heads) / config.batch_size)
    total = 0.0
    for step in range(steps):
        asked = sampler.ask(heads[step * config.batch_size : (step + 1) * config.batch_size], rng)
        loss = step_loss(run.model, asked, config, backend)
        run.optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if config.clip:
            torch.nn.utils.clip_grad_norm_(run.model.parameters(), config.clip)
        for group in run.optimiser.param_groups:
            group["lr"] = _rate(config, run.done * steps + step, config.epochs * steps)
        run.optimiser.step()
        total += float(loss.detach())
    mean = total / steps
    if not math.isfinite(mean) or not all(torch.isfinite(p).all() for p in run.model.parameters()):
        raise Diverged(
            f"training diverged in epoch {run.done + 1}: the loss is {mean}. The last good weights are kept; try a "
            "smaller training.learning_rate, or training.clip=1."
        )
    return mean


def step_loss(model: EpiGNN, asked: Asked, config: KgcTraining, backend: Backend = "auto") -> Tensor:
    """The loss of a step's questions: each answer against the negatives of its head."""
    assert isinstance(model.config, KgcModel)
    states = head_states(asked.edges, matrices(model), asked.batch, model.config.passing, backend)
    row, relation = torch.from_numpy(asked.row), torch.from_numpy(asked.relation)[:, None]
    scores = model.scores(states)[row, relation]  # (Q, 1 + S), the answer first
    allowed = torch.from_numpy(asked.allowed)
    if config.loss == "margin":
        gaps = (scores[:, :1] - scores[:, 1:] + config.margin).clamp_min(0)
        return (gaps * allowed[:, 1:]).sum() / allowed[:, 1:].sum().clamp_min(1)
    logits = (-scores / config.temperature).masked_fill(~allowed, -torch.inf)
    return (logits.logsumexp(1) - logits[:, 0]).mean()


def _rate(config: KgcTraining, step: int, steps: int) -> float:
    """The learning rate of a step: constant, or up for three tenths of the steps and then down to nothing."""
    if config.schedule == "constant":
        return config.learning_rate
    rise, low = 0.3 * steps, config.learning_rate / 25
    if step < rise:
        return low + (config.learning_rate - low) * (1 - math.cos(math.pi * step / rise)) / 2
    return config.learning_rate * (1 + math.cos(math.pi * (step - rise) / (steps - rise))) / 2


# -- runs on disk --


def _start(experiment: KgcExperiment, side: Side, seed: int, out: Path | None) -> _Run:
    """A new run, or one that was interrupted."""
    relations = side.graph.relations
    model = EpiGNN(2 * len(relations), experiment.model, torch.Generator().manual_seed(seed))
    optimiser = torch.optim.AdamW(model.parameters(), weight_decay=experiment.training.decay)
    run = _Run(model, optimiser)
    if out is None:
        return run
    out.mkdir(parents=True, exist_ok=True)
    this = RunConfig(experiment, relations, seed, {}, side.digest())
    if (out / STATE).exists():
        there = load_config(out) if is_run(str(out)) else None
        if there is None or not _same(there, this):
            raise BadArgument(f"{out} holds another run (other settings, data or seed); choose another folder.")
        _resume(out, run)
    else:
        save_config(out, this)
    return run


def _same(there: RunConfig, this: RunConfig) -> bool:
    """Whether two runs are one; what a run without a digest was trained on is not known."""
    known = [(c.experiment, c.relations, c.seed, c.digest if there.digest else "") for c in (there, this)]
    return known[0] == known[1]


def _save(out: Path, run: _Run, entry: dict[str, float]) -> None:
    """Write what an epoch gave; the state last, so that a run killed in between repeats the epoch."""
    save_tensors(out / WEIGHTS, run.best)
    history = [known for known in read_history(out) if known["epoch"] < entry["epoch"]]
    write_text(out / HISTORY, json.dumps([*history, entry]) + "\n")
    state = {f"model.{name}": value for name, value in run.model.state_dict().items()}
    state |= {f"best.{name}": value for name, value in run.best.items()}
    for number, moments in run.optimiser.state_dict()["state"].items():
        state |= {f"adam.{number}.{name}": value for name, value in moments.items()}
    numbers = [run.best_metric, run.risen, run.done]
    save_tensors(out / STATE, state | {"numbers": torch.tensor(numbers, dtype=torch.float64)})


def _resume(out: Path, run: _Run) -> None:
    """Take up an interrupted run."""
    state = load_tensors(out / STATE)

    def part(prefix: str) -> dict[str, Tensor]:
        return {k.removeprefix(prefix): v for k, v in state.items() if k.startswith(prefix)}

    restore(run.model, part("model."), out / STATE)
    run.best = part("best.")
    moments: dict[int, dict[str, Tensor]] = {}
    for key, value in part("adam.").items():
        number, _, name = key.partition(".")
        moments.setdefault(int(number), {})[name] = value
    run.optimiser.load_state_dict({**run.optimiser.state_dict(), "state": moments})
    best_metric, risen, done = state["numbers"].tolist()
    run.best_metric, run.risen, run.done = best_metric, int(risen), int(done)


def read_history(out: Path) -> list[dict[str, float]]:
    """Loss, validation metric, seconds and processor seconds of every epoch of a run, over all its resumptions."""
    path = out / HISTORY
    history: list[dict[str, float]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return history
