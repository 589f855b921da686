"""Training over several processes: each computes the gradient of its part of a step, and all take the same step.

The parts of a step are weighted by what they count in its loss, so that the gradient is that of the whole step, to
rounding. What a model draws at random in a pass (dropout) it draws for its part alone.
"""

import os
from datetime import timedelta
from typing import Any, Protocol

import torch
from torch import Tensor, distributed
from torch.distributed.rendezvous import rendezvous

from epignn.errors import BadArgument
from epignn.learn.objectives.api import Objective
from epignn.models.api import Model

PATIENCE = timedelta(minutes=30)
"""How long a process waits for the others: one validates while they wait."""


class Group(Protocol):
    """The processes that train a model together."""

    rank: int
    """Of this one; 0 validates and keeps the run."""

    def gradient(self, objective: Objective, model: Model, batch: Any) -> Tensor:
        """Compute the gradient of a step, and return its loss."""

    def same(self, value: float | None) -> float | None:
        """A value that the first process has, for all."""


class Alone:
    """One process."""

    rank = 0

    def gradient(self, objective: Objective, model: Model, batch: Any) -> Tensor:
        """Compute the gradient of a step, and return its loss."""
        model.zero_grad()
        loss = objective.loss(model, batch)
        loss.backward()  # type: ignore[no-untyped-call]
        return loss.detach()

    def same(self, value: float | None) -> float | None:
        """The value."""
        return value


class Gloo:
    """Processes of one or several machines, by torch's own means on CPUs."""

    def __init__(self, rank: int, size: int, where: str = "env://") -> None:
        self.rank, self.size = rank, size
        if distributed.is_initialized():  # by who started this process, as Ray Train does
            return
        store, rank, size = next(rendezvous(where, rank, size, timeout=PATIENCE))
        # All begin anew where one was killed. What the former ones wrote to the store is not for the new ones.
        attempt = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
        store = distributed.PrefixStore(f"attempt {attempt}", store)  # type: ignore[attr-defined]
        distributed.init_process_group("gloo", store=store, rank=rank, world_size=size, timeout=PATIENCE)

    def gradient(self, objective: Objective, model: Model, batch: Any) -> Tensor:
        """Compute the gradient of this part, add up all, and return the loss of the whole step."""
        model.zero_grad()
        part, share = objective.part(batch, self.rank, self.size)
        loss = torch.zeros(())
        if part is not None:
            loss = objective.loss(model, part)
            loss.backward()  # type: ignore[no-untyped-call]
        learnt = [p for p in model.parameters() if p.requires_grad]
        there = torch.tensor([float(p.grad is not None) for p in learnt])
        grads = [share * (torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in learnt]
        total = torch.cat([share * loss.detach().reshape(1), there, *grads])
        distributed.all_reduce(total)  # the same bits everywhere
        loss, there, rest = total[0], total[1 : len(learnt) + 1], total[len(learnt) + 1 :]
        sizes = [p.numel() for p in learnt]
        grads = [*rest.split(sizes)]  # type: ignore[no-untyped-call]
        for p, used, grad in zip(learnt, there.tolist(), grads, strict=True):
            p.grad = grad.view_as(p).clone() if used else None
        return loss

    def same(self, value: float | None) -> float | None:
        """The value of the first process."""
        told = torch.tensor([float("nan") if value is None else value], dtype=torch.float64)
        distributed.broadcast(told, 0)
        return None if told.isnan() else float(told)


def group() -> Group:
    """The group that torchrun or Ray Train has started this process in; alone, where neither has.

    Raises:
        BadArgument: this torch cannot talk to other processes.
    """
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1 or "RANK" not in os.environ:
        return Alone()
    if not distributed.is_available():
        raise BadArgument("this torch was built without torch.distributed; train in one process.")
    return Gloo(int(os.environ["RANK"]), size)
