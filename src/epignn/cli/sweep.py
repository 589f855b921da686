"""`epignn sweep`: a search of settings, by many workers."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.output import MOST_SEED, emit_json, kept, progress, say, table
from epignn.cli.train import Track
from epignn.cli.workers import RayAddress, WorkersOption
from epignn.entries import is_file


def sweep(
    space: Annotated[
        Path,
        typer.Argument(
            metavar="SPACE.toml",
            help="What to search: `experiment`, a word that `epignn train` takes; `settings`, which are fixed; and "
            "a table `space` with a list of values, or { low, high, log, step }, for each setting.",
        ),
    ],
    trials: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="How many settings to try, besides the experiment's own.")
    ] = 20,
    out: Annotated[
        Path | None, typer.Option(help="The folder of the study; runs/NAME-sweep if left out.", show_default=False)
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=MOST_SEED, help="The seed of the search and of its runs.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(help="The kind of model: a name, or path/to/file.py:Class for one of your own."),
    ] = None,
    settings: Annotated[list[str], typer.Option("--set", help="Fix a setting: --set training.epochs=5.")] = [],
    at_once: Annotated[
        int,
        typer.Option(min=1, help="How many trials are proposed together, whatever the number of workers."),
    ] = 4,
    track: Track = None,
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Search for good settings of one experiment, judged by validation data, never by test data.

    Optuna proposes settings. Trials that fall behind are ended early. The same command goes on with a search that
    was interrupted, and joins one that is running. The best settings go to OUT/best.toml, which `epignn train`
    takes.
    """
    from epignn.report import swept
    from epignn.report.space import read_space
    from epignn.report.sweep import sweep as search
    from epignn.workers import workers_of

    chosen = read_space(space)
    fixed = (*chosen.settings, *([f"model.kind={json.dumps(model)}"] if model is not None else []), *settings)
    chosen = replace(chosen, settings=fixed)
    code = (Path(model.rpartition(":")[0]),) if model is not None and is_file(model) else ()
    chosen.check(str(space), code)
    folder = out or Path("runs") / f"{space.stem}-sweep"
    with workers_of(workers, ray_address) as them, kept(folder), progress("trials") as report:
        quiet = sys.stderr.isatty()
        found = search(
            chosen,
            trials=trials,
            seed=seed,
            out=folder,
            workers=them,
            say=lambda text: None if quiet else say(text, err=True),
            code=code,
            at_once=at_once,
            track=track or "",
            report=report,
        )
    files = swept.write(found, folder, code)
    if as_json:
        trials_told = [found.recipe, *found.trials]
        emit_json({"best": found.best, "trials": trials_told, "failed": found.failed, "files": [*map(str, files)]})
        return
    columns, rows = swept.table(found)
    table(columns, rows, f"{chosen.experiment}: the best of {len(found.trials)} trials, by validation")
    for text in found.failed:
        say(f"note: a trial failed: {text}")
    for path in files:
        say(f"{path}")
