"""`epignn score`: accuracy of predictions made elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.limits import check_finite
from epignn.cli.output import emit_json, progress, say, table
from epignn.errors import BadArgument

TABLES = "A row in the tables"


def score(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="PROBLEMS PREDICTIONS...",
            help="A file of labelled graphs (CSV or JSON Lines), and a CSV file with a column `prediction`: a "
            "relation for each graph, by name or number, in their order, or beside a column `id` that counts "
            "graphs from 0. Of several files, first all problems, then all predictions; or pair after pair.",
        ),
    ],
    calculus: Annotated[
        str | None,
        typer.Option(help="The calculus of the relations; none, if they belong to none. Guessed if left out."),
    ] = None,
    record: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Write a record for a table, such as results/rcc8: `epignn reproduce rcc8 --report` shows it.",
            rich_help_panel=TABLES,
        ),
    ] = None,
    name: Annotated[str | None, typer.Option(help="What its row is called.", rich_help_panel=TABLES)] = None,
    seed: Annotated[
        int, typer.Option(min=0, help="The seed of the run; runs of one name share a row.", rich_help_panel=TABLES)
    ] = 0,
    parameters: Annotated[
        int | None, typer.Option(min=0, help="How many parameters the model has.", rich_help_panel=TABLES)
    ] = None,
    training_seconds: Annotated[
        float | None, typer.Option(min=0, help="What training took.", rich_help_panel=TABLES)
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Score predictions that another program made: accuracy by file, with 95 % intervals, and the average."""
    if (record is None) != (name is None):
        raise BadArgument("a row in a table needs both: --record results/rcc8 --name 'my model'.")
    check_finite(training_seconds=training_seconds)
    from epignn.report.score import record as write
    from epignn.report.score import score_files

    with progress("files") as report:
        results, found = score_files(files, calculus or "", report)
    path = None
    if record is not None and name is not None:
        path = write(record, name, results, seed, parameters=parameters, training_seconds=training_seconds)
    if as_json:
        average = found.to_dict()["average"]
        emit_json({"results": results, "average": average, "record": None if path is None else str(path)})
        return
    columns = ("k", "b", "n", "distinct")
    rows = [
        [Path(r["file"]).name, *(r[c] for c in columns), f"{r['accuracy']:.4f}", f"{r['low']:.4f}–{r['high']:.4f}"]
        for r in results
    ]
    if len(rows) > 1:
        sizes = [sum(r[c] for r in results) for c in ("n", "distinct")]
        rows.append(["average", "", "", *sizes, f"{found.accuracy:.4f}", f"{found.low:.4f}–{found.high:.4f}"])
    table(("file", *columns, "accuracy", "95 % interval"), rows)
    if path is not None:
        say(f"{path}: recorded")
