"""Walks against networkx, and that selections, slices and chunks are the same walks."""

from collections import Counter

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models import walks as module
from epignn.models.walks import NOTHING, Walks, walks
from tests.models.conftest import problems, random_graphs

ALL = 10_000


@pytest.fixture(params=["generated", "random"])
def graphs(request, rng) -> Dataset:
    return problems() if request.param == "generated" else random_graphs(rng, 60)


def simple_paths(data: Dataset, g: int) -> list[tuple[int, ...]]:
    """The relations along every simple path of a graph, by networkx; shortest first."""
    networkx = pytest.importorskip("networkx")
    graph = networkx.MultiDiGraph()
    graph.add_nodes_from(range(data.node_count[g]))
    for e in range(data.edge_offset[g], data.edge_offset[g + 1]):
        graph.add_edge(data.edge_source[e], data.edge_target[e], relation=int(data.edge_label[e]))
    paths = networkx.all_simple_edge_paths(graph, data.query_head[g], data.query_tail[g])
    return sorted((tuple(graph.edges[edge]["relation"] for edge in path) for path in paths), key=len)


def of_each(found: Walks) -> list[list[tuple[int, ...]]]:
    """The relations along the walks of each graph."""
    lengths = found.length.tolist()
    read = [tuple(row[:length]) for row, length in zip(found.relation.tolist(), lengths, strict=True)]
    assert all(set(row[length:]) <= {NOTHING} for row, length in zip(found.relation.tolist(), lengths, strict=True))
    return [read[found.offset[g] : found.offset[g + 1]] for g in range(len(found))]


def same(one: Walks, other: Walks) -> None:
    """The same walks; how wide the array of relations is does not matter."""
    assert of_each(one) == of_each(other)
    assert torch.equal(one.label, other.label)


def chain(relations: list[list[int]]) -> Dataset:
    """One graph: a chain, with several edges from each node to the next."""
    source = [n for n, parallel in enumerate(relations) for _ in parallel]
    label = [r for parallel in relations for r in parallel]
    last = len(relations)
    names = tuple(f"r{i}" for i in range(max(label) + 1))
    return Dataset(names, [last + 1], [0, len(label)], source, np.add(source, 1), label, [0], [last], [0])


def test_all_walks_are_the_simple_paths_of_networkx(graphs):
    found, several = of_each(walks(graphs, ALL)), 0
    for g in range(len(graphs)):
        expected = simple_paths(graphs, g)
        several += len(expected) > 1
        assert Counter(found[g]) == Counter(expected)
        assert [len(walk) for walk in found[g]] == [len(walk) for walk in expected]
    assert several > 10


@pytest.mark.parametrize("most", [1, 2, 4])
def test_of_many_the_shortest_are_taken(graphs, most):
    found = of_each(walks(graphs, most))
    for g in range(len(graphs)):
        expected = simple_paths(graphs, g)
        assert [len(walk) for walk in found[g]] == [len(walk) for walk in expected[:most]]
        assert not Counter(found[g]) - Counter(expected)


def test_fewer_are_the_first_of_more(graphs):
    every = of_each(walks(graphs, ALL))
    for most in (1, 2, 4):
        assert of_each(walks(graphs, most)) == [ways[:most] for ways in every]


def test_walks_of_a_graph_by_hand():
    """0 -> 1 -> 3 twice, 0 -> 2 -> 3 behind it, and 1 <-> 2 between."""
    source, target, label = [0, 0, 1, 1, 2, 1, 2], [1, 2, 3, 3, 3, 2, 1], [0, 1, 2, 3, 4, 5, 6]
    data = Dataset(tuple("abcdefg"), [4], [0, 7], source, target, label, [0], [3], [2])
    found = walks(data, ALL)
    assert of_each(found) == [[(0, 2), (0, 3), (1, 4), (0, 5, 4), (1, 6, 2), (1, 6, 3)]]
    assert found.relation[0].tolist() == [0, 2, NOTHING]
    assert found.graph.tolist() == [0] * 6
    assert found.label.tolist() == [2]


@pytest.mark.parametrize("most", [1, ALL])
def test_selections_slices_and_chunks_are_the_same_walks(graphs, most, rng):
    whole = walks(graphs, most)
    order = rng.permutation(len(graphs))
    same(whole.select(torch.from_numpy(order)), walks(graphs.select(order), most))
    same(whole.slice(5, 12), walks(graphs.select(np.arange(5, 12)), most))
    same(whole.slice(5, 12), whole.select(torch.arange(5, 12)))
    assert whole.slice(0, 1).relation.shape[1] == max(len(walk) for walk in of_each(whole)[0])
    parts = list(whole.chunks(7))
    assert [len(part) for part in parts] == [7] * (len(graphs) // 7) + [len(graphs) % 7] * (len(graphs) % 7 > 0)
    assert [ways for part in parts for ways in of_each(part)] == of_each(whole)
    assert torch.cat([part.label for part in parts]).tolist() == graphs.label.tolist()
    same(whole.to("cpu"), whole)


def test_so_many_open_paths_and_no_more(monkeypatch):
    """2 to the power of 9 walks of one length: as many are found as are followed, the first of them."""
    data = chain([[0, 1]] * 9)
    every = of_each(walks(data, ALL))[0]
    assert len(every) == module.OPEN == 256
    monkeypatch.setattr(module, "OPEN", 512)
    assert len(of_each(walks(data, ALL))[0]) == 512
    monkeypatch.setattr(module, "OPEN", 3)
    assert of_each(walks(data, ALL))[0] == every[:3]


@pytest.mark.parametrize("followed", [1, 2, 5])
def test_the_cap_never_loses_the_shortest(graphs, followed, monkeypatch):
    shortest = of_each(walks(graphs, 1))
    every = [Counter(ways) for ways in of_each(walks(graphs, ALL))]
    monkeypatch.setattr(module, "OPEN", followed)
    for g, ways in enumerate(of_each(walks(graphs, ALL))):
        assert ways[:1] == shortest[g]
        assert not Counter(ways) - every[g]


@pytest.mark.parametrize("most", [1, 3])
def test_where_the_head_is_the_tail_one_walk_has_no_edge(most):
    alone = Dataset(("r", "s"), [1], [0, 0], [], [], [], [0], [0], [1])
    turning = Dataset(("r", "s"), [2], [0, 2], [0, 1], [1, 0], [0, 1], [1], [1], [0])
    onward = Dataset(("r", "s"), [2], [0, 1], [0], [1], [1], [0], [1], [1])
    found = walks(Dataset.concat([alone, turning, onward]), most)
    assert of_each(found) == [[()], [()], [(1,)]]
    assert found.slice(0, 2).relation.shape == (2, 0)
    assert found.length.tolist() == [0, 0, 1]


def test_no_graphs_have_no_walks():
    none = walks(problems().select([]), 3)
    assert len(none) == 0
    assert list(none.chunks(5)) == []
    assert none.select(torch.arange(0)).relation.shape[0] == 0


def test_no_path_from_head_to_tail():
    cut = Dataset(("r0",), [3], [0, 2], [0, 2], [1, 1], [0, 0], [0], [2], [0])
    with pytest.raises(BadArgument, match=r"no path leads from head to tail in 1 of 2 graphs, first in number 1"):
        walks(Dataset.concat([chain([[0]]), cut]))
