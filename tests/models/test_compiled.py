"""Message passing: the compiled kernels against plain torch and finite differences, and Proposition 2."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.directional import directional
from epignn.data.dataset import Dataset
from epignn.models import compiled
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig, apply, initial_states, message_passing
from epignn.models.flow import Passing, backward_flow, forward_flow
from epignn.models.prepare import prepare
from epignn.tasks.star import generated
from tests.rounding import close, in_passing

pytestmark = pytest.mark.numeric
FLOWS = (forward_flow, backward_flow)


def propagate(flow, weight, pooling, rounds, self_message, backend):
    """Message passing along a flow, by either form."""
    start = initial_states(flow, weight.shape[1], weight.shape[2], weight)
    passing = Passing(pooling, rounds, self_message)
    if backend == "compiled":
        return compiled.propagate(flow, start, weight, passing)
    return message_passing(flow, start, lambda state, label: apply(state, weight[label]), passing)


def matrices(facets: int, size: int, seed: int = 0) -> torch.Tensor:
    """What random relations do to states, in double precision."""
    generator = torch.Generator().manual_seed(seed)
    logits = torch.randn((8, facets, size, size), generator=generator, dtype=torch.float64)
    return logits.softmax(-1)


@pytest.mark.parametrize("flow_of", FLOWS)
@pytest.mark.parametrize("pooling", ["min", "mul"])
@pytest.mark.parametrize(("rounds", "self_message"), [(None, False), (1, True), (4, True), (5, False), (9, True)])
@pytest.mark.parametrize(("facets", "size"), [(2, 8), (1, 5), (3, 4), (1, 16), (1, 32), (1, 33)])
@pytest.mark.parametrize("kind", ["ordered", "cyclic"])
def test_kernel_equals_plain_torch(kind, flow_of, pooling, rounds, self_message, facets, size, request):
    flow = flow_of(request.getfixturevalue(kind))
    weight = matrices(facets, size)
    results = []
    for backend in ("compiled", "plain"):
        leaf = weight.clone().requires_grad_()
        states = propagate(flow, leaf, pooling, rounds, self_message, backend)
        (states * torch.linspace(-1, 1, states.numel(), dtype=torch.float64).view_as(states)).sum().backward()
        results.append((states.detach(), leaf.grad))
    torch.testing.assert_close(results[0][0], results[1][0])
    torch.testing.assert_close(results[0][1], results[1][1])
    single = propagate(flow, weight.float(), pooling, rounds, self_message, "compiled")
    messages = int(flow.offset.diff().max()) + 1
    close(single, results[0][0], in_passing(rounds or flow.depth, size, messages))


@pytest.mark.parametrize("flow_of", FLOWS)
@pytest.mark.parametrize("pooling", ["min", "mul"])
@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_one_pass_in_order_equals_as_many_rounds_as_needed(flow_of, pooling, backend, ordered):
    flow = flow_of(ordered)
    assert flow.ordered
    one_pass = propagate(flow, matrices(2, 8), pooling, None, False, backend)
    rounds = propagate(replace(flow, ordered=False), matrices(2, 8), pooling, flow.depth, False, backend)
    torch.testing.assert_close(one_pass, rounds)
    fewer = propagate(flow, matrices(2, 8), pooling, flow.depth - 1, False, backend)
    assert not torch.allclose(one_pass, fewer)


@pytest.mark.parametrize("threads", [2, 3, 7])
@pytest.mark.parametrize("pooling", ["min", "mul"])
def test_threads_change_nothing_but_the_order_of_sums(threads, pooling):
    batch = prepare(generated(load("rcc8"), 4, 3, 20, 9))
    results = []
    for count in (1, threads):
        torch.set_num_threads(count)
        leaf = matrices(2, 8).requires_grad_()
        states = propagate(forward_flow(batch), leaf, pooling, 5, True, "compiled")
        states.square().sum().backward()
        results.append((states.detach(), leaf.grad))
    assert torch.equal(results[0][0], results[1][0])  # one thread passes the whole of a graph
    torch.testing.assert_close(results[0][1], results[1][1])


@pytest.mark.parametrize("pooling", ["min", "mul"])
@pytest.mark.parametrize(("rounds", "self_message"), [(None, False), (3, True)])
def test_gradient_equals_finite_differences(pooling, rounds, self_message, ordered):
    flow = forward_flow(ordered.slice(30, 34))
    leaf = matrices(1, 4).requires_grad_()

    def states(weight):
        return propagate(flow, weight, pooling, rounds, self_message, "compiled")

    assert torch.autograd.gradcheck(states, (leaf,), eps=1e-7, atol=1e-5)


@pytest.mark.parametrize("pooling", ["min", "mul"])
@pytest.mark.parametrize(("facets", "size"), [(1, 4), (2, 3)])
def test_aggregation_equals_plain_torch_and_finite_differences(pooling, facets, size, ordered):
    batch = ordered.slice(20, 40)
    generator = torch.Generator().manual_seed(0)

    def states():
        shape = (batch.nodes, facets, size)
        return torch.rand(shape, generator=generator, dtype=torch.float64).softmax(-1).requires_grad_()

    ahead, back = states(), states()
    table = torch.rand((facets, size, size, size), generator=generator, dtype=torch.float64).softmax(-1)
    table.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda *leaves: compiled.aggregate(*leaves, batch, pooling), (ahead, back, table), eps=1e-7, atol=1e-5
    )


@pytest.mark.parametrize(
    "options", [{}, {"pooling": "mul"}, {"a_ij": "coupled", "self_message": False, "rounds": "auto"}]
)
def test_the_whole_model_by_kernels_equals_plain_torch(options, ordered):
    model = build(EpiGNN, 8, EpiGNNConfig(**options), 0).double()
    batch = ordered
    grads = []
    for backend in ("compiled", "plain"):
        model.zero_grad()
        model.backend = backend
        scores = model(batch)
        scores.square().sum().backward()
        grads.append([scores.detach(), *(p.grad.clone() for p in model.parameters())])
    for native, plain in zip(*grads, strict=True):
        torch.testing.assert_close(native, plain)


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_product_of_many_messages_neither_underflows_nor_turns_uniform(backend):
    """A head with 200 parallel edges to the tail: each message is the same, the product its 200th power."""
    count = 200
    star = Dataset(("r",), [2], [0, count], [0] * count, [1] * count, [0] * count, [0], [1], [0])
    weight = torch.tensor([0.5, 0.3, 0.15, 0.05]).expand(1, 1, 4, 4).contiguous()
    states = propagate(forward_flow(prepare(star)), weight, "mul", None, False, backend)
    expected = torch.softmax(count * torch.tensor([0.5, 0.3, 0.15, 0.05], dtype=torch.float64).log(), 0)
    torch.testing.assert_close(states[1, 0].double(), expected, rtol=1e-3, atol=1e-12)
    assert states[1, 0, 0] > 0.999


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_a_node_that_hears_nothing_keeps_its_state(backend):
    graph = Dataset(("r",), [3], [0, 2], [0, 2], [1, 1], [0, 0], [0], [1], [0])
    states = propagate(forward_flow(prepare(graph)), matrices(1, 4)[:1], "min", 3, True, backend)
    loose = states[(states == 0.25).all(-1).all(-1)]
    assert len(loose) == 1


@pytest.mark.parametrize("backend", ["compiled", "plain"])
@pytest.mark.parametrize("name", ["rcc8", "allen"])
@pytest.mark.parametrize(("k", "b"), [(3, 2), (4, 3), (6, 1)])
def test_proposition_2_the_model_simulates_directional_closure(name, k, b, backend):
    """With r one-hot and a_ij uniform over r_i∘r_j, the support of the states is the closure, round by round."""
    calculus = load(name)
    size = len(calculus) + 1  # the identity of the model comes first, apart from the calculus's own
    table = torch.zeros((size, size, size), dtype=torch.float64)
    table[0] = torch.eye(size)
    for i, row in enumerate(calculus.composition):
        table[i + 1, 0, i + 1] = 1
        for j, mask in enumerate(row):
            members = [r + 1 for r in range(len(calculus)) if mask >> r & 1]
            table[i + 1, j + 1, members] = 1 / len(members)
    weight = table[:, 1:].permute(1, 0, 2).unsqueeze(1).contiguous()  # relation r multiplies by a_·r
    data = generated(calculus, k, b, 3, 4)
    for g in range(len(data)):
        one = data.select([g])
        masks = np.uint64(1) << one.edge_label.astype(np.uint64)
        names = tuple(map(str, range(one.node_count[0])))
        network = Network(calculus, names, one.edge_source, one.edge_target, masks)
        rounds = directional(network, str(one.query_head[0]), max_rounds=k + 1).rounds
        flow = forward_flow(prepare(one))
        for number in range(1, k + 2):
            states = propagate(flow, weight, "min", number, True, backend)[:, 0, 1:]
            support = [(row > 0).nonzero().flatten().tolist() for row in states]
            found = sorted(sum(1 << r for r in relations) for relations in support)
            closed = rounds[number].copy()
            closed[one.query_head[0]] = 0  # the head: the model's own identity, which the calculus does not name
            assert found == sorted(closed.tolist())
