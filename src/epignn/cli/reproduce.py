"""`epignn reproduce`: the paper's tables, run by run."""

import csv
import io
import json
import sys
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.output import MOST_SEED, SMOKE, emit_json, kept, progress, say, table, working
from epignn.cli.workers import RayAddress, Threads, WorkersOption
from epignn.entries import is_file
from epignn.errors import BadArgument, lookup
from epignn.files import write_text
from epignn.report.suites import SUITES, Suite
from epignn.workers import workers_of

if TYPE_CHECKING:
    from epignn.workers import Results, Workers


def reproduce(
    what: Annotated[str, typer.Argument(metavar="TABLE", help=f"A table: {', '.join(SUITES)}; or all.")],
    seeds: Annotated[
        int | None,
        typer.Option(min=1, max=1000, help="Runs of each model, from seed 0; by default 3, or 10 for CLUTRR."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=MOST_SEED, help="Only this seed; other processes may run others meanwhile."),
    ] = None,
    only: Annotated[
        str | None, typer.Option(help="Only this row of the table, or the rows with these words in their names.")
    ] = None,
    models: Annotated[
        str | None,
        typer.Option(
            help="Compare models, all trained on the same graphs: all, or names with commas between them; "
            "path/to/file.py:Class is one of your own."
        ),
    ] = None,
    results: Annotated[Path, typer.Option(help="Where records and pictures are kept.")] = Path("results"),
    runs: Annotated[Path, typer.Option(help="Where models are kept, so that a killed run goes on.")] = Path("runs"),
    report: Annotated[bool, typer.Option("--report", help="Run nothing: show what is recorded.")] = False,
    quick: Annotated[
        bool, typer.Option("--quick", help="A smoke test on little data; its figures are not to be compared.")
    ] = False,
    device: Annotated[str, typer.Option(help="Where models are trained: cpu, cuda, mps or auto.")] = "cpu",
    dirty: Annotated[
        bool, typer.Option("--dirty", help="Record although the source has changes that are not committed.")
    ] = False,
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Run one recorded seed of each row again and tell how far the two agree; records stay as they "
            "are. Exit code 1 if a row does not agree. It takes as long as the runs did: --only chooses rows.",
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the table here instead of showing it: .json, .csv or .md."),
    ] = None,
    threads: Threads = 1,
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Run the experiments of a table of the paper, and show what came out beside the paper's figures.

    Every run is recorded, and what is recorded is not run again. With --models, the rows are models, ours and
    others'. Pictures go beside the records. A run that fails is tried once more; if it fails again, that is said at
    the end.
    """
    import torch

    from epignn.report.record import refuse_uncommitted

    if what == "all" and (only is not None or models is not None):
        raise BadArgument("--only and --models are for one table; name it instead of all.")
    tables = [_Table.of(name, only, models, quick) for name in (SUITES if what == "all" else [what])]
    if not (report or quick or dirty or verify):
        refuse_uncommitted()
    if verify and (report or quick):
        raise BadArgument("--verify runs again what is recorded; leave out --report and --quick.")
    if out is not None and out.suffix not in WRITTEN:
        raise BadArgument(f"--out takes a name that ends in {', '.join(WRITTEN)}, not {out.name!r}.")
    torch.set_num_threads(threads)
    if verify:
        with workers_of(workers, ray_address) as them, kept(runs):
            _verify(tables, seed, results, runs, device, them, as_json, out)
        return
    failed = None
    if not report:
        with workers_of(workers, ray_address) as them, kept(runs):
            failed = _run(tables, seeds, seed, results, runs, quick, device, them)
    documents = [_show(one, report, seed, only, results, runs, quick, lenient=failed is not None) for one in tables]
    if told := [one for one in documents if one["rows"] or failed is None]:  # of runs that all failed is nothing
        _tell(told, as_json, out, quick)
    if failed is not None:
        failed.check("runs")


@dataclass(frozen=True)
class _Table:
    """A table that was asked for.

    Attributes:
        what: the word for it.
        name: of the folder of its records.
        suite: all of its rows.
        asked: the rows that were asked for.
        kinds: of models, where its rows are models.
    """

    what: str
    name: str
    suite: Suite
    asked: Suite
    kinds: list[str]

    @classmethod
    def of(cls, what: str, only: str | None, models: str | None, quick: bool) -> "_Table":
        from epignn.report.models import kinds_of, suite_of_models

        suite, name = lookup("table", what, SUITES), what
        kinds = kinds_of(models or "", suite.links)
        if kinds and suite.links:
            suite = suite.with_models(kinds)
        elif kinds:
            suite, name = suite_of_models(what, kinds), f"{what}-models"
        asked = suite if only is None else suite.only(only)
        if quick and suite.links and only is None:
            asked = suite.only(suite.variants[0].name.partition(" ")[0])
        return cls(what, name, suite, asked, kinds)

    @property
    def code(self) -> list[Path]:
        """Files that its models are classes of."""
        return [Path(kind.rpartition(":")[0]) for kind in self.kinds if is_file(kind)]


def _run(
    tables: "list[_Table]",
    seeds: int | None,
    seed: int | None,
    results: Path,
    runs: Path,
    quick: bool,
    device: str,
    workers: "Workers",
) -> "Results[int]":
    """Run what is not recorded, and tell the plan before; gives what failed."""
    from epignn.report.plan import Plan, rows_of
    from epignn.report.reproduce import follow

    rows = []
    for one in tables:
        chosen = range(seeds or one.suite.seeds) if seed is None else [seed]
        rows += rows_of(one.name, one.asked, chosen, results, runs, quick, device, one.code)
    plan = Plan(rows)
    if len(plan.rows) > 1:
        say(plan.text(workers.count), err=True)
    if workers.count == 1 or not sys.stderr.isatty():
        return follow(plan, workers, lambda text: say(text, err=True))
    with progress("models") as report:  # beside it, lines of several workers would be in each other's way
        return follow(plan, workers, lambda text: None, report)


def _show(
    one: _Table,
    report: bool,
    seed: int | None,
    only: str | None,
    results: Path,
    runs: Path,
    quick: bool,
    lenient: bool,
) -> dict[str, Any]:
    """A table from its records, as plain values."""
    from epignn.report.models import ALL, kinds_of, suite_of_models
    from epignn.report.record import run_records

    folder, suite, asked = results / (f"{one.name}-quick" if quick else one.name), one.suite, one.asked
    recorded = run_records(folder)
    rows_asked = {variant.name for variant in asked.variants}
    shown = [r for r in recorded if r["variant"] in rows_asked and seed in (None, r.get("seed", seed))]
    if only is None:
        shown = [*shown, *(r for r in recorded if r.get("outside") and r not in shown)]
    if not shown and not lenient:
        raise BadArgument(f"{folder} holds no record of such a run; run it without --report.")
    if not shown:
        return {"table": one.what, "rows": []}
    if one.kinds and only is None:  # whatever else was recorded there stands beside it
        shown = recorded
    if suite.links:
        return _links(one, shown, recorded, folder, quick)
    if one.kinds and only is None:
        asked = suite = suite_of_models(one.what, kinds_of(ALL) + [kind for kind in one.kinds if is_file(kind)])
    from epignn.report.shown import table_of
    from epignn.report.tables import grid

    found, (columns, cells) = table_of(asked, shown), grid(asked, shown)
    pictures, remarks = _draw(suite, recorded, folder, runs, "-quick" if quick else "")
    return {
        "table": one.what,
        "title": suite.title,
        "tested_on": _tested_on(suite),
        "columns": found.columns,
        "rows": found.rows,
        "grid": {"columns": columns, "rows": cells},
        "notes": found.notes + remarks,
        "pictures": [*map(str, pictures)],
    }


WRITTEN = (".json", ".csv", ".md")
"""What --out writes."""
MOST_ROWS = 60
"""A grid of more rows is shown by --json, --out or --only."""


def _tell(documents: list[dict[str, Any]], as_json: bool, out: Path | None, quick: bool) -> None:
    """Show tables, or write them."""
    if quick:
        documents = [{**one, "notes": [SMOKE, *one.get("notes", [])]} for one in documents]
    whole = {"tables": documents} if len(documents) > 1 else documents[0]
    if out is not None:
        _write(documents, whole, out)
        say(f"Written: {out}", err=as_json)
    if as_json:
        emit_json(whole)
    elif out is None:
        for document in documents:
            _print(document)


def _write(documents: list[dict[str, Any]], whole: dict[str, Any], out: Path) -> None:
    """Tables as JSON, as the rows of all of them one after the other, or as Markdown."""
    from epignn.report.tables import markdown

    parts = [
        part for one in documents for part in (one, one.get("grid", {}), *one.get("others", ())) if part.get("rows")
    ]
    if out.suffix == ".json":
        write_text(out, json.dumps(whole, ensure_ascii=False, indent=1) + "\n")
    elif out.suffix == ".csv":
        text = io.StringIO()
        for part in parts:
            csv.writer(text, lineterminator="\n").writerows([part["columns"], *part["rows"]])
        write_text(out, text.getvalue())
    else:
        told = [f"{_above(part)}{markdown(part['columns'], part['rows'])}" for part in parts]
        notes = [remark for one in documents for remark in one.get("notes", ())]
        write_text(out, "\n\n".join([*told, *notes]) + "\n")


def _above(part: dict[str, Any]) -> str:
    """The title of a table, where it has one, as a paragraph."""
    return f"{part['title']}:\n\n" if "title" in part else ""


def _print(document: dict[str, Any]) -> None:
    """A table for people."""
    if about := document.get("tested_on"):
        say(f"Tested on {about}.")
    table(document["columns"], document["rows"], document["title"])
    cells = document.get("grid", {})
    if 0 < len(cells.get("rows", ())) <= MOST_ROWS:
        for model, rows in groupby(cells["rows"], key=lambda row: row[0]):
            table(cells["columns"][1:], [row[1:] for row in rows], f"Every cell: {model}")
    elif cells.get("rows"):
        say("Every cell of a row: --only ROW, --json or --out FILE.")
    for one in document.get("others", ()):
        if one["rows"]:
            table(one["columns"], one["rows"], one["title"])
    for remark in document.get("notes", ()):
        say(f"note: {remark}")
    for path in document["pictures"]:
        say(f"picture: {path}, and .svg")


def _tested_on(suite: Suite) -> str:
    """Where the test problems of a table come from."""
    from epignn.learn.config import load_experiment
    from epignn.tasks.api import GraphTask

    of_data = [[text for text in one.settings if text.startswith("data.")] for one in suite.variants]
    tasks = [load_experiment(one.experiment, own).data for one, own in zip(suite.variants, of_data, strict=True)]
    told = [task.tested_on(suite.cells, suite.per_label) for task in tasks if isinstance(task, GraphTask)]
    return "; ".join(dict.fromkeys(told))


def _verify(
    tables: "list[_Table]",
    seed: int | None,
    results: Path,
    runs: Path,
    device: str,
    workers: "Workers",
    as_json: bool,
    out: Path | None,
) -> None:
    """Run recorded rows again, and tell how far they agree."""
    from epignn.report.verify import COLUMNS, verify

    found = []
    for one in tables:
        found += verify(
            one.name, one.asked, seed, results, runs, device, workers, lambda text: say(text, err=True), one.code
        )
    rows = [[told.text(column) for column in COLUMNS] for told in found]
    document = {"columns": list(COLUMNS), "rows": rows, "runs": [told.to_dict() for told in found]}
    if out is not None:
        _write([document], document, out)
        say(f"Written: {out}", err=as_json)
    if as_json:
        emit_json(document)
    elif out is None:
        table(COLUMNS, rows, "Records, and the same runs once more")
    if not all(told.agrees for told in found):
        raise typer.Exit(1)


def _draw(
    suite: Suite, records: list[dict[str, Any]], folder: Path, runs: Path, suffix: str
) -> tuple[list[Path], list[str]]:
    """The pictures of a suite, and what could not be drawn."""
    from epignn.report.draw import draw, draw_vectors

    if not records:
        return [], []
    with working("drawing"):
        pictures = draw(suite, records, folder)
        vectors, missing = draw_vectors(suite, records, runs, folder, suffix)
    return [*pictures, *vectors], missing


def _links(
    one: _Table, shown: list[dict[str, Any]], recorded: list[dict[str, Any]], folder: Path, quick: bool
) -> dict[str, Any]:
    """Tables of link prediction: one a metric, of models or of our presets, and for these one of all protocols."""
    from epignn.report.links import METRIC, PRESETS, PUBLISHED, TITLES, draw, models, protocols, rows

    picture = None if quick else draw(recorded, folder)
    if one.kinds:
        found = {title: models(shown, metric) for metric, title in TITLES.items()}
    else:
        found = {TITLES[metric]: rows(shown, metric) for metric in PUBLISHED}
        found |= {f"Every protocol (%), {preset}": protocols(shown, preset) for preset in PRESETS}
    first, *others = (
        {"title": title, "columns": columns, "rows": lines} for title, (columns, lines) in found.items()
    )
    pictures = [str(picture)] if picture is not None else []
    return {"table": one.what, "metric": METRIC, **first, "others": others, "pictures": pictures}
