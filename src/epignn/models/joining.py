"""What nodes receive in many passes over one graph: products of states and relation vectors, joined at each node.

Compiled kernels join them where there are any (native/joining.hpp). Otherwise nodes of the same number of edges
are taken together, some at a time, so that joining is a reduction along one axis and messages along all edges are
never held at once. Axes are named V nodes that receive, S nodes that send, N nodes of a part, K edges of each of
them, R relations, B passes, D components of a state.
"""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from epignn.data.dataset import offsets, spans
from epignn.data.graph import Edges, Ints
from epignn.kernels import Backend, kernels
from epignn.models.compiled import pointers, precision

TOGETHER = 2**19
"""Numbers that a part of the messages has, about: as many as fit into the cache of a processor."""
SMALLEST_VARIANCE = 1e-6
"""What messages whose variance is less are taken to have; the kernels have it, too."""


class Incoming:
    """Edges into some nodes, which stand in the order of how many edges lead to them.

    Attributes:
        offset, source, label: edges into the node at place v are offset[v]..offset[v+1]; sources are places in an
            array of states.
        count: (V) how many edges lead to each node.
        degree: the mean, over all nodes of the graph, of the logarithm of how many messages each receives.
        device: where states are.
        native: the compiled kernels; None where plain torch joins.
    """

    def __init__(
        self, offset: Ints, source: Ints, label: Ints, degree: float, device: torch.device, native: Any
    ) -> None:
        self.offset, self.source, self.label, self.count = offset, source, label, np.diff(offset)
        self.degree, self.device, self.native = degree, device, native

    def __len__(self) -> int:
        return len(self.count)

    @cached_property
    def runs(self) -> list[int]:
        """How many nodes have the same number of edges, for every number that some have, in its order."""
        return np.unique(self.count, return_counts=True)[1].tolist()  # type: ignore[no-any-return]

    def parts(self, components: int) -> Iterator[tuple[slice, Tensor, Tensor]]:
        """Nodes that have edges, and sources and labels (N, K); messages have about `TOGETHER` numbers in all."""
        first = 0
        for run in self.runs:
            edges = int(self.count[first])
            size = max(1, TOGETHER // (components * max(edges, 1)))
            for start in range(first, first + run if edges else first, size):
                nodes = slice(start, min(start + size, first + run))
                own = slice(self.offset[nodes.start], self.offset[nodes.stop])
                index = (torch.from_numpy(of[own].astype(np.int64)) for of in (self.source, self.label))
                source, label = (one.view(-1, edges).to(self.device) for one in index)
                yield nodes, source, label
            first += run

    def counts(self, state: Tensor) -> Tensor:
        """(V, 1, 1): how many messages each node receives, the boundary condition among them."""
        return torch.from_numpy(self.count + 1).to(state)[:, None, None]

    def run_counts(self, state: Tensor) -> Tensor:
        """How many messages each node of a run receives, for every run."""
        return torch.from_numpy(np.unique(self.count) + 1).to(state)

    def call(self, function: str, state: Tensor, *tensors: Tensor) -> None:
        """Run a kernel on states (S, B, D) and other arrays."""
        assert self.native is not None
        graph = (array.ctypes.data for array in (self.offset, self.source, self.label))
        joining = self.native.joining(len(self), *state.shape[1:], *graph)
        run = getattr(self.native, f"{function}_{precision(state)}")
        run(joining, *pointers((state, *tensors)), torch.get_num_threads())


class WholeGraph(Incoming):
    """The edges of a graph, by the node they lead to.

    Attributes:
        place: (V) where each node of the graph stands, as a receiver and as a source.
    """

    def __init__(self, edges: Edges, device: torch.device | str = "cpu", backend: Backend = "auto") -> None:
        count, on = np.diff(edges.offset), torch.device(device)
        order = np.argsort(count, kind="stable")
        self.place: Ints = np.empty(len(order), dtype=np.int32)
        self.place[order] = np.arange(len(order), dtype=np.int32)
        edge = spans(edges.offset[order], count[order])
        super().__init__(
            offsets(count[order]).astype(np.int32),
            self.place[edges.source[edge]],
            edges.label[edge].astype(np.int32),
            float(np.log(count + 1).mean()) if len(count) else 0.0,
            on,
            kernels(backend) if on.type == "cpu" else None,
        )


def _gathered(values: Tensor, index_NK: Tensor) -> Tensor:
    """(N, K, B, D): some of the values (·, B, D)."""
    return values.index_select(0, index_NK.flatten()).view(*index_NK.shape, *values.shape[1:])


class Added(torch.autograd.Function):
    """(V, B, D): the sum of state · vector over the edges into each node, and of its boundary condition."""

    @staticmethod
    def forward(ctx: Any, state: Tensor, vector: Tensor, boundary: Tensor, incoming: Incoming) -> Tensor:
        """Of states (S, B, D), relation vectors (R, B, D) and boundary conditions (V, B, D)."""
        state, vector, total = state.contiguous(), vector.contiguous(), boundary.clone()
        ctx.save_for_backward(state, vector)
        ctx.incoming = incoming
        if incoming.native is not None:
            incoming.call("add_messages", state, vector, total)
            return total
        for nodes, source, label in incoming.parts(state[0].numel()):
            total[nodes] += _gathered(state, source).mul_(_gathered(vector, label)).sum(1)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """As the chain rule has it."""
        state, vector = ctx.saved_tensors
        by_state, by_vector, by_total = torch.zeros_like(state), torch.zeros_like(vector), gradients[0].contiguous()
        if ctx.incoming.native is not None:
            ctx.incoming.call("add_messages_back", state, vector, by_total, by_state, by_vector)
            return by_state, by_vector, by_total, None
        for nodes, source, label in ctx.incoming.parts(state[0].numel()):
            _pass_back(state, vector, source, label, by_total[nodes][:, None], by_state, by_vector)
        return by_state, by_vector, by_total, None


def _pass_back(
    state: Tensor,
    vector: Tensor,
    source: Tensor,
    label: Tensor,
    gradient: Tensor,
    by_state: Tensor,
    by_vector: Tensor,
) -> None:
    """Add to the gradients of states and vectors what those of messages (N, K, B, D) come to."""
    by_state.index_add_(0, source.flatten(), (_gathered(vector, label) * gradient).flatten(0, 1))
    by_vector.index_add_(0, label.flatten(), (_gathered(state, source) * gradient).flatten(0, 1))


class Principal(torch.autograd.Function):
    """(V, B, 4 D): mean, maximum, minimum and standard deviation of what each node receives.

    These are state · vector over the edges into it, and its boundary condition. Where several messages are the
    largest, each gets an equal part of the gradient.
    """

    @staticmethod
    def forward(ctx: Any, state: Tensor, vector: Tensor, boundary: Tensor, incoming: Incoming) -> Tensor:
        """Of states (S, B, D), relation vectors (R, B, D) and boundary conditions (V, B, D)."""
        given = state.contiguous(), vector.contiguous(), boundary.contiguous()
        if incoming.native is not None:
            result = state.new_empty(len(incoming), state.shape[1], 4 * state.shape[2])
            incoming.call("principal", *given, result)
        else:
            result = _principal(*given, incoming)
        ctx.save_for_backward(*given, result)
        ctx.incoming = incoming
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, ...]:
        """As the chain rule has it."""
        state, vector, boundary, result = ctx.saved_tensors
        given, by_result = (state, vector, boundary, result), gradients[0].contiguous()
        if ctx.incoming.native is None:
            return *_principal_back(*given, by_result, ctx.incoming), None
        found = torch.zeros_like(state), torch.zeros_like(vector), torch.empty_like(boundary)
        ctx.incoming.call("principal_back", *given, by_result, *found)
        return *found, None


def _principal(state: Tensor, vector: Tensor, boundary: Tensor, incoming: Incoming) -> Tensor:
    total, largest, smallest, squares = *(boundary.clone() for _ in range(3)), boundary.square()
    for nodes, source, label in incoming.parts(state[0].numel()):
        message = _gathered(state, source).mul_(_gathered(vector, label))
        total[nodes] += message.sum(1)
        largest[nodes] = largest[nodes].maximum(message.amax(1))
        smallest[nodes] = smallest[nodes].minimum(message.amin(1))
        squares[nodes] += message.square_().sum(1)
    count = incoming.counts(state)
    mean = total / count
    spread = (squares / count - mean.square()).clamp_min(SMALLEST_VARIANCE).sqrt()
    return torch.cat([mean, largest, smallest, spread], 2)


def _principal_back(
    state: Tensor, vector: Tensor, boundary: Tensor, result: Tensor, by_result: Tensor, incoming: Incoming
) -> tuple[Tensor, Tensor, Tensor]:
    mean, largest, smallest, spread = result.chunk(4, 2)
    by_mean, *by_extremes, by_spread = (part.clone() for part in by_result.chunk(4, 2))
    by_variance = torch.where(spread > math.sqrt(SMALLEST_VARIANCE), by_spread / spread / 2, 0)
    count, extremes = incoming.counts(state), (largest, smallest)
    constant, slope = (by_mean - 2 * mean * by_variance) / count, 2 * by_variance / count
    by_state, by_vector = torch.zeros_like(state), torch.zeros_like(vector)
    for nodes, source, label in incoming.parts(state[0].numel()):
        message = _gathered(state, source) * _gathered(vector, label)
        gradient = torch.addcmul(constant[nodes][:, None], message, slope[nodes][:, None])
        for extreme, by_extreme in zip(extremes, by_extremes, strict=True):
            at = (message == extreme[nodes][:, None]).to(message.dtype)
            by_extreme[nodes] /= at.sum(1) + (boundary[nodes] == extreme[nodes])
            gradient.addcmul_(at, by_extreme[nodes][:, None])
        _pass_back(state, vector, source, label, gradient, by_state, by_vector)
    by_boundary = constant + boundary * slope
    for extreme, by_extreme in zip(extremes, by_extremes, strict=True):
        by_boundary += (boundary == extreme) * by_extreme
    return by_state, by_vector, by_boundary
