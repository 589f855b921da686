"""What nodes receive in many passes over one graph: products of states and relation vectors, joined at each node.

Nodes of the same number of edges are taken together, some at a time, so that joining is a reduction along one axis
and no array of all edges and passes is ever made. Axes are named V nodes, N nodes of a part, K edges of each of
them, R relations, F components of the states of all passes.
"""

from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.graph import Edges

TOGETHER = 2**19
"""Numbers that a part of the messages has, about: as many as fit into the cache of a processor."""


class Incoming:
    """The edges of a graph by the node they lead to, in parts of nodes that have the same number of them."""

    def __init__(self, edges: Edges, device: torch.device | str = "cpu") -> None:
        self.nodes, self.device = len(edges.offset) - 1, device
        self.count = np.diff(edges.offset)
        self._edges = edges

    @cached_property
    def by_count(self) -> list[tuple[Tensor, Tensor, Tensor]]:
        """For every number of edges: the nodes (N) that have it, and sources and labels (N, K) of their edges."""
        edges, found = self._edges, []
        for count in np.unique(self.count[self.count > 0]).tolist():
            node = np.flatnonzero(self.count == count)
            edge = edges.offset[node][:, None] + np.arange(count)
            found.append((self._on(node), self._on(edges.source[edge]), self._on(edges.label[edge])))
        return found

    def _on(self, index: NDArray[np.integer]) -> Tensor:
        return torch.from_numpy(index.astype(np.int64)).to(self.device)

    def parts(self, components: int) -> Any:
        """Nodes, sources and labels of parts of which messages have about `TOGETHER` numbers in all."""
        for node, source, label in self.by_count:
            size = max(1, TOGETHER // (components * source.shape[1]))
            yield from zip(*(torch.split(part, size) for part in (node, source, label)), strict=True)


def _gathered(values: Tensor, index_NK: Tensor) -> Tensor:
    """(N, K, F): some rows of values (·, F)."""
    return values.index_select(0, index_NK.flatten()).view(*index_NK.shape, -1)


class Added(torch.autograd.Function):
    """(V, F): the sum of state · vector over the edges into each node."""

    @staticmethod
    def forward(ctx: Any, state_VF: Tensor, vector_RF: Tensor, incoming: Incoming) -> Tensor:
        """Of states (V, F) and relation vectors (R, F)."""
        ctx.save_for_backward(state_VF, vector_RF)
        ctx.incoming = incoming
        total = torch.zeros_like(state_VF)
        for node, source, label in incoming.parts(state_VF.shape[1]):
            total[node] = (_gathered(state_VF, source).mul_(_gathered(vector_RF, label))).sum(1)
        return total

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """As the chain rule has it."""
        state_VF, vector_RF = ctx.saved_tensors
        by_state, by_vector = torch.zeros_like(state_VF), torch.zeros_like(vector_RF)
        for node, source, label in ctx.incoming.parts(state_VF.shape[1]):
            state, vector = _gathered(state_VF, source), _gathered(vector_RF, label)
            gradient = gradients[0].index_select(0, node)[:, None]
            by_state.index_add_(0, source.flatten(), vector.mul_(gradient).flatten(0, 1))
            by_vector.index_add_(0, label.flatten(), state.mul_(gradient).flatten(0, 1))
        return by_state, by_vector, None


class Principal(torch.autograd.Function):
    """(V, F) each: sum, sum of squares, maximum and minimum of state · vector over the edges into each node.

    A node without edges has the sums 0, the maximum -∞ and the minimum ∞. Where several messages are the largest,
    each gets an equal part of the gradient.
    """

    @staticmethod
    def forward(ctx: Any, state_VF: Tensor, vector_RF: Tensor, incoming: Incoming) -> tuple[Tensor, ...]:
        """Of states (V, F) and relation vectors (R, F)."""
        total, squares = torch.zeros_like(state_VF), torch.zeros_like(state_VF)
        largest = torch.full_like(state_VF, -torch.inf)
        smallest = torch.full_like(state_VF, torch.inf)
        for node, source, label in incoming.parts(state_VF.shape[1]):
            message = _gathered(state_VF, source).mul_(_gathered(vector_RF, label))
            total[node], largest[node], smallest[node] = message.sum(1), message.amax(1), message.amin(1)
            squares[node] = message.square_().sum(1)
        ctx.save_for_backward(state_VF, vector_RF, largest, smallest)
        ctx.incoming = incoming
        return total, squares, largest, smallest

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, None]:
        """As the chain rule has it."""
        state_VF, vector_RF, largest, smallest = ctx.saved_tensors
        by_state, by_vector = torch.zeros_like(state_VF), torch.zeros_like(vector_RF)
        total, squares, *extremes = gradients
        for node, source, label in ctx.incoming.parts(state_VF.shape[1]):
            state, vector = _gathered(state_VF, source), _gathered(vector_RF, label)
            message = state * vector
            gradient = torch.addcmul(
                _gathered(total, node[:, None]), message, _gathered(squares, node[:, None]), value=2
            )
            for bound, by_bound in zip((largest, smallest), extremes, strict=True):
                at = (message == _gathered(bound, node[:, None])).to(message.dtype)
                gradient.addcmul_(at, (by_bound.index_select(0, node) / at.sum(1))[:, None])
            by_state.index_add_(0, source.flatten(), vector.mul_(gradient).flatten(0, 1))
            by_vector.index_add_(0, label.flatten(), state.mul_(gradient).flatten(0, 1))
        return by_state, by_vector, None
