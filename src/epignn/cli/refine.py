"""`epignn refine`: a model made exact by what it has learnt, or taught by it. Torch is loaded only when it runs."""

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
    taught: Annotated[
        bool,
        typer.Option("--taught", help="Teach it by examples of what it has learnt, instead of setting it to that."),
    ] = False,
    epochs_: Annotated[
        int,
        typer.Option("--epochs", min=1, max=100_000, help="Where it is taught: for how long."),
    ] = 8,
    device: Annotated[str, typer.Option(help="Where it is taught: cpu, cuda, mps or auto.")] = "cpu",
    threads: Threads = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Make a model answer rightly on much larger graphs than it was trained on.

    What the model has learnt is distilled into a calculus first, as by `epignn distil`. The weights are then set to
    this calculus, so that the model knows after each step exactly which relations are possible. With --taught it
    learns this from examples instead, and comes close. Nothing else is used: neither other graphs nor the true
    calculus. The result is a run folder like any other, with the calculus in it.

    Relations such as kinship belong to no calculus, and rules are distilled of such a model. They then stand beside
    it: what they derive counts most, and where they leave several answers or none the model decides. Graphs that
    were held out choose how much each counts. With --taught it learns from longer walks, which are made of its
    training walks and keep their labels.
    """
    from dataclasses import replace

    import torch

    from epignn.distil.refine import CALCULUS, RULES, training_of
    from epignn.distil.refine import refine as refined
    from epignn.learn.checkpoint import load_model
    from epignn.report.record import circumstances

    torch.set_num_threads(threads)
    trained = load_model(model)
    record = {**circumstances(), "refined": model, "command": " ".join(["epignn", *sys.argv[1:]])}
    with (
        progress("distilling") as tables,
        epochs("refine", "accuracy", "expressions") as show,
        kept(out),
    ):
        run = refined(
            trained,
            out,
            taught=taught,
            training=replace(training_of(trained), epochs=epochs_),
            device=device,
            record=record,
            tables=tables,
            report=show.epoch,
        )
    learnt = next((path for path in (out / CALCULUS, out / RULES) if path.exists()), None)
    if as_json:
        told = {} if learnt is None else {learnt.stem: str(learnt)}
        emit_json({"model": model, "out": str(out), **told, "epochs": len(run.history)})
        return
    if run.history and run.ended_before:
        say(f"{out}: this run had ended already; --epochs with a larger number extends it")
    how = "taught by longer walks"
    if learnt is not None:
        how = f"{'taught by' if taught else 'set to' if learnt.name == CALCULUS else 'beside'} {learnt}"
    say(f"{out}: a model of {len(run.trained.relations)} relations, {how}")
    if run.calibration:
        say(f"{out}: {run.calibration}")
