"""Triples from text files: head, relation and tail, separated by tabs or by spaces; plain or gzipped."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from epignn.errors import BadFile
from epignn.files import read_text

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Triples:
    """What a file holds, in its order and without repetitions.

    Attributes:
        file: where it was read.
        triples: head, relation, tail.
        lines: the line of each.
        blank, repeated: lines that were passed over.
    """

    file: str
    triples: tuple[Triple, ...]
    lines: tuple[int, ...]
    blank: int = 0
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.triples)

    def notes(self) -> list[str]:
        """What was passed over, in words."""
        counts = ((self.blank, "blank"), (self.repeated, "repeated"))
        return [f"{self.file}: {count:,} {what} lines passed over" for count, what in counts if count]

    def only(self, relations: "frozenset[str]") -> "Triples":
        """Those whose relation is among some."""
        kept = [i for i, (_, relation, _) in enumerate(self.triples) if relation in relations]
        return replace(self, triples=tuple(self.triples[i] for i in kept), lines=tuple(self.lines[i] for i in kept))


def read_triples(path: Path) -> Triples:
    """Read a file of triples; see `parse_triples`."""
    return parse_triples(read_text(path), str(path))


def parse_triples(text: str, file: str) -> Triples:
    """Read triples as text; `file` names it in errors.

    A line with a tab is split at tabs, so that names may hold spaces; others at spaces. Blank lines and repeated
    triples are counted and passed over.

    Raises:
        BadFile: a line has not three columns or an empty one, or there are no triples.
    """
    lines: dict[Triple, int] = {}
    blank = repeated = 0
    for number, fields in _rows(text):
        if not fields:
            blank += 1
            continue
        if len(fields) != 3:
            raise BadFile(
                f"a triple has three columns (head, relation, tail; tabs or spaces between), this line has "
                f"{len(fields)}.",
                file,
                number,
            )
        head, relation, tail = fields
        if not (head and relation and tail):
            raise BadFile("a column of this triple is empty.", file, number)
        repeated += (head, relation, tail) in lines
        lines.setdefault((head, relation, tail), number)
    if not lines:
        raise BadFile("there are no triples in it.", file)
    return Triples(file, tuple(lines), tuple(lines.values()), blank, repeated)


def read_pairs(path: Path) -> list[tuple[str, str]]:
    """Read questions, a head and a relation on each line, separated as triples are; blank lines are passed over."""
    pairs = []
    for number, fields in _rows(read_text(path)):
        if fields and (len(fields) != 2 or not all(fields)):
            raise BadFile(
                f"a question is a head and a relation, this line has {len(fields)} columns.", str(path), number
            )
        if fields:
            pairs.append((fields[0], fields[1]))
    if not pairs:
        raise BadFile("there are no questions in it.", str(path))
    return pairs


def _rows(text: str) -> Iterator[tuple[int, tuple[str, ...]]]:
    """The number and the fields of every line; a blank line has none."""
    for number, line in enumerate(text.removesuffix("\n").split("\n"), 1):
        fields = line.split("\t") if "\t" in line else line.split()
        yield number, tuple(map(str.strip, fields)) if line.strip() else ()
