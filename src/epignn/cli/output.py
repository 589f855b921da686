"""What commands share: JSON on standard output, everything for people in tables, progress on standard error.

Names, file names and messages come from outside. They are shown as text, whatever they hold: no other module of the
command line prints, and nothing here lets markup or control characters act on a terminal.
"""

import json
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from epignn.errors import BadArgument
from epignn.files import json_text, shown

if TYPE_CHECKING:
    from rich.console import Console

    from epignn.learn.fit import Epoch

SMOKE = "This was a smoke test: with so little data, its figures are not to be compared with others."
INTERRUPTED = 130
"""The exit code of a command that Ctrl-C has stopped, as shells have it."""
EVERY = 10.0
"""Seconds between two lines on work that goes on, where nobody sees a bar."""
MOVES = 0.1
"""Seconds between two moves of a bar that many short steps move."""
WIDTH = 100
"""Columns of what goes to a file or another program, unless the variable COLUMNS says otherwise."""
WORD = 24
"""Longer words are cut."""
MOST_SEED = 2**32 - 1
"""The largest seed that every library takes."""
NARROW = 8
"""So many columns are enough for a cell of several words, which goes on in the next line."""


def svg_name(path: Path | None) -> Path | None:
    """The name of a picture to be drawn as SVG; another kind of picture is refused before any work is done."""
    if path is not None and path.suffix.casefold() != ".svg":
        better = path.with_suffix(".svg") if path.name else "picture.svg"
        raise BadArgument(f"--svg draws SVG, which {path.name!r} does not end in; write {better}.")
    return path


def counted(count: int, one: str, several: str = "") -> str:
    """How many there are, in words.

    >>> counted(1, "fact"), counted(2_000, "fact"), counted(3, "entity", "entities")
    ('1 fact', '2,000 facts', '3 entities')
    """
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def say(text: object = "", err: bool = False) -> None:
    """Print one line for people, on standard output or on standard error; nothing in it acts on the terminal."""
    typer.echo(shown(text), err=err)


def emit_text(text: str) -> None:
    """Write the lines of a document on standard output: as they are for a program, shown on a terminal."""
    if sys.stdout.isatty():
        text = "\n".join(shown(line.replace("\t", "    ")) for line in text.split("\n"))
    typer.echo(text, nl=False)


def emit_json(document: dict[str, Any], **written: Iterable[bytes | memoryview]) -> None:
    """Write one JSON document on standard output and nothing else: a line a key, for `indent` is slow.

    Args:
        document: its keys and values.
        written: further keys, whose values are JSON already, as pieces of UTF-8.
    """
    lines = [f"  {json.dumps(key)}: {_json(value)}" for key, value in document.items()]
    typer.echo("{\n" + ",\n".join(lines), nl=False)
    for key, pieces in written.items():
        typer.echo(f",\n  {json.dumps(key)}: ", nl=False)
        sys.stdout.flush()
        for piece in pieces:
            sys.stdout.buffer.write(piece)
    typer.echo("\n}")


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


def width() -> int:
    """How many columns there are for what people read."""
    return shutil.get_terminal_size((WIDTH, 24)).columns


def table(columns: Sequence[str], rows: Iterable[Sequence[object]], title: str = "") -> None:
    """Write a table for people, no wider than there is room for; columns of numbers are set right.

    Words that are too long are cut with an ellipsis, sentences go on in the next line; numbers are never cut. Where
    not even that gives room, there are several tables, each with the first column.
    """
    cells = [[shown(cell) for cell in row] for row in rows]
    texts = [[name, *(row[c] for row in cells)] for c, name in enumerate(columns)]
    least = [min(max(map(_longest, text)), WORD) for text in texts]
    least = [
        max([word, *map(_wide, text[1:])]) if _is_figures(text[1:]) else word
        for text, word in zip(texts, least, strict=True)
    ]
    for part in _parts(least):
        widths = _shared([least[c] for c in part], [texts[c] for c in part])
        _grid([columns[c] for c in part], [[row[c] for c in part] for row in cells], title, widths)


def _parts(least: Sequence[int]) -> list[list[int]]:
    """Which columns stand beside each other: as many as find room when all are as narrow as they may be."""
    parts, used = [[0]], least[0] + 4 if least else 0
    for c in range(1, len(least)):
        if used + least[c] + 3 > width() and len(parts[-1]) > 1:
            parts.append([0])
            used = least[0] + 4
        parts[-1].append(c)
        used += least[c] + 3
    return parts


def _wide(text: str) -> int:
    """How many columns it takes: some characters take two."""
    from rich.cells import cell_len

    return cell_len(text)


def _longest(text: str) -> int:
    """How many columns its longest word takes."""
    return max(map(_wide, text.split()), default=0)


def _grid(columns: Sequence[str], cells: Sequence[Sequence[str]], title: str, widths: Sequence[int]) -> None:
    from rich.table import Table
    from rich.text import Text

    grid, console = Table(), _console(width=width())
    for c, name in enumerate(columns):
        numeric = bool(cells) and _is_figures([row[c] for row in cells])
        grid.add_column(
            Text(shown(name)),
            justify="right" if numeric else "left",
            overflow="ellipsis",
            width=widths[c],
        )
    for row in cells:
        grid.add_row(*map(Text, row))
    if title:
        console.print(Text(shown(title), style="bold"))
    console.print(grid)


def matrix(
    columns: Sequence[str], rows: Iterable[Sequence[object]], title: str, between: str, lines: bool = True
) -> bool:
    """Write a table of rows by columns; where there is no room for it, an entry a line, `between` its two names.

    Names may be cut, the words of entries never. Without `lines` nothing is written there; returns whether
    something was.
    """
    cells = [[shown(cell) for cell in row] for row in rows]
    words = [max((_longest(row[c]) for row in cells), default=0) if c else 0 for c in range(len(columns))]
    least = [max(word, min(_wide(name), NARROW)) for word, name in zip(words, columns, strict=True)]
    least[0] = min(max((_wide(row[0]) for row in cells), default=0), NARROW)
    if sum(each + 3 for each in least) < width():
        texts = [[name, *(row[c] for row in cells)] for c, name in enumerate(columns)]
        _grid(columns, cells, title, _shared(least, texts))
        return True
    if lines:
        say(title)
        for name, *entries in cells:
            for other, entry in zip(columns[1:], entries, strict=True):
                say(f"  {name}{between}{other}: {entry}")
    return lines


def _shared(least: list[int], texts: Sequence[Sequence[str]]) -> list[int]:
    """The room for columns of texts: whole words first, then whole lines."""
    for wanted in (_longest, _wide):
        least = _widths(least, [max(map(wanted, column)) for column in texts], width() - 1)
    return least


def _widths(least: Sequence[int], wanted: Sequence[int], room: int) -> list[int]:
    """How wide columns are: at least so much, and what is left goes to those that lack most of what they want.

    >>> _widths([2, 2, 2], [2, 9, 5], 20)
    [2, 7, 2]
    """
    found = list(least)
    for _ in range(room - sum(each + 3 for each in least)):
        c = max(range(len(found)), key=lambda c: wanted[c] - found[c])
        found[c] += wanted[c] > found[c]
    return found


def _is_figures(texts: Sequence[str]) -> bool:
    """Whether a column has numbers, intervals, counts or figures with a spread; some cells may be empty."""
    return any(texts) and all(
        text in ("", "–") or re.fullmatch(r"[-+]?\d[\d.,]*( ?(?:±|–|of) ?\d[\d.,]*)?( \+)?", text) for text in texts
    )


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
    """A bar on standard error, moved by calling `(done, total)`; where it is no terminal, a line now and then."""
    if not sys.stderr.isatty():
        yield _lines(what)
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


def _lines(what: str) -> Callable[[int, int], None]:
    """Tells of work on standard error at most every `EVERY` seconds, so that short work is silent."""
    began = told = time.monotonic()

    def report(done: int, total: int) -> None:
        nonlocal told
        now = time.monotonic()
        if done and now - told >= EVERY:
            told = now
            left = (now - began) / done * (total - done)
            say(f"{what}: {done:,} of {total:,}, {left:.0f} s left", err=True)

    return report


class Training(NamedTuple):
    """Tells of a training that goes on.

    Attributes:
        epoch: call it after every epoch.
        doing: call it with what is done meanwhile, how much of it, and all of it.
    """

    epoch: Callable[["Epoch"], None]
    doing: Callable[[str, int, int], None]


@contextmanager
def epochs(name: str, metric: str, unit: str) -> Iterator[Training]:
    """Live progress of training: a bar for people; otherwise a line an epoch, and now and then one within it."""

    def text(epoch: "Epoch") -> str:
        reached = "–" if epoch.validation is None else f"{epoch.validation:.4f}"
        return f"loss {epoch.loss:.4f} validation {metric} {reached} {epoch.speed:.0f} {unit}/s"

    if not sys.stderr.isatty():
        yield _training_lines(name, text)
        return
    from rich import progress as bars

    columns = (
        bars.TextColumn("{task.description}", markup=False),
        bars.BarColumn(),
        bars.MofNCompleteColumn(),
        bars.TextColumn("{task.fields[told]}{task.fields[now]}", markup=False),
        bars.TimeRemainingColumn(),
    )
    with bars.Progress(*columns, console=_console(err=True)) as bar:
        line, moved = bar.add_task(shown(name), total=None, told="", now=""), 0.0

        def after(epoch: "Epoch") -> None:
            bar.update(line, completed=epoch.number, total=epoch.epochs, told=f"{text(epoch)} ", now="")

        def doing(what: str, done: int, total: int) -> None:
            nonlocal moved
            if time.monotonic() - moved >= MOVES:  # a step may take less than a move of the bar
                moved = time.monotonic()
                bar.update(line, now=_so_far(what, done, total))

        yield Training(after, doing)


def _training_lines(name: str, text: Callable[["Epoch"], str]) -> Training:
    """A line an epoch, and one of what is done at most every `EVERY` seconds, so that short epochs are silent.

    What has no known length, so that nothing more may be heard of it for long, is told at once.
    """
    told = time.monotonic()

    def after(epoch: "Epoch") -> None:
        nonlocal told
        told = time.monotonic()
        left = f"{epoch.seconds_left:.0f} s left"
        say(f"{name} epoch {epoch.number}/{epoch.epochs} {text(epoch)} {left}", err=True)

    def doing(what: str, done: int, total: int) -> None:
        nonlocal told
        if not total or time.monotonic() - told >= EVERY:
            told = time.monotonic()
            say(f"{name} {_so_far(what, done, total)}", err=True)

    return Training(after, doing)


def _so_far(what: str, done: int, total: int) -> str:
    """What is done and how much of it, where it has parts."""
    return f"{what} {done:,} of {total:,}" if total > 1 else what
