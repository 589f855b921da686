"""`epignn reproduce`: the paper's tables, run by run."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.output import emit_json, kept, say, table, working
from epignn.entries import is_file
from epignn.errors import BadArgument, lookup
from epignn.report.suites import SUITES

if TYPE_CHECKING:
    from epignn.report.suites import Suite


def reproduce(
    what: Annotated[str, typer.Argument(help=f"A table: {', '.join(SUITES)}.")],
    seeds: Annotated[
        int | None, typer.Option(min=1, help="Runs of each model, from seed 0; by default 3, or 10 for CLUTRR.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Only this seed, so that several may run side by side.")
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Only this row of the table, or the rows whose names have these words.")
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="The table of models instead, all trained on the same graphs: all, or names with commas between "
            "them; path/to/file.py:Class is one of your own."
        ),
    ] = None,
    results: Annotated[Path, typer.Option(help="Where records and pictures are kept.")] = Path("results"),
    runs: Annotated[Path, typer.Option(help="Where models are kept, so that a killed run resumes.")] = Path("runs"),
    report: Annotated[bool, typer.Option("--report", help="Run nothing: show what is recorded.")] = False,
    quick: Annotated[bool, typer.Option("--quick", help="A smoke test; its records are kept apart.")] = False,
    device: Annotated[str, typer.Option(help="Where models are trained: cpu, cuda, mps or auto.")] = "cpu",
    threads: Annotated[int, typer.Option(min=1, help="Cores to use; one is best for small models.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the experiments of a table of the paper, a record each, and show the table beside the paper's.

    With --models, the rows are models, ours and others', and what is recorded of any stands in the table.
    Pictures go beside the records: accuracy, learnt relation vectors, parameters, training time.
    """
    import torch

    from epignn.report.models import ALL, kinds_of, suite_of_models
    from epignn.report.record import read_records

    suite, name = lookup("table", what, SUITES), what
    kinds = kinds_of(models or "", suite.links)
    if kinds and suite.links:
        suite = suite.with_models(kinds)
    elif kinds:
        suite, name = suite_of_models(what, kinds), f"{what}-models"
    asked = suite if only is None else suite.only(only)
    if quick and suite.links and only is None:
        asked = suite.only(suite.variants[0].name.partition(" ")[0])
    folder = results / (f"{name}-quick" if quick else name)
    code = [Path(kind.rpartition(":")[0]) for kind in kinds if is_file(kind)]
    torch.set_num_threads(threads)
    if not report:
        from epignn.report.reproduce import reproduce as run_suite

        chosen = range(seeds or suite.seeds) if seed is None else [seed]
        with kept(runs):
            shown = run_suite(
                name, asked, chosen, results, runs, quick, lambda text: say(text, err=True), device, code
            )
    recorded = read_records(folder)
    if report:
        rows_asked = {variant.name for variant in asked.variants}
        shown = [r for r in recorded if r["variant"] in rows_asked and seed in (None, r.get("seed", seed))]
    if only is None:
        shown = [*shown, *(record for record in recorded if record.get("outside"))]
    if not shown:
        raise BadArgument(f"{folder} holds no record of such a run; run it without --report.")
    if name != what and only is None:  # whatever else was recorded there stands beside it
        suite, shown = suite_of_models(what, kinds_of(ALL) + [kind for kind in kinds if is_file(kind)]), recorded
        asked = suite
    if suite.links:
        return _links(what, suite, shown, recorded, folder, quick, as_json)
    from epignn.report.shown import table_of

    found = table_of(asked, shown)
    columns, lines = found.columns, found.rows
    pictures, remarks = _draw(suite, recorded, folder, runs, "-quick" if quick else "")
    remarks = found.notes + remarks
    if as_json:
        emit_json(
            {"table": what, "columns": columns, "rows": lines, "notes": remarks, "pictures": [*map(str, pictures)]}
        )
        return
    table(columns, lines, suite.title)
    for remark in remarks:
        say(f"note: {remark}")
    for path in pictures:
        say(f"picture: {path}, and .svg")


def _draw(
    suite: "Suite", records: list[dict[str, Any]], folder: Path, runs: Path, suffix: str
) -> tuple[list[Path], list[str]]:
    """The pictures of a suite, and what could not be drawn."""
    from epignn.report.draw import draw, draw_vectors

    with working("drawing"):
        pictures = draw(suite, records, folder)
        vectors, missing = draw_vectors(suite, records, runs, folder, suffix)
    return [*pictures, *vectors], missing


def _links(
    what: str,
    suite: "Suite",
    shown: list[dict[str, Any]],
    recorded: list[dict[str, Any]],
    folder: Path,
    quick: bool,
    as_json: bool,
) -> None:
    """The link prediction table, and one of every protocol for each preset."""
    from epignn.report.links import METRIC, PRESETS, draw, protocols, rows

    picture = None if quick else draw(recorded, folder)
    columns, lines = rows(shown)
    every = {preset: protocols(shown, preset) for preset in PRESETS}
    if as_json:
        told = {preset: {"columns": names, "rows": figures} for preset, (names, figures) in every.items()}
        emit_json(
            {
                "table": what,
                "metric": METRIC,
                "columns": columns,
                "rows": lines,
                "protocols": told,
                "pictures": [str(picture)] if picture is not None else [],
            }
        )
        return
    table(columns, lines, suite.title)
    for preset, (names, figures) in every.items():
        if figures:
            table(names, figures, f"Every protocol (%), {preset}")
    if picture is not None:
        say(f"picture: {picture}, and .svg")
