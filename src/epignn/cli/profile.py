"""`epignn profile`: how far beyond its training problems a model still answers rightly."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epignn.cli.learn import Code, Device
from epignn.cli.limits import check_finite
from epignn.cli.output import emit_json, progress, say, table
from epignn.cli.workers import Threads
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.report.profile import Plan, Profile

SILENCE = 2.0
"""Seconds that may pass before a line says what goes on."""


def profile(
    models: Annotated[
        list[str], typer.Argument(metavar="MODEL...", help="Run folders, or names of shipped models.")
    ] = [],
    calculus: Annotated[
        str | None,
        typer.Option(
            help="What the problems are about: a calculus, a .toml file, kinship, or path/to/file.py:Class for a "
            "task of your own. What the first model was trained on, if left out."
        ),
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Show exact closure by the calculus, too.")] = False,
    branches: Annotated[int, typer.Option(min=1, max=1000, help="Branches b while the path length k grows.")] = 3,
    length: Annotated[int, typer.Option(min=2, max=1000, help="Path length k while the branches b grow.")] = 4,
    longest: Annotated[int, typer.Option(min=2, max=1000, help="The largest k.")] = 30,
    widest: Annotated[int, typer.Option(min=1, max=1000, help="The largest b.")] = 12,
    problems: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="About how many test problems there are of each size.")
    ] = 400,
    least: Annotated[float, typer.Option(min=0, max=1, help="The accuracy that has to hold.")] = 0.95,
    floor: Annotated[
        float, typer.Option(min=0, max=1, help="A model below this accuracy is not tested further.")
    ] = 0.5,
    seconds: Annotated[
        float, typer.Option(min=0, help="A model that takes longer for one size is not tested further.")
    ] = 600,
    out: Annotated[Path | None, typer.Option(help="Draw it: .png, .svg or .pdf.")] = None,
    record: Annotated[Path | None, typer.Option(metavar="FILE.json", help="Write all figures here.")] = None,
    device: Device = "cpu",
    threads: Threads = 1,
    code: Code = [],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Show how far beyond its training graphs a model is right: accuracy as paths and branches grow.

    Problems are generated, larger and larger, until accuracy is below --floor or a limit is reached. At the end
    stands the longest path k up to which the accuracy --least holds.
    """
    import torch

    from epignn.entries import allowed, is_file
    from epignn.learn.checkpoint import load_model
    from epignn.report import pictures
    from epignn.report import profile as report
    from epignn.report.record import write_document

    check_finite(least=least, floor=floor, seconds=seconds)
    if out is not None:
        pictures.check_name(out)
    if not models and calculus is None:
        raise BadArgument("nothing to profile: name a model, or write --calculus rcc8 --exact.")
    torch.set_num_threads(threads)
    trained = dict(
        zip(report.short_names(models), (load_model(name, device, code) for name in models), strict=True)
    )
    about = calculus if calculus is not None else report.subject(next(iter(trained.values())))
    files: list[Path | str] = [
        *code,
        *([about.rpartition(":")[0]] if calculus is not None and is_file(about) else []),
    ]
    task = report.task_for(about, allowed(files))
    tested = {name: report.by_model(one, seconds) for name, one in trained.items()}
    if exact:
        tested[report.EXACT] = report.by_calculus(task)
    plan = report.Plan(task.task, branches, length, longest, widest, problems, floor, least, seconds)
    with _following() as follow:
        found = report.profiles(tested, plan, task, follow)
    if out is not None:
        pictures.save(report.draw(plan, found), out)
    if record is not None:
        write_document(record, report.record(plan, found, trained))
    if as_json:
        emit_json({**report.document(plan, found), "picture": None if out is None else str(out)})
        return
    _show(plan, found)
    for path, what in ((out, "picture"), (record, "record")):
        if path is not None:
            say(f"{what}: {path}")


@contextmanager
def _following() -> Iterator[Callable[[int, int, str], None]]:
    """A bar for people; for others a line for each size, if it takes more than a moment."""
    began = time.monotonic()
    with progress("sizes") as bar:

        def follow(done: int, total: int, text: str) -> None:
            bar(done, total)
            if not sys.stderr.isatty() and time.monotonic() - began > SILENCE:
                say(text, err=True)

        yield follow


def _show(plan: "Plan", found: "list[Profile]") -> None:
    """Tables for people."""
    names = [one.name for one in found]
    ways = (
        ("k", "by_k", f"b = {plan.b}" if any(one.by_b for one in found) else "hops"),
        ("b", "by_b", f"k = {plan.k}"),
    )
    for axis, part, title in ways:
        reached = {one.name: {cell[axis]: cell["accuracy"] for cell in getattr(one, part)} for one in found}
        sizes = sorted({size for cells in reached.values() for size in cells})
        rows = [
            (size, *(f"{reached[name][size]:.4f}" if size in reached[name] else "" for name in names))
            for size in sizes
        ]
        if rows:
            table((axis, *names), rows, title)
    rows = [(one.name, str(one.holds(plan.least))) for one in found]
    table(("model", f"{plan.least:g} holds up to k (95 % interval)"), rows)
    if plan.task == "families":
        say("note: problems that have several right answers are left out")
    for one in found:
        for note in one.notes:
            say(f"note: {one.name}: {note}")
