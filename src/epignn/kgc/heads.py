"""Message passing from several heads over one graph: the compiled kernel, and its plain twin in torch.

The states of a pass depend on the head alone, not on the relation that is asked: one pass answers all questions of
its head. The kernel computes only what differs from a pass without a head (native/heads.hpp).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.graph import Edges, Ints
from epignn.kernels import Backend, kernels
from epignn.models.pooling import pool
from epignn.models.propagate import kind, native, pointers


@dataclass(frozen=True)
class Passing:
    """How messages pass.

    Attributes:
        pooling: `min` or `mul`.
        rounds: of message passing.
        self_message: pool the former state of a node with what it hears.
        silent: nodes that know nothing of the head send nothing; otherwise they send what follows from knowing
            nothing, as in the paper.
    """

    pooling: str
    rounds: int
    self_message: bool
    silent: bool


@dataclass(frozen=True, eq=False)
class HeadBatch:
    """Passes to make over one graph.

    Attributes:
        head: (H) where each pass starts.
        left_out_offset, left_out: edges that each pass leaves out, with their inverses.
        wanted_offset, wanted: nodes whose last state each pass is asked for.
    """

    head: Ints
    left_out_offset: NDArray[np.int64]
    left_out: Ints
    wanted_offset: NDArray[np.int64]
    wanted: Ints

    @classmethod
    def of(cls, heads: Sequence[int] | Ints, left_out: Sequence[Ints], wanted: Sequence[Ints]) -> "HeadBatch":
        """Passes from lists, one entry a head."""
        return cls(np.asarray(heads, dtype=np.int32), *_packed(left_out), *_packed(wanted))

    @classmethod
    def everything(cls, heads: Sequence[int] | Ints, nodes: int) -> "HeadBatch":
        """Passes that leave nothing out and are asked for all nodes."""
        none = np.zeros(0, dtype=np.int32)
        return cls.of(heads, [none] * len(heads), [np.arange(nodes, dtype=np.int32)] * len(heads))

    def __len__(self) -> int:
        return len(self.head)


def _packed(parts: Sequence[Ints]) -> tuple[NDArray[np.int64], Ints]:
    offset = np.zeros(len(parts) + 1, dtype=np.int64)
    np.cumsum([len(part) for part in parts], out=offset[1:])
    flat = np.concatenate(parts) if parts else np.zeros(0)
    return offset, np.ascontiguousarray(flat, dtype=np.int32)


def head_states(
    edges: Edges, matrices: Tensor, batch: HeadBatch, passing: Passing, backend: Backend = "auto"
) -> Tensor:
    """(W, F, K): the wanted states of every pass, one after the other.

    Args:
        edges: of the graph, with inverses.
        matrices: (2R, F, I, K) what a relation does to a state.
        batch: heads, and what each leaves out and is asked for.
        passing: how messages pass.
        backend: the kernel serves CPU tensors; others take the plain path.
    """
    if matrices.device.type == "cpu" and kernels(backend) is not None:
        states: Tensor = _Kernel.apply(matrices, edges, batch, passing)  # type: ignore[no-untyped-call]
        return states
    return torch.cat([_plain(edges, matrices, batch, h, passing) for h in range(len(batch))])


class HeadScorer:
    """Many passes over one graph with the same model: what does not depend on the head is computed once."""

    def __init__(self, edges: Edges, matrices: Tensor, passing: Passing, backend: Backend = "auto") -> None:
        self.edges, self.matrices, self.passing = edges, matrices.detach().contiguous(), passing
        native_serves = matrices.device.type == "cpu" and kernels(backend) is not None
        self._kept = _passes(edges, self.matrices, passing, keep=False) if native_serves else None

    def states(self, batch: HeadBatch) -> Tensor:
        """(W, F, K): as `head_states`, without gradients."""
        if self._kept is None:
            return head_states(self.edges, self.matrices, batch, self.passing, "plain")
        return _forward(self._kept, batch, self.matrices)


def _passes(edges: Edges, matrices: Tensor, passing: Passing, keep: bool) -> Any:
    relations, facets, size, _ = matrices.shape
    arrays = [a.ctypes.data for a in (edges.offset, edges.source, edges.label)]
    options = (passing.rounds, passing.self_message, passing.silent, passing.pooling == "min")
    graph = native().head_graph(len(edges.offset) - 1, relations, facets, size, *options, *arrays)
    make = getattr(native(), f"HeadPasses{kind(matrices).capitalize()}")
    return make(graph, *pointers([matrices]), keep)


def _batch(batch: HeadBatch) -> Any:
    arrays = (batch.head, batch.left_out_offset, batch.left_out, batch.wanted_offset, batch.wanted)
    return native().head_batch(len(batch), *(a.ctypes.data for a in arrays))


def _forward(passes: Any, batch: HeadBatch, matrices: Tensor) -> Tensor:
    result = matrices.new_empty((len(batch.wanted), *matrices.shape[1:3]))
    passes.forward(_batch(batch), *pointers([result]), torch.get_num_threads())
    return result


class _Kernel(torch.autograd.Function):
    """The compiled kernel as a differentiable function of the matrices."""

    @staticmethod
    def forward(ctx: Any, matrices: Tensor, edges: Edges, batch: HeadBatch, passing: Passing) -> Tensor:
        matrices = matrices.detach().contiguous()
        passes = _passes(edges, matrices, passing, keep=bool(ctx.needs_input_grad[0]))
        result = _forward(passes, batch, matrices)
        ctx.kept = passes, batch, edges, matrices
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None, None]:
        passes, batch, _, matrices = ctx.kept
        grad, grad_matrices = grad.contiguous(), torch.zeros_like(matrices)
        passes.backward(_batch(batch), *pointers([grad, grad_matrices]), torch.get_num_threads())
        return grad_matrices, None, None, None


def _plain(edges: Edges, matrices: Tensor, batch: HeadBatch, h: int, passing: Passing) -> Tensor:
    """One pass over all nodes and all edges that are not left out."""
    nodes, device = len(edges.offset) - 1, matrices.device
    kept = np.ones(len(edges.source), dtype=bool)
    kept[batch.left_out[batch.left_out_offset[h] : batch.left_out_offset[h + 1]]] = False
    kept &= np.repeat(np.arange(nodes), np.diff(edges.offset)) != batch.head[h]  # it knows what it is
    target = torch.from_numpy(np.repeat(np.arange(nodes), np.diff(edges.offset))[kept]).to(device)
    source = torch.from_numpy(edges.source[kept]).long().to(device)
    label = torch.from_numpy(edges.label[kept]).long().to(device)
    head = int(batch.head[h])
    states = matrices.new_full((nodes, *matrices.shape[1:3]), 1 / matrices.shape[2])
    states[head] = 0
    states[head, :, 0] = 1
    knows = torch.full((nodes,), not passing.silent, device=device)
    knows[head] = True
    for _ in range(passing.rounds):
        sent = knows[source]
        values = torch.einsum("efi,efik->efk", states[source[sent]], matrices[label[sent]])
        hears, group = torch.unique(target[sent], return_inverse=True)
        if passing.self_message:
            own = torch.nonzero(knows[hears]).squeeze(-1)
            values, group = torch.cat([states[hears[own]], values]), torch.cat([own, group])
        states = states.index_copy(0, hears, pool(values, group, len(hears), passing.pooling))
        knows = knows.index_fill(0, hears, True)
    wanted = batch.wanted[batch.wanted_offset[h] : batch.wanted_offset[h + 1]]
    return states[torch.from_numpy(wanted).long().to(device)]
