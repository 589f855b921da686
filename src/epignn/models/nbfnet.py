"""Neural Bellman-Ford Networks (Zhu, Zhang, Xhonneux and Tang, 2021): states of all nodes, seen from a head.

Axes as in `nbfnet_layer`; Q questions, C candidates.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from epignn.data.graph import Graph
from epignn.errors import BadArgument
from epignn.models.api import Model, RankScorer, Scorer
from epignn.models.batch import GraphBatch
from epignn.models.cones import Cones, cones
from epignn.models.joining import WholeGraph
from epignn.models.links import Questions
from epignn.models.memory import compute, fit_together, parts
from epignn.models.nbfnet_layer import Layer, NBFNetConfig, Passes

Longs = NDArray[np.int64]
MOST = 2**24
"""Nodes and edges of passes that are looked at together, to tell which nodes receive; of more, all are taken to."""


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

    def states(self, passes: Passes, query: Tensor) -> Tensor:
        """(V, D): what each node knows of the head of its pass, after all rounds, given the queries (B, D)."""
        boundary = query.new_zeros(len(passes.of_node), query.shape[1]).index_copy(0, passes.head, query)
        state = boundary
        for layer in self.each_layer():
            state = state + layer(state, boundary, query, passes)
        return state

    def each_layer(self) -> Iterator[Layer]:
        """The layer of every round."""
        for number in range(self.config.rounds):
            yield self.layers[0 if self.config.shared else number]  # type: ignore[misc]

    # -- labelled graphs --

    def scores(self, batch: GraphBatch) -> Tensor:
        """(B, R): of every relation between head and tail; high is likely."""
        if self.config.links:
            raise BadArgument("this NBFNet answers links: set model.links=false for labelled graphs.")
        nodes, edges = (offset.diff().long().cpu() for offset in (batch.node_offset, batch.edge_offset))
        taken = self.config.rounds * self.config.bytes_of(nodes, edges)
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
        if self.config.joins and not len(questions.heads.left_out):
            whole = WholeGraph(questions.edges, self.device)
            return self.ranked(questions, whole, self.unreached(whole))
        place, relation, pass_of = questions.passes()
        nodes, edges = len(questions.edges.offset) - 1, len(questions.edges.source)
        taken = self.config.rounds * self.config.bytes_of(torch.full((len(place),), nodes), torch.tensor(edges))

        def answered(first: int, last: int, rows: Longs, kept: bool) -> Tensor:
            passes = Passes(*self._on(*copies(questions, place[first:last])))
            node = questions.candidate[rows] + (pass_of[rows] - first)[:, None] * nodes
            return compute(
                kept, self._ranked_apart, passes, *self._on(relation[first:last], pass_of[rows] - first, node)
            )

        return _in_parts(taken, pass_of, answered)

    def _ranked_apart(self, passes: Passes, relation: Tensor, pass_of: Tensor, node: Tensor) -> Tensor:
        """(Q, C): scores of nodes (Q, C), by passes side by side for relations (B); each question takes one."""
        query = self.query(relation)
        return self._read(self.states(passes, query)[node], query[pass_of])

    def _read(self, states: Tensor, asked: Tensor) -> Tensor:
        """(Q, C): scores by the states (Q, C, D) of candidates, and what is asked (Q, D)."""
        found: Tensor = self.output(torch.cat([states, asked[:, None].expand_as(states)], -1)).squeeze(-1)
        return found

    def unreached(self, whole: WholeGraph) -> list[Tensor]:
        """(V, D): states of nodes that the head has not reached, before every round and after the last.

        With relation vectors of their own, passes have nothing in common but the zeros of the beginning.
        """
        nothing = torch.zeros(len(whole), self.config.width).to(self.query.weight)
        found = [nothing]
        for layer in self.each_layer():
            last = found[-1]
            alone = self.config.dependent
            found.append(last if alone else last + layer.joined(last, last, nothing, self.query.weight[:0], whole))
        return found

    def ranked(self, questions: Questions, whole: WholeGraph, unreached: list[Tensor]) -> Tensor:
        """(Q, C): scores of candidates, by passes over one graph that leave nothing out."""
        place, relation, pass_of = questions.passes()
        heads = whole.place[questions.heads.head[place]].astype(np.int64)
        candidate = whole.place[questions.candidate].astype(np.int64)

        def wanted(first: int, last: int, rows: Longs) -> Longs:
            """The candidates of some questions, as nodes of passes."""
            found: Longs = candidate[rows] * (last - first) + (pass_of[rows] - first)[:, None]
            return found

        def around(first: int, last: int, chosen: Longs) -> Cones:
            """The rounds of some passes, for what they are asked about."""
            every = chosen.size >= len(whole) * (last - first)  # it would not pay to look which are not
            asked, alike = None if every else chosen.ravel(), not self.config.dependent
            return cones(whole, heads[first:last], self.config.rounds, asked, alike)

        together, received = None, np.full(len(heads), self.config.rounds * len(whole))
        if len(heads) * (len(whole) + len(whole.source)) <= MOST:
            together = around(0, len(heads), wanted(0, len(heads), np.arange(len(pass_of))))
            received = together.taken
        taken = self.config.bytes_of(torch.from_numpy(received))
        if not fit_together(taken):
            together = None

        def answered(first: int, last: int, rows: Longs, kept: bool) -> Tensor:
            chosen = wanted(first, last, rows)
            own = together if together is not None and last - first == len(heads) else around(first, last, chosen)
            asked = self._on(relation[first:last], pass_of[rows] - first, own.place[chosen].astype(np.int64))
            return compute(kept, self._ranked, own, unreached, *asked)

        return _in_parts(taken, pass_of, answered)

    def _ranked(
        self, own: Cones, unreached: list[Tensor], relation: Tensor, pass_of: Tensor, place: Tensor
    ) -> Tensor:
        """(Q, C): scores of candidates at places (Q, C), by passes for relations (B); each question takes one."""
        query = self.query(relation)
        state = query
        for layer, before, step in zip(self.each_layer(), unreached, own.rounds, strict=False):
            sent = torch.cat([before, state])
            boundary = query.new_zeros(len(step.incoming), query.shape[1])
            boundary = boundary.index_copy(0, step.at_head, query.index_select(0, step.of_pass))
            last = sent.index_select(0, step.own)
            state = last + layer.joined(sent, last, boundary, query, step.incoming)
        return self._read(torch.cat([unreached[-1], state])[place], query[pass_of])

    def scorer(self, graph: Graph) -> Scorer:
        """All entities of a graph; what passes have in common is computed once."""
        return SharedScorer(self, graph) if self.config.links and self.config.joins else super().scorer(graph)

    def _on(self, *arrays: Longs) -> list[Tensor]:
        """Arrays as tensors where the parameters are."""
        return [torch.from_numpy(array).to(self.device) for array in arrays]


class SharedScorer(RankScorer):
    """All entities of a graph, one head at a time, by the parameters that the model has when this is made.

    States of what a head does not reach are kept.
    """

    def __init__(self, model: NBFNet, graph: Graph) -> None:
        super().__init__(model, graph)
        self.whole = WholeGraph(graph.edges, model.device)
        with torch.no_grad():
            self.unreached = model.unreached(self.whole)

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): the scores of questions about the graph."""
        assert isinstance(self.model, NBFNet)
        return self.model.ranked(questions, self.whole, self.unreached)


def _in_parts(taken: Tensor, pass_of: Longs, answered: Callable[[int, int, Longs, bool], Tensor]) -> Tensor:
    """(Q, C): answers to questions, of which each takes a pass, by some passes at a time.

    Args:
        taken: the bytes that each pass keeps.
        pass_of: (Q) the pass of each question.
        answered: gives the answers of passes from the first up to the last, whose questions are the given rows; and
            is told whether what it computes may be kept.
    """
    order = np.argsort(pass_of, kind="stable")
    found = []
    for first, last, kept in parts(taken):
        rows = order[slice(*np.searchsorted(pass_of[order], [first, last]))]
        found.append(answered(first, last, rows, kept))
    return torch.cat(found)[torch.from_numpy(np.argsort(order)).to(found[0].device)]


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
