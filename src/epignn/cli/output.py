"""What commands share: JSON on standard output, everything for people in tables, progress on standard error."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from epignn.learn.fit import Epoch

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has stopped, as shells have it."""
UNLIMITED = 10_000
"""Columns of a table that goes to a file or another program: no cell is broken there."""


def emit_json(document: dict[str, Any], **written: str) -> None:
    """Write one JSON document on standard output and nothing else: a line a key, for `indent` is slow.

    Args:
        document: its keys and values.
        written: further keys, whose values are JSON already.
    """
    values = {key: json.dumps(value, ensure_ascii=False) for key, value in document.items()} | written
    lines = [f"  {json.dumps(key)}: {value}" for key, value in values.items()]
    typer.echo("{\n" + ",\n".join(lines) + "\n}")


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Write a table for people; columns of numbers are set right."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=title or None, title_justify="left", title_style="bold")
    cells = [[str(cell) for cell in row] for row in rows]
    for c, name in enumerate(columns):
        numeric = bool(cells) and all(_is_number(row[c]) for row in cells)
        grid.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        grid.add_row(*map(Text, row))
    Console(highlight=False, width=None if sys.stdout.isatty() else UNLIMITED).print(grid)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").replace("-", "", 1).isdigit()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something goes on, where a person watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(what):
        yield


@contextmanager
def kept(where: object) -> Iterator[None]:
    """Where Ctrl-C stops work that goes on from its last step, say so."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"stopped; {where} keeps what is done, and the same command goes on from there", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, moved by calling `(done, total)`; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(what, total=None)
        yield lambda done, total: shown.update(task, completed=done, total=total)


@contextmanager
def epochs(name: str, metric: str, unit: str) -> Iterator[Callable[["Epoch"], None]]:
    """Live progress of training: a bar for people, a line an epoch otherwise."""

    def text(epoch: "Epoch") -> str:
        reached = "–" if epoch.validation is None else f"{epoch.validation:.4f}"
        return f"loss {epoch.loss:.4f} validation {metric} {reached} {epoch.speed:.0f} {unit}/s"

    if not sys.stderr.isatty():
        yield lambda epoch: typer.echo(
            f"{name} epoch {epoch.number}/{epoch.epochs} {text(epoch)} {epoch.seconds_left:.0f} s left", err=True
        )
        return
    from rich import progress as bars
    from rich.console import Console

    columns = (
        bars.TextColumn("{task.description}"),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[told]}"),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=Console(stderr=True)) as shown:
        line = shown.add_task(name, total=None, told="")
        yield lambda epoch: shown.update(line, completed=epoch.number, total=epoch.epochs, told=text(epoch))
