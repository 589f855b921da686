"""Neural Bellman-Ford Networks (Zhu, Zhang, Xhonneux and Tang, 2021): states of all nodes, seen from a head.

Axes are named B passes (a pass starts at the head of a graph, or of a question), V nodes of all passes, E edges of
all passes, D components of a state, R relations, Q questions, C candidates.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.batch import GraphBatch
from epignn.models.joining import SMALLEST_VARIANCE, Added, Incoming, Principal
from epignn.models.links import Questions
from epignn.models.memory import compute, parts

Longs = NDArray[np.int64]
SMALLEST_SCALE = 1e-2
"""Where reciprocals of the aggregation `pna` are cut off."""
CHOICES = {"message": ("transe", "distmult"), "aggregate": ("min", "sum", "pna")}


@dataclass(frozen=True)
class NBFNetConfig(ModelConfig):
    """What an NBFNet is made of; defaults are those of the EpiGNN paper's authors, for labelled graphs.

    Attributes:
        width: components of the state of a node.
        rounds: rounds of message passing; a tail that is more steps from its head is not reached.
        message: what becomes of a state along an edge: `transe` adds the vector of its relation, `distmult`
            multiplies with it.
        aggregate: how messages are joined: `min`, `sum`, or `pna`: mean, maximum, minimum and standard deviation,
            each also multiplied by the logarithm of the degree, and divided by it.
        shared: all rounds use one layer; if false, each has its own.
        links: true for a model of links, which answers (head, relation, ?); false for one that answers which
            relation holds in a graph.
        dependent: for links: the vectors of relations depend, linearly, on the relation that is asked.
    """

    kind: str = "nbfnet"
    width: int = 256
    rounds: int = 10
    message: str = "transe"
    aggregate: str = "min"
    shared: bool = False
    links: bool = False
    dependent: bool = False

    def __post_init__(self) -> None:
        if min(self.width, self.rounds) < 1:
            raise BadArgument(f"width and rounds must be 1 or more, not {self.width} and {self.rounds}.")
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise BadArgument(f"{name} must be {' or '.join(choices)}, not {getattr(self, name)!r}.")
        if self.dependent and not self.links:
            raise BadArgument("dependent = true asks for links = true: in a labelled graph no relation is asked.")

    @property
    def joins(self) -> bool:
        """Whether passes over one graph can be made together."""
        return self.message == "distmult" and self.aggregate != "min"

    def bytes_of(self, nodes: Tensor, edges: Tensor | None) -> Tensor:
        """About what passes over so many nodes, each, keep for the backward pass; no edges if they are joined."""
        if edges is None:
            numbers = nodes * (8 if self.aggregate == "pna" else 5)
        else:
            per_node, per_edge = (14, 6) if self.aggregate == "pna" else (5, 3)
            numbers = per_node * nodes + per_edge * edges
        return 4 * self.rounds * self.width * numbers


class Passes(NamedTuple):
    """Passes of message passing, side by side as one disjoint graph.

    Attributes:
        source, target, label: (E) the edges.
        of_node: (V) the pass of each node.
        head: (B) the node where each pass starts.
    """

    source: Tensor
    target: Tensor
    label: Tensor
    of_node: Tensor
    head: Tensor


class Shared(NamedTuple):
    """Passes of message passing over one graph, of which none leaves anything out; states are (V, B, D).

    Attributes:
        incoming: the edges, and the order in which nodes stand.
        head: (B) the place of the node where each pass starts.
    """

    incoming: Incoming
    head: Tensor


class Layer(nn.Module):
    """A round: ReLU(LayerNorm(W [h ; ⊕ of h ∘ r and the boundary condition]))."""

    def __init__(self, relations: int, config: NBFNetConfig) -> None:
        super().__init__()
        width = config.width
        self.relations, self.config = relations, config
        self.relation: nn.Module = (
            nn.Linear(width, relations * width) if config.dependent else nn.Embedding(relations, width)
        )
        self.linear = nn.Linear(width * (13 if config.aggregate == "pna" else 2), width)
        self.norm = nn.LayerNorm(width)

    def forward(self, state: Tensor, boundary: Tensor, query: Tensor, passes: Passes | Shared) -> Tensor:
        """What a round adds to states, (V, D) or (V, B, D), by the boundary condition and queries (B, D)."""
        width = self.config.width
        own, others = self.linear.weight[:, :width], self.linear.weight[:, width:]
        if isinstance(passes, Shared):
            joined = self._shared(state, boundary, query, others, passes.incoming)
        else:
            joined = self._apart(state, boundary, query, others, passes)
        found: Tensor = self.norm(state @ own.T + joined + self.linear.bias).relu()
        return found

    def _apart(self, state: Tensor, boundary: Tensor, query: Tensor, weight: Tensor, passes: Passes) -> Tensor:
        """(V, D): what nodes receive, joined and multiplied by weights (D, ·), of passes side by side."""
        values, vectors = state.index_select(0, passes.source), self._vectors(query, passes)
        message = values + vectors if self.config.message == "transe" else values * vectors
        if self.config.aggregate != "pna":
            return _joined(message, boundary, passes.target, self.config.aggregate) @ weight.T
        four, width = _principal(message, boundary, passes.target), self.config.width
        by_scale = four @ weight.view(width, 3, -1).permute(2, 1, 0).flatten(1)
        return (by_scale.view(-1, 3, width) * _scales(passes, state.dtype)[:, :, None]).sum(1)

    def _shared(self, state: Tensor, boundary: Tensor, query: Tensor, weight: Tensor, incoming: Incoming) -> Tensor:
        """(V, B, D): the same for products, added up or joined by `pna`, of all passes together."""
        if self.config.dependent:
            mapped = self.relation(query).view(len(query), self.relations, self.config.width)
            vectors = mapped.transpose(0, 1)
        else:
            every = torch.arange(self.relations, device=query.device)
            vectors = self.relation(every)[:, None].expand(-1, len(query), -1)
        joining = Principal if self.config.aggregate == "pna" else Added
        found: Tensor = joining.apply(state, vectors, boundary, incoming)  # type: ignore[no-untyped-call]
        if joining is Added:
            return found @ weight.T
        # Nodes of the same number of edges have the same scales: weights are multiplied by them, not messages.
        degree = incoming.counts(state).flatten().log()
        first = torch.from_numpy(np.cumsum([0, *incoming.runs[:-1]])).to(state.device)
        scales = _of_degrees(degree[first], degree.mean())
        weights = torch.einsum("gk,okf->gfo", scales, weight.view(self.config.width, 3, -1))
        runs = torch.split(found, incoming.runs)
        return torch.cat([four @ of_run for four, of_run in zip(runs, weights, strict=True)])

    def _vectors(self, query: Tensor, passes: Passes) -> Tensor:
        """(E, D): r of every edge."""
        if not self.config.dependent:
            found: Tensor = self.relation(passes.label)
            return found
        place = passes.of_node[passes.target] * self.relations + passes.label
        return self.relation(query).view(-1, self.config.width).index_select(0, place)  # type: ignore[no-any-return]


def _joined(message: Tensor, boundary: Tensor, target: Tensor, how: str) -> Tensor:
    """(V, D): the messages that each node receives, and its boundary condition, as one; so none is without any."""
    if how == "sum":
        return boundary.index_add(0, target, message)
    return boundary.scatter_reduce(
        0, target[:, None].expand_as(message), message, "amin" if how == "min" else "amax"
    )


def _principal(message: Tensor, boundary: Tensor, target: Tensor) -> Tensor:
    """(V, 4 D): mean, maximum, minimum and standard deviation of what each node receives, with its boundary."""
    count = (target.bincount(minlength=len(boundary)) + 1).to(message.dtype)[:, None]
    mean = _joined(message, boundary, target, "sum") / count
    squares = _joined(message.square(), boundary.square(), target, "sum") / count
    spread = (squares - mean.square()).clamp_min(SMALLEST_VARIANCE).sqrt()
    largest, smallest = (_joined(message, boundary, target, how) for how in ("max", "min"))
    return torch.cat([mean, largest, smallest, spread], 1)


def _scales(passes: Passes, dtype: torch.dtype) -> Tensor:
    """(V, 3): see `_of_degrees`; compared with the mean of the own pass."""
    degree = (passes.target.bincount(minlength=len(passes.of_node)) + 1).to(dtype).log()
    nodes = passes.of_node.bincount(minlength=len(passes.head))
    sums = degree.new_zeros(len(passes.head)).index_add(0, passes.of_node, degree)
    return _of_degrees(degree, (sums / nodes)[passes.of_node])


def _of_degrees(degree: Tensor, mean: Tensor) -> Tensor:
    """(V, 3): 1, the logarithm of how much a node receives (V), relative to the mean, and its reciprocal."""
    scale = degree / mean.clamp_min(SMALLEST_VARIANCE)
    return torch.stack([torch.ones_like(scale), scale, 1 / scale.clamp_min(SMALLEST_SCALE)], 1)


class NBFNet(Model):
    """States of all nodes seen from the head, h' = ReLU(LayerNorm(W [h ; ⊕ (h ∘ r)])) + h, read at the tail.

    The boundary condition is a vector at the head and zero elsewhere: the first states, and one of the messages in
    every round. It is the embedding of the relation that is asked; in a labelled graph none is asked, and one
    vector is learnt. The state of the tail, and that vector, go to an MLP of two layers.

    With `links` it answers questions about a knowledge graph. A pass is made for every head and relation that is
    asked; it answers for all entities. Edges go both ways, as the data give them.

    What differs from the authors' code: in `pna` the mean of squares is that of messages also where messages are
    sums, and degrees are compared with the mean of their own graph, not of the batch. Their ranks count ties
    against the answer; here all models are ranked alike, by the mean over ties. For FB15k-237 they set `dependent`.
    Their first code leaves out all facts between a head that is asked about and its candidates there
    (`objective.one_hop`); the later code that their full ranking was published with does not, nor does this.
    """

    Config = NBFNetConfig
    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                "training.epochs=100",
                "training.learning_rate=0.005",
            ),
            "rank": (
                "model.links=true",
                "model.width=32",
                "model.rounds=6",
                'model.message="distmult"',
                'model.aggregate="pna"',
                'objective.kind="rank-facts"',
                'objective.loss="adversarial"',
                "objective.negatives=32",
                "training.epochs=20",
                "training.batch_size=32",
                "training.learning_rate=0.005",
            ),
            "rank fb237": (
                "model.dependent=true",
                "objective.sharpness=0.5",
                "training.batch_size=64",
            ),
        }
    )

    def __init__(self, relations: int, config: NBFNetConfig) -> None:
        super().__init__(relations, config)
        width = config.width
        self.query = nn.Embedding(relations if config.links else 1, width)
        self.layers = nn.ModuleList(Layer(relations, config) for _ in range(1 if config.shared else config.rounds))
        outputs = 1 if config.links else relations
        self.output = nn.Sequential(nn.Linear(2 * width, 2 * width), nn.ReLU(), nn.Linear(2 * width, outputs))

    def states(self, passes: Passes | Shared, query: Tensor) -> Tensor:
        """What each node knows of the head of its pass, after all rounds, given the queries (B, D).

        Returns:
            (V, D) of passes side by side, (V, B, D) of passes over one graph.
        """
        if isinstance(passes, Shared):
            every = torch.arange(len(query), device=query.device)
            nothing = query.new_zeros(len(passes.incoming), *query.shape)
            boundary = nothing.index_put((passes.head, every), query)
        else:
            boundary = query.new_zeros(len(passes.of_node), query.shape[1]).index_copy(0, passes.head, query)
        state = boundary
        for number in range(self.config.rounds):
            layer = self.layers[0 if self.config.shared else number]
            state = state + layer(state, boundary, query, passes)
        return state

    # -- labelled graphs --

    def scores(self, batch: GraphBatch) -> Tensor:
        """(B, R): of every relation between head and tail; high is likely."""
        if self.config.links:
            raise BadArgument("this NBFNet answers links: set model.links=false for labelled graphs.")
        nodes, edges = (offset.diff().long().cpu() for offset in (batch.node_offset, batch.edge_offset))
        taken = self.config.bytes_of(nodes, edges)
        graphs = torch.arange(len(batch), device=self.device)
        found = [
            compute(kept, self._scores, batch.select(graphs[first:last])) for first, last, kept in parts(taken)
        ]
        return torch.cat(found)

    def _scores(self, batch: GraphBatch) -> Tensor:
        """(B, R): of graphs that fit into memory."""
        query = self.query.weight.expand(len(batch), -1)
        passes = Passes(*batch.edges(), batch.node_graph, batch.head.long())
        tails = self.states(passes, query)[batch.tail.long()]
        found: Tensor = self.output(torch.cat([tails, query], 1))
        return found

    # -- links --

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates; a pass for every head and relation that is asked."""
        if not self.config.links:
            raise BadArgument("this NBFNet answers labelled graphs: set model.links=true for links.")
        place, relation, pass_of = questions.passes()
        order = np.argsort(pass_of, kind="stable")
        nodes, edges = len(questions.edges.offset) - 1, len(questions.edges.source)
        together = not len(questions.heads.left_out) and self.config.joins
        incoming = Incoming(questions.edges, self.device)
        taken = self.config.bytes_of(torch.full((len(place),), nodes), None if together else torch.tensor(edges))
        found = []
        for first, last, kept in parts(taken):
            rows = order[slice(*np.searchsorted(pass_of[order], [first, last]))]
            local, own = pass_of[rows] - first, place[first:last]
            if together:
                head = incoming.place[questions.heads.head[own]].astype(np.int64)
                passes: Passes | Shared = Shared(incoming, *self._on(head))
                node = incoming.place[questions.candidate[rows]].astype(np.int64) * len(own) + local[:, None]
            else:
                passes = Passes(*self._on(*copies(questions, own)))
                node = questions.candidate[rows] + local[:, None] * nodes
            found.append(compute(kept, self._ranked, passes, *self._on(relation[first:last], local, node)))
        return torch.cat(found)[self._on(np.argsort(order))[0]]

    def _ranked(self, passes: Passes | Shared, relation: Tensor, pass_of: Tensor, node: Tensor) -> Tensor:
        """(Q, C): scores of nodes (Q, C), by passes for relations (B) of which each question (Q) takes one."""
        query = self.query(relation)
        states = self.states(passes, query).view(-1, self.config.width)[node]
        asked = query[pass_of][:, None].expand_as(states)
        found: Tensor = self.output(torch.cat([states, asked], -1)).squeeze(-1)
        return found

    def _on(self, *arrays: Longs) -> list[Tensor]:
        """Arrays as tensors where the parameters are."""
        return [torch.from_numpy(array).to(self.device) for array in arrays]


@dataclass(frozen=True)
class NBFNetSumConfig(NBFNetConfig):
    """What an NBFNet for links is made of whose messages are added up; see `NBFNetConfig`."""

    kind: str = "nbfnet-sum"
    aggregate: str = "sum"


class NBFNetSum(NBFNet):
    """NBFNet with sums in place of `pna`, the authors' quicker variant; all else is the same."""

    Config = NBFNetSumConfig
    recipes = MappingProxyType(
        {
            key: tuple(text for text in recipe if not text.startswith("model.aggregate"))
            for key, recipe in NBFNet.recipes.items()
            if key != "classify"
        }
    )


def copies(questions: Questions, chosen: Longs) -> tuple[Longs, Longs, Longs, Longs, Longs]:
    """A copy of a knowledge graph for each of some heads, without what it leaves out: the arrays of `Passes`."""
    edges, heads = questions.edges, questions.heads
    nodes, number = len(edges.offset) - 1, np.arange(len(chosen))
    copy, edge = questions.open_edges(chosen).nonzero()
    target = np.repeat(np.arange(nodes), np.diff(edges.offset))
    return (
        edges.source[edge] + copy * nodes,
        target[edge] + copy * nodes,
        edges.label[edge].astype(np.int64),
        np.repeat(number, nodes),
        heads.head[chosen] + number * nodes,
    )
