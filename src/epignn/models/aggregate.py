"""The forward-backward aggregation by the compiled kernel, as a differentiable function."""

from typing import Any

import torch
from torch import Tensor

from epignn.models.batch import GraphBatch
from epignn.models.propagate import kind, native, pointers


class _Aggregate(torch.autograd.Function):
    """The kernel and its gradient."""

    @staticmethod
    def forward(ctx: Any, ahead: Tensor, back: Tensor, table: Tensor, batch: GraphBatch, pooling: str) -> Tensor:
        ahead, back, table = (t.detach().contiguous() for t in (ahead, back, table))
        _, facets, size = ahead.shape
        result = ahead.new_empty((len(batch), facets, size))
        chosen = torch.empty(result.shape, dtype=torch.int32)
        total = ahead.new_empty(result.shape[:2])
        graph = tuple(t.contiguous() for t in (batch.head, batch.tail, batch.path_offset, batch.path_node))
        call = native().readout(facets, size, len(batch), pooling == "min", *pointers(graph))
        run = getattr(native(), f"aggregate_{kind(ahead)}")
        run(call, *pointers((ahead, back, table, result, chosen, total)))
        ctx.call, ctx.graph = call, graph
        ctx.save_for_backward(ahead, back, table, result, chosen, total)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor, None, None]:
        ahead, back, table, result, chosen, total = ctx.saved_tensors
        grads = torch.zeros_like(ahead), torch.zeros_like(back), torch.zeros_like(table)
        run = getattr(native(), f"aggregate_back_{kind(ahead)}")
        run(ctx.call, *pointers((ahead, back, table, result, chosen, total, grad.contiguous(), *grads)))
        return grads[0], grads[1], grads[2], None, None


def aggregate(ahead: Tensor, back: Tensor, table: Tensor, batch: GraphBatch, pooling: str) -> Tensor:
    """ψ({t→, h←} ∪ {φ(e→, e←)}) for every graph of a batch (paper, Eq. 6): (B, F, K).

    Takes the states of both models (V, F, K) and the table a_ij (F, I, J, K).
    """
    result: Tensor = _Aggregate.apply(ahead, back, table, batch, pooling)  # type: ignore[no-untyped-call]
    return result
