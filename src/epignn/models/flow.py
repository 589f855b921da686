"""How messages pass: one direction through the graphs of a batch, and the options of message passing."""

from dataclasses import dataclass

from torch import Tensor

from epignn.models.batch import GraphBatch


@dataclass(frozen=True)
class Passing:
    """The options of message passing.

    Attributes:
        pooling: ψ, `min` or `mul`.
        rounds: how many; None for as many as the graphs need.
        self_message: pool the former state of a node with the messages it receives.
        silent: nodes that know nothing of the start send nothing.
        constrained: states are probability distributions.
        counting: facets, the last ones, that are pooled by mean instead; for links alone.
    """

    pooling: str
    rounds: int | None
    self_message: bool
    silent: bool = False
    constrained: bool = True
    counting: int = 0


@dataclass(frozen=True, eq=False)
class Flow:
    """One direction of message passing: the edges over which each node receives, and where states start.

    Attributes:
        node_offset: (B+1) where the nodes of each graph begin.
        offset, source, label: node v receives from source[e] over label[e] for e in offset[v]..offset[v+1].
        start: (B) the nodes whose state is the identity.
        depth: rounds after which states no longer change.
        ordered: whether sources come before the nodes they send to, in the order of this flow.
        descending: whether that order runs from the last node to the first.
    """

    node_offset: Tensor
    offset: Tensor
    source: Tensor
    label: Tensor
    start: Tensor
    depth: int
    ordered: bool
    descending: bool

    def one_pass_suffices(self, passing: Passing) -> bool:
        """Whether every node may be updated once, after its sources: on acyclic graphs, with rounds enough."""
        enough = passing.rounds is None or passing.rounds >= self.depth
        return self.ordered and enough and not passing.self_message and not passing.silent


def forward_flow(batch: GraphBatch) -> Flow:
    """From the heads along the edges."""
    edges = batch.in_offset, batch.in_source, batch.in_label
    return Flow(batch.node_offset, *edges, batch.head, *batch.order, descending=False)


def backward_flow(batch: GraphBatch) -> Flow:
    """From the tails against the edges."""
    edges = batch.out_offset, batch.out_target, batch.out_label
    return Flow(batch.node_offset, *edges, batch.tail, *batch.order, descending=True)
