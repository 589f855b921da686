"""Passes from several heads: the compiled kernel against plain torch and finite differences."""

import numpy as np
import pytest
import torch

from epignn.models import compiled, epignn
from epignn.models.flow import Passing
from epignn.models.links import Heads, Questions
from tests.conftest import random_graph
from tests.rounding import close, in_passing

pytestmark = pytest.mark.numeric


def head_states(edges, weight, heads, passing, backend):
    """The states of passes, by either form."""
    form = compiled if backend == "compiled" else epignn
    return form.head_states(edges, weight, heads, passing)


def matrices(relations: int, facets: int, size: int, dtype: torch.dtype = torch.float64) -> torch.Tensor:
    """Rows do not sum to one, so that a node's state never ties with what it hears again but for rounding."""
    generator = torch.Generator().manual_seed(1)
    shape = (relations, facets, size)
    rows = torch.randn((*shape, size), generator=generator, dtype=torch.float64).softmax(-1)
    return (rows * (0.5 + torch.rand((*shape, 1), generator=generator, dtype=torch.float64))).to(dtype)


def asked(graph, rng: np.random.Generator, heads: int = 5) -> Heads:
    """Random heads that leave out some of their facts, and some nodes that are wanted."""
    chosen = rng.choice(len(graph.entities), heads, replace=False)
    left_out, wanted = [], []
    for head in chosen:
        own = np.flatnonzero((graph.facts[:, 0] == head) | (graph.facts[:, 2] == head))
        left_out.append(graph.edges.of_fact[own[rng.random(len(own)) < 0.5]].ravel())
        wanted.append(rng.choice(len(graph.entities), 6).astype(np.int32))
    return Heads.of(chosen.tolist(), left_out, wanted)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize("self_message", [False, True])
@pytest.mark.parametrize("pooling", ["min", "mul"])
@pytest.mark.parametrize(("facets", "size", "rounds"), [(4, 4, 3), (2, 8, 6), (1, 16, 2), (2, 3, 4), (1, 33, 1)])
def test_kernel_equals_plain_torch(silent, self_message, pooling, facets, size, rounds, rng):
    for seed in range(4):
        graph = random_graph(seed, facts=25 + 15 * seed)
        batch, passing = asked(graph, rng), Passing(pooling, rounds, self_message, silent)
        results = []
        for backend in ("compiled", "plain"):
            leaf = matrices(6, facets, size).requires_grad_()
            states = head_states(graph.edges, leaf, batch, passing, backend)
            (states * torch.linspace(-1, 1, states.numel(), dtype=torch.float64).view_as(states)).sum().backward()
            results.append((states.detach(), leaf.grad))
        torch.testing.assert_close(results[0][0], results[1][0])
        torch.testing.assert_close(results[0][1], results[1][1])
        single = matrices(6, facets, size, torch.float32).requires_grad_()
        states = head_states(graph.edges, single, batch, passing, "compiled")
        steps = in_passing(rounds, size, int(np.diff(graph.edges.offset).max()) + 1)
        close(states, results[1][0], steps)
        (states * torch.linspace(-1, 1, states.numel()).view_as(states)).sum().backward()
        # There and back, and a sum over edges; what is summed is divided by messages, which are of size 1 / size.
        roundings = 2 * steps + len(graph.edges.source)
        close(single.grad, results[1][1], roundings, size=float(results[1][1].abs().max()) * size)


@pytest.mark.parametrize("silent", [False, True])
@pytest.mark.parametrize(("facets", "size", "counting"), [(8, 4, 4), (4, 8, 2), (2, 16, 1), (4, 4, 1), (3, 3, 3)])
def test_facets_that_count_equal_plain_torch(silent, facets, size, counting, graph, rng):
    batch, passing = asked(graph, rng), Passing("min", 3, True, silent, counting=counting)
    results = []
    for backend, dtype in (("plain", torch.float64), ("compiled", torch.float64), ("compiled", torch.float32)):
        leaf = matrices(6, facets, size, dtype).requires_grad_()
        states = head_states(graph.edges, leaf, batch, passing, backend)
        (states * torch.linspace(-1, 1, states.numel(), dtype=dtype).view_as(states)).sum().backward()
        results.append((states.detach(), leaf.grad))
    torch.testing.assert_close(results[0], results[1])
    steps = in_passing(3, size, int(np.diff(graph.edges.offset).max()) + 1)
    close(results[2][0], results[0][0], steps)
    roundings = 2 * steps + len(graph.edges.source)
    close(results[2][1], results[0][1], roundings, size=float(results[0][1].abs().max()) * size)


@pytest.mark.parametrize("pooling", ["min", "mul"])
def test_gradient_equals_finite_differences(pooling, graph, rng):
    batch = asked(graph, rng, 2)

    def states(weight):
        return head_states(graph.edges, weight, batch, Passing(pooling, 3, True, False), "compiled")

    assert torch.autograd.gradcheck(states, (matrices(6, 1, 3).requires_grad_(),), eps=1e-7, atol=1e-5)


@pytest.mark.parametrize("pooling", ["min", "mul"])
def test_threads_change_nothing(pooling, graph, rng):
    batch, results = asked(graph, rng, 7), []
    for threads in (1, 3):
        torch.set_num_threads(threads)
        leaf = matrices(6, 4, 4).requires_grad_()
        states = head_states(graph.edges, leaf, batch, Passing(pooling, 4, True, False), "compiled")
        states.square().sum().backward()
        results.append((states.detach(), leaf.grad))
    assert torch.equal(results[0][0], results[1][0])
    assert torch.equal(results[0][1], results[1][1])  # one thread makes all of a block, head after head


def test_many_passes_equal_single_ones(graph):
    weight, passing = matrices(6, 2, 4), Passing("min", 4, True)
    together = compiled.HeadPasses(graph.edges, weight, passing).states(Heads.everything([3, 7, 7], 30))
    apart = [compiled.head_states(graph.edges, weight, Heads.everything([h], 30), passing) for h in (3, 7, 7)]
    assert torch.equal(together, torch.cat(apart))  # the pass of a head is one computation, whatever else is asked


def test_questions_know_their_heads_and_candidates(graph):
    wanted = [np.array([4, 5], dtype=np.int32), np.array([6, 7, 8], dtype=np.int32)]
    none = np.zeros(0, dtype=np.int32)
    heads = Heads.of([1, 2], [none, none], wanted)
    questions = Questions(graph.edges, heads, np.array([0, 1, 2]), np.array([[0, 1], [4, 2], [3, 3]]))
    assert questions.candidate.tolist() == [[4, 5], [8, 6], [7, 7]]
    assert questions.of_head.tolist() == [0, 1, 1]
    everything = Questions.everything(graph, 3, np.array([1, 5], dtype=np.int32))
    assert everything.candidate.tolist() == [list(range(30))] * 2


def test_a_left_out_fact_is_not_used(graph):
    """Leaving a fact out is the same as a graph that does not have it, to the bits: the rest keeps its order."""
    fact = graph.facts[5]
    without = type(graph)(graph.entities, graph.relations, np.delete(graph.facts, 5, 0))
    everyone = [np.arange(30, dtype=np.int32)]
    for silent in (False, True):
        passing, weight = Passing("min", 5, True, silent), matrices(6, 1, 4)
        left = Heads.of([fact[0]], [graph.edges.of_fact[5]], everyone)
        never = Heads.of([fact[0]], [np.zeros(0, dtype=np.int32)], everyone)
        one = head_states(graph.edges, weight, left, passing, "compiled")
        other = head_states(without.edges, weight, never, passing, "compiled")
        assert torch.equal(one, other)
        assert not torch.equal(one, head_states(graph.edges, weight, never, passing, "compiled"))
