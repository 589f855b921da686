"""Training over the nodes of a Ray cluster, by Ray Train.

Ray Train places the processes, joins them, and starts all anew where one of them dies. What they do is what
`epignn.learn.group` does; the run folder keeps what was reached.
"""

import shutil
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument, EpignnError
from epignn.extras import optional
from epignn.learn.checkpoint import read_history
from epignn.learn.config import experiment_for
from epignn.learn.group import PATIENCE, group
from epignn.learn.launch import RESTARTS
from epignn.learn.run import files_of, objective_of, train
from epignn.workers.ray import RayWorkers, Situation

FOLDER = ".epignn-ray"
"""Where Ray Train keeps its own notes of a run, in the run folder."""
LOOK = 1.0
"""Seconds between two looks at what a run has reached."""


@dataclass(frozen=True)
class Member:
    """What all processes of a run are told: plain values, as of `epignn train`."""

    what: str
    settings: tuple[str, ...]
    calculus: str
    preset: str
    code: tuple[Path, ...]
    seed: int
    out: Path
    device: str
    threads: int
    record: dict[str, Any]


def train_as(member: Member) -> None:
    """Train as one of the processes of a group; the first of them keeps the run."""
    import torch

    torch.set_num_threads(member.threads)
    experiment = experiment_for(member.what, member.settings, member.calculus, member.preset, member.code)
    files = files_of(experiment, member.code)
    objective = objective_of(experiment, member.seed, member.device, files)
    train(
        experiment,
        objective,
        seed=member.seed,
        out=member.out,
        device=member.device,
        code=files,
        record=member.record,
        group=group(),
    )


def _loop(told: dict[str, Any]) -> None:
    """What Ray Train runs in each process."""
    if (failure := told["situation"].take()) is not None:
        raise BadArgument(failure.text)
    train_as(told["member"])


def _fit(member: Member, situation: Situation, count: int) -> None:
    """Train on a node of the cluster, which is where Ray Train has to be called from."""
    from ray.train import FailureConfig, RunConfig, ScalingConfig
    from ray.train.torch import TorchConfig, TorchTrainer

    resources = {"CPU": float(member.threads)}
    TorchTrainer(
        _loop,
        train_loop_config={"member": member, "situation": situation},
        torch_config=TorchConfig(backend="gloo", timeout_s=int(PATIENCE.total_seconds())),
        scaling_config=ScalingConfig(num_workers=count, resources_per_worker=resources),
        run_config=RunConfig(
            name="train",
            storage_path=str(Path(situation.folder, member.out, FOLDER)),
            failure_config=FailureConfig(max_failures=RESTARTS),
        ),
    ).fit()


def train_on_cluster(
    workers: RayWorkers, member: Member, report: Callable[[dict[str, Any]], None] = lambda epoch: None
) -> None:
    """Train on all cores of a cluster, `threads` of them a process.

    Args:
        workers: the cluster.
        member: what is trained; all nodes see its run folder.
        report: called with what the history of the run has of each epoch that ends.

    Raises:
        EpignnError: a node refuses, or processes died more often than they are started anew.
    """
    ray = optional("ray", "a cluster")
    optional("ray.train", "training on a cluster")
    count = max(1, workers.count // member.threads)
    reference = ray.remote(num_cpus=0, max_retries=0)(_fit).remote(member, Situation.here(), count)
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(member.out, ended, report), daemon=True)
    watcher.start()
    try:
        ray.get(reference)
    except ray.exceptions.RayError as error:
        raise EpignnError(_reason(error)) from error
    finally:
        ended.set()
        watcher.join()
    shutil.rmtree(member.out / FOLDER, ignore_errors=True)


def _watch(out: Path, ended: threading.Event, report: Callable[[dict[str, Any]], None]) -> None:
    """Tell of the epochs that end; those that were there before are passed over."""
    told = len(_history(out))
    while not ended.wait(LOOK):
        for epoch in _history(out)[told:]:
            report(epoch)
            told += 1


def _history(out: Path) -> list[dict[str, Any]]:
    with suppress(EpignnError):  # there is none yet
        return read_history(out)
    return []


def _reason(error: BaseException) -> str:
    """What a person is told of a training that failed on a cluster: a refusal as it is."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, EpignnError):
        cause = getattr(cause, "cause", None) or cause.__cause__
    if cause is not None:
        return str(cause)
    told = str(error).strip().splitlines()
    return f"training on the cluster failed: {told[-1][:300] if told else type(error).__name__}"
