"""Everything this package raises on purpose, and the near-miss lookup its messages share.

    EpignnError
    ├── UnknownName     a calculus, relation, entity, algorithm or file that is not known
    ├── BadCalculus     a table that breaks a law of the algebra
    ├── BadFile         a file that cannot be read as what it should be, or written; names file, line and column
    ├── Busy            a folder in which another process works
    └── BadArgument     a value outside what a function or option takes

An inconsistent network is an answer, not an error: see the result objects of `epignn.calculus`.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

T = TypeVar("T")


class EpignnError(Exception):
    """The root of all errors raised by epignn; its text says what to do."""


class UnknownName(EpignnError):
    """A name that is not known; the message lists the near misses."""


class BadCalculus(EpignnError):
    """A calculus that breaks a law of the algebra."""


class BadArgument(EpignnError):
    """A value outside what a function takes."""


class TooLarge(BadArgument):
    """Something is larger than can be taken; the message tells the limit."""


class Busy(EpignnError):
    """Another process works in this folder; the message tells which, and since when."""


class BadFile(EpignnError):
    """A file that cannot be read or written; the message begins with `file:line:column`, as far as known."""

    def __init__(self, message: str, file: str = "", line: int = 0, column: int = 0) -> None:
        self.file, self.line, self.column = file, line, column
        place = file + "".join(f":{number}" for number in (line, column) if number)
        super().__init__(f"{place}: {message}" if place else message)


def near_misses(name: str, known: Iterable[str], most: int = 2) -> list[str]:
    """The known names that look like this one; case does not matter, and a single letter looks like no word.

    >>> near_misses("NTTP", ["NTPP", "DC"]), near_misses("foo", ["o"])
    (['NTPP'], [])
    """
    import difflib  # here, because few commands meet a name that they do not know

    by_folded = {other.casefold(): other for other in known if len(other) > 1 or len(name) < 3}
    close = difflib.get_close_matches(name[:80].casefold(), by_folded, n=most, cutoff=0.5)
    return [by_folded[folded] for folded in close]


def unknown(kind: str, name: str, known: Iterable[str], near: Sequence[str] | None = None) -> UnknownName:
    """The error for a name that is not among the known ones, with the near misses first, or others that are given.

    >>> str(unknown("calculus", "rcc-8", ["allen", "rcc8"]))
    "Unknown calculus 'rcc-8'. Did you mean 'rcc8'? Known: allen, rcc8."
    """
    names = sorted(known)
    close = near_misses(name, names) if near is None else near
    hint = f" Did you mean {' or '.join(map(repr, close))}?" if close else ""
    shown = ", ".join(names[:40]) + (f" and {len(names) - 40} more" if len(names) > 40 else "")
    return UnknownName(f"Unknown {kind} {name[:80]!r}.{hint} Known: {shown or 'none'}.")


def lookup(kind: str, name: str, known: Mapping[str, T]) -> T:
    """The value of `name`, or an `UnknownName` error that suggests the near miss."""
    if name in known:
        return known[name]
    raise unknown(kind, name, known)
