"""What an NBFNet is made of, and one of its rounds of message passing.

Axes are named B passes (a pass starts at the head of a graph, or of a question), V nodes that receive in some pass,
S nodes that send, E edges of all passes, D components of a state, R relations.
"""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.api import ModelConfig
from epignn.models.joining import SMALLEST_VARIANCE, Added, Incoming, Principal

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

    def bytes_of(self, nodes: Tensor, edges: Tensor | None = None) -> Tensor:
        """About what so many nodes that receive keep for the backward pass, and so many edges; none if joined."""
        if edges is None:
            numbers = nodes * (8 if self.aggregate == "pna" else 5)
        else:
            per_node, per_edge = (14, 6) if self.aggregate == "pna" else (5, 3)
            numbers = per_node * nodes + per_edge * edges
        return 4 * self.width * numbers


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

    def forward(self, state: Tensor, boundary: Tensor, query: Tensor, passes: Passes) -> Tensor:
        """(V, D): what a round adds to states, by the boundary condition and queries (B, D)."""
        return self._added(state, self._apart(state, boundary, query, passes))

    def joined(self, sent: Tensor, own: Tensor, boundary: Tensor, query: Tensor, incoming: Incoming) -> Tensor:
        """(V, D): the same for products, added up or joined by `pna`, of nodes whose states were `own`.

        Args:
            sent: (S, D) states that are sent along the edges.
            own: (V, D) of the nodes that receive.
            boundary: (V, D) theirs.
            query: (B, D) of passes that have relation vectors of their own, by which edges are labelled r · B + b.
            incoming: the edges.
        """
        if self.config.dependent:
            vectors = self.relation(query).view(len(query), self.relations, -1).transpose(0, 1).flatten(0, 1)
        else:
            vectors = self.relation.weight
        joining = Principal if self.config.aggregate == "pna" else Added
        given = (one[:, None] for one in (sent, vectors, boundary))
        found: Tensor = joining.apply(*given, incoming)[:, 0]  # type: ignore[no-untyped-call]
        if joining is Added:
            return self._added(own, found @ self._others.T)
        # Nodes of the same number of edges have the same scales: weights are multiplied by them, not messages.
        if not len(incoming):
            return own
        degree = incoming.run_counts(sent).log()
        scales = _of_degrees(degree, torch.full_like(degree, incoming.degree))
        weights = torch.einsum("gk,okf->gfo", scales, self._others.view(self.config.width, 3, -1))
        runs = torch.split(found, incoming.runs)
        return self._added(own, torch.cat([four @ of_run for four, of_run in zip(runs, weights, strict=True)]))

    @property
    def _others(self) -> Tensor:
        """(D, ·): the weights of what a node receives."""
        return self.linear.weight[:, self.config.width :]

    def _added(self, state: Tensor, received: Tensor) -> Tensor:
        """(V, D): what a round adds to states, by what nodes receive, multiplied by its weights."""
        own = state @ self.linear.weight[:, : self.config.width].T
        found: Tensor = self.norm(own + received + self.linear.bias).relu()
        return found

    def _apart(self, state: Tensor, boundary: Tensor, query: Tensor, passes: Passes) -> Tensor:
        """(V, D): what nodes receive, joined and multiplied by the weights, of passes side by side."""
        weight = self._others
        values, vectors = state.index_select(0, passes.source), self._vectors(query, passes)
        message = values + vectors if self.config.message == "transe" else values * vectors
        if self.config.aggregate != "pna":
            return _joined(message, boundary, passes.target, self.config.aggregate) @ weight.T
        four, width = _principal(message, boundary, passes.target), self.config.width
        by_scale = four @ weight.view(width, 3, -1).permute(2, 1, 0).flatten(1)
        return (by_scale.view(-1, 3, width) * _scales(passes, state.dtype)[:, :, None]).sum(1)

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
