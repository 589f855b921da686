"""What commands share: JSON on standard output, everything for people in tables, progress on standard error.

Names, file names and messages come from outside. They are shown as text, whatever they hold: no other module of the
command line prints, and nothing here lets markup or control characters act on a terminal.
"""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

from epignn.errors import BadArgument
from epignn.files import json_text, shown

if TYPE_CHECKING:
    from rich.console import Console

    from epignn.learn.fit import Epoch

INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has stopped, as shells have it."""
UNLIMITED = 10_000
"""Columns of a table that goes to a file or another program: no cell is broken there."""


def say(text: object = "", err: bool = False) -> None:
    """Print one line for people, on standard output or on standard error; nothing in it acts on the terminal."""
    typer.echo(shown(text), err=err)


def emit_text(text: str) -> None:
    """Write the lines of a document on standard output: as they are for a program, shown on a terminal."""
    if sys.stdout.isatty():
        text = "\n".join(shown(line.replace("\t", "    ")) for line in text.split("\n"))
    typer.echo(text, nl=False)


def emit_json(document: dict[str, Any], **written: str) -> None:
    """Write one JSON document on standard output and nothing else: a line a key, for `indent` is slow.

    Args:
        document: its keys and values.
        written: further keys, whose values are JSON already.
    """
    values = {key: _json(value) for key, value in document.items()} | written
    lines = [f"  {json.dumps(key)}: {value}" for key, value in values.items()]
    typer.echo("{\n" + ",\n".join(lines) + "\n}")


def _json(value: object) -> str:
    """A value as JSON."""
    try:
        return json_text(value)
    except ValueError as error:
        raise BadArgument(
            f"the answer has a number that is not finite, which JSON cannot hold ({error})."
        ) from error


def _console(err: bool = False, width: int | None = None) -> "Console":
    from rich.console import Console

    return Console(stderr=err, width=width, markup=False, emoji=False, highlight=False)


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Write a table for people; columns of numbers are set right."""
    from rich.table import Table
    from rich.text import Text

    grid = Table(title=Text(shown(title)) if title else None, title_justify="left", title_style="bold")
    cells = [[shown(cell) for cell in row] for row in rows]
    for c, name in enumerate(columns):
        numeric = bool(cells) and all(_is_number(row[c]) for row in cells)
        grid.add_column(Text(shown(name)), justify="right" if numeric else "left", overflow="fold")
    for row in cells:
        grid.add_row(*map(Text, row))
    _console(width=None if sys.stdout.isatty() else UNLIMITED).print(grid)


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).replace(",", "").replace("-", "", 1).isdigit()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show that something goes on, where a person watches."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.text import Text

    with _console(err=True).status(Text(shown(what))):
        yield


@contextmanager
def kept(where: object) -> Iterator[None]:
    """Where Ctrl-C stops work that goes on from its last step, say so."""
    try:
        yield
    except KeyboardInterrupt:
        say(f"stopped; {where} keeps what is done, and the same command goes on from there", err=True)
        raise typer.Exit(INTERRUPTED) from None


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on standard error, moved by calling `(done, total)`; silent where nobody watches."""
    if not sys.stderr.isatty():
        yield lambda done, total: None
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TimeElapsedColumn(),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=_console(err=True)) as bar:
        task = bar.add_task(shown(what), total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


@contextmanager
def epochs(name: str, metric: str, unit: str) -> Iterator[Callable[["Epoch"], None]]:
    """Live progress of training: a bar for people, a line an epoch otherwise."""

    def text(epoch: "Epoch") -> str:
        reached = "–" if epoch.validation is None else f"{epoch.validation:.4f}"
        return f"loss {epoch.loss:.4f} validation {metric} {reached} {epoch.speed:.0f} {unit}/s"

    if not sys.stderr.isatty():
        yield lambda epoch: say(
            f"{name} epoch {epoch.number}/{epoch.epochs} {text(epoch)} {epoch.seconds_left:.0f} s left", err=True
        )
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[told]}", markup=False),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=_console(err=True)) as bar:
        line = bar.add_task(shown(name), total=None, told="")
        yield lambda epoch: bar.update(line, completed=epoch.number, total=epoch.epochs, told=text(epoch))
