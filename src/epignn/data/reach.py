"""Which nodes edges lead to, in many graphs at once: distances from a start, and edges between head and tail."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, offsets
from epignn.errors import BadArgument

FAR = np.iinfo(np.int32).max
"""The distance of a node that no path leads to."""


def distances(source: NDArray[Any], target: NDArray[Any], start: NDArray[Any], nodes: int) -> NDArray[np.int64]:
    """(V): the number of edges from the start of its graph to each node; `FAR` where none lead."""
    distance = np.full(nodes, FAR, dtype=np.int64)
    distance[start] = 0
    step = 0
    while True:
        reached = target[(distance[source] == step) & (distance[target] == FAR)]
        if not len(reached):
            return distance
        step += 1
        distance[reached] = step


def between(data: Dataset) -> Dataset:
    """Each graph with only those of its edges that lie on some walk from head to tail."""
    start = offsets(data.node_count)
    base = np.repeat(start[:-1], data.edge_count)
    source, target = data.edge_source + base, data.edge_target + base
    ahead = distances(source, target, data.query_head + start[:-1], int(start[-1]))
    behind = distances(target, source, data.query_tail + start[:-1], int(start[-1]))
    kept = (ahead[source] != FAR) & (behind[target] != FAR)
    graph = np.repeat(np.arange(len(data)), data.edge_count)
    return replace(
        data,
        edge_offset=offsets(np.bincount(graph[kept], minlength=len(data))),
        edge_source=data.edge_source[kept],
        edge_target=data.edge_target[kept],
        edge_label=data.edge_label[kept],
    )


def refuse_unreachable(data: Dataset, cut_off: NDArray[np.bool_]) -> None:
    """Refuse data in which no path leads from head to tail of some graph."""
    graphs = np.flatnonzero(cut_off)
    if len(graphs):
        raise BadArgument(
            f"no path leads from head to tail in {len(graphs)} of {len(data)} graphs, first in number "
            f"{graphs[0]}: {data.example(int(graphs[0]))}. Add facts that connect them, or turn facts round."
        )
