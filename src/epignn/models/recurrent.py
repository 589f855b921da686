"""Recurrent networks as reasoners: over the relations of a path, and over all facts of a graph.

The rows RNN, LSTM and GRU of the paper's tables are taken from Minervini et al. (Learning Reasoning Strategies in
End-to-End Differentiable Proving, 2020). The paper describes them as networks that read the relations of a path
from head to tail: `rnn`, `lstm` and `gru` here. The code of Minervini et al. has networks that read all facts of a
graph, with a token for each entity: `rnn-triples`, `lstm-triples` and `gru-triples`.

Axes: G graphs, E facts, L tokens of the longest sequence, D width.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.triples import Triples, triples
from epignn.models.walks import Walks, walks

Network = nn.RNN | nn.LSTM | nn.GRU
STEPS = 16
"""So many steps are read in one call. Torch goes back through a step at the cost of all steps of its call, so that
one call for long sequences takes three times as long (graphs of up to 100 facts)."""
RECIPES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "classify": (
            'objective.loss="cross_entropy"',
            "training.learning_rate=0.001",
            "training.epochs=100",
            "training.batch_size=100",
        )
    }
)


def last_states(network: Network, embedding: nn.Embedding, token_GL: Tensor, length_G: Tensor) -> Tensor:
    """(G, D): the state of a network when it has read each sequence, from its first token to its last.

    What stands behind the end of a sequence is not read. Where there is nothing to read, the state stays at its
    initial zeros.
    """
    order = length_G.argsort(descending=True, stable=True)  # so those that have not ended are the first
    token_GL, length = token_GL[order], length_G[order].cpu()
    lstm = isinstance(network, nn.LSTM)  # it has two states, of which the first is seen from outside
    state = torch.zeros(1 + lstm, len(order), network.hidden_size).to(embedding.weight)
    for first in range(0, max(length.tolist(), default=0), STEPS):
        reading = int((length > first).sum())
        window = token_GL[:reading, first : first + STEPS], (length[:reading] - first).clamp(max=STEPS)
        packed = pack_padded_sequence(*window, batch_first=True)
        before = state[:, :reading]
        read = PackedSequence(embedding(packed.data), packed.batch_sizes)
        last = network(read, before.chunk(2) if lstm else before)[1]
        state = torch.cat([torch.cat(last) if lstm else last, state[:, reading:]], 1)
    return state[0, order.argsort()]


def turned_round(token_GL: Tensor, length_G: Tensor) -> Tensor:
    """(G, L): each sequence from its last token to its first."""
    place = length_G[:, None] - 1 - torch.arange(token_GL.shape[1], device=token_GL.device)
    return token_GL.gather(1, place.clamp(min=0))


@dataclass(frozen=True)
class PathConfig(ModelConfig):
    """The settings of a network over a path.

    Attributes:
        width: components of the embedding of a relation, and of the state.
    """

    width: int = 100

    def __post_init__(self) -> None:
        if self.width < 1:
            raise BadArgument(f"width must be 1 or more, not {self.width}.")


class OverPath(Model):
    """Reads the relations of a shortest path from head to tail; a linear layer scores its last state.

    Of several shortest paths the first found is read, always the same. The other paths are not seen.
    """

    Config: ClassVar[type[ModelConfig]] = PathConfig
    recipes = RECIPES
    network: ClassVar[type[Network]]

    def __init__(self, relations: int, config: PathConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Embedding(relations, config.width)
        self.encoder = self.network(config.width, config.width, batch_first=True)
        self.output = nn.Linear(config.width, relations)

    @classmethod
    def prepare(cls, data: Dataset, config: PathConfig) -> Walks:
        """One walk of each graph."""
        return walks(data, 1)

    def scores(self, batch: Walks) -> Tensor:
        """(G, R): see `Model.scores`."""
        state = last_states(self.encoder, self.embedding, batch.relation, batch.length)
        scores: Tensor = self.output(state)
        return scores


class RNN(OverPath):
    """Elman's network with tanh, over a path."""

    network = nn.RNN


class LSTM(OverPath):
    """Long short-term memory, over a path."""

    network = nn.LSTM


class GRU(OverPath):
    """Gated recurrent units, over a path."""

    network = nn.GRU


@dataclass(frozen=True)
class TriplesConfig(PathConfig):
    """The settings of a network over all facts.

    Attributes:
        width: components of the embedding of a token, and of the state in each direction.
        entities: how many entities there are tokens for; graphs of more are refused.
    """

    entities: int = 512

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.entities < 2:
            raise BadArgument(f"entities must be 2 or more, not {self.entities}.")


class OverTriples(Model):
    """Reads source, relation and target of one fact after the other, in both directions.

    The same network then reads the query, tokens of head and tail, and a linear layer scores the last states of
    both. Entities and relations share one table of embeddings. The order is that of `epignn.models.triples`.

    In training, every graph draws the tokens of its entities at random from all that there are, anew in each step,
    so that tokens which only larger graphs need are trained as well; otherwise entity number i has token i. What
    differs from the authors' code: there, entities are numbered by the order of their names, and tokens that no
    training graph needs stay at their initial values; facts stand in the order of the file; what fills up shorter
    graphs is read; and the linear layer, made after the optimiser, is never trained.
    """

    Config: ClassVar[type[ModelConfig]] = TriplesConfig
    recipes = RECIPES
    network: ClassVar[type[Network]]

    def __init__(self, relations: int, config: TriplesConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Embedding(config.entities + relations, config.width)
        self.ahead = self.network(config.width, config.width, batch_first=True)
        self.back = self.network(config.width, config.width, batch_first=True)
        self.output = nn.Linear(4 * config.width, relations)

    @classmethod
    def prepare(cls, data: Dataset, config: TriplesConfig) -> Triples:
        """All facts in order.

        Raises:
            BadArgument: a graph has more entities than there are tokens.
        """
        return triples(data, config.entities)

    def scores(self, batch: Triples) -> Tensor:
        """(G, R): see `Model.scores`."""
        story_GL, query_G2 = self.tokens(batch)
        codes = [
            last_states(network, self.embedding, token_GL, length_G)
            for tokens, length_G in ((story_GL, 3 * batch.length), (query_G2, torch.full_like(batch.length, 2)))
            for network, token_GL in ((self.ahead, tokens), (self.back, turned_round(tokens, length_G)))
        ]
        scores: Tensor = self.output(torch.cat(codes, 1))
        return scores

    def tokens(self, batch: Triples) -> tuple[Tensor, Tensor]:
        """(G, L) the facts, and (G, 2) the query, as tokens: entities first, then relations."""
        count, graph_E = self.config.entities, batch.graph
        if self.training:
            token = torch.rand(len(batch), count).argsort(1).to(self.device)
        else:
            token = torch.arange(count, device=self.device).expand(len(batch), count)
        source, relation, target = batch.fact.T
        fact_E3 = torch.stack([token[graph_E, source], relation + count, token[graph_E, target]], 1)
        place = torch.arange(len(graph_E), device=self.device) - batch.offset[graph_E]
        story = fact_E3.new_zeros(len(batch), int(batch.length.max()), 3)
        story[graph_E, place] = fact_E3
        return story.flatten(1), token.gather(1, batch.query)


class RNNTriples(OverTriples):
    """Elman's network with tanh, over all facts."""

    network = nn.RNN


class LSTMTriples(OverTriples):
    """Long short-term memory, over all facts."""

    network = nn.LSTM


class GRUTriples(OverTriples):
    """Gated recurrent units, over all facts."""

    network = nn.GRU
