"""GNTP: greedy neural theorem provers (Minervini, Bošnjak, Rocktäschel, Riedel and Grefenstette, AAAI 2020).

Axes: N goals, K rules, D the width, U parts of walks.
"""

from dataclasses import dataclass
from functools import reduce

import torch
from torch import Tensor, nn

from epignn.errors import BadArgument
from epignn.models.prover import Prover, ProverConfig

SMALL = 0.1
"""How large the numbers of the vectors are at first."""


@dataclass(frozen=True)
class GNTPConfig(ProverConfig):
    """The settings of GNTP.

    Attributes:
        nearest: how many rules are tried for a goal, those first whose heads match it best.
    """

    rules: int = 200
    nearest: int = 8

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.nearest <= self.rules:
            raise BadArgument(f"model.nearest must be between 1 and model.rules, {self.rules}, not {self.nearest}.")


class GNTP(Prover):
    """A prover with a fixed number of rules, head ← first, second, whose three vectors are learnt.

    A rule proves a goal at most as well as its head matches the goal. The rules whose heads match best are tried.
    Of all these rules, of all splits of a walk and of all walks of a graph, the best proof counts.

    What differs from the authors' code: entities are the same or not, so that a goal of one edge has one fact to
    match, and there is no search for the nearest facts; Adam replaces Adagrad; all vectors are small at first, and
    those of rules lie around those of relations, without which few rules are ever used. Width, rate and epochs are
    those of our CTP.
    """

    Config = GNTPConfig

    def __init__(self, relations: int, config: GNTPConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Parameter(SMALL * self.embedding.detach())
        self.head = self._around(torch.arange(config.rules) % relations)
        self.body = self._around(torch.randint(relations, (config.rules, 2)))

    def _around(self, relation: Tensor) -> nn.Parameter:
        """Vectors that lie around those of some relations."""
        centre = self.embedding.detach()[relation]
        return nn.Parameter(centre + SMALL / 2 * torch.randn_like(centre))

    def bodies(self, goals_ND: Tensor) -> Tensor:
        """(K, 2, D): the same for all goals."""
        return self.body

    def best(self, goals_ND: Tensor, body_UM: Tensor) -> Tensor:
        """(U, N): the best of the rules whose heads are nearest to each goal."""
        match_Nk, rule_Nk = self.match(goals_ND, self.head).topk(self.config.nearest, 1)
        tried = (torch.minimum(match, body_UM[:, rule]) for match, rule in zip(match_Nk.T, rule_Nk.T, strict=True))
        return reduce(torch.maximum, tried)

    def growth(self) -> int:
        """The next level is the same for all goals."""
        return 0
