"""`epignn train`: a model into a run folder. Torch is loaded only when it runs."""

import json
import os
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.learn import LINKS, Code, Device, Json
from epignn.cli.output import MOST_SEED, counted, emit_json, epochs, kept, progress, say, working
from epignn.cli.workers import PANEL, RayAddress, Threads
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.learn.fit import Epoch
    from epignn.learn.members import Member
    from epignn.learn.objectives.api import Objective
    from epignn.learn.run import Run

Track = Annotated[
    str | None,
    typer.Option(
        metavar="KIND:WHERE",
        help="Write curves for a tracker, an optional extra: tensorboard:FOLDER, or mlflow:ADDRESS, which is a "
        "server or a data base (sqlite:///runs.db).",
    ),
]


def train(
    what: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="An experiment (rcc8, ia, clutrr:db9b8f04, graphlog:world_32, wn18rr:v1 …), a .toml file, a "
            "folder of labelled graphs (CSV or JSON Lines), a folder with train.txt, or a file of triples (.tsv).",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run folder.")] = Path("runs/model"),
    seed: Annotated[
        int,
        typer.Option(
            min=0,
            max=MOST_SEED,
            help="The seed of initial weights, of what is held out, and of the order of training.",
        ),
    ] = 0,
    settings: Annotated[
        list[str],
        typer.Option("--set", help="Change a setting: --set model.facets=8. `epignn settings` lists all."),
    ] = [],
    model: Annotated[
        str | None,
        typer.Option(help="The kind of model: a name (epignn), or path/to/file.py:Class for one of your own."),
    ] = None,
    calculus: Annotated[
        str,
        typer.Option(help="The calculus that a folder of labelled graphs is about; none, if it is about none."),
    ] = "rcc8",
    preset: Annotated[
        str, typer.Option(help="The settings to begin with: best, paper, or a .toml file.", rich_help_panel=LINKS)
    ] = "best",
    device: Device = "cpu",
    threads: Threads = 1,
    track: Track = None,
    code: Code = [],
    workers: Annotated[
        str,
        typer.Option(
            metavar="N|auto|ray",
            help="Processes that share every step: so many of this machine, auto for one on each core, or ray for "
            "all cores of a Ray cluster. Small models are faster with 1.",
            rich_help_panel=PANEL,
        ),
    ] = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Train a model, into a run folder; if it is interrupted, the same command goes on from there."""
    import torch

    from epignn.learn.config import experiment_for
    from epignn.learn.group import group
    from epignn.learn.launch import launch
    from epignn.learn.members import Member
    from epignn.learn.run import files_of, objective_of
    from epignn.learn.run import train as train_run
    from epignn.report.record import circumstances
    from epignn.workers import is_cluster, workers_of

    torch.set_num_threads(threads)
    chosen = [*settings, *([f"model.kind={json.dumps(model)}"] if model is not None else [])]
    experiment = experiment_for(what, chosen, calculus, preset, code)
    files = files_of(experiment, code)
    record = {**circumstances(), "data": what, "command": " ".join(["epignn", *sys.argv[1:]])}
    if files_read := experiment.data.sources():
        record["files"] = files_read
    anew = False
    if "RANK" not in os.environ:  # else this is one of the processes
        with workers_of(workers, ray_address) as processes:
            if is_cluster(workers, ray_address):
                if track is not None:
                    raise BadArgument("--track follows a run of this machine; leave it out on a cluster.")
                asked = what, tuple(chosen), calculus, preset, tuple(code)
                anew = _train_on_cluster(processes, Member(*asked, seed, out, device, threads, record))
            elif processes.count > 1:
                raise typer.Exit(launch(processes.count, sys.argv[1:], threads))
    them = group()
    with progress("data") as report:
        objective = objective_of(experiment, seed, device, files, report)
    if them.rank:  # the first tells of all
        train_run(experiment, objective, seed=seed, out=out, device=device, code=files, group=them)
        return
    for note in objective.notes():
        say(note, err=True)
    with (
        _curves(track, objective, experiment.name) as curve,
        epochs(experiment.name, objective.metric, objective.unit) as show,
        kept(out),
    ):

        def follow(epoch: "Epoch") -> None:
            show.epoch(epoch)
            curve(epoch)

        run = train_run(
            experiment,
            objective,
            seed=seed,
            out=out,
            device=device,
            code=files,
            record=record,
            report=follow,
            doing=show.doing,
            group=them,
        )
    if as_json:
        emit_json({"data": what, **_told(run, out)})
        return
    if run.ended_before and not anew:
        more = "a larger training.patience" if run.ended_early else "more training.epochs"
        say(
            f"{out}: this run had ended already and stays as it is; with {more} it goes on, and another folder "
            "holds a new one"
        )
    say(f"{out}: {_result(run)}")
    if run.calibration:
        say(f"{out}: {run.calibration}")


def _train_on_cluster(cluster: Any, member: "Member") -> bool:
    """Train on the nodes of a cluster, which keep the run in its folder; whether there was an epoch to train."""
    from epignn.learn.members import train_on_cluster

    trained = 0

    def tell(epoch: dict[str, Any]) -> None:
        nonlocal trained
        trained += 1
        reached = "" if epoch["validation"] is None else f", validation {epoch['validation']:.4f}"
        say(f"epoch {epoch['epoch']}: loss {epoch['loss']:.4f}{reached}, {epoch['seconds']:.1f} s", err=True)

    with kept(member.out), working("training on the cluster"):
        train_on_cluster(cluster, member, tell)
    return trained > 0


def _result(run: "Run") -> str:
    """The validation of the epoch that was kept."""
    best, first, count = run.best, run.first["epoch"], len(run.history)
    epochs_run = counted(count, "epoch")
    if best["validation"] is None:
        return f"{epochs_run}; nothing was held out, so the last one is kept"
    ended = ""
    if run.ended_early:
        ended = f"; training ended after {counted(count - first, 'epoch')} without a better one"
    elif run.rising:
        more = 2 * run.trained.experiment.training.epochs
        ended = f"; still improving when it ended: --set training.epochs={more} goes on from there"
    reached = f"{run.objective.metric} {best['validation']:.4f} on validation"
    kept = f" (that of epoch {best['epoch']}, which is as good, is kept)" if best["epoch"] > first else ""
    return f"{reached} in epoch {first} of {epochs_run}{kept}{ended}"


def _told(run: "Run", out: Path) -> dict[str, Any]:
    return {
        "out": str(out),
        "epochs": len(run.history),
        "ended_early": run.ended_early,
        "still_improving": run.rising,
        "metric": run.objective.metric,
        "validation": run.best["validation"],
        "calibration": run.calibration.to_dict() if run.calibration else None,
    }


def _curves(
    track: str | None, objective: "Objective", name: str
) -> AbstractContextManager[Callable[["Epoch"], None]]:
    """What writes curves for a tracker, if one is named."""
    if track is None:
        return nullcontext(lambda epoch: None)
    from epignn.learn.track import tracker

    return tracker(track, objective.metric, objective.unit, name)
