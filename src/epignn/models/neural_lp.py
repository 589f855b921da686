"""Neural LP (Yang, Yang and Cohen, 2017): rules as attention over the matrices of relations, step by step.

Axes are named P passes (one for every head and relation that is asked), V entities, E edges, R relations with their
inverses, T steps, H components of a recurrent state, Q questions, C candidates.
"""

from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.links import Questions
from epignn.models.memory import compute, parts

SMALLEST = 1e-20
"""Of weights of entities, where logarithms and quotients are cut off. Their gradients exceed single precision, so
that weights are double."""


@dataclass(frozen=True)
class NeuralLPConfig(ModelConfig):
    """What a Neural LP is made of.

    Attributes:
        width: components of the recurrent states, and of the vectors of relations that are asked.
        hops: the length of the longest rule.
    """

    kind: str = "neural-lp"
    width: int = 128
    hops: int = 3

    def __post_init__(self) -> None:
        if min(self.width, self.hops) < 1:
            raise BadArgument(f"width and hops must be 1 or more, not {self.width} and {self.hops}.")


class Matrices(NamedTuple):
    """The matrices of all relations, as edges.

    Attributes:
        source, target, label: (E) the edges; inverses are among them.
        stays: (E, P) 1 where a pass may use an edge, 0 where not; None if all may use all.
        nodes: how many entities there are.
    """

    source: Tensor
    target: Tensor
    label: Tensor
    stays: Tensor | None
    nodes: int

    def step(self, weight_VP: Tensor, attention_PR: Tensor) -> Tensor:
        """(V, P): ∑_r a_r M_r x, normed: the share of each entity after one step along relations of some attention.

        Args:
            weight_VP: the share of each entity before it.
            attention_PR: of every relation.
        """
        moved = weight_VP.index_select(0, self.source) * attention_PR.T.index_select(0, self.label)
        if self.stays is not None:
            moved = moved * self.stays
        return torch.zeros_like(weight_VP).index_add(0, self.target, moved)


def normed(weight_VP: Tensor) -> Tensor:
    """The same shares with the sum 1 in each pass, or 0 where nothing is reached."""
    return weight_VP / weight_VP.sum(0).clamp_min(SMALLEST)


class RuleNetwork(Model):
    """What Neural LP and DRUM share: a pass gives each entity the weight of the rules that lead to it.

    The score is the logarithm of that weight.
    """

    attention: nn.Linear
    recipes = MappingProxyType(
        {
            "rank": (
                'objective.kind="rank-facts"',
                'objective.loss="cross_entropy"',
                "objective.negatives=0",
                "objective.asked=0.25",
                "objective.validation_triples=200",
                "training.epochs=30",
                "training.batch_size=64",
                "training.learning_rate=0.001",
            ),
        }
    )

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates; a pass for every head and relation that is asked."""
        edges, nodes = questions.edges, len(questions.edges.offset) - 1
        place, relation, pass_of = questions.passes()
        target = np.repeat(np.arange(nodes), np.diff(edges.offset))
        source, to, label = (
            torch.from_numpy(part.astype(np.int64)).to(self.device) for part in (edges.source, target, edges.label)
        )
        stays = None
        if len(questions.heads.left_out):
            stays = torch.from_numpy(questions.open_edges(place).T).to(self.device, torch.float64)
        heads = torch.from_numpy(questions.heads.head[place].astype(np.int64)).to(self.device)
        asked, found = torch.from_numpy(relation).to(self.device), []
        for first, last, kept in parts(torch.full((len(place),), self.taken(len(edges.source), nodes))):
            own = None if stays is None else stays[:, first:last]
            matrices = Matrices(source, to, label, own, nodes)
            found.append(compute(kept, self.weights, matrices, heads[first:last], asked[first:last]))
        scores = torch.cat(found, 1).clamp_min(SMALLEST).log().to(self.attention.weight.dtype)
        candidate, number = (torch.from_numpy(part).to(self.device) for part in (questions.candidate, pass_of))
        return scores[candidate, number[:, None]]

    def taken(self, edges: int, nodes: int) -> int:
        """The bytes that a pass keeps for its gradient."""
        return 8 * int(self.config.hops) * (3 * edges + 4 * nodes)

    def weights(self, matrices: Matrices, heads: Tensor, asked: Tensor) -> Tensor:
        """(V, P): of every entity, for passes from heads (P) that ask relations (P)."""
        raise NotImplementedError


def at_heads(matrices: Matrices, heads: Tensor) -> Tensor:
    """(V, P): all weight at the head of each pass."""
    start = torch.zeros(matrices.nodes, len(heads), dtype=torch.float64, device=heads.device)
    start[heads, torch.arange(len(heads), device=heads.device)] = 1
    return start


def vectors_of_relations(count: int, width: int) -> nn.Embedding:
    """Vectors of length 1."""
    found = nn.Embedding(count, width)
    with torch.no_grad():
        found.weight.uniform_(-1, 1)
        found.weight /= found.weight.norm(dim=1, keepdim=True)
    return found


class NeuralLP(RuleNetwork):
    """Weights of entities, x_t = ∑_r a_tr M_r (∑_s b_ts x_s), from the head, where all weight is at first.

    A recurrent net over the relation that is asked, `hops` times, and over an end token gives the attention a to
    relations in each step, and b to the weights after all steps before, so that shorter rules are rules, too. The
    weights after each step sum to 1.

    What differs from the authors' code: rules have at most 3 relations, not 2. Their loss is minus the logarithm of
    the weight of the answer; here other known answers are left out of what weights are compared with. Gradients are
    not cut off at 5. They keep a quarter of the facts for questions, once; here another quarter in every epoch, and
    30 epochs for their 10.
    """

    Config: ClassVar[type[ModelConfig]] = NeuralLPConfig

    def __init__(self, relations: int, config: NeuralLPConfig) -> None:
        super().__init__(relations, config)
        self.query = vectors_of_relations(relations + 1, config.width)  # the last is the end token
        self.recurrent = nn.LSTM(config.width, config.width)
        self.attention = nn.Linear(config.width, relations)
        nn.init.normal_(self.attention.weight)
        nn.init.zeros_(self.attention.bias)

    def weights(self, matrices: Matrices, heads: Tensor, asked: Tensor) -> Tensor:
        """(V, P): see `RuleNetwork.weights`."""
        end = torch.full_like(asked, self.relations)
        states_TPH, _ = self.recurrent(self.query(torch.stack([asked] * self.config.hops + [end])))
        memories = [at_heads(matrices, heads)]
        for step, state in enumerate(states_TPH):
            likeness = torch.einsum("ph,tph->pt", state, states_TPH[: step + 1])
            read = torch.einsum("pt,tvp->vp", likeness.double().softmax(1), torch.stack(memories))
            if step == self.config.hops:
                return read
            memories.append(normed(matrices.step(read, self.attention(state).double().softmax(1))))
        raise AssertionError("the last step reads")
