"""Dataset: many small relational graphs with one query each, as flat arrays.

Graph `g` has the edges `edge_offset[g]:edge_offset[g + 1]`; its nodes are numbered from 0. Readers and generators
make data sets, models and provers take them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from epignn.errors import BadArgument

Ints = NDArray[np.int32]
Offsets = NDArray[np.int64]


@dataclass(frozen=True)
class Example:
    """One problem with names: edges as `(source, relation, target)`, a query pair and its label.

    >>> print(Example(((0, "EC", 1), (1, "NTPPI", 2)), (0, 2), "DC"))
    EC(0, 1), NTPPI(1, 2) entails DC(0, 2)
    """

    edges: tuple[tuple[int, str, int], ...]
    query: tuple[int, int]
    label: str

    def __str__(self) -> str:
        facts = ", ".join(f"{relation}({source}, {target})" for source, relation, target in self.edges)
        return f"{facts} entails {self.label}({self.query[0]}, {self.query[1]})"


@dataclass(frozen=True, eq=False)
class Dataset:
    """Problems over one vocabulary of relations.

    Attributes:
        relations: names of the base relations; labels are positions in it.
        node_count: nodes of each graph, shape (G,).
        edge_offset: first edge of each graph and the end, shape (G + 1,), int64.
        edge_source, edge_target: node numbers within the graph, shape (E,).
        edge_label: base relation from source to target, shape (E,).
        query_head, query_tail, label: the relation asked for, and its answer, shape (G,).
        k, b: path length and number of base branches of all graphs; 0 where unknown or mixed.

    A graph is `data[3]`; several are `data[2:10]`, `data[mask]` or `data[[4, 0]]`, a data set again.

    >>> data = Dataset(("DC", "EC"), [3], [0, 2], [0, 1], [1, 2], [1, 0], [0], [2], [1])
    >>> print(data[0])
    EC(0, 1), DC(1, 2) entails EC(0, 2)
    >>> [example.label for example in data]
    ['EC']
    """

    relations: tuple[str, ...]
    node_count: Ints
    edge_offset: Offsets
    edge_source: Ints
    edge_target: Ints
    edge_label: Ints
    query_head: Ints
    query_tail: Ints
    label: Ints
    k: int = 0
    b: int = 0

    def __post_init__(self) -> None:
        for name in _ARRAYS:
            dtype = np.int64 if name == "edge_offset" else np.int32
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        _check_shapes(self)
        _check_ranges(self)

    def __len__(self) -> int:
        """The number of graphs."""
        return len(self.node_count)

    @overload
    def __getitem__(self, which: int | np.integer[Any]) -> Example: ...

    @overload
    def __getitem__(self, which: NDArray[Any] | Sequence[int] | slice) -> "Dataset": ...

    def __getitem__(
        self, which: int | np.integer[Any] | NDArray[Any] | Sequence[int] | slice
    ) -> "Example | Dataset":
        """One graph with names, counted from the end where negative; or some graphs, as `select` gives them."""
        if isinstance(which, int | np.integer):
            return self.example(range(len(self))[which])
        return self.select(which)

    def __iter__(self) -> Iterator[Example]:
        """Every graph with names, one after the other."""
        return map(self.example, range(len(self)))

    @property
    def edge_count(self) -> Offsets:
        """Edges of each graph, shape (G,)."""
        return np.diff(self.edge_offset)

    def select(self, indices: NDArray[Any] | Sequence[int] | slice) -> "Dataset":
        """Some of the graphs, in the order given; also by a boolean mask or a slice."""
        chosen = np.arange(len(self))[indices if isinstance(indices, slice) else _as_index(indices)]
        count = self.edge_count[chosen]
        offset = offsets(count)
        edge = np.repeat(self.edge_offset[chosen] - offset[:-1], count) + np.arange(offset[-1])
        return Dataset(
            self.relations,
            self.node_count[chosen],
            offset,
            self.edge_source[edge],
            self.edge_target[edge],
            self.edge_label[edge],
            self.query_head[chosen],
            self.query_tail[chosen],
            self.label[chosen],
            k=self.k,
            b=self.b,
        )

    def batches(self, size: int, rng: np.random.Generator | None = None) -> "Iterator[Dataset]":
        """All graphs in parts of `size`, the last perhaps smaller; shuffled where a generator is given.

        `part.disjoint()` numbers the nodes of a part through, for message passing over all its graphs at once.

        Raises:
            BadArgument: parts are to have fewer than one graph.
        """
        if size < 1:
            raise BadArgument(f"a batch has at least one graph, not {size}.")
        order = np.arange(len(self)) if rng is None else rng.permutation(len(self))
        return (self.select(order[first : first + size]) for first in range(0, len(self), size))

    def disjoint(self) -> "Disjoint":
        """All graphs as one disjoint graph."""
        start = offsets(self.node_count)
        base = np.repeat(start[:-1], self.edge_count)
        graph = np.repeat(np.arange(len(self)), self.edge_count)
        head, tail = self.query_head + start[:-1], self.query_tail + start[:-1]
        return Disjoint(start, graph, self.edge_source + base, self.edge_target + base, head, tail)

    @classmethod
    def concat(cls, parts: Sequence["Dataset"]) -> "Dataset":
        """The graphs of all parts, in order; `k` and `b` are kept where all parts agree on them.

        Raises:
            BadArgument: there is no part, or the parts name their relations differently.
        """
        if not parts:
            raise BadArgument("nothing to concatenate: give at least one data set.")
        first = parts[0]
        for part in parts:
            if part.relations != first.relations:
                raise BadArgument(
                    f"data sets over different relations cannot be joined: {' '.join(first.relations)} "
                    f"against {' '.join(part.relations)}."
                )
        arrays = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS}
        arrays["edge_offset"] = offsets(np.concatenate([part.edge_count for part in parts]))
        return cls(
            first.relations,
            **arrays,
            k=first.k if all(part.k == first.k for part in parts) else 0,
            b=first.b if all(part.b == first.b for part in parts) else 0,
        )

    def example(self, g: int) -> Example:
        """Graph number `g`, with names."""
        start, end = self.edge_offset[g], self.edge_offset[g + 1]
        edges = zip(
            self.edge_source[start:end].tolist(),
            (self.relations[r] for r in self.edge_label[start:end]),
            self.edge_target[start:end].tolist(),
            strict=True,
        )
        query = (int(self.query_head[g]), int(self.query_tail[g]))
        return Example(tuple(edges), query, self.relations[self.label[g]])


class Disjoint(NamedTuple):
    """The graphs of a data set as one graph, whose node numbers run through all of them.

    Attributes:
        start: the first node of each graph and the end, shape (G + 1,).
        graph: the graph of each edge, shape (E,).
        source, target: the nodes of each edge, shape (E,).
        head, tail: the nodes of each query, shape (G,).
    """

    start: Offsets
    graph: Offsets
    source: Offsets
    target: Offsets
    head: Offsets
    tail: Offsets


_ARRAYS = tuple(field.name for field in fields(Dataset) if field.name not in ("relations", "k", "b"))


def offsets(count: NDArray[Any]) -> Offsets:
    """Where each of several runs starts, and where the last one ends.

    >>> offsets(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    result = np.zeros(len(count) + 1, dtype=np.int64)
    np.cumsum(count, out=result[1:])
    return result


def spans(begin: NDArray[Any], count: NDArray[Any]) -> NDArray[np.int64]:
    """The numbers of several runs, one run after the other, each from where it begins.

    >>> spans(np.array([5, 9, 0]), np.array([2, 0, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    before = offsets(count)
    return np.repeat(begin - before[:-1], count) + np.arange(before[-1])


def _as_index(indices: NDArray[Any] | Sequence[int]) -> NDArray[Any]:
    array = np.asarray(indices)
    return array.astype(np.intp) if array.size == 0 and array.dtype != np.bool_ else array


def _check_shapes(data: Dataset) -> None:
    graphs, edges = len(data.node_count), len(data.edge_source)
    expected = {"edge_offset": graphs + 1, "edge_target": edges, "edge_label": edges}
    expected |= dict.fromkeys(("query_head", "query_tail", "label"), graphs)
    for name, length in expected.items():
        if getattr(data, name).shape != (length,):
            raise BadArgument(f"{name} has shape {getattr(data, name).shape}; expected ({length},).")
    if data.edge_offset[0] != 0 or data.edge_offset[-1] != edges or np.any(np.diff(data.edge_offset) < 0):
        raise BadArgument(f"edge_offset must rise from 0 to {edges}, the number of edges.")


def _check_ranges(data: Dataset) -> None:
    edge_nodes = np.repeat(data.node_count, data.edge_count)
    limits = {
        "edge_source": edge_nodes,
        "edge_target": edge_nodes,
        "query_head": data.node_count,
        "query_tail": data.node_count,
        "edge_label": len(data.relations),
        "label": len(data.relations),
    }
    for name, limit in limits.items():
        values = getattr(data, name)
        if np.any((values < 0) | (values >= limit)):
            what = "relations" if name.endswith("label") else "nodes of its graph"
            raise BadArgument(f"{name} refers beyond the {what}; count both from 0.")
