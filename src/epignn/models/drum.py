"""DRUM (Sadeghian, Armandpour, Ding and Wang, 2019): rules as sums of products of relation matrices.

Axes as in `neural_lp`.
"""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.api import ModelConfig
from epignn.models.neural_lp import RuleNetwork, at_heads, moved, vectors_of_relations
from epignn.models.walked import Walked


@dataclass(frozen=True)
class DRUMConfig(ModelConfig):
    """What a DRUM is made of.

    Attributes:
        width: components of the recurrent states, each way, and of the vectors of relations that are asked.
        hops: the length of the longest rule.
        ranks: how many products are summed up.
    """

    kind: str = "drum"
    width: int = 128
    hops: int = 3
    ranks: int = 3

    def __post_init__(self) -> None:
        if min(self.width, self.hops, self.ranks) < 1:
            raise BadArgument("width, hops and ranks must be 1 or more.")


class DRUM(RuleNetwork):
    """Weights of entities, ∑_l ∏_t (∑_r a_ltr M_r + a_lt0 I) from the head, where all weight is at first.

    For each of several ranks l a recurrent net of its own runs both ways over the relation that is asked, `hops`
    times, and one linear map for all gives the attention a to relations and to standing still, so that shorter
    rules are rules, too. The weights after each step sum to 1.

    What differs from the authors' code: rules have at most 3 relations, not 2. Their loss is minus the logarithm of
    the weight of the answer; here other known answers are left out of what weights are compared with. Gradients are
    not cut off at 5. They keep a quarter of the facts for questions, once; here another quarter in every epoch, and
    30 epochs for their 10.
    """

    Config: ClassVar[type[ModelConfig]] = DRUMConfig

    def __init__(self, relations: int, config: DRUMConfig) -> None:
        super().__init__(relations, config)
        self.query = vectors_of_relations(relations, config.width)
        self.recurrent = nn.ModuleList(
            nn.LSTM(config.width, config.width, bidirectional=True) for _ in range(config.ranks)
        )
        self.attention = nn.Linear(2 * config.width, relations + 1)  # the last is for standing still
        nn.init.normal_(self.attention.weight)
        nn.init.zeros_(self.attention.bias)

    @property
    def taken(self) -> int:
        """The bytes that an edge keeps for its gradient."""
        return int(self.config.ranks) * super().taken

    def weights(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(N): see `RuleNetwork.weights`."""
        words = self.query(asked).expand(self.config.hops, -1, -1)
        found = []
        for recurrent in self.recurrent:
            attention_TPR = self.attention(recurrent(words)[0]).double().softmax(2)
            weight = at_heads(asked)
            for attention, step in zip(attention_TPR, walked, strict=True):
                weight = moved(weight, attention, step, nodes)
            found.append(weight)
        return torch.stack(found).sum(0)
