"""RED-GNN (Zhang and Yao, 2022): states of the entities that paths from the head reach, and of no others.

Axes are named P passes (one for every head and relation that is asked), N entities that are reached in some pass,
E edges that are walked, D components of a state, Q questions, C candidates.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from epignn.data.dataset import offsets
from epignn.data.graph import Edges, Ints
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.links import Questions
from epignn.models.memory import compute, parts

Longs = NDArray[np.int64]
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


class Walked(NamedTuple):
    """One step of all passes, from the entities that each has reached to those that it reaches next.

    Attributes:
        source, label, target: (E) edges, by the places of entities before and after the step; a loop at each entity
            has the label 2R.
        of_pass: (E) the pass of each edge.
        stays: (N before) where the entities reached before stand after it.
        reached: (N after) entities, as numbers pass · V + entity.
    """

    source: Longs
    label: Longs
    target: Longs
    of_pass: Longs
    stays: Longs
    reached: Longs


def walk(edges: Edges, heads: Ints, open_edges: NDArray[np.bool_], steps: int, relations: int) -> list[Walked]:
    """The steps of passes from some heads, each over the edges that are open to it (P, E)."""
    nodes, degree = len(edges.offset) - 1, np.diff(edges.offset)
    reached = np.arange(len(heads)) * nodes + heads
    found = []
    for _ in range(steps):
        of_pass, entity = np.divmod(reached, nodes)
        count = degree[entity]
        source = np.repeat(np.arange(len(reached)), count)
        edge = np.repeat(edges.offset[entity] - offsets(count)[:-1], count) + np.arange(len(source))
        stays = open_edges[of_pass[source], edge]
        source, edge = source[stays], edge[stays]
        # What leads into an entity leads, as its inverse, out of it.
        target = of_pass[source] * nodes + edges.source[edge]
        inverse = (edges.label[edge].astype(np.int64) + relations // 2) % relations
        source = np.concatenate([source, np.arange(len(reached))])
        label = np.concatenate([inverse, np.full(len(reached), relations)])
        target = np.concatenate([target, reached])
        mark = np.zeros(len(heads) * nodes, dtype=bool)
        mark[target] = True
        place = np.cumsum(mark) - 1
        found.append(
            Walked(source, label, place[target], of_pass[source], place[reached], after := np.flatnonzero(mark))
        )
        reached = after
    return found


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
        source, label, target, of_pass = (torch.from_numpy(part).to(state.device) for part in walked[:4])
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


class REDGNN(Model):
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

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates; a pass for every head and relation that is asked."""
        edges, nodes = questions.edges, len(questions.edges.offset) - 1
        place, relation, pass_of = questions.passes()
        heads, stays = questions.heads.head[place], questions.open_edges(place)
        walked = self._walk(edges, heads, stays)
        taken = sum(torch.from_numpy(step.of_pass).bincount(minlength=len(heads)) for step in walked)
        found = []
        for first, last, kept in parts(16 * self.config.width * torch.as_tensor(taken)):
            whole = last - first == len(heads)
            own = walked if whole else self._walk(edges, heads[first:last], stays[first:last])
            asked = torch.from_numpy(relation[first:last]).to(self.device)
            found.append(compute(kept, self._scored, own, asked, nodes))
        scores = torch.cat(found)
        return scores[torch.from_numpy(pass_of[:, None]), torch.from_numpy(questions.candidate)]

    def _walk(self, edges: Edges, heads: Ints, stays: NDArray[np.bool_]) -> list[Walked]:
        return walk(edges, heads, stays, self.config.layers, self.relations)

    def _scored(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(P, V): the score of every entity in every pass."""
        state = self.output.weight.new_zeros(len(asked), self.config.width)
        activate = ACTIVATIONS[self.config.activation]
        for layer, step in zip(self.layers, walked, strict=True):
            received = self.dropout(activate(layer(state, asked, step)))
            memory = torch.zeros_like(received).index_copy(0, torch.from_numpy(step.stays).to(state.device), state)
            state = self.gate(received, memory)
        reached = torch.from_numpy(walked[-1].reached).to(state.device)
        scores = state.new_zeros(len(asked) * nodes).index_copy(0, reached, self.output(state).squeeze(1))
        return scores.view(len(asked), nodes)
