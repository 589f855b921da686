"""Joined messages against plain torch over all edges, values and gradients."""

import numpy as np
import pytest
import torch

from epignn.models import joining
from epignn.models.joining import Added, Incoming, Principal
from tests.conftest import random_graph

pytestmark = pytest.mark.numeric


@pytest.mark.parametrize("together", [1, 2**19])
def test_values_and_gradients_are_those_of_plain_torch(monkeypatch, together):
    monkeypatch.setattr(joining, "TOGETHER", together)
    edges = random_graph(1, entities=60, facts=60).edges
    nodes = len(edges.offset) - 1
    target = torch.from_numpy(np.repeat(np.arange(nodes), np.diff(edges.offset)))
    source, label = (torch.from_numpy(part).long() for part in (edges.source, edges.label))
    draw = torch.Generator().manual_seed(0)
    state = torch.randn(nodes, 5, generator=draw, dtype=torch.float64, requires_grad=True)
    vector = torch.randn(6, 5, generator=draw, dtype=torch.float64, requires_grad=True)
    message = state[source] * vector[label]
    index = target[:, None].expand_as(message)
    plain = [
        torch.zeros_like(state).index_add(0, target, message),
        torch.zeros_like(state).index_add(0, target, message.square()),
        torch.full_like(state, -torch.inf).scatter_reduce(0, index, message, "amax"),
        torch.full_like(state, torch.inf).scatter_reduce(0, index, message, "amin"),
    ]
    incoming = Incoming(edges)
    assert (incoming.count == 0).any()
    assert incoming.count.max() > 3
    joined = list(Principal.apply(state, vector, incoming))
    ways = [torch.randn(nodes, 5, generator=draw, dtype=torch.float64) for _ in plain]
    torch.testing.assert_close(joined, plain)
    found, expected = (torch.autograd.grad(parts, (state, vector), ways) for parts in (joined, plain))
    torch.testing.assert_close(found, expected)
    added = Added.apply(state, vector, incoming)
    torch.testing.assert_close(added, joined[0])
    again = torch.zeros_like(state).index_add(0, target, state[source] * vector[label])
    found, expected = (torch.autograd.grad(part, (state, vector), ways[0]) for part in (added, again))
    torch.testing.assert_close(found, expected)


def test_equal_messages_share_the_gradient_of_the_largest():
    edges = random_graph(1, entities=2, relations=1, facts=2).edges
    state = torch.ones(2, 1, dtype=torch.float64, requires_grad=True)
    vector = torch.ones(2, 1, dtype=torch.float64)
    largest = Principal.apply(state, vector, Incoming(edges))[2]
    (gradient,) = torch.autograd.grad(largest.sum(), state)
    assert float(gradient.sum()) == pytest.approx(float((Incoming(edges).count > 0).sum()))
