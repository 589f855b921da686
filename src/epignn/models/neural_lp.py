"""Neural LP (Yang, Yang and Cohen, 2017): rules as attention over the matrices of relations, step by step.

Axes as in `walked`; R relations with their inverses, T steps, H components of a recurrent state.
"""

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar

import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.api import ModelConfig
from epignn.models.walked import Walked, WalkingModel

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


def moved(weight: Tensor, attention_PR: Tensor, step: Walked, nodes: int) -> Tensor:
    """(N after): the shares of entities after a step along relations of some attention, of sum 1 in each pass.

    They are 0 where nothing is reached.

    Args:
        weight: (N before) the share of each entity before it.
        attention_PR: of every relation, and last of standing still.
        step: the edges that passes may walk.
        nodes: how many entities the graph has.
    """
    edge = step.of_pass * attention_PR.shape[1] + step.label
    along = weight.index_select(0, step.source) * attention_PR.reshape(-1).index_select(0, edge)
    after = weight.new_zeros(len(step.reached)).index_add(0, step.target, along)
    of_pass = step.reached // nodes
    total = weight.new_zeros(len(attention_PR)).index_add(0, of_pass, after)
    return after / total.clamp_min(SMALLEST).index_select(0, of_pass)


class RuleNetwork(WalkingModel):
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

    unreached = math.log(SMALLEST)

    @property
    def steps(self) -> int:
        """How many edges the longest path has."""
        return int(self.config.hops)

    @property
    def taken(self) -> int:
        """The bytes that an edge keeps for its gradient."""
        return 3 * 8

    def at_reached(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(N): see `WalkingModel.at_reached`."""
        return self.weights(walked, asked, nodes).clamp_min(SMALLEST).log().to(self.attention.weight.dtype)

    def weights(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(N): of every entity that is reached, for passes that ask relations (P)."""
        raise NotImplementedError


def at_heads(asked: Tensor) -> Tensor:
    """(P): all weight at the head of each pass, the one entity that it has reached."""
    return torch.ones(len(asked), dtype=torch.float64, device=asked.device)


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

    def weights(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(N): see `RuleNetwork.weights`."""
        end = torch.full_like(asked, self.relations)
        states_TPH, _ = self.recurrent(self.query(torch.stack([asked] * self.config.hops + [end])))
        memories, of_pass = at_heads(asked)[None], torch.arange(len(asked), device=asked.device)
        for number, state in enumerate(states_TPH):
            likeness = torch.einsum("ph,tph->tp", state, states_TPH[: number + 1]).double().softmax(0)
            read = (likeness.index_select(1, of_pass) * memories).sum(0)
            if number == self.config.hops:
                return read
            step, of_pass = walked[number], walked[number].reached // nodes
            attention = nn.functional.pad(self.attention(state).double().softmax(1), (0, 1))  # nothing stands still
            earlier = memories.new_zeros(len(memories), len(of_pass)).index_copy(1, step.stays, memories)
            memories = torch.cat([earlier, moved(read, attention, step, nodes)[None]])
        raise AssertionError("the last step reads")
