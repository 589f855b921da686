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
from torch.nn.utils.rnn import pack_padded_sequence

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.triples import Triples, triples
from epignn.models.walks import Walks, walks

Network = nn.RNN | nn.LSTM | nn.GRU
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


def last_states(network: Network, input_GLD: Tensor, length_G: Tensor) -> Tensor:
    """(G, D), or (G, 2D) in both directions: the state of a network when it has read each sequence.

    What stands behind the end of a sequence is not read. Where there is nothing to read, the state stays at its
    initial zeros.
    """
    if not input_GLD.shape[1]:
        input_GLD = input_GLD.new_zeros(len(input_GLD), 1, input_GLD.shape[2])
    at_least_1 = length_G.clamp(min=1).cpu()  # torch packs no empty sequence: those read a token, forgotten below
    packed = pack_padded_sequence(input_GLD, at_least_1, batch_first=True, enforce_sorted=False)
    last = network(packed)[1]
    state = last[0] if isinstance(network, nn.LSTM) else last  # (directions, G, D)
    read: Tensor = state.transpose(0, 1).flatten(1) * (length_G > 0).to(state.dtype)[:, None]
    return read


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
        relation_GL = batch.relation.clamp(min=0)
        scores: Tensor = self.output(last_states(self.encoder, self.embedding(relation_GL), batch.length))
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
        self.encoder = self.network(config.width, config.width, batch_first=True, bidirectional=True)
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
        codes = (
            last_states(self.encoder, self.embedding(story_GL), 3 * batch.length),
            last_states(self.encoder, self.embedding(query_G2), torch.full_like(batch.length, 2)),
        )
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
