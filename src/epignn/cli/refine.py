"""`epignn refine`: a model taught by the calculus distilled from it. Torch is loaded only when it runs."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.output import emit_json, epochs, kept, progress, say
from epignn.cli.workers import Threads


def refine(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A run folder, a weights file, or the name of a shipped model.")
    ],
    out: Annotated[Path, typer.Option(metavar="FOLDER", help="The run folder of the refined model.")],
    epochs_: Annotated[
        int,
        typer.Option(
            "--epochs",
            min=1,
            max=100_000,
            help="How long it is taught; an epoch has 25,600 expressions of each depth.",
        ),
    ] = 8,
    device: Annotated[str, typer.Option(help="Where it is taught: cpu, cuda, mps or auto.")] = "cpu",
    threads: Threads = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Sharpen a model of a calculus, such as RCC-8, so that it is right on much larger graphs.

    What the model has learnt is distilled into a calculus first, as by `epignn distil`. This calculus then teaches
    the model which relations are possible after each step of a path, not only at its end. Nothing else is used:
    neither other graphs nor the true calculus. The result is a run folder like any other, with the calculus in it.
    """
    from dataclasses import replace

    import torch

    from epignn.distil.refine import CALCULUS, TRAINING
    from epignn.distil.refine import refine as refined
    from epignn.learn.checkpoint import load_model
    from epignn.report.record import circumstances

    torch.set_num_threads(threads)
    trained = load_model(model)
    record = {**circumstances(), "refined": model, "command": " ".join(["epignn", *sys.argv[1:]])}
    with (
        progress("tables tried") as tables,
        epochs("refine", "accuracy", "expressions") as show,
        kept(out),
    ):
        run = refined(
            trained,
            out,
            training=replace(TRAINING, epochs=epochs_),
            device=device,
            record=record,
            tables=tables,
            report=show,
        )
    if as_json:
        emit_json({"model": model, "out": str(out), "epochs": len(run.history), "loss": run.history[-1]["loss"]})
        return
    if run.ended_before:
        say(f"{out}: this run had ended already; --epochs with a larger number extends it")
    say(f"{out}: a model of {len(run.trained.relations)} relations, taught by {out / CALCULUS}")
    if run.calibration:
        say(f"{out}: {run.calibration}")
