"""Triples from text files: head, relation and tail, separated by tabs or by spaces; plain or gzipped."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from epignn.calculus.network import Indices
from epignn.errors import BadFile
from epignn.files import read_text
from epignn.formats.raw import alike, compiled

Triple = tuple[str, str, str]
COLUMN_NAMES = (
    ("head", "head_label", "subject", "source", "h", "s"),
    ("relation", "relation_label", "predicate", "label", "r", "p"),
    ("tail", "tail_label", "object", "target", "t", "o"),
)
"""What columns of triples are called, here and elsewhere."""


@dataclass(frozen=True, eq=False)
class Triples:
    """What a file holds, in its order and without repetitions, as numbers.

    Attributes:
        file: where it was read.
        entities, relations: the names, in the order of their first use.
        heads, which, tails: of each triple, the positions of its entities and of its relation.
        lines: the line of each.
        blank, repeated: lines that were passed over.
        titled: whether the first line named the columns, and was passed over.
        commas: whether every line has two commas, but is split at spaces.
    """

    file: str
    entities: tuple[str, ...]
    relations: tuple[str, ...]
    heads: Indices
    which: Indices
    tails: Indices
    lines: Indices
    blank: int = 0
    repeated: int = 0
    titled: bool = False
    commas: bool = False

    def __len__(self) -> int:
        return len(self.which)

    @property
    def triples(self) -> tuple[Triple, ...]:
        """Head, relation and tail of each, as text."""
        numbers = zip(self.heads.tolist(), self.which.tolist(), self.tails.tolist(), strict=True)
        return tuple((self.entities[h], self.relations[r], self.entities[t]) for h, r, t in numbers)

    def notes(self) -> list[str]:
        """What was passed over, and which names may be meant as one, in words."""
        counts = ((self.blank, "blank"), (self.repeated, "repeated"))
        passed = [f"{self.file}: {count:,} {what} lines passed over" for count, what in counts if count]
        if self.titled:
            passed.append(f"{self.file}: the first line names the columns and is no triple")
        if self.commas:
            passed.append(
                f"{self.file}: lines are split at spaces; if commas stand between the columns, make tabs of them: "
                "tr , '\\t' < IN > OUT.tsv"
            )
        named = (("entities", self.entities), ("relations", self.relations))
        found = [f"{told}: they are read as different {what}" for what, names in named if (told := alike(names))]
        return [*passed, *(f"{self.file}: {note}" for note in found)]

    @classmethod
    def of(cls, rows: Iterable[Triple], file: str = "the triples") -> "Triples":
        """Triples from Python; `file` names them in errors.

        Raises:
            BadFile: a row is no triple, or there are none.
        """
        lines: dict[tuple[int, int, int], int] = {}
        entities: dict[str, int] = {}
        relations: dict[str, int] = {}
        repeated = 0
        for number, row in enumerate(rows, 1):
            if isinstance(row, str) or len(row) != 3:
                raise BadFile(f"a triple is head, relation and tail, not {str(row)[:80]!r}.", file, number)
            if any(map(_is_missing, row)):
                raise BadFile("a column of this triple has no value; leave the row out.", file, number)
            head, relation, tail = map(str, row)
            if not (head and relation and tail):
                raise BadFile("a column of this triple is empty.", file, number)
            triple = (
                entities.setdefault(head, len(entities)),
                relations.setdefault(relation, len(relations)),
                entities.setdefault(tail, len(entities)),
            )
            repeated += triple in lines
            lines.setdefault(triple, number)
        if not lines:
            raise BadFile("there are no triples in it.", file)
        heads, which, tails = np.array(list(lines), dtype=np.int32).T
        places = np.fromiter(lines.values(), dtype=np.int32)
        return cls(file, tuple(entities), tuple(relations), heads, which, tails, places, 0, repeated)


def read_triples(path: Path) -> Triples:
    """Read a file of triples; see `parse_triples`."""
    return parse_triples(read_text(path), str(path))


def parse_triples(text: str, file: str) -> Triples:
    """Read triples as text; `file` names it in errors.

    A line with a tab is split at tabs, so that names may hold spaces; others at spaces. Blank lines and repeated
    triples are counted and passed over.

    A first line that names the columns is passed over, too.

    Raises:
        BadFile: a line has not three columns or an empty one, or there are no triples.
    """
    first, end, rest = text.partition("\n")
    if titled := _names_columns(first):
        text = end + rest
    found = _parsed(text, file)
    commas = "\t" not in text and text.count(",") == 2 * (len(found) + found.repeated)
    return replace(found, blank=found.blank - titled, titled=titled, commas=commas)


def _parsed(text: str, file: str) -> Triples:
    """All lines as triples."""
    _, found = compiled("read_triples", text)
    if found is None:
        return parse_triples_plain(text, file)
    heads, which, tails, entities, relations, lines, blank, repeated = found
    if not len(lines):
        raise BadFile("there are no triples in it.", file)
    return Triples(file, tuple(entities), tuple(relations), heads, which, tails, lines, blank, repeated)


def _names_columns(line: str) -> bool:
    """Whether a line names the columns; single letters may be entities."""
    fields = [field.strip().casefold() for field in (line.split("\t") if "\t" in line else line.split())]
    return len(fields) == 3 and all(
        len(field) > 1 and field in names for field, names in zip(fields, COLUMN_NAMES, strict=True)
    )


def _is_missing(value: Any) -> bool:
    """Whether it stands for no value: None, a number that is none, or what pandas has for both."""
    return value is None or type(value).__name__ in ("NAType", "NaTType") or bool(value != value)


def parse_triples_plain(text: str, file: str) -> Triples:
    """The same without compiled kernels; raises the error for a line that is no triple."""
    rows, places, blank = [], [], 0
    for number, fields in _rows(text):
        if not fields:
            blank += 1
            continue
        if len(fields) != 3:
            commas = sum(field.count(",") for field in fields) == 2
            hint = " If these are commas of a CSV file, `tr , '\\t' < IN.csv > OUT.tsv` makes tabs of them."
            raise BadFile(
                f"a triple has three columns (head, relation, tail; tabs or spaces between), this line has "
                f"{len(fields)}.{hint if commas else ''}",
                file,
                number,
            )
        if not all(fields):
            raise BadFile("a column of this triple is empty.", file, number)
        rows.append((fields[0], fields[1], fields[2]))
        places.append(number)
    found = Triples.of(rows, file)
    return replace(found, lines=np.array(places, dtype=np.int32)[found.lines - 1], blank=blank)


def read_pairs(path: Path) -> dict[int, tuple[str, str]]:
    """Questions by their lines, a head and a relation on each, separated as triples are; some may be blank."""
    pairs: dict[int, tuple[str, str]] = {}
    for number, fields in _rows(read_text(path)):
        if fields and (len(fields) != 2 or not all(fields)):
            raise BadFile(
                f"a question is a head and a relation, this line has {len(fields)} columns.", str(path), number
            )
        if fields:
            pairs[number] = fields[0], fields[1]
    if not pairs:
        raise BadFile("there are no questions in it.", str(path))
    return pairs


def _rows(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number and the fields of every line; a blank line has none."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        fields = line.split("\t") if "\t" in line else line.split()
        yield number, tuple(map(str.strip, fields)) if line.strip() else ()
