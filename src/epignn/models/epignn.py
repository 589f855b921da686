"""The Epistemic GNN, whole, in the order of the paper's equations.

Axes: B graphs, V nodes, E edges, P nodes on paths, R relations, F facets, I J K components of a facet (left
argument, right argument, result; all of the same size).
"""

from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.kernels import Backend, kernels
from epignn.models.aggregate import aggregate
from epignn.models.batch import Flow, GraphBatch, backward_flow, forward_flow
from epignn.models.closure import AnyBatch, PairBatch, pair_states
from epignn.models.pooling import pool
from epignn.models.propagate import initial_states, message_passing, propagate

LOG_FLOOR = 1e-10
"""Smallest probability whose logarithm is taken in the cross-entropy."""


@dataclass(frozen=True)
class ModelConfig:
    """What a model is made of; defaults follow the paper's text (RCC-8).

    Attributes:
        dim: n, all components of a relation vector.
        facets: m, among which they are divided.
        pooling: ψ, `min` or `mul`.
        rounds: message-passing rounds, or `auto`: as many as the graphs need.
        forward_only: leave the backward model out, and predict from the tail's state alone.
        a_ij: `free`, a distribution over the result for each pair; or `coupled`, as in the published code: a
            softmax over the right argument, then normalised over the result.
        self_message: pool the former state of a node with the messages it hears.
        silent: nodes of which nothing can be known send nothing: those that no path from the head, in the backward
            model no path to the tail, joins. Without, as in the paper, they send what follows from knowing nothing.
        right_identity: fix a_i1 = one-hot(i) too, not only a_1j = one-hot(j).
        constrained: embeddings are probability distributions; without, the paper's ablation.
        composition: `bilinear`, or `mlp`: distmult after a four-layer MLP, the paper's ablation.
        closure: `directional`, states seen from the head, as in the paper; or `full`, a state for every pair of
            entities, composed in any order, with the same parameters.
    """

    dim: int = 32
    facets: int = 4
    pooling: str = "min"
    rounds: int | str = 9
    forward_only: bool = False
    a_ij: str = "free"
    self_message: bool = True
    silent: bool = False
    right_identity: bool = False
    constrained: bool = True
    composition: str = "bilinear"
    closure: str = "directional"

    def __post_init__(self) -> None:
        if self.dim < 1 or self.facets < 1 or self.dim % self.facets or self.dim // self.facets < 2:
            raise BadArgument(
                f"dim must be a multiple of facets, with at least 2 components each; got dim={self.dim}, "
                f"facets={self.facets}."
            )
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise BadArgument(f"{name} must be {' or '.join(allowed)}, not {getattr(self, name)!r}.")
        if self.rounds != "auto" and (not isinstance(self.rounds, int) or self.rounds < 1):
            raise BadArgument(f"rounds must be a positive number or 'auto', not {self.rounds!r}.")
        if self.closure == "full" and (self.composition == "mlp" or not self.constrained):
            raise BadArgument("full closure has no ablations; choose closure = 'directional' for them.")

    @property
    def size(self) -> int:
        """Components of a facet, n / m."""
        return self.dim // self.facets


CHOICES = {
    "pooling": ("min", "mul"),
    "a_ij": ("free", "coupled"),
    "composition": ("bilinear", "mlp"),
    "closure": ("directional", "full"),
}


class EpiGNN(nn.Module):
    """Epistemic GNN (Khalid and Schockaert, 2025): states say what may hold between the head and each node.

    Parameters are the relation vectors (R, F, K) and the vectors a_ij of every facet that the identity does not
    fix: |R| n + n³/m² of them, less n²/m for a_1j, and less (n/m)(n - m) more with `right_identity`.

    Args:
        relations: |R|, the number of relations.
        config: what it is made of.
        generator: source of the uniform initial values.
    """

    def __init__(self, relations: int, config: ModelConfig, generator: torch.Generator | None = None) -> None:
        super().__init__()
        self.config = config
        size = config.size

        def uniform(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.rand(shape, generator=generator) * 2 - 1)

        self.relation_RFK = uniform(relations, config.facets, size)
        if config.composition == "mlp":
            self.mlp = _mlp(size, generator)
        else:
            rights = size - 1 if config.right_identity else size
            self.composition_FIJK = uniform(config.facets, size - 1, rights, size)

    # -- relation vectors r and compositions a_ij --

    def relation_vectors(self) -> Tensor:
        """(R, F, K): a distribution over primitive relations for each relation and facet."""
        return torch.softmax(self.relation_RFK, -1) if self.config.constrained else self.relation_RFK

    def composition_table(self) -> Tensor:
        """(F, I, J, K): a_ij, with a_1j = one-hot(j), so that the identity is neutral on the left."""
        learnt: Tensor = self.composition_FIJK
        if self.config.constrained:
            learnt = torch.softmax(learnt, -1) if self.config.a_ij == "free" else _coupled(learnt)
        facets, size = self.config.facets, self.config.size
        eye = torch.eye(size, dtype=learnt.dtype, device=learnt.device)
        if self.config.right_identity:
            right = eye[1:].expand(facets, -1, -1).unsqueeze(2)  # a_i1 = one-hot(i)
            learnt = torch.cat([right, learnt], 2)
        return torch.cat([eye.expand(facets, 1, -1, -1), learnt], 1)

    def compose(self, left_NFI: Tensor, right_NFJ: Tensor) -> Tensor:
        """φ(f, r) = Σ_i Σ_j f_i r_j a_ij, facet by facet (paper, Eq. 4)."""
        if self.config.composition == "mlp":
            return self._distmult(self._encode(left_NFI), self._encode(right_NFJ))
        return _bilinear(left_NFI, self.composition_table(), right_NFJ)

    def _encode(self, values_NFK: Tensor) -> Tensor:
        """What the MLP makes of an argument, never zero: the paper's ablation.

        Graphs begin alike, so most arguments of a batch repeat others. One of each is encoded, and receives the
        gradient of all: what repeats it is the same function of the parameters.
        """
        rows = values_NFK.flatten(0, 1)
        distinct, repeats = torch.unique(rows.detach(), dim=0, return_inverse=True)
        position = torch.arange(len(rows), device=rows.device)
        first = position.new_full((len(distinct),), len(rows)).scatter_reduce(0, repeats, position, "amin")
        encoded: Tensor = self.mlp(rows[first]).abs() + LOG_FLOOR
        return encoded[repeats].view_as(values_NFK)

    def _distmult(self, left_NFK: Tensor, right_NFK: Tensor) -> Tensor:
        """The product of both encoded arguments, normalised where embeddings are constrained."""
        product = left_NFK * right_NFK
        return product / product.sum(-1, keepdim=True) if self.config.constrained else product

    # -- forward model, backward model, and their aggregation --

    def states(
        self, batch: GraphBatch, backend: Backend = "auto", table_FIJK: Tensor | None = None
    ) -> tuple[Tensor, Tensor | None]:
        """(V, F, K) states of the forward model, and of the backward model unless it is left out.

        `table_FIJK` is the composition table, where it is at hand already.
        """
        config = self.config
        if self._ablated:
            return self._plain_states(batch)
        rounds = None if config.rounds == "auto" else int(config.rounds)
        vectors = self.relation_vectors()
        table = self.composition_table() if table_FIJK is None else table_FIJK
        ahead_RFIK = torch.einsum("rfj,fijk->rfik", vectors, table)  # φ(·, r)
        options = (config.pooling, rounds, config.self_message, backend)
        ahead = propagate(forward_flow(batch), ahead_RFIK, *options)
        if config.forward_only:
            return ahead, None
        back_RFJK = torch.einsum("rfi,fijk->rfjk", vectors, table)  # φ(r, ·)
        return ahead, propagate(backward_flow(batch), back_RFJK, *options)

    def _plain_states(self, batch: GraphBatch) -> tuple[Tensor, Tensor | None]:
        """The same for the ablations, which the kernel does not know."""
        config, vectors = self.config, self.relation_vectors()
        encoded = self._encode(vectors) if config.composition == "mlp" else vectors
        rounds = None if config.rounds == "auto" else int(config.rounds)
        flows = [forward_flow(batch)] if config.forward_only else [forward_flow(batch), backward_flow(batch)]
        results = []
        for flow in flows:

            def message(heard: Tensor, label: Tensor, flow: Flow = flow) -> Tensor:
                relation = encoded[label]
                if config.composition == "mlp":
                    return self._distmult(self._encode(heard), relation)
                table = self.composition_table()
                return _bilinear(relation, table, heard) if flow.descending else _bilinear(heard, table, relation)

            start = initial_states(flow, config.facets, config.size, vectors)
            options = (config.pooling, rounds, config.self_message, config.constrained)
            results.append(message_passing(flow, start, message, *options))
        return results[0], None if config.forward_only else results[1]

    def predictions(self, batch: AnyBatch, backend: Backend = "auto") -> Tensor:
        """(B, F, K): what may hold between head and tail of each graph.

        With full closure, the state of their pair. Otherwise the forward-backward aggregation
        ψ({t→, h←} ∪ {φ(e→, e←) | e inside a path}) (paper, Eq. 6). Head and tail would only repeat h← and
        t→, since composing with the identity changes nothing.
        """
        table = None if self._ablated else self.composition_table()
        if isinstance(batch, PairBatch):
            assert table is not None  # full closure has no ablations
            pairs = pair_states(batch, self.relation_vectors(), table, self.config.pooling, backend)
            return pairs[batch.query.long()]
        ahead, back = self.states(batch, backend, table)
        if back is None:
            return ahead[batch.tail.long()]
        if table is not None and ahead.device.type == "cpu" and kernels(backend) is not None:
            return aggregate(ahead, back, table, batch, self.config.pooling)
        inside = batch.path_node.long()
        graph = torch.arange(len(batch), device=ahead.device)
        values = [ahead[batch.tail.long()], back[batch.head.long()], self.compose(ahead[inside], back[inside])]
        group = torch.cat([graph, graph, torch.repeat_interleave(graph, batch.path_offset.diff().long())])
        return pool(torch.cat(values), group, len(batch), self.config.pooling, self.config.constrained)

    @property
    def _ablated(self) -> bool:
        """Whether this is an ablation that only the plain path knows."""
        return self.config.composition == "mlp" or not self.config.constrained

    # -- scores --

    def scores(self, states_NFK: Tensor) -> Tensor:
        """(N, R): cross-entropy of every state with every relation, summed over facets; low is likely.

        CE(t, r) = -Σ_j r_j log t_j (paper, Eq. 15). For link prediction the states of all entities are scored,
        for relation classification those of `predictions`; the answer is the relation of least score. Unconstrained
        embeddings are no distributions; their softmax is compared.
        """
        vectors = self.relation_vectors()
        if self.config.constrained:
            logs = states_NFK.clamp_min(LOG_FLOOR).log()
        else:
            logs, vectors = states_NFK.log_softmax(-1), vectors.softmax(-1)
        return -logs.flatten(1) @ vectors.flatten(1).T

    def forward(self, batch: AnyBatch, backend: Backend = "auto") -> Tensor:
        """(B, R): scores of every relation between head and tail of each graph; low is likely."""
        return self.scores(self.predictions(batch, backend))


def _coupled(logits_FIJK: Tensor) -> Tensor:
    """a_ij as in the published code: each result needs some right argument, then results share each pair."""
    weights = torch.softmax(logits_FIJK, 2)
    return weights / weights.sum(-1, keepdim=True)


def _bilinear(left_NFI: Tensor, table_FIJK: Tensor, right_NFJ: Tensor) -> Tensor:
    half_FNJK = torch.einsum("nfi,fijk->fnjk", left_NFI, table_FIJK)
    return torch.einsum("fnjk,nfj->nfk", half_FNJK, right_NFJ)


def _mlp(size: int, generator: torch.Generator | None) -> nn.Sequential:
    """Four layers with ReLU, hidden size 300, as in the paper's ablation."""
    sizes = [size, 300, 300, 300, size]
    layers: list[nn.Module] = []
    for before, after in pairwise(sizes):
        layer = nn.Linear(before, after)
        with torch.no_grad():
            bound = before**-0.5
            layer.weight.copy_((torch.rand(layer.weight.shape, generator=generator) * 2 - 1) * bound)
            layer.bias.copy_((torch.rand(layer.bias.shape, generator=generator) * 2 - 1) * bound)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])
