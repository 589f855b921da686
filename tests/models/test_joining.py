"""Joined messages, by kernels and without, against plain torch over all edges: values and gradients."""

import numpy as np
import pytest
import torch

from epignn.kernels import native
from epignn.models import joining
from epignn.models.joining import Added, Incoming, Principal, WholeGraph
from tests.conftest import random_graph

pytestmark = pytest.mark.numeric
compiled = pytest.param(("compiled", 0), marks=pytest.mark.skipif(native() is None, reason="nothing is compiled"))
WAYS = [compiled, ("plain", 1), ("plain", 2**19)]
PASSES, WIDTH, RELATIONS = 5, 300, 6  # several blocks of a kernel, the last of them smaller


@pytest.fixture
def edges():
    return random_graph(1, entities=60, facts=60).edges


@pytest.fixture(params=WAYS, ids=["compiled", "node by node", "together"])
def incoming(request, monkeypatch, edges):
    backend, together = request.param
    monkeypatch.setattr(joining, "TOGETHER", together)
    return WholeGraph(edges, backend=backend)


def values(shape, seed, few=False):
    """Random ones; with `few`, of few numbers, so that messages are often equal."""
    draw = torch.Generator().manual_seed(seed)
    if few:
        return torch.randint(-1, 2, shape, generator=draw).double().requires_grad_()
    return torch.randn(shape, generator=draw, dtype=torch.float64, requires_grad=True)


def given(nodes, few=False):
    """States, vectors and boundary conditions."""
    sizes = (nodes, PASSES, WIDTH), (RELATIONS, PASSES, WIDTH), (nodes, PASSES, WIDTH)
    return [values(size, seed, few) for seed, size in enumerate(sizes)]


def plainly(edges, state, vector, boundary):
    """Sum and `pna` of messages and the boundary condition, for the nodes of a graph, by one array of all edges."""
    nodes = len(edges.offset) - 1
    count = torch.from_numpy(np.diff(edges.offset) + 1.0)[:, None, None]
    target = torch.from_numpy(np.repeat(np.arange(nodes), np.diff(edges.offset)))
    source, label = (torch.from_numpy(part).long() for part in (edges.source, edges.label))
    message = state[source] * vector[label]
    index = target[:, None, None].expand_as(message)
    total = boundary.index_add(0, target, message)
    squares = boundary.square().index_add(0, target, message.square())
    mean = total / count
    largest, smallest = (boundary.scatter_reduce(0, index, message, how) for how in ("amax", "amin"))
    spread = (squares / count - mean.square()).clamp_min(1e-6).sqrt()
    return total, torch.cat([mean, largest, smallest, spread], 2)


@pytest.mark.parametrize("few", [False, True], ids=["messages", "equal messages"])
@pytest.mark.parametrize("joined", [Added, Principal])
def test_values_and_gradients_are_those_of_plain_torch(incoming, edges, joined, few):
    count = np.diff(edges.offset)
    assert (count == 0).any()
    assert count.max() > 3
    place = torch.from_numpy(incoming.place).long()
    own, same = (given(len(count), few) for _ in range(2))
    state, vector, boundary = own
    order = place.argsort()
    found = joined.apply(state[order], vector, boundary[order], incoming)[place]
    expected = plainly(edges, *same)[joined is Principal]
    torch.testing.assert_close(found, expected)
    if few and joined is Principal:  # of equal messages no spread has a gradient that differences would give
        assert (expected.detach()[..., 3 * WIDTH :].square() <= 1.0001e-6).any()
    way = values(expected.shape, 9).detach()
    gradients = torch.autograd.grad(found, own, way), torch.autograd.grad(expected, same, way)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("joined", [Added, Principal])
def test_senders_may_be_others_than_those_that_receive(incoming, joined):
    """The first nodes alone receive, from states that stand seven places further on, behind seven of nobody."""
    count = np.flatnonzero(np.diff(incoming.count))[2] + 1  # those of the fewest edges
    edge = slice(incoming.offset[count])
    arrays = incoming.offset[: count + 1], incoming.source[edge] + np.int32(7), incoming.label[edge]
    part = Incoming(*arrays, incoming.degree, incoming.device, incoming.native)
    state, vector, boundary = given(len(incoming))
    more = torch.cat([torch.full_like(state[:7], torch.nan), state])
    found = joined.apply(more, vector, boundary[:count], part)
    expected = joined.apply(state, vector, boundary, incoming)[:count]
    torch.testing.assert_close(found, expected, rtol=0, atol=0)
    way = values(expected.shape, 9).detach()
    gradients = (torch.autograd.grad(one, (state, vector, boundary), way) for one in (found, expected))
    torch.testing.assert_close(*gradients)


def test_threads_give_the_same_bits(edges):
    if native() is None:
        pytest.skip("nothing is compiled")
    incoming, before, seen = WholeGraph(edges, backend="compiled"), torch.get_num_threads(), []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        own = given(len(incoming))
        found = Principal.apply(*own, incoming)
        seen.append([found.detach(), *torch.autograd.grad(found.square().sum(), own)])
    torch.set_num_threads(before)
    assert all(torch.equal(one, other) for one, other in zip(*seen, strict=True))


def test_nodes_stand_in_the_order_of_their_edges(edges):
    incoming = WholeGraph(edges)
    count = np.diff(edges.offset)
    assert sum(incoming.runs) == len(incoming) == len(count)
    assert (np.diff(incoming.count) >= 0).all()
    assert (incoming.count[incoming.place] == count).all()
    for node, place in enumerate(incoming.place):
        before = slice(edges.offset[node], edges.offset[node + 1])
        after = slice(incoming.offset[place], incoming.offset[place + 1])
        assert (incoming.source[after] == incoming.place[edges.source[before]]).all()
        assert (incoming.label[after] == edges.label[before]).all()
