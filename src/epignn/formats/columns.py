"""The columns of a file of problems, collected row by row and turned into a `Dataset`; shared by all readers.

Relation names get codes in the order in which they occur, and each is looked up in a vocabulary once. Node numbers
may be any integers; in the data set they are counted from 0 in each graph.
"""

from array import array
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, Ints, offsets
from epignn.errors import BadFile, unknown
from epignn.files import SURROGATE, open_text, readable
from epignn.formats.csvfile import Row, read_rows


class Codes(dict[str, int]):
    """Names, numbered in the order of their first use; `first[name]` is the line of that."""

    def __init__(self) -> None:
        super().__init__()
        self.line = 0
        self.first: dict[str, int] = {}

    def __missing__(self, name: str) -> int:
        self.first[name] = self.line
        self[name] = len(self)
        return self[name]

    def vocabulary(self, relations: Sequence[str] | None, file: str) -> tuple[tuple[str, ...], Ints]:
        """The relations and the position of each code among them; without any given, the sorted names.

        Raises:
            BadFile: a name is not among the relations given; with its line and near misses.
        """
        names = tuple(sorted(self) if relations is None else relations)
        position = {name: at for at, name in enumerate(names)}
        for name, line in self.first.items():
            if SURROGATE.search(name):
                raise BadFile(f"half a surrogate pair is no text: {name[:80]!r}.", file, line)
            if name not in position:
                raise BadFile(str(unknown("relation", name, names)), file, line)
        return names, np.array([position[name] for name in self], dtype=np.int32)


class Columns:
    """The columns of a file as flat arrays."""

    def __init__(self) -> None:
        self.codes = Codes()
        # Arrays rather than lists of pairs: a million small lists would keep the garbage collector busy.
        self.edges, self.queries = array("q"), array("q")
        self.edge_labels, self.labels = array("i"), array("i")
        self.edge_count = array("q")

    @classmethod
    def read(cls, path: Path, columns: tuple[str, ...]) -> "Columns":
        """The problems of a CSV file with these columns, as for `read_rows`."""
        self = cls()
        with readable(str(path)), open_text(path) as lines:
            self.extend(read_rows(lines, str(path), columns))
        return self

    def extend(self, rows: Iterable[Row]) -> None:
        """Append problems."""
        code = self.codes.__getitem__
        for self.codes.line, edges, edge_labels, query, label in rows:
            self.edges.fromlist(edges)
            self.edge_labels.fromlist([*map(code, edge_labels)])
            self.edge_count.append(len(edge_labels))
            self.queries.fromlist(query)
            self.labels.append(code(label))

    def dataset(self, relations: tuple[str, ...], position: Ints, k: int = 0, b: int = 0) -> Dataset:
        """The problems read so far; `position[code]` is the relation that a code stands for."""
        edges = np.array(self.edges).reshape(-1, 2)
        queries = np.array(self.queries).reshape(-1, 2)
        graph = np.repeat(np.arange(len(queries)), self.edge_count)
        node_count, edges, queries = _renumber(graph, edges, queries)
        return Dataset(
            relations,
            node_count.astype(np.int32),
            offsets(np.array(self.edge_count)),
            edges[:, 0],
            edges[:, 1],
            position[self.edge_labels],
            queries[:, 0],
            queries[:, 1],
            position[self.labels],
            k=k,
            b=b,
        )


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
