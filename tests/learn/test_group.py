"""Training over processes: the gradient of the whole step, the same weights for all, and a kill costs an epoch."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file
from torch import distributed

from epignn.learn.checkpoint import WEIGHTS
from epignn.learn.config import load_experiment, model_class
from epignn.learn.group import Alone, Gloo
from epignn.learn.objectives.rank import Rank, RankConfig
from epignn.learn.run import objective_of
from epignn.models.api import build
from epignn.workers import run, workers_of
from tests.links import family

GRAPHS = ("data.per_label=8", "data.k=[2]", "data.b=[1, 2]", "training.epochs=1")


class Member(NamedTuple):
    """A process of a group, and what it learns."""

    rank: int
    size: int
    kind: str
    where: str


def learnt(kind):
    """An objective, a model and a step of it."""
    torch.manual_seed(0)
    if kind in ("margin", "cross_entropy"):
        config = load_experiment("links", ("model.dim=16", "model.facets=4")).model
        objective = Rank(RankConfig(loss=kind, negatives=5), family(0))
        model = build(model_class(config), objective.outputs, config, 0).double()
    else:
        still = ("model.dropout=0.0",) if kind == "edge-transformer" else ()  # what is drawn differs with the part
        experiment = load_experiment("rcc8", (*GRAPHS, f'model.kind="{kind}"', *still))
        objective = objective_of(experiment, 0)
        model = build(model_class(experiment.model), objective.outputs, experiment.model, 0)
    return objective, model, next(iter(objective.batches(7, 0, 0)))


def gradient(member, tell):
    """What one process of a group gets: a job for workers, which run at once."""
    objective, model, batch = learnt(member.kind)
    them = Gloo(member.rank, member.size, f"file://{member.where}")
    try:
        loss = them.gradient(objective, model, batch)
        told = [p.grad.numpy().copy() if p.grad is not None else None for p in model.parameters()]
        return float(loss), told, (them.same(0.25 if member.rank == 0 else None), them.same(None))
    finally:
        distributed.destroy_process_group()


@pytest.mark.parametrize("kind", ["epignn", "edge-transformer", "margin", "cross_entropy"])
def test_the_gradient_is_that_of_the_whole_step(kind, tmp_path):
    objective, model, batch = learnt(kind)
    loss = float(Alone().gradient(objective, model, batch))
    with workers_of("2") as workers:
        found = run(workers, gradient, [Member(n, 2, kind, str(tmp_path / "meet")) for n in range(2)]).all()
    assert found[0][2] == found[1][2] == (0.25, None)
    for one, told, _ in found:
        assert one == pytest.approx(loss, rel=1e-5)
        for mine, p in zip(told, model.parameters(), strict=True):
            assert (mine is None) == (p.grad is None)
            if mine is not None:
                np.testing.assert_allclose(mine, p.grad.numpy(), rtol=2e-4, atol=1e-6)
    both = [[grad.tobytes() for grad in told if grad is not None] for _, told, _ in found]
    assert both[0] == both[1]


@pytest.mark.parametrize("kind", ["epignn", "margin", "cross_entropy"])
def test_parts_make_up_the_step(kind):
    objective, model, batch = learnt(kind)
    parts = [objective.part(batch, number, 20) for number in range(20)]
    assert sum(share for _, share in parts) == pytest.approx(1)
    assert any(part is None for part, _ in parts)  # more processes than there is to do
    with torch.no_grad():
        whole = objective.loss(model, batch).item()
        found = sum(share * objective.loss(model, part).item() for part, share in parts if part is not None)
    assert found == pytest.approx(whole, rel=1e-5)


SETTINGS = [f"--set={text}" for text in ("data.per_label=30", "data.k=[2, 3]", "training.epochs=4", "model.dim=16")]


def train(out: Path, *more: str) -> subprocess.Popen:
    command = [sys.executable, "-m", "epignn", "train", "rcc8", "--out", str(out), *SETTINGS, *more]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


@pytest.mark.timeout(900)
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds processes as Linux shows them")
@pytest.mark.slow
def test_a_killed_process_costs_an_epoch_and_nothing_else(tmp_path):
    whole, cut = tmp_path / "whole", tmp_path / "cut"
    first, second = train(whole, "--workers", "2"), train(cut, "--workers", "2")
    end = time.monotonic() + 800
    while not (cut / "history.json").exists():
        assert time.monotonic() < end and second.poll() is None
        time.sleep(0.02)
    killed = _member(str(cut))
    os.kill(killed, signal.SIGKILL)
    told = [process.communicate()[1] for process in (first, second)]
    assert (first.returncode, second.returncode) == (0, 0), told
    weights = [load_file(folder / WEIGHTS) for folder in (whole, cut)]
    assert all(np.array_equal(weights[0][name], weights[1][name]) for name in weights[0])


def _member(out: str) -> int:
    """A process that trains, not the one that watches over it."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode().split("\0")
            given = (folder / "environ").read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue
        if out in words and "torch.distributed.run" not in words and "RANK=1" in given:
            return int(folder.name)
    raise AssertionError("nobody trains")
