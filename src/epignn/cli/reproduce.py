"""`epignn reproduce`: the paper's tables, run by run."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.output import emit_json, table
from epignn.errors import lookup


def reproduce(
    what: Annotated[str, typer.Argument(help="rcc8, ia, expanded, rounds or ablations.")],
    seeds: Annotated[int, typer.Option(help="Runs of each model, from seed 0.")] = 3,
    seed: Annotated[int | None, typer.Option(help="Only this seed, so that several may run side by side.")] = None,
    only: Annotated[str | None, typer.Option(help="Only this row of the table.")] = None,
    results: Annotated[Path, typer.Option(help="Where records are kept.")] = Path("results"),
    runs: Annotated[Path, typer.Option(help="Where models are kept, so that a killed run resumes.")] = Path("runs"),
    quick: Annotated[bool, typer.Option("--quick", help="A smoke test; its records are kept apart.")] = False,
    threads: Annotated[int, typer.Option(help="Cores to use; one is best for small models.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the experiments of a table of the paper, a record each, and show the table beside the paper's."""
    from dataclasses import replace

    import torch

    from epignn.bench.report import draw, rows
    from epignn.bench.reproduce import reproduce as run_suite
    from epignn.bench.suites import SUITES

    suite = lookup("table", what, SUITES)
    if only is not None:
        variants = {variant.name: variant for variant in suite.variants}
        suite = replace(suite, variants=(lookup("row", only, variants),))
    torch.set_num_threads(threads)
    chosen = range(seeds) if seed is None else [seed]
    records = run_suite(what, suite, chosen, results, runs, quick, lambda text: typer.echo(text, err=True))
    columns, lines = rows(suite, records)
    pictures = draw(what, suite, records, results / (f"{what}-quick" if quick else what))
    if as_json:
        emit_json({"table": what, "columns": columns, "rows": lines, "pictures": [str(path) for path in pictures]})
        return
    table(columns, lines, suite.title)
    for path in pictures:
        typer.echo(f"picture: {path}")
