"""`epignn reproduce`: the paper's tables, run by run."""

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from epignn.cli.output import emit_json, table, working
from epignn.errors import BadArgument, lookup, unknown
from epignn.report.suites import SUITES, Suite


def reproduce(
    what: Annotated[str, typer.Argument(help=f"A table: {', '.join(SUITES)}, kgc.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each model, from seed 0; by default 3, or 10 for CLUTRR.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Only this seed, so that several may run side by side.")
    ] = None,
    only: Annotated[str | None, typer.Option(help="Only this row of the table.")] = None,
    results: Annotated[Path, typer.Option(help="Where records and pictures are kept.")] = Path("results"),
    runs: Annotated[Path, typer.Option(help="Where models are kept, so that a killed run resumes.")] = Path("runs"),
    report: Annotated[bool, typer.Option("--report", help="Run nothing: show what is recorded.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A smoke test; its records are kept apart.")] = False,
    threads: Annotated[int, typer.Option(min=1, help="Cores to use; one is best for small models.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the experiments of a table of the paper, a record each, and show the table beside the paper's.

    Pictures go beside the records: accuracy, learnt relation vectors, parameters, training time.
    """
    if what == "kgc":
        from epignn.cli import kgc

        chosen = range(seeds or 3) if seed is None else [seed]
        return kgc.reproduce(only, chosen, results, runs, report, quick, threads, as_json)
    import torch

    from epignn.report.record import read_records
    from epignn.report.report import notes, rows

    if what not in SUITES:
        raise unknown("table", what, [*SUITES, "kgc"])
    suite = SUITES[what]
    asked = _only(suite, only)
    folder = results / (f"{what}-quick" if quick else what)
    torch.set_num_threads(threads)
    if not report:
        from epignn.report.reproduce import reproduce as run_suite

        chosen = range(seeds or suite.seeds) if seed is None else [seed]
        shown = run_suite(what, asked, chosen, results, runs, quick, lambda text: typer.echo(text, err=True))
    recorded = read_records(folder)
    if report:
        rows_asked = {variant.name for variant in asked.variants}
        shown = [r for r in recorded if r["variant"] in rows_asked and seed in (None, r["seed"])]
        if not shown:
            raise BadArgument(f"{folder} holds no record of such a run; run it without --report.")
    columns, lines = rows(asked, shown)
    pictures, remarks = _draw(suite, recorded, folder, runs, "-quick" if quick else "")
    remarks = notes(asked, shown) + remarks
    if as_json:
        emit_json(
            {"table": what, "columns": columns, "rows": lines, "notes": remarks, "pictures": [*map(str, pictures)]}
        )
        return
    table(columns, lines, suite.title)
    for remark in remarks:
        typer.echo(f"note: {remark}")
    for path in pictures:
        typer.echo(f"picture: {path}, and .svg")


def _only(suite: Suite, row: str | None) -> Suite:
    """A suite with one of its rows and the paper's figures that are not of other rows; or with all."""
    if row is None:
        return suite
    variants = {variant.name: variant for variant in suite.variants}
    chosen = lookup("row", row, variants)
    others = tuple(f"{name} " for name in variants if name != row)
    paper = {name: figure for name, figure in suite.paper.items() if not name.startswith(others)}
    return replace(suite, variants=(chosen,), paper=MappingProxyType(paper))


def _draw(
    suite: Suite, records: list[dict[str, Any]], folder: Path, runs: Path, suffix: str
) -> tuple[list[Path], list[str]]:
    """The pictures of a suite, and what could not be drawn."""
    from epignn.report.draw import draw, draw_vectors

    with working("drawing"):
        pictures = draw(suite, records, folder)
        vectors, missing = draw_vectors(suite, records, runs, folder, suffix)
    return [*pictures, *vectors], missing
