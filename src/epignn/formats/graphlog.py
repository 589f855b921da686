"""The JSON Lines files of Graphlog's worlds: a graph with one query a line.

    {"edges": [[0, 1, "R_7_+"], [2, 0, "R_4_+"]], "query": [2, 1, "R_6_+"], "resolution_path": [2, 0, 1]}

An edge is head, tail and relation; the query likewise, with the answer last. Other keys are passed over. Some
worlds repeat edges: each is kept once, where it came first. Self-loops are kept.
"""

import json
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from epignn.data.dataset import Dataset, Offsets, offsets
from epignn.errors import BadFile
from epignn.files import open_text, readable
from epignn.formats.columns import Columns
from epignn.formats.csvfile import Row


@dataclass(frozen=True, eq=False)
class WorldFile:
    """What a file of a world holds.

    Attributes:
        data: the graphs.
        repeated: for each graph the edges that were given before, and are left out, shape (G,).
        path_offset, path_node: nodes of each resolution path, numbered as in the file; empty where none is given.
    """

    data: Dataset
    repeated: Offsets
    path_offset: Offsets
    path_node: Offsets


def read_graphlog(path: Path, relations: Sequence[str] | None = None) -> Dataset:
    """Read the graphs of a file; `read_world` also gives repeated edges and resolution paths.

    Args:
        path: a JSON Lines file, also gzipped.
        relations: the vocabulary, such as a model's; the sorted names that occur in the file if left out.

    Raises:
        BadFile: it cannot be read, a line is malformed, or a relation is not in the vocabulary.
    """
    return read_world(path, relations).data


def read_world(path: Path, relations: Sequence[str] | None = None) -> WorldFile:
    """Read a file with its repeated edges and resolution paths."""
    path = Path(path)
    columns, lines = Columns(), _Lines(str(path))
    with readable(str(path)), open_text(path) as text:
        columns.extend(lines.rows(text))
    return WorldFile(
        columns.dataset(*columns.codes.vocabulary(relations, str(path))),
        np.array(lines.repeated),
        offsets(np.array(lines.path_length)),
        np.array(lines.path_node),
    )


class _Lines:
    """Reads lines as problems; collects repeated edges and resolution paths."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.repeated, self.path_length, self.path_node = array("q"), array("q"), array("q")

    def rows(self, lines: Iterable[str]) -> Iterator[Row]:
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                yield self._row(number, json.loads(line))
            except json.JSONDecodeError as error:
                raise BadFile(f"not JSON: {error.msg}.", self.file, number, error.colno) from error
            except RecursionError as error:
                raise BadFile("not a graph: brackets nested without end.", self.file, number) from error
            except ValueError as error:  # a number of thousands of digits
                raise BadFile(f"not a graph: {error}.", self.file, number) from error

    def _row(self, line: int, graph: Any) -> Row:
        edges = graph.get("edges") if isinstance(graph, dict) else None
        if not isinstance(edges, list) or not all(map(_is_triple, edges)):
            raise BadFile('expected {"edges": [[0, 1, "R_7_+"], …], "query": …}.', self.file, line)
        query, path = graph.get("query"), graph.get("resolution_path", [])
        if not _is_triple(query):
            shown = json.dumps(query)[:40]
            raise BadFile(f'the query must be [head, tail, "relation"]; found {shown}.', self.file, line)
        if not isinstance(path, list) or not all(map(_is_node, path)):
            raise BadFile("the resolution_path must be a list of nodes.", self.file, line)
        once = dict.fromkeys(map(tuple, edges))
        self.repeated.append(len(edges) - len(once))
        self.path_length.append(len(path))
        self.path_node.extend(path)
        ends = [*chain.from_iterable((head, tail) for head, tail, _ in once)]
        return Row(line, ends, [name for _, _, name in once], query[:2], query[2])


def _is_triple(edge: Any) -> bool:
    return isinstance(edge, list) and len(edge) == 3 and all(map(_is_node, edge[:2])) and isinstance(edge[2], str)


def _is_node(value: Any) -> bool:
    return type(value) is int and abs(value) < 1 << 62
