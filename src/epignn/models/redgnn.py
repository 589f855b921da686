"""RED-GNN (Zhang and Yao, 2022): states of the entities that paths from the head reach, and of no others.

Axes as in `walked`; D components of a state.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.api import ModelConfig
from epignn.models.walked import Walked, WalkingModel

ACTIVATIONS: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {"relu": torch.relu, "tanh": torch.tanh, "none": lambda value: value}
)


@dataclass(frozen=True)
class REDGNNConfig(ModelConfig):
    """What a RED-GNN is made of.

    Attributes:
        width: components of a state.
        attention: components of the attention, which decides how much a message counts.
        layers: how many edges the longest path has.
        activation: `relu`, `tanh` or `none`.
        dropout: the share of components that a training step leaves out.
    """

    kind: str = "red-gnn"
    width: int = 48
    attention: int = 5
    layers: int = 5
    activation: str = "relu"
    dropout: float = 0.2

    def __post_init__(self) -> None:
        if min(self.width, self.attention, self.layers) < 1 or not 0 <= self.dropout < 1:
            raise BadArgument("width, attention and layers must be 1 or more, dropout at least 0 and below 1.")
        if self.activation not in ACTIVATIONS:
            raise BadArgument(f"activation must be {' or '.join(ACTIVATIONS)}, not {self.activation!r}.")


class Layer(nn.Module):
    """A step: W ∑ α (h + r) over the edges that reach an entity, α by sender, relation and the relation asked."""

    def __init__(self, relations: int, config: REDGNNConfig, first: bool) -> None:
        super().__init__()
        width, attention = config.width, config.attention
        self.relation = nn.Embedding(relations + 1, width)  # the last is that of loops
        self.by_state = None if first else nn.Linear(width, attention, bias=False)  # the first state is 0
        self.by_relation = nn.Linear(width, attention, bias=False)
        self.by_question = nn.Linear(width, attention)
        self.weight = nn.Linear(attention, 1)
        self.linear = nn.Linear(width, width, bias=False)

    def forward(self, state: Tensor, asked: Tensor, walked: Walked) -> Tensor:
        """(N after, D): what entities receive, from states (N before, D), for the relations that passes ask (P)."""
        source, label, target, of_pass = walked[:4]
        vectors = self.relation.weight
        # Linear maps of states and relations are shared by all edges that have them.
        question = self.by_question(vectors[asked])[of_pass]
        hidden = self.by_relation(vectors)[label] + question
        if self.by_state is not None:
            hidden = hidden + self.by_state(state)[source]
        message = self.weight(hidden.relu()).sigmoid() * (state[source] + vectors[label])
        received = state.new_zeros(len(walked.reached), state.shape[1]).index_add(0, target, message)
        found: Tensor = self.linear(received)
        return found


def _recipes() -> dict[str, tuple[str, ...]]:
    """The authors' settings, searched for each split; what all share first."""
    rows = {
        "wn18rr:v1": (0.005, 64, 5, 0.21, "none", 5, 100),
        "wn18rr:v2": (0.0016, 48, 3, 0.02, "relu", 5, 20),
        "wn18rr:v3": (0.0014, 64, 5, 0.28, "tanh", 5, 20),
        "wn18rr:v4": (0.006, 32, 5, 0.11, "relu", 5, 10),
        "fb237:v1": (0.0092, 32, 5, 0.23, "relu", 3, 20),
        "fb237:v2": (0.0077, 48, 5, 0.3, "relu", 3, 10),
        "fb237:v3": (0.0006, 48, 3, 0.27, "relu", 3, 20),
        "fb237:v4": (0.0052, 48, 5, 0.07, "none", 5, 20),
        "nell:v1": (0.0021, 48, 5, 0.246, "relu", 5, 10),
        "nell:v2": (0.0075, 48, 5, 0.2881, "relu", 3, 100),
        "nell:v3": (0.0008, 16, 3, 0.06, "relu", 3, 10),
        "nell:v4": (0.0005, 16, 5, 0.1472, "tanh", 5, 20),
    }
    names = (
        "training.learning_rate={}", "model.width={}", "model.attention={}", "model.dropout={}",
        'model.activation="{}"', "model.layers={}", "training.batch_size={}",
    )  # fmt: skip
    special = {
        f"rank {task}": tuple(name.format(value) for name, value in zip(names, row, strict=True))
        for task, row in rows.items()
    }
    shared = (
        'objective.kind="rank-facts"',
        'objective.loss="cross_entropy"',
        "objective.negatives=0",
        "objective.asked=0.25",
        "objective.validation_triples=200",
        "training.epochs=20",
        "training.batch_size=20",
        "training.learning_rate=0.005",
    )
    return {"rank": shared, **special}


class REDGNN(WalkingModel):
    """States of what paths from the head reach, h' = GRU(δ(W ∑ α (h + r)), h), read by one linear map.

    A pass is made for every head and relation that is asked, over the edges around the head alone: entities that no
    path of so many edges reaches have no state, and the score 0. In each step an entity also sends to itself. The
    states of a step go through a gated recurrent unit whose memory is the state before it.

    What differs from the authors' code: they train on the validation triples, over the graph of all facts; here
    every epoch asks another quarter of the facts over the graph of the others, as they do where all entities are
    known, so that validation triples are left to choose the epoch by. Other known answers do not count as wrong.
    There is no decay of weights or of the learning rate, and 20 epochs do for their 50, since they are longer.
    Their loss adds vectors of different shapes, and so is as many times too large as a batch has questions: mended.
    Where parameters stop being numbers they draw new ones; here training ends with a message.
    """

    Config: ClassVar[type[ModelConfig]] = REDGNNConfig
    recipes = MappingProxyType(_recipes())

    def __init__(self, relations: int, config: REDGNNConfig) -> None:
        super().__init__(relations, config)
        self.layers = nn.ModuleList(Layer(relations, config, not number) for number in range(config.layers))
        self.dropout = nn.Dropout(config.dropout)
        self.gate = nn.GRUCell(config.width, config.width)
        self.output = nn.Linear(config.width, 1, bias=False)

    @property
    def steps(self) -> int:
        """How many edges the longest path has."""
        return int(self.config.layers)

    @property
    def taken(self) -> int:
        """The bytes that an edge keeps for its gradient."""
        return 16 * int(self.config.width)

    def at_reached(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(N): see `WalkingModel.at_reached`."""
        state = self.output.weight.new_zeros(len(asked), self.config.width)
        activate = ACTIVATIONS[self.config.activation]
        for layer, step in zip(self.layers, walked, strict=True):
            received = self.dropout(activate(layer(state, asked, step)))
            memory = torch.zeros_like(received).index_copy(0, step.stays, state)
            state = self.gate(received, memory)
        scores: Tensor = self.output(state).squeeze(1)
        return scores
