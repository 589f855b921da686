"""Message passing of epistemic states along a flow, in plain torch and by the compiled kernel.

Both compute the same; the plain one runs on any device and is the twin that tests hold the kernel to.
"""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from epignn.kernels import Backend, kernels
from epignn.models.batch import Flow
from epignn.models.pooling import pool


def initial_states(flow: Flow, facets: int, size: int, like: Tensor) -> Tensor:
    """(V, F, K): the identity at the start of each graph, nothing known elsewhere (paper, Eq. 3)."""
    states = like.new_full((len(flow.offset) - 1, facets, size), 1 / size)
    start = flow.start.long()
    states[start] = 0
    states[start, :, 0] = 1
    return states


def propagate(
    flow: Flow,
    matrices: Tensor,
    pooling: str,
    rounds: int | None,
    self_message: bool,
    backend: Backend = "auto",
) -> Tensor:
    """States of all nodes after message passing.

    Args:
        flow: which edges each node hears over.
        matrices: (R, F, I, K) what a relation does to a state.
        pooling: `min` or `mul`.
        rounds: how many; None for as many as the graphs need.
        self_message: pool the former state of a node with what it hears.
        backend: the kernel serves CPU tensors; others take the plain path.
    """
    module = kernels(backend) if matrices.device.type == "cpu" and backend != "plain" else None
    if module is not None:
        passes = flow.depth if rounds is None else rounds
        options = (pooling, 0 if one_pass_suffices(flow, rounds, self_message) else passes, self_message)
        states: Tensor = _Kernel.apply(matrices, flow, *options)  # type: ignore[no-untyped-call]
        return states

    def message(heard: Tensor, label: Tensor) -> Tensor:
        return torch.einsum("efi,efik->efk", heard, matrices[label])

    start = initial_states(flow, matrices.shape[1], matrices.shape[2], matrices)
    return message_passing(flow, start, message, pooling, rounds, self_message)


Message = Callable[[Tensor, Tensor], Tensor]
"""(E, F, I) states at the sources of edges and (E) their labels to (E, F, K) what goes along them."""


def one_pass_suffices(flow: Flow, rounds: int | None, self_message: bool) -> bool:
    """Whether a node may hear once, after its sources: on acyclic graphs, and with rounds enough."""
    return flow.ordered and not self_message and (rounds is None or rounds >= flow.depth)


def message_passing(
    flow: Flow,
    states: Tensor,
    message: Message,
    pooling: str,
    rounds: int | None,
    self_message: bool,
    constrained: bool = True,
) -> Tensor:
    """Message passing in plain torch: round by round, or level by level where one pass suffices."""
    if one_pass_suffices(flow, rounds, self_message):
        return _level_by_level(flow, states, message, pooling, constrained)
    source, label = flow.source.long(), flow.label.long()
    counts = flow.offset.diff()
    hears = torch.nonzero(counts).squeeze(-1)
    place = torch.full_like(counts, -1).long()
    place[hears] = torch.arange(len(hears), device=place.device)
    group = torch.repeat_interleave(place[hears], counts[hears].long())
    if self_message:
        group = torch.cat([place[hears], group])
    for _ in range(flow.depth if rounds is None else rounds):
        values = message(states[source], label)
        if self_message:
            values = torch.cat([states[hears], values])
        states = states.index_copy(0, hears, pool(values, group, len(hears), pooling, constrained))
    return states


def _level_by_level(flow: Flow, states: Tensor, message: Message, pooling: str, constrained: bool) -> Tensor:
    """Every edge carries one message, when the state of its source is final."""
    source, label = flow.source.long(), flow.label.long()
    nodes = torch.arange(len(states), device=states.device)
    target = torch.repeat_interleave(nodes, flow.offset.diff().long())
    level = torch.zeros_like(nodes)
    for _ in range(flow.depth):
        level = level.scatter_reduce(0, target, level[source] + 1, "amax")
    for now in range(1, int(level.max()) + 1):
        edges = torch.nonzero(level[target] == now).squeeze(-1)
        hears, group = torch.unique_consecutive(target[edges], return_inverse=True)
        values = message(states[source[edges]], label[edges])
        states = states.index_copy(0, hears, pool(values, group, len(hears), pooling, constrained))
    return states


class _Kernel(torch.autograd.Function):
    """The compiled kernel as a differentiable function of the matrices."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, flow: Flow, pooling: str, rounds: int, self_message: bool) -> Tensor:
        matrices = matrices.detach().contiguous()
        relations, facets, size, _ = matrices.shape
        keep = bool(ctx.needs_input_grad[0])
        start = initial_states(flow, facets, size, matrices)
        passes = max(rounds, 1)
        layers = 1 if rounds == 0 else passes + 1 if keep else 2
        states = matrices.new_empty((layers, *start.shape))
        states[0] = start
        chosen = torch.empty((passes if keep else 0, *start.shape), dtype=torch.int32)
        total = matrices.new_empty((passes if keep else 0, *start.shape[:2]))
        graph = tuple(t.contiguous() for t in (flow.node_offset, flow.offset, flow.source, flow.label))
        options = (rounds, self_message, flow.descending, pooling == "min")
        call = native().messages(facets, size, relations, len(flow.start), *options, *pointers(graph))
        run = getattr(native(), f"propagate_{kind(matrices)}")
        run(call, *pointers((matrices, states, chosen, total)), keep, torch.get_num_threads())
        if keep:
            ctx.call, ctx.kept = call, (graph, matrices, states, chosen, total)
        return states[layers - 1 if keep or rounds == 0 else passes % 2].clone()

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor, None, None, None, None]:
        _, matrices, states, chosen, total = ctx.kept
        grad = torch.empty_like(states[:2])
        grad[0] = grad_states
        grad_matrices = torch.zeros_like(matrices)
        run = getattr(native(), f"propagate_back_{kind(matrices)}")
        run(ctx.call, *pointers((matrices, states, chosen, total, grad, grad_matrices)), torch.get_num_threads())
        return grad_matrices, None, None, None, None


def native() -> ModuleType:
    """The compiled module."""
    module = kernels("compiled")
    assert module is not None
    return module


def kind(tensor: Tensor) -> str:
    """What the kernels call the precision of a tensor."""
    return {torch.float32: "float", torch.float64: "double"}[tensor.dtype]


def pointers(tensors: Iterable[Tensor]) -> list[int]:
    """Addresses of contiguous tensors, which must outlive the call."""
    return [tensor.data_ptr() for tensor in tensors]
