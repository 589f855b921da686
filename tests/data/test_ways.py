"""The walks of a graph: its edges in their order, or every path, the shortest first."""

import networkx as nx
import numpy as np

from epignn.data.dataset import Dataset
from epignn.data.ways import LONGEST, MOST, problems


def test_a_walk_in_order_is_the_only_one_else_there_are_paths():
    data = Dataset(
        ("a", "b", "c"), [3, 4], [0, 3, 7],
        [0, 1, 0, 2, 0, 1, 0], [1, 0, 2, 3, 1, 3, 2], [0, 1, 2, 0, 1, 2, 2],
        [0, 0], [2, 3], [1, 2],
    )  # fmt: skip
    assert problems(data) == [(((0, 1, 2),), 1), (((1, 2), (2, 0)), 2)]


def test_paths_are_those_of_networkx(rng):
    for _ in range(20):
        pairs = rng.permutation([(a, b) for a in range(6) for b in range(6)])[:14]
        label = np.arange(14)  # so that relations tell the edges
        data = Dataset(tuple("abcdefghijklmn"), [6], [0, 14], *pairs.T, label, [0], [5], [3])
        graph = nx.DiGraph([(int(a), int(b), {"label": r}) for r, (a, b) in enumerate(pairs) if a != b])
        graph.add_nodes_from(range(6))
        paths = [path for path in nx.all_simple_edge_paths(graph, 0, 5) if len(path) > 1]
        expected = {tuple(graph.edges[edge]["label"] for edge in path) for path in paths}
        ((found, _),) = problems(data)
        assert set(found[:MOST]) == expected or len(expected) > MOST
        assert [len(walk) for walk in found] == sorted(len(walk) for walk in found)


def test_long_walks_and_single_edges_are_left_out():
    steps = LONGEST + 1
    chain = Dataset(
        ("a",), [steps + 1], [0, steps], range(steps), range(1, steps + 1), [0] * steps, [0], [steps], [0]
    )
    edge = Dataset(("a",), [2], [0, 1], [0], [1], [0], [0], [1], [0])
    assert problems(chain) == problems(edge) == [((), 0)]
    other_order = Dataset(
        ("a",),
        [steps + 1],
        [0, steps],
        range(steps - 1, -1, -1),
        range(steps, 0, -1),
        [0] * steps,
        [0],
        [steps],
        [0],
    )
    assert problems(other_order) == [((), 0)]
