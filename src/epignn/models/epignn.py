"""The Epistemic GNN (Khalid and Schockaert, 2025), whole, in the order of the paper.

Plain torch in this file is the definition, on any device. `compiled` has faster forms of the same functions for the
CPU, and `EpiGNN._kernels` is the one place that chooses between them. The names of tensors end in their axes:
B graphs, V nodes, E edges, R relations, F facets, I J K components of a facet (left argument, right argument,
result; all of the same size), N anything.
"""

import copy
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import count, pairwise
from types import ModuleType
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.data.graph import Edges, Graph, Ints
from epignn.data.reach import between
from epignn.errors import BadArgument
from epignn.kernels import Backend, kernels
from epignn.models import compiled
from epignn.models.api import Model, ModelConfig, Scorer, Scores
from epignn.models.batch import GraphBatch, owner
from epignn.models.flow import Flow, Passing, backward_flow, forward_flow
from epignn.models.links import Heads, Questions
from epignn.models.pairs import PairBatch, prepare_pairs
from epignn.models.prepare import prepare
from epignn.models.pruned import Pruning

LOG_FLOOR = 1e-10
"""Smallest probability whose logarithm is taken in the cross-entropy."""
FLOOR = 1e-18
"""What counts as nothing: a state whose components sum to less is a contradiction."""


@dataclass(frozen=True)
class EpiGNNConfig(ModelConfig):
    """What a model is made of; defaults follow the paper's text (RCC-8).

    Attributes:
        dim: n, how many components a relation vector has.
        facets: m, into how many parts these are divided.
        pooling: ψ, how messages are joined: `min` or `mul`.
        rounds: message-passing rounds, or `auto`: as many as the graphs need.
        forward_only: leave the backward model out, and predict from the tail's state alone.
        a_ij: `free`, a distribution over the result for each pair; or `coupled`, as in the published code: a
            softmax over the right argument, then normalised over the result.
        self_message: pool the former state of a node with the messages it receives.
        silent: nodes that no path from the head reaches send nothing; in the backward model, those from which no
            path reaches the tail. If false, as in the paper, they send what follows from knowing nothing.
        right_identity: fix a_i1 = one-hot(i) too, not only a_1j = one-hot(j).
        constrained: embeddings are probability distributions; false is the paper's ablation.
        unconstrained: how that ablation compares states with relations. `softmax`: by the softmax of both.
            `absolute`, as in the published code: relation vectors stay distributions, a_ij begin near zero, and the
            absolute values of a state's components are scaled to a sum of one.
        composition: `bilinear`, or `mlp`: distmult after a four-layer MLP, the paper's ablation.
        closure: `directional`, states seen from the head, as in the paper; or `full`, a state for every pair of
            entities, composed in any order, with the same parameters.
        weighted: every relation learns how much each facet counts in its score; if false, all count alike.
        counting: for links: how many facets, the last ones, pool by the mean instead.
        groups: for links: into how many groups facets are divided. Each learns as a model of its own; their scores
            are added.
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
    unconstrained: str = "softmax"
    composition: str = "bilinear"
    closure: str = "directional"
    weighted: bool = False
    counting: int = 0
    groups: int = 1

    def __post_init__(self) -> None:
        if self.dim < 1 or self.facets < 1 or self.dim % self.facets or self.dim // self.facets < 2:
            raise BadArgument(
                f"dim must be a multiple of facets, with at least 2 components each; got dim={self.dim}, "
                f"facets={self.facets}."
            )
        if self.groups < 1 or self.facets % self.groups:
            raise BadArgument(f"facets must be a multiple of groups; got {self.facets} and {self.groups}.")
        if not 0 <= self.counting <= self.facets:
            raise BadArgument(f"counting must be at least 0 and at most facets, not {self.counting}.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise BadArgument(f"{name} must be {' or '.join(choices)}, not {getattr(self, name)!r}.")
        if self.rounds != "auto" and (not isinstance(self.rounds, int) or self.rounds < 1):
            raise BadArgument(f"rounds must be a positive number or 'auto', not {self.rounds!r}.")
        if self.closure == "full" and self.ablated:
            raise BadArgument("full closure has no ablations; choose closure = 'directional' for them.")

    @property
    def size(self) -> int:
        """Components of a facet, n / m."""
        return self.dim // self.facets

    @property
    def ablated(self) -> bool:
        """Whether this is an ablation, which plain torch alone computes."""
        return self.composition == "mlp" or not self.constrained

    @property
    def passing(self) -> Passing:
        """How messages pass; in graphs with a tail, what is silent is left out when they are prepared."""
        rounds = None if self.rounds == "auto" else int(self.rounds)
        return Passing(self.pooling, rounds, self.self_message, constrained=self.constrained)


CHOICES = {
    "pooling": ("min", "mul"),
    "a_ij": ("free", "coupled"),
    "unconstrained": ("softmax", "absolute"),
    "composition": ("bilinear", "mlp"),
    "closure": ("directional", "full"),
}


# -- states: what may hold between the head and an entity --


def initial_states(flow: Flow, facets: int, size: int, like: Tensor) -> Tensor:
    """e^(0), (V, F, K): the identity at the start of each graph, nothing known elsewhere (Eq. 3)."""
    states = like.new_full((len(flow.offset) - 1, facets, size), 1 / size)
    start = flow.start.long()
    states[start] = 0
    states[start, :, 0] = 1
    return states


# -- φ: composition --


def right_matrices(right_NFJ: Tensor, table_FIJK: Tensor) -> Tensor:
    """(N, F, I, K): the second half of φ, Σ_j r_j a_ij: what composing with r on the right does to a state."""
    return torch.einsum("nfj,fijk->nfik", right_NFJ, table_FIJK)


def apply(left_NFI: Tensor, matrices_NFIK: Tensor) -> Tensor:
    """(N, F, K): the first half of φ, Σ_i f_i (·)_i."""
    return torch.einsum("nfi,nfik->nfk", left_NFI, matrices_NFIK)


def phi(left_NFI: Tensor, right_NFJ: Tensor, table_FIJK: Tensor) -> Tensor:
    """φ(f, r) = Σ_i Σ_j f_i r_j a_ij, facet by facet (Eq. 4)."""
    return apply(left_NFI, right_matrices(right_NFJ, table_FIJK))


# -- ψ: pooling --


def normalise(states: Tensor) -> Tensor:
    """Scale the last axis to a sum of one; a contradiction becomes ignorance, not a division by zero."""
    total = states.sum(-1, keepdim=True)
    return torch.where(total < FLOOR, 1 / states.shape[-1], states / total.clamp_min(FLOOR))


def pool(values: Tensor, group: Tensor, groups: int, pooling: str, constrained: bool = True) -> Tensor:
    """ψ: what all states of a group still allow, normalised (Eq. 12 for min, Eq. 14 for mul).

    Args:
        values: (N, F, K) states.
        group: (N,) the group of each state; every group must occur.
        groups: how many there are.
        pooling: `min`, `mul` or `mean`, component by component.
        constrained: normalise the result; without, it is the ablation of unconstrained embeddings.
    """
    if pooling == "mean":
        return normalise(values.new_zeros((groups, *values.shape[1:])).index_add(0, group, values))
    if pooling == "min":
        low = _minimum(values, group, groups)
        return normalise(low) if constrained else low
    if constrained:
        # In logarithms, scaled to a largest component of one, no number of factors underflows.
        logs = values.new_zeros((groups, *values.shape[1:])).index_add(0, group, values.clamp_min(FLOOR).log())
        return normalise((logs - logs.amax(-1, keepdim=True)).exp())
    index = group[:, None, None].expand_as(values)
    ones = torch.ones((groups, *values.shape[1:]), dtype=values.dtype, device=values.device)
    return ones.scatter_reduce(0, index, values, "prod")


def _minimum(values: Tensor, group: Tensor, groups: int) -> Tensor:
    """The least of each group; among equals the first alone receives the gradient.

    `scatter_reduce` would share it, and uniform states tie often.
    """
    index = group[:, None, None].expand_as(values)
    shape = (groups, *values.shape[1:])
    with torch.no_grad():
        least = torch.full(shape, torch.inf, dtype=values.dtype, device=values.device)
        least = least.scatter_reduce(0, index, values, "amin")
        row = torch.arange(len(values), device=values.device)[:, None, None].expand_as(values)
        candidates = torch.where(values == least.gather(0, index), row, len(values))
        none = torch.full(shape, len(values), dtype=torch.long, device=values.device)
        first = none.scatter_reduce(0, index, candidates, "amin")
    return values.gather(0, first)


# -- message passing: e^(l) = ψ({e^(l-1)} ∪ {φ(f^(l-1), r) | r(f, e) a fact}) --

Message = Callable[[Tensor, Tensor], Tensor]
"""(E, F, I) states at the sources of edges and (E) their relations to (E, F, K) what goes along them."""


def message_passing(flow: Flow, states: Tensor, message: Message, passing: Passing) -> Tensor:
    """(V, F, K): the states of all nodes, round by round, or node after node where one pass suffices."""
    if flow.one_pass_suffices(passing):
        return _level_by_level(flow, states, message, passing)
    source, label, target = flow.source.long(), flow.label.long(), owner(flow.offset)
    knows = torch.full((len(states),), not passing.silent, device=states.device)
    knows[flow.start.long()] = True
    receives, group = torch.unique_consecutive(target, return_inverse=True)
    sent = slice(None)
    for _ in range(flow.depth if passing.rounds is None else passing.rounds):
        if passing.silent:
            sent = knows[source]  # type: ignore[assignment]
            receives, group = torch.unique_consecutive(target[sent], return_inverse=True)
        values, groups = message(states[source[sent]], label[sent]), group
        if passing.self_message:
            own = torch.nonzero(knows[receives]).squeeze(-1)
            values, groups = torch.cat([states[receives[own]], values]), torch.cat([own, group])
        pooled = _pool_facets(values, groups, len(receives), passing)
        states = states.index_copy(0, receives, pooled)
        knows = knows.index_fill(0, receives, True)
    return states


def _pool_facets(values: Tensor, group: Tensor, groups: int, passing: Passing) -> Tensor:
    """ψ; the last facets may count what they receive."""
    first = values.shape[1] - passing.counting
    pooled = pool(values[:, :first], group, groups, passing.pooling, passing.constrained)
    return torch.cat([pooled, pool(values[:, first:], group, groups, "mean")], 1) if passing.counting else pooled


def _level_by_level(flow: Flow, states: Tensor, message: Message, passing: Passing) -> Tensor:
    """Every edge carries one message, when the state of its source is final."""
    source, label, target = flow.source.long(), flow.label.long(), owner(flow.offset)
    level = torch.zeros(len(states), dtype=torch.long, device=states.device)
    for _ in range(flow.depth):
        level = level.scatter_reduce(0, target, level[source] + 1, "amax")
    for now in range(1, int(level.max()) + 1):
        edges = torch.nonzero(level[target] == now).squeeze(-1)
        receives, group = torch.unique_consecutive(target[edges], return_inverse=True)
        values = message(states[source[edges]], label[edges])
        pooled = pool(values, group, len(receives), passing.pooling, passing.constrained)
        states = states.index_copy(0, receives, pooled)
    return states


# -- the cross-entropy of a state with a relation --


def log_likelihood(states_NFK: Tensor, vectors_RFK: Tensor) -> Tensor:
    """(N, R): Σ_j r_j log t_j, which is -CE(t, r) (Eq. 17), summed over facets; high is likely."""
    return states_NFK.clamp_min(LOG_FLOOR).log().flatten(1) @ vectors_RFK.flatten(1).T


class Algebra(NamedTuple):
    """What is learnt: relation vectors (R, F, K), and compositions a_ij (F, I, J, K), unless an MLP composes."""

    vectors: Tensor
    table: Tensor | None


class EpiGNN(Model):
    """Epistemic GNN: states say what may hold between the head and each node.

    Parameters are the relation vectors (R, F, K) and the vectors a_ij of every facet that the identity does not
    fix: |R| n + n³/m² of them, less n²/m for a_1j, and less (n/m)(n - m) more with `right_identity`.

    Attributes:
        backend: `auto`, or `plain` for plain torch where the compiled kernels would serve, too.
    """

    Config = EpiGNNConfig

    def __init__(self, relations: int, config: EpiGNNConfig) -> None:
        super().__init__(relations, config)
        self.config: EpiGNNConfig = config
        self.backend: Backend = "auto"
        size = config.size

        def uniform(*shape: int) -> nn.Parameter:
            # In place: out of place, shapes alone (`meta`) would load torch's compiler, for a second and a half.
            return nn.Parameter(torch.rand(shape).mul_(2).sub_(1))

        self.relation_RFK = uniform(relations, config.facets, size)
        if config.weighted:
            self.weight_RF = nn.Parameter(torch.zeros(relations, config.facets))
        if config.composition == "mlp":
            self.mlp = _mlp(size)
        else:
            rights = size - 1 if config.right_identity else size
            self.composition_FIJK = uniform(config.facets, size - 1, rights, size)
            if not config.constrained and config.unconstrained == "absolute":  # Glorot's bound, as there
                fans = (size + config.facets) * (size - 1) * rights
                self.composition_FIJK.data.mul_(math.sqrt(6 / fans))

    @classmethod
    def prepare(cls, data: Dataset, config: EpiGNNConfig) -> GraphBatch | PairBatch:
        """The graph work of a data set."""
        if config.closure == "full":
            return prepare_pairs(data, config.passing.rounds)
        return prepare(between(data) if config.silent else data)

    @property
    def device(self) -> torch.device:
        """Where the parameters are."""
        return self.relation_RFK.device

    def _kernels(self) -> ModuleType | None:
        """The compiled forms of message passing and aggregation, or None where plain torch serves."""
        serves = self.device.type == "cpu" and not self.config.ablated
        return compiled if serves and kernels(self.backend) is not None else None

    # -- relation vectors r and compositions a_ij --

    def relation_vectors(self) -> Tensor:
        """(R, F, K): a distribution over primitive relations for each relation and facet."""
        free = not self.config.constrained and self.config.unconstrained == "softmax"
        return self.relation_RFK if free else torch.softmax(self.relation_RFK, -1)

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

    def algebra(self) -> Algebra:
        """Vectors and table, computed once for all that uses them together."""
        table = None if self.config.composition == "mlp" else self.composition_table()
        return Algebra(self.relation_vectors(), table)

    def compose(self, left_NFI: Tensor, right_NFJ: Tensor) -> Tensor:
        """φ, or what the ablation puts in its place."""
        if self.config.composition == "mlp":
            return self._distmult(self._encode(left_NFI), self._encode(right_NFJ))
        return phi(left_NFI, right_NFJ, self.composition_table())

    def _encode(self, values_NFK: Tensor) -> Tensor:
        """What the MLP of the ablation makes of an argument; never zero.

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

    def states(self, batch: GraphBatch, algebra: Algebra | None = None) -> tuple[Tensor, Tensor | None]:
        """(V, F, K): e→, the states of the forward model, and e← of the backward model unless it is left out."""
        algebra = algebra or self.algebra()
        ahead = self._propagate(forward_flow(batch), algebra)
        return ahead, None if self.config.forward_only else self._propagate(backward_flow(batch), algebra)

    def _propagate(self, flow: Flow, algebra: Algebra, start: Tensor | None = None) -> Tensor:
        """Message passing along a flow: forward φ(f, r), backward φ(r, f) (Eq. 5). It goes on from a `start`."""
        config, (vectors, table) = self.config, algebra
        if start is None:
            start = initial_states(flow, config.facets, config.size, vectors)
        if table is None:
            encoded = self._encode(vectors)

            def message(state: Tensor, label: Tensor) -> Tensor:
                return self._distmult(self._encode(state), encoded[label])

            return message_passing(flow, start, message, config.passing)
        matrices = right_matrices(vectors, table.transpose(1, 2) if flow.descending else table)
        if (kernels := self._kernels()) is not None:
            return kernels.propagate(flow, start, matrices, config.passing)  # type: ignore[no-any-return]
        return message_passing(flow, start, lambda state, label: apply(state, matrices[label]), config.passing)

    def predictions(self, batch: GraphBatch | PairBatch, algebra: Algebra | None = None) -> Tensor:
        """s, (B, F, K): what may hold between head and tail of each graph.

        The forward-backward aggregation ψ({t→, h←} ∪ {φ(e→, e←) | e inside a shortest path}) (Eq. 6). Head and
        tail themselves would only repeat h← and t→, since composing with the identity changes nothing. With full
        closure it is the state of their pair.
        """
        algebra = algebra or self.algebra()
        if isinstance(batch, PairBatch):
            return self.pair_states(batch, algebra)[batch.query.long()]
        ahead, back = self.states(batch, algebra)
        if back is None:
            return ahead[batch.tail.long()]
        if (kernels := self._kernels()) is not None:
            return kernels.aggregate(ahead, back, algebra.table, batch, self.config.pooling)  # type: ignore[no-any-return]
        inside = batch.path_node.long()
        graph = torch.arange(len(batch), device=ahead.device)
        values = [ahead[batch.tail.long()], back[batch.head.long()], self.compose(ahead[inside], back[inside])]
        group = torch.cat([graph, graph, owner(batch.path_offset)])
        return pool(torch.cat(values), group, len(batch), self.config.pooling, self.config.constrained)

    # -- scores --

    def weigh(self, vectors_RFK: Tensor) -> Tensor:
        """(R, F, K): relation vectors times what each facet counts in the score, 1 on average."""
        if not self.config.weighted:
            return vectors_RFK
        return vectors_RFK * (self.config.facets * self.weight_RF.softmax(-1)).unsqueeze(-1)

    def state_scores(self, states_NFK: Tensor, vectors_RFK: Tensor | None = None) -> Tensor:
        """(N, R): minus the cross-entropy of every state with every relation; high is likely.

        Unconstrained embeddings are no distributions: what `unconstrained` makes of them is compared.
        """
        vectors = self.weigh(self.relation_vectors() if vectors_RFK is None else vectors_RFK)
        if self.config.constrained:
            return log_likelihood(states_NFK, vectors)
        if self.config.unconstrained == "absolute":
            return log_likelihood(normalise(states_NFK.abs()), vectors)
        return states_NFK.log_softmax(-1).flatten(1) @ vectors.softmax(-1).flatten(1).T

    def scores(self, batch: GraphBatch | PairBatch) -> Tensor:
        """(B, R): of every relation between head and tail; the answer is the relation of least CE (Eq. 20)."""
        algebra = self.algebra()
        return self.state_scores(self.predictions(batch, algebra), algebra.vectors)

    def by_rounds(self, data: Dataset) -> Iterator[Tensor]:
        """(G, R), again and again: scores of the same weights, forward only, after one round, two, and so on."""
        if self.config.closure == "full":
            for rounds in count(1):
                stopped = self._stopped(rounds)
                yield stopped.scores(self.prepare(data, stopped.config))
        once, batch, algebra = self._stopped(1), self.prepare(data, self.config), self.algebra()
        assert isinstance(batch, GraphBatch)
        states: Tensor | None = None
        while True:
            states = once._propagate(forward_flow(batch), algebra, states)
            yield self.state_scores(states[batch.tail.long()], algebra.vectors)

    def _stopped(self, rounds: int) -> "EpiGNN":
        """The same weights, forward only, with so many rounds."""
        other = copy.copy(self)
        other.config = replace(self.config, rounds=rounds, forward_only=True)
        return other

    # -- full closure: a state for every pair of entities, refined through every third one (Eq. 10) --

    def pair_states(self, batch: PairBatch, algebra: Algebra) -> Tensor:
        """(P, F, K): what may hold between the entities of every pair after the rounds of the batch.

        A round is message passing among pairs: the message of a composition is the state of its left pair times
        the matrix of its right one; that of a fact is the identity times the matrix of its relation.
        """
        vectors, table = algebra
        assert table is not None  # full closure has no ablations
        pairs, (relations, facets, size) = int(batch.pair_offset[-1]), vectors.shape
        identity = vectors.new_zeros((1, facets, size))
        identity[..., 0] = 1
        states = torch.cat([identity.new_full((pairs, facets, size), 1 / size), identity])
        of_relations = right_matrices(vectors, table)
        kernels = self._kernels()
        for number, received in enumerate(batch.rounds):
            fact = received.left < 0
            source = torch.where(fact, pairs, received.left)
            matrices, matrix = of_relations, received.right
            if number:  # in the first round, facts alone are received
                used, place = torch.unique(received.right[~fact], return_inverse=True)
                matrices = torch.cat([matrices, right_matrices(states[used.long()], table)])
                matrix = matrix.clone()
                matrix[~fact] = (place + relations).to(matrix.dtype)
            if kernels is not None:
                messages = received.offset, source, matrix
                states = kernels.pair_round(states, matrices, batch.pair_offset, *messages, self.config.pooling)
            else:
                values = apply(states[source.long()], matrices[matrix.long()])
                receives, group = torch.unique_consecutive(owner(received.offset), return_inverse=True)
                pooled = pool(values, group, len(receives), self.config.pooling)
                states = states.index_copy(0, receives, pooled)
        return states[:-1]

    # -- links: the states of all entities, seen from a head (Eq. 21) --

    def link_passing(self) -> Passing:
        """How messages pass over a knowledge graph.

        Raises:
            BadArgument: the settings are for graphs with a tail.
        """
        config = self.config
        if config.passing.rounds is None or not config.forward_only or config.ablated or config.closure == "full":
            raise BadArgument(
                "link prediction takes a number of rounds, forward_only = true, composition = 'bilinear', "
                "constrained = true and closure = 'directional'."
            )
        return replace(config.passing, silent=config.silent, counting=config.counting)

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates."""
        return self.rank_parts(questions).sum(0)

    def rank_parts(self, questions: Questions) -> Tensor:
        """(G, Q, C): scores of candidates by each group of facets.

        A pass depends on its head alone: it answers all relations.
        """
        vectors = self.relation_vectors()
        matrices, passing = right_matrices(vectors, self.composition_table()), self.link_passing()
        form = head_states if (kernels := self._kernels()) is None else kernels.head_states
        states = form(questions.edges, matrices, questions.heads, passing)
        relation = torch.from_numpy(questions.relation).to(states.device)
        asked = self.weigh(vectors)[relation].view(len(relation), self.config.groups, -1)
        logs = states.clamp_min(LOG_FLOOR).log().view(len(states), self.config.groups, -1)
        return torch.cat(list(_candidate_scores(logs, asked, questions)), 1)

    def scorer(self, graph: Graph) -> Scorer:
        """All entities of a graph, one pass a head."""
        return PassScorer(self, graph)

    def pruned_scorer(self, graph: Graph, share: float) -> Scorer:
        """The same by passes that follow at most a share of the entities; see `epignn.models.pruned`."""
        return PassScorer(self, graph, Pruning(graph.edges, share, self.link_passing().rounds or 0))


def _candidate_scores(logs_WGN: Tensor, asked_QGN: Tensor, questions: Questions) -> Iterator[Tensor]:
    """(G, Q, C) of each pass: `log_likelihood` of the relations asked, for the candidates alone."""
    row = torch.tensor(questions.row, device=logs_WGN.device)
    for wanted, asked in questions.by_head():
        found = torch.einsum("qgn,wgn->gqw", asked_QGN[asked], logs_WGN[wanted])
        yield found.gather(2, (row[asked] - wanted.start).expand(len(found), -1, -1))


def head_states(edges: Edges, matrices: Tensor, heads: Heads, passing: Passing) -> Tensor:
    """(W, F, K): the wanted states of passes over a knowledge graph, one pass after the other."""
    target = owner(torch.from_numpy(edges.offset))

    def message(state: Tensor, label: Tensor) -> Tensor:
        return apply(state, matrices[label])

    parts = []
    for h in range(len(heads)):
        kept = target != int(heads.head[h])  # the head knows what it is
        kept[torch.from_numpy(heads.left_out_by(h)).long()] = False
        flow = _flow_over(edges, target, kept, heads.head[h : h + 1], matrices.device)
        start = initial_states(flow, matrices.shape[1], matrices.shape[2], matrices)
        if heads.followed is None:
            states = message_passing(flow, start, message, passing)
        else:
            whole = _flow_over(edges, target, torch.ones_like(kept), heads.head[h : h + 1], matrices.device)
            states = _pruned_pass(flow, whole, start, message, passing, heads.followed[h])
        parts.append(states[torch.from_numpy(heads.wanted_by(h)).long().to(matrices.device)])
    return torch.cat(parts)


def _flow_over(edges: Edges, target: Tensor, kept: Tensor, head: Ints, device: torch.device) -> Flow:
    """A flow over some edges of a knowledge graph."""
    nodes = len(edges.offset) - 1
    return Flow(
        node_offset=torch.tensor([0, nodes], device=device),
        offset=torch.searchsorted(target[kept], torch.arange(nodes + 1)).to(device),
        source=torch.from_numpy(edges.source)[kept].to(device),
        label=torch.from_numpy(edges.label)[kept].to(device),
        start=torch.from_numpy(head).to(device),
        depth=0,
        ordered=False,
        descending=False,
    )


def _pruned_pass(
    flow: Flow, whole: Flow, states: Tensor, message: Message, passing: Passing, followed: Ints
) -> Tensor:
    """Message passing in which all nodes but some have, after every round, the state of a pass without a head."""
    apart = torch.ones(len(states), dtype=torch.bool, device=states.device)
    apart[torch.from_numpy(followed).long()] = False
    if passing.silent:  # nobody hears of them, and they hear of nobody
        target = owner(flow.offset)
        stays = ~(apart[target] | apart[flow.source.long()])
        offset = torch.searchsorted(target[stays], torch.arange(len(flow.offset), device=target.device))
        kept = replace(flow, offset=offset, source=flow.source[stays], label=flow.label[stays])
        return message_passing(kept, states, message, passing)
    once = replace(passing, rounds=1)
    background = torch.full_like(states, 1 / states.shape[-1])
    for _ in range(passing.rounds or 0):
        states, background = (
            message_passing(flow, states, message, once),
            message_passing(whole, background, message, once),
        )
        states = torch.where(apart[:, None, None], background, states)
    return states


class PassScorer:
    """The scores of an EpiGNN on a knowledge graph; a chunk of heads is passed at once, and kept until the next."""

    MEMORY = 256 * 2**20
    """Bytes that the states of one chunk of heads may take."""

    def __init__(self, model: EpiGNN, graph: Graph, pruning: Pruning | None = None) -> None:
        self.nodes, self.pruning, passing = len(graph.entities), pruning, model.link_passing()
        self.chunk = max(1, self.MEMORY // (4 * 3 * self.nodes * model.config.dim))
        with torch.no_grad():
            vectors = model.relation_vectors()
            matrices = right_matrices(vectors, model.composition_table())
            self.vectors = model.weigh(vectors)
        kernels = model._kernels()
        if kernels is not None:
            self._states = kernels.HeadPasses(graph.edges, matrices, passing).states
        else:
            self._states = lambda heads: head_states(graph.edges, matrices, heads, passing)
        self._logs: dict[int, Tensor] = {}

    def prepare(self, heads: Ints) -> None:
        """Make the passes of some heads; at most `chunk` of them."""
        followed = None if self.pruning is None else tuple(map(self.pruning.followed, heads.tolist()))
        with torch.no_grad():
            states = self._states(Heads.everything(heads, self.nodes, followed))
            logs = states.clamp_min_(LOG_FLOOR).log_().view(len(heads), self.nodes, -1)
        self._logs = dict(zip(heads.tolist(), logs, strict=True))

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): minus the cross-entropy, as `EpiGNN.state_scores`, of all entities."""
        if head not in self._logs:
            self.prepare(np.array([head], dtype=np.int32))
        asked = self.vectors.flatten(1)[torch.from_numpy(relations).long()]
        scores: Scores = (asked @ self._logs[head].T).cpu().numpy()
        return scores


def _coupled(logits_FIJK: Tensor) -> Tensor:
    """a_ij as in the published code: each result needs some right argument, then results share each pair."""
    weights = torch.softmax(logits_FIJK, 2)
    return weights / weights.sum(-1, keepdim=True)


def _mlp(size: int) -> nn.Sequential:
    """Four layers with ReLU, hidden size 300, as in the paper's ablation."""
    layers: list[nn.Module] = []
    for before, after in pairwise([size, 300, 300, 300, size]):
        layers += [nn.Linear(before, after), nn.ReLU()]
    return nn.Sequential(*layers[:-1])
