"""GraIL (Teru, Denis and Hamilton, 2020): a graph of its own for every pair of entities, and a graph net over it.

Axes are named N pairs of entities, V entities, E edges of all subgraphs, D components of a state, R relations, Q
questions, C candidates.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from epignn.data.graph import Edges
from epignn.errors import BadArgument, TooLarge
from epignn.models.api import Model, ModelConfig
from epignn.models.links import Questions

Longs = NDArray[np.int64]
FAR = 127
"""The distance of an entity that is not reached."""
TOGETHER = 64
"""Pairs whose subgraphs are made together."""


@dataclass(frozen=True)
class GraILConfig(ModelConfig):
    """What a GraIL is made of.

    Attributes:
        width: components of states and of vectors of relations.
        layers: rounds of message passing.
        bases: how many base matrices there are; the matrix of a relation is a sum of them.
        hops: a subgraph holds the entities that are at most so many steps from both ends.
        dropout: the share of edges that a training step leaves out in each round.
        facts: graphs of more facts are refused, since a subgraph for every candidate takes too long there.
    """

    kind: str = "grail"
    width: int = 32
    layers: int = 3
    bases: int = 4
    hops: int = 3
    dropout: float = 0.5
    facts: int = 8_000

    def __post_init__(self) -> None:
        if min(self.width, self.layers, self.bases, self.hops) < 1 or not 0 <= self.dropout < 1:
            raise BadArgument("width, layers, bases and hops must be 1 or more, dropout at least 0 and below 1.")


class Subgraphs(NamedTuple):
    """Enclosing subgraphs of pairs, side by side as one graph.

    Attributes:
        near: (nodes, 2) distances from the first and from the second end, the other end being out of the way.
        of_pair: (nodes) the pair of each node.
        ends: (N, 2) the nodes that are the ends.
        source, target, label: (E) edges in the direction of facts.
    """

    near: Tensor
    of_pair: Tensor
    ends: Tensor
    source: Tensor
    target: Tensor
    label: Tensor


class Pairs(NamedTuple):
    """Pairs of entities with the relation that is asked between them, and the edges that each may use.

    Attributes:
        first, second, relation: (N) relations are no inverses.
        stays: (edges, N) which edges of the graph a pair may use; None if all may use all.
    """

    first: Longs
    second: Longs
    relation: Longs
    stays: NDArray[np.bool_] | None


def _spread(
    edges: tuple[Longs, Longs], start: Longs, hops: int, within: Any, stays: Any, nodes: int
) -> NDArray[np.int8]:
    """(V, N): distances from a start of each pair, over nodes (V, N) and edges (E, N) that are open to it."""
    source, target = edges
    pairs = np.arange(len(start))
    distance = np.full((nodes, len(start)), FAR, dtype=np.int8)
    distance[start, pairs] = 0
    for step in range(hops):
        edge, pair = np.nonzero(distance[source] == step)
        if stays is not None:
            good = stays[edge, pair]
            edge, pair = edge[good], pair[good]
        reached = target[edge]
        new = distance[reached, pair] == FAR
        if within is not None:
            new &= within[reached, pair]
        distance[reached[new], pair[new]] = step + 1
    return distance


class Enclosed(NamedTuple):
    """The enclosing subgraphs of pairs, in the numbers of the whole graph.

    Attributes:
        near: (2, V, N) distances from both ends within the subgraph, the other end being out of the way.
        inside: (V, N) which entities belong to it.
        edge, pair: (E) its edges in the direction of facts, and which pair each is of.
    """

    near: NDArray[np.int8]
    inside: NDArray[np.bool_]
    edge: Longs
    pair: Longs


def enclosing(edges: Edges, pairs: Pairs, hops: int, relations: int) -> Enclosed:
    """The enclosing subgraphs of pairs."""
    nodes, number = len(edges.offset) - 1, np.arange(len(pairs.first))
    target = np.repeat(np.arange(nodes), np.diff(edges.offset))
    way = edges.source.astype(np.int64), target
    ends = pairs.first, pairs.second
    around = [_spread(way, end, hops, None, pairs.stays, nodes) for end in ends]
    inside = (around[0] != FAR) & (around[1] != FAR)
    for end in ends:
        inside[end, number] = True
    near = []
    for own, other in (ends, ends[::-1]):
        within = inside.copy()
        within[other, number] = False
        near.append(_spread(way, own, hops, within, pairs.stays, nodes))
    inside = (near[0] != FAR) & (near[1] != FAR)
    for own, at in zip(ends, near, strict=True):
        at[own, number] = 0
        inside[own, number] = True
    near[0][ends[1], number] = near[1][ends[0], number] = 1
    fact = np.flatnonzero(edges.label < relations // 2)
    edge, pair = np.nonzero(inside[edges.source[fact]] & inside[target[fact]])
    edge = fact[edge]
    if pairs.stays is not None:
        good = pairs.stays[edge, pair]
        edge, pair = edge[good], pair[good]
    return Enclosed(np.stack(near), inside, edge, pair)


def packed(edges: Edges, pairs: Pairs, found: Enclosed, chosen: Longs) -> Subgraphs:
    """The enclosing subgraphs of some of the pairs as one graph."""
    target = np.repeat(np.arange(len(edges.offset) - 1), np.diff(edges.offset))
    every, new = np.arange(len(chosen)), np.full(len(pairs.first), -1)
    new[chosen] = every
    number, entity = np.nonzero(found.inside[:, chosen].T)
    place = np.zeros((len(found.inside), len(chosen)), dtype=np.int64)
    place[entity, number] = np.arange(len(number))
    kept = new[found.pair] >= 0
    edge, pair = found.edge[kept], new[found.pair[kept]]
    arrays = (
        found.near[:, entity, chosen[number]].T.astype(np.int64),
        number,
        np.stack([place[pairs.first[chosen], every], place[pairs.second[chosen], every]], 1),
        place[edges.source[edge], pair],
        place[target[edge], pair],
        edges.label[edge].astype(np.int64),
    )
    return Subgraphs(*map(torch.from_numpy, arrays))


class Layer(nn.Module):
    """A round: ReLU(∑ α W_r h + W h), α by sender, receiver, the relation of the edge and the one that is asked."""

    def __init__(self, inputs: int, relations: int, config: GraILConfig) -> None:
        super().__init__()
        width = config.width
        self.basis = nn.Parameter(torch.empty(config.bases, inputs, width))
        self.mix = nn.Parameter(torch.empty(relations, config.bases))
        self.own = nn.Parameter(torch.empty(inputs, width))
        for parameter in (self.basis, self.mix, self.own):
            nn.init.xavier_uniform_(parameter, gain=nn.init.calculate_gain("relu"))
        self.sender = nn.Linear(inputs, inputs)
        self.receiver = nn.Linear(inputs, inputs, bias=False)
        self.edge = nn.Linear(width, inputs, bias=False)
        self.question = nn.Linear(width, inputs, bias=False)
        self.weight = nn.Linear(inputs, 1)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, state: Tensor, graphs: Subgraphs, vectors: Tensor, asked: Tensor) -> Tensor:
        """(nodes, D): the next states, by vectors of relations (R, D) and the relations that pairs ask (N)."""
        source, target, label = graphs.source, graphs.target, graphs.label
        question = self.question(vectors[asked])[graphs.of_pair[target]]
        hidden = self.sender(state)[source] + self.receiver(state)[target] + self.edge(vectors)[label] + question
        attention = self.weight(hidden.relu()).sigmoid()
        by_basis = torch.einsum("ni,bio->nbo", state, self.basis)[source]
        message = attention * (by_basis * self.mix[label][:, :, None]).sum(1)
        kept = self.dropout(torch.ones_like(attention))
        return (state @ self.own).index_add(0, target, kept * message).relu()


class GraIL(Model):
    """A graph net over the subgraph that encloses two entities, in which only their distances are known.

    The subgraph has the entities within `hops` of both ends; those that are cut off from an end within it are left
    out. A node is its distances from both ends, each while the other is out of the way, as one-hot vectors.
    Messages go in the direction of facts. The mean of all nodes, and both ends, of all rounds go to one linear map.
    For (?, r, t) candidates are the first end.

    A question needs a subgraph for every candidate, so that ranking takes long: graphs of more than `facts` facts
    are refused before training begins. Candidates whose subgraph has no edge all have the same score, which is
    computed once.

    What differs from the authors' code: there, nodes into which no edge leads lose their own part in a round:
    mended. Their last map also has a vector of the relation that is asked, which adds the same to all candidates
    and so cannot be learnt: left out. The fact that is asked is left out before a subgraph is made, not after. They
    train for 50 epochs and more; here 10, and 50 validation triples choose among them; on FB15k-237, whose
    subgraphs are large, 5 epochs and 10 triples.
    """

    Config: ClassVar[type[ModelConfig]] = GraILConfig
    recipes = MappingProxyType(
        {
            "rank": (
                'objective.kind="rank-facts"',
                'objective.loss="margin"',
                "objective.margin=10.0",
                "objective.negatives=1",
                "objective.validation_triples=50",
                "training.epochs=10",
                "training.batch_size=16",
                "training.learning_rate=0.01",
                "training.decay=0.0005",
                "training.clip=1000.0",
            ),
            "rank fb237": ("objective.validation_triples=10", "training.epochs=5"),
        }
    )

    def __init__(self, relations: int, config: GraILConfig) -> None:
        super().__init__(relations, config)
        facts, width = relations // 2, config.width
        self.vectors = nn.Embedding(facts, width)
        inputs = [2 * (config.hops + 1), *[width] * (config.layers - 1)]
        self.layers = nn.ModuleList(Layer(size, facts, config) for size in inputs)
        self.output = nn.Linear(3 * config.layers * width, 1, bias=False)

    @classmethod
    def admit(cls, objective: Any, config: GraILConfig) -> None:
        """Refuse graphs that are too large."""
        facts = len(objective.side.graph.facts)
        if facts > config.facts:
            raise TooLarge(
                f"GraIL makes a subgraph for every candidate of every question, which would take many hours for "
                f"{facts:,} facts; it takes up to model.facts = {config.facts:,}."
            )

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates."""
        half, candidate = self.relations // 2, questions.candidate
        shape = candidate.shape
        head = np.broadcast_to(questions.heads.head[questions.of_head].astype(np.int64)[:, None], shape).ravel()
        relation = np.broadcast_to(questions.relation[:, None], shape).ravel()
        place = np.broadcast_to(questions.of_head[:, None], shape).ravel()
        other = candidate.ravel()
        turned = relation >= half
        first, second = np.where(turned, other, head), np.where(turned, head, other)
        stays = questions.open_edges(np.arange(len(questions.heads))).T if len(questions.heads.left_out) else None
        parts = []
        for begin in range(0, len(first), TOGETHER):
            own = slice(begin, begin + TOGETHER)
            open_to = None if stays is None else stays[:, place[own]]
            pairs = Pairs(first[own], second[own], relation[own] % half, open_to)
            parts.append(self._scored(questions.edges, pairs))
        return torch.cat(parts).view(shape)

    def _scored(self, edges: Edges, pairs: Pairs) -> Tensor:
        """(N): scores of pairs; those whose subgraphs have no edge are scored once for each relation."""
        enclosed = enclosing(edges, pairs, self.config.hops, self.relations)
        some = np.zeros(len(pairs.first), dtype=bool)
        some[enclosed.pair] = True
        _, first, which = np.unique(pairs.relation[~some], return_index=True, return_inverse=True)
        chosen = np.concatenate([np.flatnonzero(some), np.flatnonzero(~some)[first]])
        asked = torch.from_numpy(pairs.relation[chosen])
        scores = self._score(packed(edges, pairs, enclosed, chosen), asked)
        place = np.empty(len(some), dtype=np.int64)
        place[some], place[~some] = np.arange(some.sum()), some.sum() + which
        return scores[torch.from_numpy(place)]

    def _score(self, graphs: Subgraphs, asked: Tensor) -> Tensor:
        """(N): the scores of subgraphs for the relations that are asked (N)."""
        near = nn.functional.one_hot(graphs.near, self.config.hops + 1).flatten(1)
        state, states = near.to(self.output.weight), []
        for layer in self.layers:
            state = layer(state, graphs, self.vectors.weight, asked)
            states.append(state)
        every = torch.cat(states, 1)
        count = graphs.of_pair.bincount(minlength=len(asked)).clamp_min(1)
        mean = every.new_zeros(len(asked), every.shape[1]).index_add(0, graphs.of_pair, every) / count[:, None]
        ends = every[graphs.ends].flatten(1)
        return self.output(torch.cat([mean, ends], 1)).squeeze(1)  # type: ignore[no-any-return]
