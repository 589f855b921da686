"""The Edge Transformer (Bergen, O'Donnell and Bahdanau, 2021): a state for every pair of nodes of a graph.

In a round, the state of (x, y) attends to the compositions of (x, a) with (a, y) over all nodes a: triangular
attention. Axes are named B graphs, X A Y nodes (first of a pair, between, second), H heads, D components of a head,
V all nodes of a batch, P all pairs, N some pairs, E the width.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument, TooLarge
from epignn.models import memory
from epignn.models.api import Model, ModelConfig
from epignn.models.batch import GraphBatch
from epignn.models.dropout import dropout
from epignn.models.memory import compute, parts
from epignn.models.prepare import prepare

LARGEST = 4 * 2**30
"""Bytes that one graph alone may take, in training too; larger graphs are refused."""
BLOCK = 2**18
"""Numbers that attention multiplies at a time: as many as stay in the cache of a processor."""


@dataclass(frozen=True)
class EdgeTransformerConfig(ModelConfig):
    """What an Edge Transformer is made of; defaults are those of its authors for CLUTRR.

    Attributes:
        width: components of the state of a pair.
        heads: attention heads; the components are divided among them.
        rounds: rounds of attention and feed-forward, all with the same weights.
        feed_forward: how many times wider the hidden layer of the feed-forward part is.
        dropout: the share of attention weights, of their results and of hidden units that training leaves out.
    """

    kind: str = "edge-transformer"
    width: int = 200
    heads: int = 4
    rounds: int = 8
    feed_forward: int = 4
    dropout: float = 0.2

    def __post_init__(self) -> None:
        if min(self.width, self.heads, self.rounds, self.feed_forward) < 1 or self.width % self.heads:
            raise BadArgument(
                "width, heads, rounds and feed_forward must be 1 or more, and width a multiple of heads; got "
                f"width={self.width}, heads={self.heads}, rounds={self.rounds}, feed_forward={self.feed_forward}."
            )
        if not 0 <= self.dropout < 1:
            raise BadArgument(f"dropout must be at least 0 and below 1, not {self.dropout}.")

    def bytes_of(self, nodes: Any) -> Any:
        """About what graphs of so many nodes, each, keep for the backward pass: that of all rounds."""
        return self.rounds * self._round(nodes)

    def least_bytes_of(self, nodes: Any) -> Any:
        """The same where only states are kept, and one round after the other is computed again from them."""
        return self.rounds * nodes**2 * self.width * 4 + self._round(nodes)

    def _round(self, nodes: Any) -> Any:
        """10 + feed_forward states a pair, two numbers a head for three nodes, a byte for what dropout may meet."""
        state = 4 * (10 + self.feed_forward) + 2 + self.feed_forward
        return nodes**2 * (self.width * state + nodes * self.heads * 9)


# -- triangular attention --


class Values(torch.autograd.Function):
    """Σ_a A[x, a, y] V1[x, a] ⊙ V2[a, y], of shape (B, X, Y, H, D).

    It takes A (B, H, A, X, Y), V1 (B, X, A, H, D) and V2 (B, A, Y, H, D).

    The products are n³ vectors a graph. They are made a node a at a time, for so few graphs, or rows x of one, that
    they stay in the cache, and are made again for the backward pass.
    """

    @staticmethod
    def forward(ctx: Any, weight: Tensor, left: Tensor, right: Tensor) -> Tensor:
        """The sums."""
        ctx.save_for_backward(weight, left, right)
        graphs, between, columns, heads, size = right.shape
        result = left.new_zeros((graphs, left.shape[1], columns, heads, size))
        for b, x in _blocks(result):
            part = result[b, x]
            product = torch.empty_like(part)
            for a in range(between):
                torch.mul(_of(weight, b, x, a), right[b, None, a], out=product)
                part.addcmul_(product, left[b, x, a, None])
        return result

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of weights and both values."""
        weight, left, right = ctx.saved_tensors
        to_weight, to_left, to_right = torch.empty_like(weight), torch.empty_like(left), torch.zeros_like(right)
        for b, x in _blocks(grad):
            part = grad[b, x]
            product, other = torch.empty_like(part), torch.empty_like(part)
            for a in range(right.shape[1]):
                by, first, second = _of(weight, b, x, a), left[b, x, a, None], right[b, None, a]
                torch.mul(part, second, out=product)
                torch.mul(product, first, out=other)
                to_weight[b, :, a, x] = other.sum(-1).permute(0, 3, 1, 2)
                to_left[b, x, a] = product.mul_(by).sum(2)
                torch.mul(part, by, out=other)
                to_right[b, a] += other.mul_(first).sum(1)
        return to_weight, to_left, to_right


def _blocks(result: Tensor) -> Iterator[tuple[slice, slice]]:
    """Graphs and rows whose results (B, X, Y, H, D) are about a block: several graphs, or some rows of one."""
    graphs, rows = result.shape[:2]
    row = result[0, 0].numel()
    together, lines = max(1, BLOCK // (rows * row)), max(1, min(rows, BLOCK // row))
    for b in range(0, graphs, together):
        for x in range(0, rows, lines):
            yield slice(b, b + together), slice(x, x + lines)


def _of(weight: Tensor, b: slice, x: slice, a: int) -> Tensor:
    """(B, X, Y, H, 1): the weights of one node between."""
    return weight[b, :, a, x].permute(0, 2, 3, 1).unsqueeze(-1)


class Shape(NamedTuple):
    """Graphs of one size: how many, and how many rows, nodes between and columns their pairs are taken from."""

    graphs: int
    rows: int
    between: int
    columns: int


class Layer(nn.Module):
    """A round: triangular attention and a feed-forward part, each behind a normalisation and with a residual."""

    def __init__(self, config: EdgeTransformerConfig) -> None:
        super().__init__()
        width, hidden = config.width, config.feed_forward * config.width
        self.heads, self.dropout = config.heads, config.dropout
        self.norm_attention, self.norm_forward = nn.LayerNorm(width), nn.LayerNorm(width)
        self.left = nn.Linear(width, 2 * width, bias=False)  # key and value of (x, a)
        self.right = nn.Linear(width, 2 * width, bias=False)  # key and value of (a, y)
        self.join = nn.Linear(width, width, bias=False)
        self.widen, self.narrow = nn.Linear(width, hidden), nn.Linear(hidden, width)
        for pair in (self.left, self.right):
            for weight in pair.weight.data.chunk(2):
                nn.init.xavier_uniform_(weight)
        for linear in (self.join, self.widen, self.narrow):
            nn.init.xavier_uniform_(linear.weight)

    def forward(self, states: Tensor, shapes: Sequence[Shape]) -> Tensor:
        """(P, E): new states of all pairs."""
        normed = self.norm_attention(states)
        return self.update(normed, self.left(normed), self.right(normed), shapes)

    def update(self, normed: Tensor, left: Tensor, right: Tensor, shapes: Sequence[Shape]) -> Tensor:
        """(N, E): new states of the pairs (x, y).

        Args:
            normed: (N, E) their states, normalised.
            left: keys and values of the pairs (x, a).
            right: keys and values of the pairs (a, y).
            shapes: how pairs lie in these, in order of graphs.
        """
        attended = self._dropped(self.join(self._attention(left, right, shapes)))
        state: Tensor = self.norm_forward(normed + attended)
        # Dropout before the ReLU is dropout behind it, with one tensor less to keep.
        hidden = torch.relu_(self._dropped(self.widen(state)))
        return state + self._dropped(self.narrow(hidden))

    def _attention(self, left: Tensor, right: Tensor, shapes: Sequence[Shape]) -> Tensor:
        """(N, E): A = softmax_a ⟨K1[x, a], K2[a, y]⟩ / √D, and Σ_a A V1[x, a] ⊙ V2[a, y]."""
        lefts = torch.split_with_sizes(left, [graphs * rows * between for graphs, rows, between, _ in shapes])
        rights = torch.split_with_sizes(
            right, [graphs * between * columns for graphs, _, between, columns in shapes]
        )
        parts = []
        for (graphs, rows, between, columns), first, second in zip(shapes, lefts, rights, strict=True):
            key_1, value_1 = first.view(graphs, rows, between, 2, self.heads, -1).unbind(3)
            key_2, value_2 = second.view(graphs, between, columns, 2, self.heads, -1).unbind(3)
            scaled = key_1 / key_1.shape[-1] ** 0.5
            logits_BHAXY = scaled.permute(0, 3, 2, 1, 4) @ key_2.permute(0, 3, 1, 4, 2)
            weight = self._dropped(logits_BHAXY.softmax(2))
            parts.append(Values.apply(weight, value_1, value_2).flatten(0, 2).flatten(1))  # type: ignore[no-untyped-call]
        return torch.cat(parts)

    def _dropped(self, values: Tensor) -> Tensor:
        return dropout(values, self.dropout, self.training)


class EdgeTransformer(Model):
    """A state for every ordered pair of nodes, refined by attention over compositions, read at the queried pair.

    The state of a pair is at first the embedding of the relation of its edge, or one of «no edge», which a node has
    with itself, too. As in the authors' code nothing marks the pair that is asked: its state after the last round
    goes to an MLP of two layers. The last round is therefore computed for that pair alone, and the one before for
    the pairs it is composed of, those with the head as first and those with the tail as second node: the same
    scores for less work. (In training these two share a pair, from which dropout leaves out other things in each.)

    As the authors' code has it, residuals add to the normalised state. Mended: it makes a layer for each round and
    uses one, and has a projection that nothing uses; neither is here. Edges between the same two nodes, of which it
    keeps the last, add their embeddings. In training, its learning rate rises for 100 steps and falls linearly:
    here by `one_cycle`; its graphs come in one order in all epochs: here in a random one.

    No graph is padded: pairs of all graphs are rows of one matrix, and attention takes graphs of one size together.
    A graph that alone takes more than 4 GB, by `EdgeTransformerConfig.least_bytes_of`, is refused: by default one
    of more than about 350 nodes.
    """

    Config = EdgeTransformerConfig
    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="cross_entropy"',
                "training.epochs=50",
                "training.batch_size=400",
                "training.learning_rate=0.001",
                'training.schedule="one_cycle"',
                "training.clip=1.0",
            )
        }
    )

    def __init__(self, relations: int, config: EdgeTransformerConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Embedding(relations + 1, config.width)  # the last: no edge
        nn.init.xavier_uniform_(self.embedding.weight)
        self.layer = Layer(config)
        self.output = nn.Sequential(
            nn.Linear(config.width, config.width), nn.ReLU(), nn.Linear(config.width, relations)
        )

    @classmethod
    def prepare(cls, data: Dataset, config: EdgeTransformerConfig) -> GraphBatch:
        """The graph work of a data set.

        Raises:
            TooLarge: a graph takes too much memory.
        """
        largest = int(data.node_count.max(initial=0))
        if config.least_bytes_of(largest) > LARGEST:
            sizes = np.arange(1, largest)
            most = int(sizes[config.least_bytes_of(sizes) <= LARGEST].max(initial=0))
            raise TooLarge(
                f"edge-transformer keeps a state for every pair of nodes: with width={config.width}, "
                f"heads={config.heads} and rounds={config.rounds} it takes graphs of up to {most} nodes, and one "
                f"here has {largest}. Leave out larger graphs, or choose a smaller width."
            )
        return prepare(data)

    def scores(self, batch: GraphBatch) -> Tensor:
        """(B, R): of every relation between head and tail; high is likely."""
        nodes = batch.node_offset.diff().long()
        order = nodes.argsort(stable=True)
        taken = self.config.bytes_of(nodes[order].cpu())
        found = []
        for first, last, kept in parts(taken):
            large = int(taken[first]) > memory.TOGETHER  # one graph, which is computed again round by round
            found.append(compute(kept or large, self._scores, batch.select(order[first:last]), not large))
        return torch.cat(found)[order.argsort()]

    def _scores(self, batch: GraphBatch, kept: bool) -> Tensor:
        """(B, R): of graphs in order of their size; unless kept, a round is computed again for its gradient."""
        pairs = Pairs(batch)
        states = self._initial(batch, pairs)
        for _ in range(self.config.rounds - 2):
            states = compute(kept, self.layer, states, pairs.shapes())
        if self.config.rounds > 1:
            states = compute(kept, self._rows_and_columns, states, pairs)
        else:
            states = torch.cat([states[pairs.row], states[pairs.column]])
        rows, columns = self.layer.norm_attention(states).chunk(2)
        left, right = self.layer.left(rows), self.layer.right(columns)
        asked = self.layer.update(rows[batch.tail.long()], left, right, pairs.shapes(rows=1, columns=1))
        found: Tensor = self.output(asked)
        return found

    def _rows_and_columns(self, states: Tensor, pairs: "Pairs") -> Tensor:
        """(2 V, E): a round for the pairs (head, v), then for the pairs (v, tail), of every node v."""
        layer, row, column = self.layer, pairs.row, pairs.column
        normed = layer.norm_attention(states)
        left, right = layer.left(normed), layer.right(normed)
        rows = layer.update(normed[row], left[row], right, pairs.shapes(rows=1))
        columns = layer.update(normed[column], left, right[column], pairs.shapes(columns=1))
        return torch.cat([rows, columns])

    def _initial(self, batch: GraphBatch, pairs: "Pairs") -> Tensor:
        """(P, E): the embeddings of edges at their pairs, of no edge elsewhere."""
        source, target, label = batch.edges()
        place = pairs.place(source, target)
        none = place.bincount(minlength=pairs.count) == 0
        states = none[:, None] * self.embedding.weight[-1]
        return states.index_add(0, place, self.embedding(label))


class Pairs:
    """Where the pairs of nodes of a batch stand: graph after graph, those of one first node together.

    Args:
        batch: graphs in order of their size.

    Attributes:
        count: P, how many there are.
        row: (V) the pairs (head, v) of every node v.
        column: (V) the pairs (v, tail) of every node v.
    """

    def __init__(self, batch: GraphBatch) -> None:
        self._nodes = batch.node_offset.diff().long()
        self._graph = batch.node_graph
        self._node_first = batch.node_offset[:-1].long()
        self._first = (self._nodes**2).cumsum(0) - self._nodes**2
        self.count = int((self._nodes**2).sum())
        sizes, counts = (found.tolist() for found in torch.unique_consecutive(self._nodes, return_counts=True))
        self._groups = list(zip(counts, sizes, strict=True))
        every = torch.arange(batch.nodes, device=self._graph.device)
        self.row = self.place(batch.head.long()[self._graph], every)
        self.column = self.place(every, batch.tail.long()[self._graph])

    def place(self, first: Tensor, second: Tensor) -> Tensor:
        """The rows of pairs of nodes."""
        graph = self._graph[first]
        start, size = self._node_first[graph], self._nodes[graph]
        return self._first[graph] + (first - start) * size + second - start

    def shapes(self, rows: int | None = None, columns: int | None = None) -> list[Shape]:
        """The shapes of the groups of one size, with all rows and columns unless their number is given."""
        return [Shape(count, rows or size, size, columns or size) for count, size in self._groups]
