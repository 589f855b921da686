"""A knowledge graph as plain arrays, which several processes map instead of copying."""

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Edges, Graph
from epignn.workers import Shared

Arrays = Mapping[str, NDArray[Any]]
EDGES = ("offset", "source", "label", "of_fact")


class Names(Sequence[str]):
    """Names that stay in an array of bytes, and are decoded when they are asked for."""

    def __init__(self, text: NDArray[np.uint8], offset: NDArray[np.int64]) -> None:
        self._text, self._offset = text, offset

    def __len__(self) -> int:
        return len(self._offset) - 1

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[n] for n in range(*place.indices(len(self)))]
        if not -len(self) <= place < len(self):
            raise IndexError(place)
        first, last = self._offset[place % len(self)], self._offset[place % len(self) + 1]
        return self._text[first:last].tobytes().decode()

    def __iter__(self) -> Iterator[str]:
        return (self[place] for place in range(len(self)))

    @staticmethod
    def arrays(names: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The bytes of names, and where each begins."""
        encoded = [name.encode() for name in names]
        offset = np.zeros(len(encoded) + 1, dtype=np.int64)
        np.cumsum([len(name) for name in encoded], out=offset[1:])
        return np.frombuffer(b"".join(encoded), dtype=np.uint8), offset


def arrays_of(graph: Graph) -> dict[str, NDArray[Any]]:
    """Everything in a graph, its edges among them, so that nobody else has to sort these."""
    found: dict[str, NDArray[Any]] = {"facts": graph.facts}
    found |= {f"edges_{name}": getattr(graph.edges, name) for name in EDGES}
    for kind, names in (("entities", graph.entities), ("relations", graph.relations)):
        found[f"{kind}_text"], found[f"{kind}_offset"] = Names.arrays(names)
    return found


def graph_of_arrays(arrays: Arrays) -> Graph:
    """The graph of arrays, without a copy of any."""
    entities, relations = (
        Names(arrays[f"{kind}_text"], arrays[f"{kind}_offset"]) for kind in ("entities", "relations")
    )
    graph = Graph(entities, tuple(relations), arrays["facts"])  # type: ignore[arg-type]
    graph.__dict__["edges"] = Edges(*(arrays[f"edges_{name}"] for name in EDGES))  # what `edges` would compute
    return graph


@lru_cache(maxsize=1)
def graph_of(shared: Shared) -> Graph:
    """The graph that workers share; a process keeps the last, because its jobs are about the same."""
    return graph_of_arrays(shared.open())
