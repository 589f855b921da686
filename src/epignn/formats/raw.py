"""Facts as a file has them, before a calculus gives their relation names a meaning; all readers share this form."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.network import Indices
from epignn.kernels import text_kernels


class Place(NamedTuple):
    """Where a file has a fact: line and column of its relations, counted from 1; in JSON a path, as `facts[3]`."""

    line: int = 0
    column: int = 0
    path: str = ""


class RawFact(NamedTuple):
    """One fact and its place."""

    relations: tuple[str, ...]
    head: str
    tail: str
    line: int = 0
    column: int = 0
    path: str = ""


def _nowhere(f: int) -> Place:
    return Place()


@dataclass(frozen=True, eq=False)
class RawNetwork:
    """A network as a file has it.

    Attributes:
        names: the entities.
        heads, tails: positions of the two entities of each fact.
        sets: which of `written` each fact has.
        written: relation sets as names. Networks of one file may share them, so that some are not used in each.
        title, calculus: what the file calls the network and its calculus, if it does.
        place: where a fact stands, by its number.
    """

    names: tuple[str, ...]
    heads: Indices
    tails: Indices
    sets: Indices
    written: Sequence[tuple[str, ...]]
    title: str = ""
    calculus: str = ""
    place: Callable[[int], Place] = field(default=_nowhere, repr=False)

    @classmethod
    def of(
        cls, facts: Sequence[RawFact], names: tuple[str, ...] = (), title: str = "", calculus: str = ""
    ) -> "RawNetwork":
        """A network from facts one by one; entities that are not listed are numbered as they appear."""
        index = {name: i for i, name in enumerate(names)}
        written: dict[tuple[str, ...], int] = {}
        rows = [
            (
                index.setdefault(fact.head, len(index)),
                index.setdefault(fact.tail, len(index)),
                written.setdefault(fact.relations, len(written)),
            )
            for fact in facts
        ]
        heads, tails, sets = np.array(rows, dtype=np.int32).reshape(-1, 3).T
        places = [Place(*fact[3:]) for fact in facts]
        return cls(tuple(index), heads, tails, sets, tuple(written), title, calculus, places.__getitem__)

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.sets)

    def fact(self, f: int) -> RawFact:
        """Fact number `f`."""
        relations, head, tail = self.written[self.sets[f]], self.names[self.heads[f]], self.names[self.tails[f]]
        return RawFact(relations, head, tail, *self.place(f))

    @property
    def facts(self) -> list[RawFact]:
        """All facts; large files have arrays for a reason."""
        return [self.fact(f) for f in range(len(self))]

    def used(self) -> list[int]:
        """Which of `written` the facts have."""
        return np.flatnonzero(np.bincount(self.sets, minlength=1)).tolist()

    def first_uses(self) -> dict[str, RawFact]:
        """Every relation name with the first fact that has it."""
        first = np.full(len(self.written), len(self))
        first[self.sets[::-1]] = np.arange(len(self) - 1, -1, -1)  # of several values the last one stays
        uses: dict[str, RawFact] = {}
        for f in np.sort(first[first < len(self)]).tolist():
            for name in self.written[self.sets[f]]:
                if name not in uses:
                    uses[name] = self.fact(f)
        return uses


def relation_names(text: str) -> tuple[str, ...]:
    """The names in a relation set.

    >>> relation_names("ntpp | tpp")
    ('ntpp', 'tpp')
    """
    return tuple([name.strip() for name in text.split("|")])


def compiled(reader: str, text: str, *more: object) -> tuple[bytes, Any]:
    """Text as UTF-8, and what a compiled reader finds in it; None where the plain twin has to read it.

    The twin reads what no kernel was built for, what it would explain as an error, and halves of surrogate pairs,
    which have no bytes.
    """
    module = text_kernels()
    try:
        data = text.encode() if module else b""
    except UnicodeEncodeError:
        return b"", None
    return data, getattr(module, reader)(data, *more) if module else None


def places_in(data: bytes, starts: NDArray[np.int64]) -> Callable[[int], Place]:
    r"""The lines and columns of facts, from where each begins in UTF-8 text.

    >>> places_in("ec(ä, b)\nä(b, c)".encode(), np.array([0, 10]))(1)
    Place(line=2, column=1, path='')
    """

    @cache
    def line_ends() -> NDArray[np.intp]:
        return np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))

    def place(f: int) -> Place:
        start = int(starts[f])
        line = int(np.searchsorted(line_ends(), start))
        begin = int(line_ends()[line - 1]) + 1 if line else 0
        return Place(line + 1, len(data[begin:start].decode()) + 1)

    return place


def numbered(count: int) -> tuple[str, ...]:
    """The names of numbered nodes.

    >>> numbered(3)
    ('0', '1', '2')
    """
    return tuple(map(str, range(count)))


MOST_NAMES = 200_000
"""Of more names it is not asked which look alike: that would take longer than reading them."""
SHOWN_ALIKE = 3


def alike(names: Sequence[str]) -> str:
    """Which names differ only by case or by Unicode form, so that they may be meant as one; empty if none do.

    >>> alike(["Pier", "city", "pier"])
    "'Pier' and 'pier' differ only in case"
    """
    if len(names) > MOST_NAMES:
        return ""
    groups: dict[str, list[str]] = {}
    for name in names:
        plain = name if name.isascii() else unicodedata.normalize("NFC", name)
        groups.setdefault(plain.casefold(), []).append(name)
    told = []
    for first, second, *_ in (group for group in groups.values() if len(group) > 1):
        same = unicodedata.normalize("NFC", first) == unicodedata.normalize("NFC", second)
        how = (
            "look the same, but their letters are composed differently (NFC, NFD)"
            if same
            else "differ only in case"
        )
        told.append(f"{first!r} and {second!r} {how}")
    more = f"; and {len(told) - SHOWN_ALIKE} more such pairs" if len(told) > SHOWN_ALIKE else ""
    return "; ".join(told[:SHOWN_ALIKE]) + more


def names_of(raws: Iterable[RawNetwork]) -> set[str]:
    """All relation names of some networks."""
    return {name for raw in raws for s in raw.used() for name in raw.written[s]}
