"""The CSV files in which the RCC-8 and interval benchmark (STaR) was published: read and write.

    ,edges,edge_labels,query_edge,query_label
    0,"[(0, 1), (1, 2)]","['EC', 'NTPPI']","(0, 2)",DC

The first column is the row number; the lists are Python's. A name that ends in `.gz` means gzip, and
`_k_<k>_b_<b>` in a name gives the cell. What is written is byte for byte what the publishers' code writes.
"""

import gzip
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from types import TracebackType
from typing import IO, Any, cast

import numpy as np

from epignn.calculus import ALIASES, CALCULI, load
from epignn.calculus.algebra import Calculus, members
from epignn.data.dataset import Dataset, Ints
from epignn.errors import BadFile, EpignnError, unknown
from epignn.files import writing
from epignn.formats.columns import Codes, Columns
from epignn.formats.csvfile import FACTS, LABEL, Row
from epignn.formats.networks import guess_calculus
from epignn.formats.raw import RawFact

HEADER = ("", *FACTS, LABEL)
COMPRESSION = 3
"""The gzip level: files a quarter larger than at level 6, written three times faster."""

_CELL = re.compile(r"(?:_([^_]+))?_k_(\d+)_b_(\d+)(?:_part_\d+_of_\d+)?\.csv(\.gz)?$")
_SPECIAL = re.compile(r'[,"\r\n]')


def read_csv(path: Path, calculus: Calculus) -> Dataset:
    """Read a published file; nodes are renumbered from 0 in each graph, keeping their order.

    Raises:
        BadFile: it cannot be read, or a row is malformed; with its line.
    """
    return read_problems(path, calculus)[1]


def read_problems(path: Path, calculus: Calculus | None = None) -> tuple[Calculus, Dataset]:
    """Read a file as `read_csv` does; without a calculus, by that of its name or the first to know its labels."""
    path = Path(path)
    columns = Columns.read(path, (*FACTS, LABEL))
    named = _CELL.search(path.name)
    if calculus is None and named and named[1] in (*CALCULI, *ALIASES):
        calculus = load(named[1])
    if calculus is None:
        uses = {name: RawFact((name,), "", "", line) for name, line in columns.codes.first.items()}
        calculus = guess_calculus(uses, str(path), uses)
    meanings = _meanings(columns.codes, calculus, str(path))
    return calculus, columns.dataset(calculus.relations, meanings, *cell_of(path))


def cell_of(path: Path) -> tuple[int, int]:
    """The k and b that a file's name tells; 0 where it tells none.

    >>> cell_of(Path("test_rcc8_k_9_b_3.csv.gz"))
    (9, 3)
    """
    found = _CELL.search(path.name)
    return (int(found[2]), int(found[3])) if found else (0, 0)


def _meanings(codes: Codes, calculus: Calculus, file: str) -> Ints:
    """The relation that each code stands for."""
    relations = []
    for name, line in codes.first.items():
        try:
            found = [*members(calculus.parse_one(name))]
        except EpignnError as error:
            raise BadFile(str(error), file, line) from error
        if len(found) != 1:
            raise BadFile(f"{name!r} is a set of relations; a label must be one of them.", file, line)
        relations += found
    return np.array(relations, dtype=np.int32)


def to_columns(data: Dataset) -> dict[str, list[Any]]:
    """Problems as the columns of the published files, for libraries that make a table of a dictionary of lists."""
    bounds = data.edge_offset.tolist()
    pairs = np.stack([data.edge_source, data.edge_target], axis=1).tolist()
    names = [data.relations[r] for r in data.edge_label.tolist()]
    parts = [slice(start, end) for start, end in pairwise(bounds)]
    edges, edge_labels, query = FACTS
    return {
        edges: [pairs[part] for part in parts],
        edge_labels: [names[part] for part in parts],
        query: np.stack([data.query_head, data.query_tail], axis=1).tolist(),
        LABEL: [data.relations[r] for r in data.label.tolist()],
    }


def from_columns(table: Mapping[str, Iterable[Any]], relations: Sequence[str]) -> Dataset:
    """The problems of a table with the columns of the published files: a dictionary, a data frame, or the like.

    Args:
        table: edges as pairs of node numbers, a name for each edge, the pair that is asked about, and its answer.
        relations: the vocabulary.

    Raises:
        BadFile: a column or a name is not known; with the near miss, and the row, counted from 1.
    """
    wanted = (*FACTS, LABEL)
    known = list(table.columns) if hasattr(table, "columns") else list(table)
    for name in wanted:
        if name not in known:
            raise BadFile(str(unknown("column", name, map(str, known))), "the table")
    found = Columns()
    rows = zip(*(table[name] for name in wanted), strict=True)
    found.extend(
        Row(
            number,
            [int(end) for pair in edges for end in pair],
            list(names),
            [int(end) for end in query],
            str(label),
        )
        for number, (edges, names, query, label) in enumerate(rows, 1)
    )
    return found.dataset(*found.codes.vocabulary(relations, "the table"))


class CsvWriter:
    """Writes data sets to one file, chunk after chunk; the file appears when the block ends, and not if it fails.

    >>> with CsvWriter(Path("problems_k_2_b_1.csv.gz")) as writer:  # doctest: +SKIP
    ...     writer.write(dataset)
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._rows = 0

    def __enter__(self) -> "CsvWriter":
        with ExitStack() as stack:
            raw = stack.enter_context(stack.enter_context(writing(self.path)).open("wb"))
            self._file: IO[bytes] = raw
            if self.path.suffix == ".gz":
                # No name and no time in the header: the same rows give the same bytes.
                packed = gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=raw, mtime=0)
                self._file = cast(IO[bytes], stack.enter_context(packed))
            self._file.write((",".join(HEADER) + "\n").encode())
            self._stack = stack.pop_all()
        return self

    def write(self, data: Dataset) -> None:
        """Append the graphs of `data`."""
        self._file.write("".join(_rows(data, self._rows)).encode())
        self._rows += len(data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)


def write_csv(path: Path, parts: Iterable[Dataset]) -> None:
    """Write data sets to one file, in order."""
    with CsvWriter(path) as writer:
        for part in parts:
            writer.write(part)


def _rows(data: Dataset, first: int) -> Iterator[str]:
    """The lines of a file, numbered from `first`; lists look as Python's `str` shows them."""
    sources, targets = data.edge_source.tolist(), data.edge_target.tolist()
    pairs = [f"({source}, {target})" for source, target in zip(sources, targets, strict=True)]
    shown = [repr(name) for name in data.relations]
    names = [shown[r] for r in data.edge_label.tolist()]
    labels = [_field(name) for name in data.relations]
    heads, tails = data.query_head.tolist(), data.query_tail.tolist()
    bounds = data.edge_offset.tolist()
    for g, label in enumerate(data.label.tolist()):
        start, end = bounds[g], bounds[g + 1]
        edges = _field(f"[{', '.join(pairs[start:end])}]")
        edge_labels = _field(f"[{', '.join(names[start:end])}]")
        yield f'{first + g},{edges},{edge_labels},"({heads[g]}, {tails[g]})",{labels[label]}\n'


def _field(text: str) -> str:
    """A field in quotes if it needs them, as Python's csv module decides it."""
    return '"' + text.replace('"', '""') + '"' if _SPECIAL.search(text) else text
