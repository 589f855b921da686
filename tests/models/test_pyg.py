"""PyG's view of a data set: the same batches as PyG collates itself, and as `disjoint` numbers nodes."""

import sys
from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.pyg import from_pyg, pyg_batch, pyg_loader, to_pyg
from epignn.tasks.star import generated

PARTS = ("edge_index", "edge_type", "head_index", "tail_index", "y", "batch", "ptr")


@pytest.fixture(scope="module")
def data() -> Dataset:
    """Graphs of several sizes."""
    return Dataset.concat([generated(load("rcc8"), k, b, 3, 4) for k, b in ((2, 1), (3, 2), (5, 3))])


@pytest.fixture(scope="module")
def pyg():
    return pytest.importorskip("torch_geometric")


def test_a_graph_has_the_numbers_of_the_data_set(pyg, data):
    for g, example in enumerate(data):
        found = to_pyg(data, g)
        source, target = found.edge_index.tolist()
        relations = [data.relations[r] for r in found.edge_type.tolist()]
        assert tuple(zip(source, relations, target, strict=True)) == example.edges
        assert (found.head_index.item(), found.tail_index.item()) == example.query
        assert data.relations[found.y.item()] == example.label
        assert found.num_nodes == data.node_count[g]
        assert found.validate()
    assert to_pyg(data, -1).edge_index.tolist() == to_pyg(data, len(data) - 1).edge_index.tolist()
    with pytest.raises(IndexError):
        to_pyg(data, len(data))


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_batches_are_those_that_pyg_collates(pyg, data, size):
    from torch_geometric.loader import DataLoader

    theirs = DataLoader([to_pyg(data, g) for g in range(len(data))], batch_size=size)
    ours = pyg_loader(data, size)
    assert len(ours) == len(theirs)
    for own, other in zip(ours, theirs, strict=True):
        assert set(own.keys()) == set(other.keys())
        for name in PARTS:
            assert torch.equal(own[name], other[name]), name
            assert own[name].dtype == other[name].dtype == torch.int64
        assert (own.num_nodes, own.num_graphs) == (other.num_nodes, other.num_graphs)
        assert isinstance(own, type(other))


def test_nodes_are_numbered_as_in_one_disjoint_graph(pyg, data):
    whole, found = data.disjoint(), pyg_batch(data)
    assert np.array_equal(found.edge_index.numpy(), [whole.source, whole.target])
    assert np.array_equal(found.head_index.numpy(), whole.head)
    assert np.array_equal(found.tail_index.numpy(), whole.tail)
    assert np.array_equal(found.ptr.numpy(), whole.start)
    assert np.array_equal(found.batch.numpy()[found.edge_index[0].numpy()], whole.graph)


def test_shuffling_follows_the_generator_and_loses_nothing(pyg, data):
    def order(seed):
        loader = pyg_loader(data, 7, shuffle=True, generator=torch.Generator().manual_seed(seed))
        return [batch.edge_type.tolist() for batch in loader]

    assert order(1) == order(1) != order(2)
    assert sorted(relation for batch in order(1) for relation in batch) == sorted(data.edge_label.tolist())
    assert len(pyg_loader(data, 7, drop_last=True)) == len(data) // 7


def test_workers_give_the_same_batches(pyg, data):
    alone = [batch.edge_index for batch in pyg_loader(data, 30)]
    loader = pyg_loader(
        data, 30, num_workers=1, multiprocessing_context="spawn"
    )  # what is not forked has to be sent
    assert all(torch.equal(a, b.edge_index) for a, b in zip(alone, loader, strict=True))


@pytest.mark.numeric
def test_a_layer_of_pyg_takes_a_batch(pyg, data):
    from torch_geometric.nn import RGCNConv

    torch.manual_seed(0)
    layer = RGCNConv(4, 4, len(data.relations))
    states = torch.randn(int(data.node_count.sum()), 4)
    batch = pyg_batch(data)
    together = layer(states, batch.edge_index, batch.edge_type)
    for g in (0, 40):
        one, nodes = to_pyg(data, g), slice(batch.ptr[g], batch.ptr[g + 1])
        alone = layer(states[nodes], one.edge_index, one.edge_type)
        torch.testing.assert_close(together[nodes], alone, rtol=1e-4, atol=1e-5)


def test_without_pyg_a_sentence_says_what_to_do(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch_geometric", None)
    for use in (lambda: to_pyg(data, 0), lambda: pyg_batch(data), lambda: pyg_loader(data)):
        with pytest.raises(BadArgument, match=r"pip install 'epignn\[pyg\]'"):
            use()


def test_there_and_back(pyg, data, same):
    graphs = [to_pyg(data, g) for g in range(len(data))]
    for given in (graphs, pyg_batch(data), pyg.data.Batch.from_data_list(graphs)):
        assert same(from_pyg(given, data.relations), replace(data, k=0, b=0))
    del graphs[0].edge_type
    with pytest.raises(BadArgument, match="the graphs have no 'edge_type'; they have "):
        from_pyg(graphs[:1], data.relations)
