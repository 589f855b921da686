"""The graph work of a data set, done once: order of nodes, edges by target and by source, depth, a shortest path.

All graphs are treated together, as one disjoint graph, with array operations. In an acyclic graph the nodes are
renumbered so that every edge runs from a smaller to a larger number; one pass in that order is then as good as
any number of message-passing rounds.
"""

from dataclasses import replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import Dataset, offsets
from epignn.data.reach import FAR, distances, refuse_unreachable
from epignn.models.batch import GraphBatch, owner

Longs = NDArray[np.int64]


def prepare(data: Dataset) -> GraphBatch:
    """All graphs of a data set as one batch; of several shortest paths the first found is taken.

    Raises:
        BadArgument: in some graph no path leads from head to tail.
    """
    start = offsets(data.node_count)
    base = np.repeat(start[:-1], data.edge_count)
    graph = np.repeat(np.arange(len(data)), data.node_count)
    source, target = data.edge_source + base, data.edge_target + base
    head, tail = data.query_head + start[:-1], data.query_tail + start[:-1]
    level = _levels(source, target, len(graph))
    acyclic = np.ones(len(data), dtype=bool)
    acyclic[graph[level < 0]] = False
    number = np.empty(len(graph), dtype=np.int64)  # the new number of each node
    number[np.lexsort((np.where(acyclic[graph], level, 0), graph))] = np.arange(len(graph))
    source, target, head, tail = number[source], number[target], number[head], number[tail]
    ahead = distances(source, target, head, len(graph))
    behind = distances(target, source, tail, len(graph))
    refuse_unreachable(data, ahead[tail] == FAR)

    def deepest(values: Longs) -> Longs:
        """(G) the largest value in each graph."""
        return np.maximum.reduceat(values, start[:-1]) if len(data) else values

    levels = deepest(np.where(level < 0, 0, level))
    reach = [deepest(np.where(steps == FAR, 0, steps)) for steps in (ahead, behind)]
    return GraphBatch(
        _int32(start),
        _int32(data.edge_offset),
        *_by(target, source, data.edge_label, len(graph)),
        *_by(source, target, data.edge_label, len(graph)),
        _int32(head),
        _int32(tail),
        torch.from_numpy(data.label.astype(np.int64)),
        *_paths(source, target, ahead, head, tail, None),
        # In a cyclic graph states may change for ever; every node has been reached after the largest distance.
        _int32(np.where(acyclic, levels, np.maximum(*reach))),
        torch.from_numpy(acyclic),
    )


def repath(graphs: GraphBatch, rng: np.random.Generator) -> GraphBatch:
    """The same graphs with a shortest path of each chosen anew, at random."""
    source, target = graphs.in_source.numpy(), owner(graphs.in_offset).numpy()
    head, tail = graphs.head.numpy(), graphs.tail.numpy()
    ahead = distances(source, target, head, graphs.nodes)
    path_offset, path_node = _paths(source, target, ahead, head, tail, rng)
    return replace(graphs, path_offset=path_offset, path_node=path_node)


def _int32(values: NDArray[Any]) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.int32))


def _levels(source: NDArray[Any], target: NDArray[Any], nodes: int) -> Longs:
    """The longest path that ends in each node; -1 on and behind a cycle."""
    level = np.zeros(nodes, dtype=np.int64)
    waiting = np.bincount(target, minlength=nodes)
    order = np.argsort(source, kind="stable")
    first = np.searchsorted(source[order], np.arange(nodes + 1))
    ready = np.flatnonzero(waiting == 0)
    done = np.zeros(nodes, dtype=bool)
    depth = 0
    while len(ready):
        done[ready] = True
        level[ready] = depth
        counts = first[ready + 1] - first[ready]
        edges = order[np.repeat(first[ready] - offsets(counts)[:-1], counts) + np.arange(counts.sum())]
        np.subtract.at(waiting, target[edges], 1)
        reached = np.unique(target[edges])
        ready = reached[waiting[reached] == 0]
        depth += 1
    return np.where(done, level, -1)


def _paths(
    source: NDArray[Any],
    target: NDArray[Any],
    ahead: Longs,
    head: NDArray[Any],
    tail: NDArray[Any],
    rng: np.random.Generator | None,
) -> tuple[Tensor, Tensor]:
    """The nodes strictly inside one shortest path of each graph, from its tail back to its head."""
    on_shortest = np.flatnonzero((ahead[source] != FAR) & (ahead[source] + 1 == ahead[target]))
    if rng is not None:
        on_shortest = rng.permutation(on_shortest)
    previous = np.full(len(ahead), -1, dtype=np.int64)
    previous[target[on_shortest[::-1]]] = source[on_shortest[::-1]]  # the first in the list is written last
    count = np.maximum(ahead[tail] - 1, 0)
    offset = offsets(count)
    nodes = np.empty(offset[-1], dtype=np.int64)
    current = tail.copy()
    for step in range(int(count.max(initial=0))):
        walking = np.flatnonzero(count > step)
        current[walking] = previous[current[walking]]
        nodes[offset[walking] + step] = current[walking]
    return _int32(offset), _int32(nodes)


def _by(key: NDArray[Any], other: NDArray[Any], label: NDArray[Any], nodes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Edges in order of one end: where those of each node begin, their other end, their label."""
    order = np.argsort(key, kind="stable")
    return _int32(offsets(np.bincount(key, minlength=nodes))), _int32(other[order]), _int32(label[order])
