"""The walk of a graph: its edges in their order, or a shortest path."""

from collections import Counter

from epignn.data.dataset import Dataset
from epignn.distil.walks import Walks


def test_walks_are_walks_or_shortest_paths():
    data = Dataset(
        ("a", "b", "c"), [3, 4], [0, 3, 7],
        [0, 1, 0, 2, 0, 1, 0], [1, 0, 2, 3, 1, 3, 2], [0, 1, 2, 0, 1, 2, 2],
        [0, 0], [2, 3], [1, 2],
    )  # fmt: skip
    walks = Walks.of(data)
    assert walks.labels == {(0, 1, 2): Counter({1: 1}), (1, 2): Counter({2: 1})}
    assert list(walks.upto(2).labels) == [(1, 2)]
