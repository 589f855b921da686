"""The walks of graphs: relations along the ways from head to tail.

Where all edges of a graph, in their order, are a walk from head to tail, as CLUTRR's are, it is that walk alone;
otherwise it is every path, the shortest first, as far as there are not too many or too long ones.
"""

from collections import deque

import numpy as np
from numpy.typing import NDArray

from epignn.data.contract import Walk
from epignn.data.dataset import Dataset

LONGEST = 12
"""Walks of more edges add little to what shorter ones show, and take long to read."""
MOST = 30
"""So many walks of a graph are read at most."""
OPEN = 3000
"""So many paths of a graph that have not reached the tail are followed at most."""


def problems(data: Dataset) -> list[tuple[tuple[Walk, ...], int]]:
    """The walks of every graph, different ones once each, and its label; a graph may have none."""
    columns = (data.edge_source.tolist(), data.edge_target.tolist(), data.edge_label.tolist())
    offset, straight = data.edge_offset.tolist(), in_order(data).tolist()
    found: list[tuple[tuple[Walk, ...], int]] = []
    for g, (head, tail, label) in enumerate(
        zip(data.query_head.tolist(), data.query_tail.tolist(), data.label.tolist(), strict=True)
    ):
        sources, targets, relations = (column[offset[g] : offset[g + 1]] for column in columns)
        if straight[g]:
            walks: tuple[Walk, ...] = (tuple(relations),) if 1 < len(relations) <= LONGEST else ()
        else:
            walks = _paths(list(zip(sources, targets, relations, strict=True)), head, tail)
        found.append((walks, label))
    return found


def _paths(edges: list[tuple[int, int, int]], head: int, tail: int) -> tuple[Walk, ...]:
    """The relations along paths from head to tail, of two edges or more, shortest first."""
    ahead: dict[int, list[tuple[int, int]]] = {}
    behind: dict[int, list[int]] = {}
    for source, target, relation in edges:
        if source != target:
            ahead.setdefault(source, []).append((target, relation))
            behind.setdefault(target, []).append(source)
    left = {tail: 0}
    waiting = deque([tail])
    while waiting:
        node = waiting.popleft()
        for source in behind.get(node, ()):
            if source not in left:
                left[source] = left[node] + 1
                waiting.append(source)
    found: dict[Walk, None] = {}
    paths: list[tuple[tuple[int, ...], Walk]] = [((head,), ())]
    while paths and len(found) < MOST:
        longer = []
        for nodes, walk in paths:
            for target, relation in ahead.get(nodes[-1], ()):
                if target == tail:
                    found |= {(*walk, relation): None} if walk else {}
                elif target not in nodes and target in left and len(walk) + 1 + left[target] <= LONGEST:
                    longer.append(((*nodes, target), (*walk, relation)))
        paths = longer[:OPEN]
    return tuple(found)[:MOST]


def in_order(data: Dataset) -> NDArray[np.bool_]:
    """Whether the edges of each graph, in their order, are a walk from head to tail."""
    walk: NDArray[np.bool_] = data.edge_count > 0
    graph = np.repeat(np.arange(len(data)), data.edge_count)
    follows = (graph[1:] != graph[:-1]) | (data.edge_source[1:] == data.edge_target[:-1])
    walk[graph[1:][~follows]] = False
    first, last = data.edge_offset[:-1][walk], data.edge_offset[1:][walk] - 1
    walk[walk] = (data.edge_source[first] == data.query_head[walk]) & (
        data.edge_target[last] == data.query_tail[walk]
    )
    return walk
