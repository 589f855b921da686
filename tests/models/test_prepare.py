"""Graph work: against plain loops over each graph, and that selections and slices are the same graphs."""

from collections import deque
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.prepare import prepare, repath
from tests.models.conftest import problems, random_graphs


@pytest.fixture(params=["generated", "random"])
def graphs(request, rng):
    return problems() if request.param == "generated" else random_graphs(rng, 60)


def edges_of(data: Dataset, g: int) -> list[tuple[int, int, int]]:
    part = slice(data.edge_offset[g], data.edge_offset[g + 1])
    return list(
        zip(*(a[part].tolist() for a in (data.edge_source, data.edge_target, data.edge_label)), strict=True)
    )


def distance(edges, start: int, end: int) -> int:
    seen, queue = {start: 0}, deque([start])
    while queue:
        at = queue.popleft()
        for a, b, _ in edges:
            if a == at and b not in seen:
                seen[b] = seen[at] + 1
                queue.append(b)
    return seen[end]


def longest(edges, nodes: int) -> int | None:
    """The longest path by relaxation; None where there is a cycle."""
    length = [0] * nodes
    for _ in range(nodes + 1):
        before = list(length)
        for a, b, _ in edges:
            length[b] = max(length[b], length[a] + 1)
        if before == length:
            return max(length)
    return None


def test_each_graph_is_prepared_as_by_hand(graphs):
    prepared = SimpleNamespace(**{name: value.numpy() for name, value in vars(prepare(graphs)).items()})
    kinds = set()
    for g in range(len(graphs)):
        edges = edges_of(graphs, g)
        nodes = int(graphs.node_count[g])
        base = prepared.node_offset[g]
        depth = longest(edges, nodes)
        kinds.add(depth is None)
        assert prepared.acyclic[g] == (depth is not None)
        if depth is not None:
            assert prepared.depth[g] == depth
        inward, outward = [], []
        for v in range(base, base + nodes):
            for e in range(prepared.in_offset[v], prepared.in_offset[v + 1]):
                inward.append((prepared.in_source[e] - base, v - base, prepared.in_label[e]))
            for e in range(prepared.out_offset[v], prepared.out_offset[v + 1]):
                outward.append((v - base, prepared.out_target[e] - base, prepared.out_label[e]))
        assert sorted(inward) == sorted(outward)
        assert sorted(label for _, _, label in inward) == sorted(label for _, _, label in edges)
        if depth is not None:
            assert all(a < b for a, b, _ in inward)
        head, tail = prepared.head[g] - base, prepared.tail[g] - base
        inside = (prepared.path_node[prepared.path_offset[g] : prepared.path_offset[g + 1]] - base).tolist()
        path = [head, *reversed(inside), tail]
        assert len(path) - 1 == distance(edges, graphs.query_head[g], graphs.query_tail[g])
        pairs = {(a, b) for a, b, _ in inward}
        assert all(pair in pairs for pair in pairwise(path))
    assert False in kinds


def test_slices_and_selections_are_the_same_graphs(graphs, rng):
    prepared = prepare(graphs)
    order = rng.permutation(len(graphs))
    selected, expected = prepared.select(torch.from_numpy(order)), prepare(graphs.select(order))
    for name in vars(expected):
        np.testing.assert_array_equal(getattr(selected, name), getattr(expected, name))
    sliced, expected = prepared.slice(5, 12), prepare(graphs.select(np.arange(5, 12)))
    for name in vars(expected):
        np.testing.assert_array_equal(getattr(sliced, name), getattr(expected, name))


def test_paths_can_be_chosen_at_random():
    data = problems()
    first = prepare(data).path_node
    others = [repath(prepare(data), np.random.default_rng(seed)).path_node for seed in range(3)]
    assert any((first != other).any() for other in others)
    assert all(len(first) == len(other) for other in others)


def test_no_path_from_head_to_tail():
    data = Dataset(("r",), [3], [0, 2], [0, 2], [1, 1], [0, 0], [0], [2], [0])
    with pytest.raises(BadArgument, match=r"no path leads from head to tail in 1 of 1 graphs, first in number 0"):
        prepare(data)
