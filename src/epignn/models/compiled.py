"""The compiled forms of the functions of `epignn.models.epignn`, as differentiable functions on the CPU.

Each takes what its plain form takes and gives the same within rounding; tests compare them. Tensors are handed to
the kernels by address: they are made contiguous here, and outlive the call.
"""

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from epignn.data.graph import Edges
from epignn.kernels import kernels
from epignn.models.batch import GraphBatch
from epignn.models.flow import Flow, Passing
from epignn.models.links import Heads


def propagate(flow: Flow, start: Tensor, matrices: Tensor, passing: Passing) -> Tensor:
    """(V, F, K): states after message passing along a flow; see `message_passing`."""
    states: Tensor = _Propagate.apply(matrices, start, flow, passing)  # type: ignore[no-untyped-call]
    return states


def aggregate(ahead: Tensor, back: Tensor, table: Tensor, batch: GraphBatch, pooling: str) -> Tensor:
    """(B, F, K): ψ({t→, h←} ∪ {φ(e→, e←)}) for every graph (Eq. 6); see `EpiGNN.predictions`."""
    result: Tensor = _Aggregate.apply(ahead, back, table, batch, pooling)  # type: ignore[no-untyped-call]
    return result


def pair_round(
    states: Tensor,
    matrices: Tensor,
    pair_offset: Tensor,
    offset: Tensor,
    source: Tensor,
    matrix: Tensor,
    pooling: str,
) -> Tensor:
    """One round of full closure; the last state is that of the identity, which receives nothing."""
    graph = (_one_more(pair_offset, 1), _one_more(offset, 0), source, matrix)
    refined: Tensor = _PairRound.apply(states, matrices, graph, pooling)  # type: ignore[no-untyped-call]
    return refined


def head_states(edges: Edges, matrices: Tensor, heads: Heads, passing: Passing) -> Tensor:
    """(W, F, K): the wanted states of passes over a knowledge graph; see `epignn.head_states`."""
    states: Tensor = _HeadStates.apply(matrices, edges, heads, passing)  # type: ignore[no-untyped-call]
    return states


class HeadPasses:
    """Many passes over one knowledge graph with the same weights.

    What does not depend on the head, the states of a pass without one, is computed once (native/heads.hpp).
    """

    def __init__(self, edges: Edges, matrices: Tensor, passing: Passing) -> None:
        self.edges, self.matrices = edges, matrices.detach().contiguous()
        relations, facets, size, _ = matrices.shape
        arrays = [a.ctypes.data for a in (edges.offset, edges.source, edges.label)]
        options = (passing.self_message, passing.silent, passing.pooling == "min")
        sizes = (relations, facets, size, passing.rounds, passing.counting)
        graph = _native().head_graph(len(edges.offset) - 1, *sizes, *options, *arrays)
        make = getattr(_native(), f"HeadPasses{precision(matrices).capitalize()}")
        self.passes = make(graph, *pointers([self.matrices]), torch.get_num_threads())

    def states(self, heads: Heads, keep: bool = False) -> Tensor:
        """(W, F, K): the wanted states; `keep` what `gradient` needs of these passes."""
        result = self.matrices.new_empty((len(heads.wanted), *self.matrices.shape[1:3]))
        self.passes.forward(_head_batch(heads), *pointers([result]), keep, torch.get_num_threads())
        return result

    def gradient(self, heads: Heads, grad: Tensor) -> Tensor:
        """(2R, F, I, K): the gradient of the matrices from that of the wanted states."""
        grad, grad_matrices = grad.contiguous(), torch.zeros_like(self.matrices)
        self.passes.backward(_head_batch(heads), *pointers([grad, grad_matrices]), torch.get_num_threads())
        return grad_matrices


class _Propagate(torch.autograd.Function):
    """Message passing, differentiable in the matrices; rounds = 0 tells the kernel that one pass suffices."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, start: Tensor, flow: Flow, passing: Passing) -> Tensor:
        matrices = matrices.detach().contiguous()
        relations, facets, size, _ = matrices.shape
        keep = bool(ctx.needs_input_grad[0])
        rounds = 0 if flow.one_pass_suffices(passing) else passing.rounds or flow.depth
        passes = max(rounds, 1)
        layers = 1 if rounds == 0 else passes + 1 if keep else 2
        states = matrices.new_empty((layers, *start.shape))
        states[0] = start
        chosen = torch.empty((passes if keep else 0, *start.shape), dtype=torch.int32)
        total = matrices.new_empty((passes if keep else 0, *start.shape[:2]))
        graph = tuple(t.contiguous() for t in (flow.node_offset, flow.offset, flow.source, flow.label))
        options = (rounds, passing.self_message, flow.descending, passing.pooling == "min")
        call = _native().messages(facets, size, relations, len(flow.start), *options, *pointers(graph))
        run = getattr(_native(), f"propagate_{precision(matrices)}")
        run(call, *pointers((matrices, states, chosen, total)), keep, torch.get_num_threads())
        if keep:
            ctx.call, ctx.kept = call, (graph, matrices, states, chosen, total)
        return states[layers - 1 if keep or rounds == 0 else passes % 2].clone()

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor, None, None, None]:
        _, matrices, states, chosen, total = ctx.kept
        grad = torch.empty_like(states[:2])
        grad[0] = grad_states
        return _backward(ctx.call, matrices, states, chosen, total, grad), None, None, None


class _PairRound(torch.autograd.Function):
    """One round of message passing among pairs, differentiable in states and matrices."""

    @staticmethod
    def forward(ctx: Any, states: Tensor, matrices: Tensor, graph: tuple[Tensor, ...], pooling: str) -> Tensor:
        matrices = matrices.detach().contiguous()
        blocks, facets, size, _ = matrices.shape
        layers = torch.stack([states.detach(), torch.empty_like(states)])
        keep = any(ctx.needs_input_grad[:2])
        chosen = torch.empty(states.shape if keep else (0,), dtype=torch.int32)
        total = matrices.new_empty(states.shape[:2] if keep else (0,))
        graph = tuple(t.contiguous() for t in graph)
        options = (1, False, False, pooling == "min")
        call = _native().messages(facets, size, blocks, len(graph[0]) - 1, *options, *pointers(graph))
        run = getattr(_native(), f"propagate_{precision(matrices)}")
        run(call, *pointers((matrices, layers, chosen, total)), keep, torch.get_num_threads())
        if keep:
            ctx.call, ctx.kept = call, (graph, matrices, layers, chosen, total)
        return layers[1].clone()

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor, Tensor, None, None]:
        _, matrices, layers, chosen, total = ctx.kept
        grad = torch.stack([grad_states, torch.empty_like(grad_states)])
        grad_matrices = _backward(ctx.call, matrices, layers, chosen, total, grad)
        return grad[1], grad_matrices, None, None


class _Aggregate(torch.autograd.Function):
    """The forward-backward aggregation, differentiable in both states and the table."""

    @staticmethod
    def forward(ctx: Any, ahead: Tensor, back: Tensor, table: Tensor, batch: GraphBatch, pooling: str) -> Tensor:
        ahead, back, table = (t.detach().contiguous() for t in (ahead, back, table))
        _, facets, size = ahead.shape
        result = ahead.new_empty((len(batch), facets, size))
        chosen = torch.empty(result.shape, dtype=torch.int32)
        total = ahead.new_empty(result.shape[:2])
        graph = tuple(t.contiguous() for t in (batch.head, batch.tail, batch.path_offset, batch.path_node))
        call = _native().readout(facets, size, len(batch), pooling == "min", *pointers(graph))
        run = getattr(_native(), f"aggregate_{precision(ahead)}")
        run(call, *pointers((ahead, back, table, result, chosen, total)))
        ctx.call, ctx.graph = call, graph
        ctx.save_for_backward(ahead, back, table, result, chosen, total)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        ahead, back, table, result, chosen, total = ctx.saved_tensors
        grads = torch.zeros_like(ahead), torch.zeros_like(back), torch.zeros_like(table)
        run = getattr(_native(), f"aggregate_back_{precision(ahead)}")
        run(ctx.call, *pointers((ahead, back, table, result, chosen, total, grad.contiguous(), *grads)))
        return grads[0], grads[1], grads[2], None, None


class _HeadStates(torch.autograd.Function):
    """Passes over a knowledge graph, differentiable in the matrices."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, edges: Edges, heads: Heads, passing: Passing) -> Tensor:
        passes = HeadPasses(edges, matrices, passing)
        ctx.kept = passes, heads
        return passes.states(heads, keep=bool(ctx.needs_input_grad[0]))

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        passes, heads = ctx.kept
        return passes.gradient(heads, grad), None, None, None


def _backward(call: Any, matrices: Tensor, states: Tensor, chosen: Tensor, total: Tensor, grad: Tensor) -> Tensor:
    """The gradient of the matrices of message passing; that of the first states is left in `grad[1]`."""
    grad_matrices = torch.zeros_like(matrices)
    run = getattr(_native(), f"propagate_back_{precision(matrices)}")
    run(call, *pointers((matrices, states, chosen, total, grad, grad_matrices)), torch.get_num_threads())
    return grad_matrices


def _one_more(offset: Tensor, members: int) -> Tensor:
    """Offsets with one more run at the end."""
    return torch.cat([offset, offset[-1:] + members])


def _native() -> ModuleType:
    module = kernels("compiled")
    assert module is not None
    return module


def precision(tensor: Tensor) -> str:
    """What the kernels call the precision of a tensor."""
    return {torch.float32: "float", torch.float64: "double"}[tensor.dtype]


def pointers(tensors: Iterable[Tensor]) -> list[int]:
    """Where tensors are; they must be contiguous, and outlive what they are given to."""
    return [tensor.data_ptr() for tensor in tensors]


def _head_batch(heads: Heads) -> Any:
    """What the kernel is told; it has no copy of the arrays."""
    arrays = (heads.head, heads.left_out_offset, heads.left_out, heads.wanted_offset, heads.wanted)
    followed = [array.ctypes.data for array in heads.packed_followed] or [0, 0]
    return _native().head_batch(len(heads), *(array.ctypes.data for array in arrays), *followed)
