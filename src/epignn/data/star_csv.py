"""The CSV files in which the RCC-8 and interval benchmark (STaR) was published: read and write.

    ,edges,edge_labels,query_edge,query_label
    0,"[(0, 1), (1, 2)]","['EC', 'NTPPI']","(0, 2)",DC

The first column is the row number; the lists are Python's. A name that ends in `.gz` means gzip, and
`_k_<k>_b_<b>` in a name gives the cell. What is written is byte for byte what the publishers' code writes.
"""

import ast
import csv
import gzip
import json
import os
import re
import zlib
from array import array
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, cast

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, members
from epignn.data.dataset import Dataset, offsets
from epignn.errors import BadFile, EpignnError

HEADER = ("", "edges", "edge_labels", "query_edge", "query_label")
COMPRESSION = 3
"""The gzip level: files a quarter larger than at level 6, written three times faster."""

_CELL = re.compile(r"_k_(\d+)_b_(\d+)\.csv(\.gz)?$")
_SPECIAL = re.compile(r'[,"\r\n]')
_NODE = "-?(?:0|[1-9][0-9]{0,17})"
_PAIRS = re.compile(rf"\[\]|\[\({_NODE}, {_NODE}\)(?:, \({_NODE}, {_NODE}\))*\]")
_BARE = str.maketrans("", "", "()")


def read_csv(path: Path, calculus: Calculus) -> Dataset:
    """Read a published file; nodes are renumbered from 0 in each graph, keeping their order.

    Raises:
        BadFile: it cannot be read, or a row is not what it should be; names file and line.
    """
    path = Path(path)
    try:
        with _open_text(path) as file:
            columns = _Columns(calculus, str(path))
            columns.read(file)
    except (OSError, EOFError, zlib.error) as error:
        raise BadFile(f"cannot read it: {getattr(error, 'strerror', None) or error}.", str(path)) from error
    except UnicodeDecodeError as error:
        raise BadFile("not UTF-8 text; expected a CSV file, or a gzip file named *.gz.", str(path)) from error
    cell = _CELL.search(path.name)
    return columns.dataset(*(int(cell[1]), int(cell[2])) if cell else (0, 0))


def _open_text(path: Path) -> IO[str]:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8", newline="")
    return path.open(encoding="utf-8", newline="")


class _Index(dict[str, int]):
    """Positions of relation names; other spellings are looked up in the calculus once."""

    def __init__(self, calculus: Calculus) -> None:
        super().__init__((name, r) for r, name in enumerate(calculus.relations))
        self.calculus = calculus

    def __missing__(self, name: str) -> int:
        relations = list(members(self.calculus.parse_one(name)))
        if len(relations) != 1:
            raise BadFile(f"{name!r} is a set of relations; a label must be one of them.")
        self[name] = relations[0]
        return relations[0]


class _Columns:
    """The columns of a file as flat lists, filled row by row."""

    def __init__(self, calculus: Calculus, file: str) -> None:
        self.calculus, self.file = calculus, file
        self.index = _Index(calculus)
        # Arrays rather than lists of pairs: a million small lists would keep the garbage collector busy.
        self.edges, self.queries = array("q"), array("q")
        self.edge_labels, self.labels = array("i"), array("i")
        self.edge_count = array("q")

    def read(self, file: IO[str]) -> None:
        rows = csv.reader(file)
        try:
            self._header(next(rows, []))
            for row in rows:
                self._row(row)
        except csv.Error as error:
            raise BadFile(f"not a CSV row: {error}.", self.file, rows.line_num) from error
        except EpignnError as error:
            raise BadFile(str(error), self.file, rows.line_num) from error

    def _header(self, row: list[str]) -> None:
        if tuple(row) != HEADER:
            raise BadFile(f"the first line must be {','.join(HEADER)!r}, not {','.join(row)[:80]!r}.")

    def _row(self, row: list[str]) -> None:
        if len(row) != len(HEADER):
            raise BadFile(f"expected {len(HEADER)} columns ({','.join(HEADER)}), found {len(row)}.")
        edges = _pairs("edges", row[1])
        names = _names(row[2])
        if 2 * len(names) != len(edges):
            raise BadFile(f"edge_labels must hold a name for each of {len(edges) // 2} edges, not {len(names)}.")
        query = _pairs("query_edge", f"[{row[3]}]")
        if len(query) != 2:
            raise BadFile(f"query_edge must be one pair, such as (0, 2); found {row[3][:80]!r}.")
        self.edges.fromlist(edges)
        self.edge_labels.fromlist([*map(self.index.__getitem__, names)])
        self.edge_count.append(len(names))
        self.queries.fromlist(query)
        self.labels.append(self.index[row[4]])

    def dataset(self, k: int, b: int) -> Dataset:
        edges = np.array(self.edges).reshape(-1, 2)
        queries = np.array(self.queries).reshape(-1, 2)
        graph = np.repeat(np.arange(len(queries)), self.edge_count)
        node_count, edges, queries = _renumber(graph, edges, queries)
        return Dataset(
            self.calculus.relations,
            node_count.astype(np.int32),
            offsets(np.array(self.edge_count)),
            edges[:, 0],
            edges[:, 1],
            np.array(self.edge_labels, dtype=np.int32),
            queries[:, 0],
            queries[:, 1],
            np.array(self.labels, dtype=np.int32),
            k=k,
            b=b,
        )


def _pairs(column: str, text: str) -> list[int]:
    """The node numbers of a list of pairs, one after the other."""
    if not _PAIRS.fullmatch(text):
        text = str(_literal(text))
        if not _PAIRS.fullmatch(text):
            raise BadFile(f"{column} must hold pairs of node numbers, such as (0, 1); found {text[:80]!r}.")
    return cast(list[int], json.loads(text.translate(_BARE)))


def _names(text: str) -> list[str]:
    """The names in a list; read as JSON, which is ten times faster, unless a name is odd."""
    try:
        names = json.loads(text.replace("'", '"'))
    except json.JSONDecodeError:
        names = _literal(text)
    if not isinstance(names, list) or not set(map(type, names)) <= {str}:
        raise BadFile(f"edge_labels must be a list of names, such as ['EC', 'DC']; found {text[:80]!r}.")
    return names


def _literal(text: str) -> object:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        raise BadFile(f"not a Python list or pair: {text[:80]!r}.") from None


def _renumber(
    graph: NDArray[np.intp], edges: NDArray[np.int64], queries: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Node counts, edges and queries with the nodes of each graph numbered from 0."""
    owner = np.concatenate([np.repeat(graph, 2), np.repeat(np.arange(len(queries)), 2)])
    names, nodes = np.unique(np.concatenate([edges.ravel(), queries.ravel()]), return_inverse=True)
    keys, rank = np.unique(owner * max(len(names), 1) + nodes, return_inverse=True)
    count = np.bincount(keys // max(len(names), 1), minlength=len(queries))
    local = (rank - offsets(count)[owner]).astype(np.int32).reshape(-1, 2)
    return count, local[: len(edges)], local[len(edges) :]


class CsvWriter:
    """Writes data sets to one file, chunk after chunk; the file appears, whole, when the block ends.

    Until then the rows are in a hidden file beside it, which is removed when the block fails.

    >>> with CsvWriter(Path("problems_k_2_b_1.csv.gz")) as writer:  # doctest: +SKIP
    ...     writer.write(dataset)
    """

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self._part = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        self._rows = 0

    def __enter__(self) -> "CsvWriter":
        try:
            self._raw = self._part.open("wb")
        except OSError as error:
            raise BadFile(f"cannot write it: {error.strerror}.", str(self.path)) from error
        self._file: IO[bytes] = self._raw
        if self.path.suffix == ".gz":
            # No name and no time in the header: the same rows give the same bytes.
            self._file = cast(
                IO[bytes],
                gzip.GzipFile(filename="", mode="wb", compresslevel=COMPRESSION, fileobj=self._raw, mtime=0),
            )
        self._file.write((",".join(HEADER) + "\n").encode())
        return self

    def write(self, data: Dataset) -> None:
        """Append the graphs of `data`."""
        self._file.write("".join(_rows(data, self._rows)).encode())
        self._rows += len(data)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            with self._raw:
                self._file.close()
            if kind is None:
                self._part.replace(self.path)
        finally:
            self._part.unlink(missing_ok=True)


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
