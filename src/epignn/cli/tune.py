"""`epignn tune`: a search of settings for models, of the same size for each."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.output import MOST_SEED, emit_json, kept, say, table
from epignn.cli.workers import RayAddress, WorkersOption
from epignn.entries import is_file


def tune(
    what: Annotated[
        str,
        typer.Argument(metavar="TABLE", help="The table whose data models are trained on, such as rcc8 or clutrr."),
    ],
    models: Annotated[
        str, typer.Option(help="all, or names with commas between them; path/to/file.py:Class is one of your own.")
    ] = "all",
    trials: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many settings to try for each model, its own among them.")
    ] = 8,
    share: Annotated[
        float, typer.Option(min=0.01, max=1, help="The share of the training graphs that a trial sees.")
    ] = 1.0,
    epochs: Annotated[int, typer.Option(min=1, max=100_000, help="Epochs of every trial.")] = 10,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="The seed of the search.")] = 0,
    out: Annotated[Path, typer.Option(help="Where the record and the best settings of each go.")] = Path(
        "results/tuned"
    ),
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Search for good settings of several models, equally long for each, so that they compare fairly.

    Learning rate, width and depth are tried. Graphs larger than those trained on judge them, never test sets. The
    best settings go to OUT/TABLE/MODEL.toml, every trial to the record beside it.
    """
    from epignn.report.models import kinds_of
    from epignn.report.tune import tune as search
    from epignn.workers import workers_of

    kinds = kinds_of(models)
    code = [Path(kind.rpartition(":")[0]) for kind in kinds if is_file(kind)]
    with workers_of(workers, ray_address) as them, kept(out):
        found = [
            search(
                what,
                kind,
                trials=trials,
                share=share,
                epochs=epochs,
                seed=seed,
                out=out / what,
                say=lambda text: say(text, err=True),
                code=code,
                workers=them,
            )
            for kind in kinds
        ]
    if as_json:
        emit_json({"table": what, "searches": found})
        return
    rows = [
        [one["model"], f"{one['trials'][0]['validation']:.3f}", f"{one['best']['validation']:.3f}",
         " ".join(one["best"]["settings"]) or "the recipe"]
        for one in found
    ]  # fmt: skip
    table(["model", "recipe", "best", "settings"], rows, f"{what}: accuracy on larger graphs")
