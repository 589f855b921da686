"""Graph work done once per data set: order of nodes, edges by target and by source, depth, a shortest path.

All graphs are treated together, as one disjoint graph, with array operations. In an acyclic graph the nodes are
renumbered so that every edge runs from a smaller to a larger number; one pass in that order is then as good as
any number of message-passing rounds.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, offsets
from epignn.errors import BadArgument

Ints = NDArray[np.int32]
FAR = np.iinfo(np.int32).max


@dataclass(frozen=True, eq=False)
class Prepared:
    """Many graphs, flat; node numbers run through all of them.

    Attributes:
        relations: names of the labels.
        node_offset: (G+1) where the nodes of each graph begin.
        edge_offset: (G+1) where its edges begin, in both orders below.
        in_offset, in_source, in_label: edges by target: those into node v are in_offset[v]..in_offset[v+1].
        out_offset, out_target, out_label: the same edges by source.
        head, tail: (G) nodes that are asked about.
        label: (G) index of the relation that holds.
        path_offset, path_node: the nodes strictly inside one shortest path from head to tail.
        depth: (G) rounds after which states no longer change; in a cyclic graph, the largest distance.
        acyclic: (G) whether a graph has no cycle.
    """

    relations: tuple[str, ...]
    node_offset: Ints
    edge_offset: Ints
    in_offset: Ints
    in_source: Ints
    in_label: Ints
    out_offset: Ints
    out_target: Ints
    out_label: Ints
    head: Ints
    tail: Ints
    label: Ints
    path_offset: Ints
    path_node: Ints
    depth: Ints
    acyclic: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.head)

    def select(self, graphs: NDArray[np.integer[Any]] | Sequence[int]) -> "Prepared":
        """Some of the graphs, in the given order."""
        chosen = np.asarray(graphs)
        nodes, node_offset, shift = ranges(self.node_offset, chosen)
        edges, edge_offset, edge_shift = ranges(self.edge_offset, chosen)
        paths, path_offset, _ = ranges(self.path_offset, chosen)
        by_edge = np.repeat(shift, np.diff(edge_offset))
        by_path = np.repeat(shift, np.diff(path_offset))
        by_node = np.repeat(edge_shift, np.diff(node_offset))
        end = np.int32(len(edges))
        return replace(
            self,
            node_offset=node_offset,
            edge_offset=edge_offset,
            in_offset=np.append(self.in_offset[nodes] + by_node, end),
            in_source=self.in_source[edges] + by_edge,
            in_label=self.in_label[edges],
            out_offset=np.append(self.out_offset[nodes] + by_node, end),
            out_target=self.out_target[edges] + by_edge,
            out_label=self.out_label[edges],
            head=self.head[chosen] + shift,
            tail=self.tail[chosen] + shift,
            label=self.label[chosen],
            path_offset=path_offset,
            path_node=self.path_node[paths] + by_path,
            depth=self.depth[chosen],
            acyclic=self.acyclic[chosen],
        )

    def chunks(self, size: int) -> Iterator["Prepared"]:
        """Consecutive parts of at most `size` graphs."""
        for first in range(0, len(self), size):
            yield self.slice(first, min(first + size, len(self)))

    def slice(self, first: int, last: int) -> "Prepared":
        """The graphs from `first` up to `last`, without a copy of the larger arrays."""
        n0, n1 = self.node_offset[first], self.node_offset[last]
        e0, e1 = self.edge_offset[first], self.edge_offset[last]
        p0, p1 = self.path_offset[first], self.path_offset[last]
        return replace(
            self,
            node_offset=self.node_offset[first : last + 1] - n0,
            edge_offset=self.edge_offset[first : last + 1] - e0,
            in_offset=self.in_offset[n0 : n1 + 1] - e0,
            in_source=self.in_source[e0:e1] - n0,
            in_label=self.in_label[e0:e1],
            out_offset=self.out_offset[n0 : n1 + 1] - e0,
            out_target=self.out_target[e0:e1] - n0,
            out_label=self.out_label[e0:e1],
            head=self.head[first:last] - n0,
            tail=self.tail[first:last] - n0,
            label=self.label[first:last],
            path_offset=self.path_offset[first : last + 1] - p0,
            path_node=self.path_node[p0:p1] - n0,
            depth=self.depth[first:last],
            acyclic=self.acyclic[first:last],
        )


def prepare(data: Dataset, rng: np.random.Generator | None = None) -> Prepared:
    """Do the graph work of a data set.

    Args:
        data: the graphs.
        rng: choose at random among shortest paths, as the paper does; without it the first is taken.

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
    unreachable(data, ahead[tail] == FAR)
    path_offset, path_node = _paths(source, target, ahead, head, tail, rng)
    levels = np.maximum.reduceat(np.where(level < 0, 0, level), start[:-1]) if len(data) else level
    reach = [np.maximum.reduceat(np.where(d == FAR, 0, d), start[:-1]) if len(data) else d for d in (ahead, behind)]
    by_target, by_source = (
        _by(target, source, data.edge_label, len(graph)),
        _by(source, target, data.edge_label, len(graph)),
    )
    return Prepared(
        data.relations,
        _int32(start),
        _int32(data.edge_offset),
        *by_target,
        *by_source,
        _int32(head),
        _int32(tail),
        data.label,
        path_offset,
        path_node,
        _int32(np.where(acyclic, levels, np.maximum(*reach))),
        acyclic,
    )


def between(data: Dataset) -> Dataset:
    """Each graph with those of its edges alone that lie on some walk from head to tail."""
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


def repath(graphs: Prepared, rng: np.random.Generator) -> Prepared:
    """The same graphs with a shortest path of each chosen anew, at random."""
    nodes = len(graphs.in_offset) - 1
    target = np.repeat(np.arange(nodes, dtype=np.int32), np.diff(graphs.in_offset))
    ahead = distances(graphs.in_source, target, graphs.head, nodes)
    path_offset, path_node = _paths(graphs.in_source, target, ahead, graphs.head, graphs.tail, rng)
    return replace(graphs, path_offset=path_offset, path_node=path_node)


def unreachable(data: Dataset, cut_off: NDArray[np.bool_]) -> None:
    """Refuse data in which no path leads from head to tail of some graph."""
    graphs = np.flatnonzero(cut_off)
    if len(graphs):
        raise BadArgument(
            f"no path leads from head to tail in {len(graphs)} of {len(data)} graphs, first in number "
            f"{graphs[0]}: {data.example(int(graphs[0]))}. Add facts that connect them, or turn facts round."
        )


def _int32(values: NDArray[Any]) -> Ints:
    return values.astype(np.int32)


def ranges(offset: NDArray[np.integer[Any]], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], Ints, Ints]:
    """The members of chosen runs, the offsets of the runs in their new order, and how far each run moves."""
    counts = offset[chosen + 1] - offset[chosen]
    fresh = offsets(counts)
    shift = fresh[:-1] - offset[chosen]
    return np.arange(fresh[-1]) - np.repeat(shift, counts), _int32(fresh), _int32(shift)


def _levels(source: NDArray[Any], target: NDArray[Any], nodes: int) -> NDArray[np.int64]:
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


def distances(source: NDArray[Any], target: NDArray[Any], start: NDArray[Any], nodes: int) -> NDArray[np.int64]:
    """The number of edges from the start of a graph to each of its nodes."""
    distance = np.full(nodes, FAR, dtype=np.int64)
    distance[start] = 0
    step = 0
    while True:
        reached = target[(distance[source] == step) & (distance[target] == FAR)]
        if not len(reached):
            return distance
        step += 1
        distance[reached] = step


def _paths(
    source: NDArray[Any],
    target: NDArray[Any],
    ahead: NDArray[np.int64],
    head: NDArray[Any],
    tail: NDArray[Any],
    rng: np.random.Generator | None,
) -> tuple[Ints, Ints]:
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


def _by(key: NDArray[Any], other: NDArray[Any], label: Ints, nodes: int) -> tuple[Ints, Ints, Ints]:
    """Edges in order of one end: where those of each node begin, their other end, their label."""
    order = np.argsort(key, kind="stable")
    return offsets(np.bincount(key, minlength=nodes)).astype(np.int32), _int32(other[order]), label[order]
