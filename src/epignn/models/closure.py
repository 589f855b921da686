"""Full closure made differentiable: a state for every pair of entities, refined through every third one.

Compositions may be made in any order, where the directional model composes from one end only. With matrices
M_q = Σ_j s_j a_ij of the state s of every pair q, a round is message passing among pairs: the message of a
composition is the state of its left pair times the matrix of its right one; that of a fact is the identity times
the matrix of its relation, which is the relation's vector.
"""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor

from epignn.kernels import Backend, kernels
from epignn.models.batch import GraphBatch
from epignn.models.pooling import pool
from epignn.models.propagate import kind, native, pointers


@dataclass(frozen=True, eq=False)
class PairRound:
    """What every pair hears in one round: messages offset[p]..offset[p+1], compositions of left and right.

    Where left is -1 the message is a fact, and right its relation.
    """

    offset: Tensor
    left: Tensor
    right: Tensor


@dataclass(frozen=True, eq=False)
class PairBatch:
    """B graphs as P pairs of entities.

    Attributes:
        pair_offset: (B+1) where the pairs of each graph begin.
        query: (B) the pair that is asked about.
        rounds: what is heard in each round.
    """

    pair_offset: Tensor
    query: Tensor
    rounds: tuple[PairRound, ...]

    def __len__(self) -> int:
        return len(self.query)

    def to(self, device: torch.device | str) -> "PairBatch":
        """The same batch on another device."""
        rounds = tuple(PairRound(r.offset.to(device), r.left.to(device), r.right.to(device)) for r in self.rounds)
        return replace(self, pair_offset=self.pair_offset.to(device), query=self.query.to(device), rounds=rounds)


AnyBatch = GraphBatch | PairBatch


def pair_states(
    batch: PairBatch, vectors_RFK: Tensor, table_FIJK: Tensor, pooling: str, backend: Backend = "auto"
) -> Tensor:
    """(P, F, K): what may hold between the entities of every pair after the rounds of the batch."""
    pairs = int(batch.pair_offset[-1])
    relations, facets, size = vectors_RFK.shape
    identity = torch.zeros((1, facets, size), dtype=vectors_RFK.dtype, device=vectors_RFK.device)
    identity[..., 0] = 1
    ignorance = identity.new_full((pairs, facets, size), 1 / size)
    states = torch.cat([ignorance, identity])
    of_relations = torch.einsum("rfj,fijk->rfik", vectors_RFK, table_FIJK)
    on_cpu = vectors_RFK.device.type == "cpu" and backend != "plain"
    for number, heard in enumerate(batch.rounds):
        fact = heard.left < 0
        source = torch.where(fact, pairs, heard.left)
        matrices, matrix = of_relations, heard.right
        if number:  # in the first round, facts alone are heard
            used, place = torch.unique(heard.right[~fact], return_inverse=True)
            matrices = torch.cat([matrices, torch.einsum("pfj,fijk->pfik", states[used.long()], table_FIJK)])
            matrix = matrix.clone()
            matrix[~fact] = (place + relations).to(matrix.dtype)
        if on_cpu and kernels(backend) is not None:
            graph = (_with_identity(batch.pair_offset), _with_identity(heard.offset, 0), source, matrix)
            states = _Hear.apply(states, matrices, graph, pooling)  # type: ignore[no-untyped-call]
        else:
            states = _hear(states, matrices, heard.offset, source, matrix, pooling)
    return states[:-1]


def _with_identity(offset: Tensor, more: int = 1) -> Tensor:
    """Offsets with one more run at the end: the state of the identity, which hears nothing."""
    return torch.cat([offset, offset[-1:] + more])


def _hear(states: Tensor, matrices: Tensor, offset: Tensor, source: Tensor, matrix: Tensor, pooling: str) -> Tensor:
    """One round in plain torch; a pair that hears nothing keeps its state."""
    messages = torch.einsum("efi,efik->efk", states[source.long()], matrices[matrix.long()])
    counts = offset.diff().long()
    hears = torch.nonzero(counts).squeeze(-1)
    group = torch.repeat_interleave(torch.arange(len(hears), device=counts.device), counts[hears])
    return states.index_copy(0, hears, pool(messages, group, len(hears), pooling))


class _Hear(torch.autograd.Function):
    """One round by the compiled kernel of message passing, differentiable in states and matrices."""

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
        call = native().messages(facets, size, blocks, len(graph[0]) - 1, *options, *pointers(graph))
        run = getattr(native(), f"propagate_{kind(matrices)}")
        run(call, *pointers((matrices, layers, chosen, total)), keep, torch.get_num_threads())
        if keep:
            ctx.call, ctx.kept = call, (graph, matrices, layers, chosen, total)
        return layers[1].clone()

    @staticmethod
    def backward(ctx: Any, grad_states: Tensor) -> tuple[Tensor, Tensor, None, None]:
        _, matrices, layers, chosen, total = ctx.kept
        grad = torch.stack([grad_states, torch.empty_like(grad_states)])
        grad_matrices = torch.zeros_like(matrices)
        run = getattr(native(), f"propagate_back_{kind(matrices)}")
        run(ctx.call, *pointers((matrices, layers, chosen, total, grad, grad_matrices)), torch.get_num_threads())
        return grad[1], grad_matrices, None, None
