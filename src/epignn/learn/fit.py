"""The training loop: the only one, for all models and objectives.

A killed run resumes to the same bits, on the same processor with the same versions: what is random depends on seed
and epoch alone, and everything else that changes is in the checkpoint.
"""

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from epignn.errors import BadFile, EpignnError
from epignn.learn.checkpoint import RunFolder
from epignn.learn.config import TrainConfig
from epignn.learn.fused import FusedSteps
from epignn.learn.group import Alone, Group
from epignn.learn.objectives.api import Objective
from epignn.models.api import Model

START = 1_000_003
"""How far the seeds of several starts are apart."""
COOLER, COOLINGS = 0.25, 2
"""What `plateau` multiplies the learning rate by when validation no longer rises, and how often it does."""


@dataclass(frozen=True)
class Epoch:
    """What is known after an epoch.

    Attributes:
        number, epochs: which one, counted through all starts, and how many there are at most.
        loss: mean over the steps.
        validation: the metric of the objective; None where nothing was held out.
        seconds: that it took.
        speed: units a second, `graphs` or `heads`.
        rate: the learning rate at its end.
        seconds_left: if all epochs are run.
    """

    number: int
    epochs: int
    loss: float
    validation: float | None
    seconds: float
    speed: float
    rate: float
    seconds_left: float


Doing = Callable[[str, int, int], None]
"""Called with what is done within an epoch, or before the first, how much of it is done, and all of it."""


class Diverged(EpignnError):
    """The loss is no longer a number."""


@dataclass
class _Progress:
    """What a run has reached.

    Attributes:
        start, epoch: the start that is trained, and its epochs that are done.
        best, metric: the best weights so far over all starts, and their validation; the latest among equals.
        reached, risen: the best validation of this start, and the epoch in which it last rose, or the rate fell.
        cooled: how often the learning rate of this start fell since validation did not rise.
    """

    start: int = 0
    epoch: int = 0
    best: dict[str, Tensor] | None = None
    metric: float = -math.inf
    reached: float = -math.inf
    risen: int = 0
    cooled: int = 0

    def stale(self, config: TrainConfig) -> bool:
        """Whether validation has not risen for too long."""
        return bool(config.patience) and self.epoch - self.risen >= config.patience

    def over(self, config: TrainConfig) -> bool:
        """Whether this start has had its epochs, or its validation has not risen for too long at any rate."""
        cools = config.schedule == "plateau" and self.cooled < COOLINGS
        return self.epoch >= config.epochs or (self.stale(config) and not cools)

    def take(self, reached: float | None, model: torch.nn.Module) -> None:
        """Count an epoch."""
        value = 0.0 if reached is None else reached
        self.epoch += 1
        if value > self.reached:
            self.reached, self.risen = value, self.epoch
        if value >= self.metric:
            self.metric = value
            self.best = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


def fit(
    make: Callable[[int], Model],
    objective: Objective,
    config: TrainConfig,
    *,
    seed: int,
    folder: RunFolder | None = None,
    device: torch.device | str = "cpu",
    report: Callable[[Epoch], None] | None = None,
    doing: Doing | None = None,
    group: Group | None = None,
) -> Model:
    """Train a model and return the one of the best validation, the latest among equals.

    Args:
        make: gives a model with the initial values of a seed.
        objective: what it learns.
        config: how.
        seed: of initial values, order and negatives.
        folder: where the run is kept; one that was interrupted there goes on.
        device: where the model is trained.
        report: called after every epoch.
        doing: called after every step.
        group: the processes that train it together; the first of them validates and keeps the run.

    Raises:
        Diverged: the loss became infinite or not a number; the folder keeps the last good weights.
    """
    run, them = _Progress(), group or Alone()
    state = None if folder is None else folder.load_state()
    trainer = _Trainer(make(seed).to(device), objective, config, them, doing, resumed=state is not None)
    if folder is not None and state is not None:
        try:
            run = _Progress(**state["run"], best={**state["model"], **state["best"]})
            trainer.load(state)
            trainer.cool(run.cooled)
        except (KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError) as error:
            told = str(error).partition("\n")[0][:200]
            raise BadFile(
                f"not the state of this run ({told}); choose another folder.", str(folder.path)
            ) from error
    epochs, began, ran = config.starts * config.epochs, time.perf_counter(), 0
    while True:
        if run.over(config):
            if run.start + 1 == config.starts:
                break
            run.start, run.epoch, run.reached, run.risen, run.cooled = run.start + 1, 0, -math.inf, 0, 0
            trainer = _Trainer(make(seed + run.start * START).to(device), objective, config, them, doing)
        number = run.start * config.epochs + run.epoch
        clock, cpu = time.perf_counter(), time.process_time()
        loss = trainer.epoch(seed, number)
        trainer.doing(f"epoch {number + 1}, validating", 0, 1)
        with torch.no_grad():
            reached = them.same(objective.validate(trainer.kept.eval()) if them.rank == 0 else None)
        trainer.kept.train()
        rate = trainer.rate
        run.take(reached, trainer.kept)
        if config.schedule == "plateau" and run.stale(config) and not run.over(config):
            run.cooled, run.risen = run.cooled + 1, run.epoch
            trainer.cool(run.cooled)
        now = time.perf_counter()
        if folder is not None and them.rank == 0:
            entry = {"epoch": number + 1, "loss": loss, "validation": reached, "learning_rate": rate}
            spent = {"seconds": round(now - clock, 3), "cpu_seconds": round(time.process_time() - cpu, 3)}
            folder.save_epoch(run.best or {}, {**entry, **spent}, _state(run, trainer))
        if report is not None and them.rank == 0:
            ran += 1
            left = (now - began) / ran * (epochs - number - 1)
            speed = len(objective) / (now - clock)
            report(Epoch(number + 1, epochs, loss, reached, now - clock, speed, rate, left))
    model = trainer.model
    model.load_state_dict(run.best or model.state_dict())
    return model.eval()


class _Trainer:
    """A model of one start, and what trains it: torch's AdamW, a schedule, and an average of the weights."""

    def __init__(
        self,
        model: Model,
        objective: Objective,
        config: TrainConfig,
        group: Group,
        doing: Doing | None,
        resumed: bool = False,
    ) -> None:
        self.model, self.objective, self.config, self.group = model.train(), objective, config, group
        self.doing: Doing = doing or (lambda what, done, total: None)
        self.steps = math.ceil(len(objective) / config.batch_size)
        self.counts = not any(p.requires_grad for p in model.parameters())
        if not self.counts and type(model).count is not Model.count and not resumed:  # what was counted is kept
            self.doing("counting", 0, 0)  # nobody knows how long it takes
            self._counted(0, 0)  # it learns with and without gradients
        parameters = [p for p in model.parameters() if p.requires_grad] or [torch.nn.Parameter(torch.zeros(0))]
        # One fused call a step; the default, a loop over tensors, takes three times as long for few small ones.
        self.optimiser = torch.optim.AdamW(
            parameters, lr=config.learning_rate, weight_decay=config.decay, fused=True
        )
        self.schedule: torch.optim.lr_scheduler.LRScheduler | None = None
        if config.schedule == "one_cycle":
            self.schedule = torch.optim.lr_scheduler.OneCycleLR(
                self.optimiser,
                max_lr=config.learning_rate,
                total_steps=max(self.steps * config.epochs, 2),
                cycle_momentum=False,
            )
        self.average = None
        if config.average:
            mean = get_ema_multi_avg_fn(config.average)  # type: ignore[no-untyped-call]
            self.average = AveragedModel(model, multi_avg_fn=mean)
        self.fused = FusedSteps.of(self.model, objective, self.optimiser, config, group)

    @property
    def kept(self) -> Any:
        """What is validated and kept: the average of the weights, or the weights themselves."""
        return self.model if self.average is None else self.average.module

    @property
    def rate(self) -> float:
        """The learning rate of the next step."""
        return float(self.optimiser.param_groups[0]["lr"])

    def cool(self, times: int) -> None:
        """Lower a constant learning rate, so many times in all."""
        if self.config.schedule == "plateau":
            for group in self.optimiser.param_groups:
                group["lr"] = self.config.learning_rate * COOLER**times

    def epoch(self, seed: int, number: int) -> float:
        """One pass over the training data; returns the mean loss. What a model draws depends on the epoch, too."""
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed * 100_003 + number)
            return self._counted(seed, number) if self.counts else self._steps(seed, number)

    def _counted(self, seed: int, number: int) -> float:
        """A pass of a model that learns without gradients."""
        graphs = (batch.graphs for batch in self.objective.batches(self.config.batch_size, seed, number))
        with torch.no_grad():
            return self.model.count(graphs, number)

    def _steps(self, seed: int, number: int) -> float:
        total, steps = torch.zeros((), device=self.model.device), 0
        taken = self._plain_steps if self.fused is None else self.fused.steps
        for loss in taken(seed, number):
            if self.schedule is not None and self.schedule.last_epoch + 1 < self.steps * self.config.epochs:
                self.schedule.step()
            if self.average is not None:
                self.average.update_parameters(self.model)
            total += loss
            steps += 1
            self.doing(f"epoch {number + 1}, step", steps, self.steps)
        mean = float(total) / max(steps, 1)
        if not math.isfinite(mean) or not all(torch.isfinite(p).all() for p in self.model.parameters()):
            raise Diverged(
                f"training diverged in epoch {number + 1}: the loss is {mean}. The best weights before it, if any, "
                "are kept; try a smaller training.learning_rate, or training.clip=1."
            )
        return mean

    def _plain_steps(self, seed: int, number: int) -> Iterator[Tensor]:
        """Take the steps of an epoch, and give the loss of each."""
        for batch in self.objective.batches(self.config.batch_size, seed, number):
            loss = self.group.gradient(self.objective, self.model, batch)
            if self.config.clip:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), self.config.clip)
            self.optimiser.step()
            yield loss

    def state(self) -> dict[str, Any]:
        """Everything that changes, as nested dictionaries."""
        return {
            "model": self.model.state_dict(),
            "optimiser": self.optimiser.state_dict()["state"],
            "schedule": {} if self.schedule is None else {"steps": self.schedule.last_epoch, "rate": self.rate},
            "average": {} if self.average is None else self.average.state_dict(),
        }

    def load(self, state: dict[str, Any]) -> None:
        """Take up what `state` gave."""
        self.model.load_state_dict(state["model"])
        moments = {int(number): value for number, value in state["optimiser"].items()}
        self.optimiser.load_state_dict({**self.optimiser.state_dict(), "state": moments})
        if self.schedule is not None:
            self.schedule.last_epoch = int(state["schedule"]["steps"])
            for group in self.optimiser.param_groups:
                group["lr"] = float(state["schedule"]["rate"])
        if self.average is not None:
            self.average.load_state_dict(state["average"])


def _state(run: _Progress, trainer: _Trainer) -> dict[str, Any]:
    """All that a run goes on from; of the best weights, those that are not the present ones."""
    numbers = {key: value for key, value in vars(run).items() if key != "best"}
    state = trainer.state()
    now = state["model"]
    best = {name: value for name, value in (run.best or {}).items() if not torch.equal(value, now[name])}
    return {"run": numbers, "best": best, **state}
