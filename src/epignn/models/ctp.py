"""CTP: conditional theorem provers (Minervini, Riedel, Stenetorp, Grefenstette and Rocktäschel, ICML 2020).

Axes: N goals, K rules of a goal, D the width, R relations, S rules in memory, U parts of walks.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from epignn.models.prover import Prover, ProverConfig


class CTP(Prover):
    """A prover that makes the rules for a goal out of the goal: `rules` pairs of subgoals for each.

    CTP-L, CTP-A and CTP-M differ in how. Of all rules, of all splits of a walk and of all walks of a graph, the
    best proof counts.

    What differs from the authors' code: entities are the same or not, and every split of a walk is tried (they
    have random vectors for entities, and go on with the five that match best); Adam replaces Adagrad; there are no
    rules of one subgoal. They have 20 numbers a relation, three rules (CTP-L) or four (CTP-M) and 5 epochs; 50, 5
    and 15 do better on walks longer than those of training. Depth 2 in training and 4 otherwise are theirs. The
    subgoals of a goal are the same for all walks, so the tree of goals is made once for a batch: 30 minutes,
    after which the paper that set these provers beside EpiGNN gave up, are not reached.
    """

    Config = ProverConfig

    def subgoals(self, goals_ND: Tensor) -> Tensor:
        """(N, K, 2, D): what to prove instead of each goal."""
        raise NotImplementedError

    def bodies(self, goals_ND: Tensor) -> Tensor:
        """(N·K, 2, D): each goal has rules of its own."""
        return self.subgoals(goals_ND).flatten(0, 1)

    def best(self, goals_ND: Tensor, body_UM: Tensor) -> Tensor:
        """(U, N): the best of the rules of each goal."""
        return body_UM.reshape(len(body_UM), len(goals_ND), self.config.rules).amax(2)

    def growth(self) -> int:
        """Two subgoals for each rule."""
        return 2 * int(self.config.rules)


class LinearCTP(CTP):
    """CTP-L: a subgoal is an affine map of the goal."""

    def __init__(self, relations: int, config: ProverConfig) -> None:
        super().__init__(relations, config)
        self.maps = nn.Linear(config.width, config.rules * 2 * config.width)

    def subgoals(self, goals_ND: Tensor) -> Tensor:
        """(N, K, 2, D): see `CTP`."""
        mapped: Tensor = self.maps(goals_ND)
        return mapped.reshape(len(goals_ND), self.config.rules, 2, self.config.width)


class AttentiveCTP(CTP):
    """CTP-A: a subgoal is a mixture of the relations' embeddings; an affine map of the goal gives their shares."""

    def __init__(self, relations: int, config: ProverConfig) -> None:
        super().__init__(relations, config)
        self.shares = nn.Linear(config.width, config.rules * 2 * relations)

    def subgoals(self, goals_ND: Tensor) -> Tensor:
        """(N, K, 2, D): see `CTP`."""
        share: Tensor = self.shares(goals_ND).reshape(len(goals_ND), self.config.rules, 2, self.relations)
        return share.softmax(3) @ self.embedding


@dataclass(frozen=True)
class MemoryConfig(ProverConfig):
    """The settings of CTP-M.

    Attributes:
        memory: how many rules are kept; the rules of a goal are mixtures of them.
    """

    memory: int = 256


class MemoryCTP(CTP):
    """CTP-M: the two subgoals of a rule are one mixture of the rules in a memory; the goal gives their shares."""

    Config = MemoryConfig

    def __init__(self, relations: int, config: MemoryConfig) -> None:
        super().__init__(relations, config)
        self.memory = nn.Parameter(torch.randn(config.memory, 2, config.width))
        self.shares = nn.Linear(config.width, config.rules * config.memory)

    def subgoals(self, goals_ND: Tensor) -> Tensor:
        """(N, K, 2, D): see `CTP`."""
        share: Tensor = self.shares(goals_ND).reshape(len(goals_ND), self.config.rules, self.config.memory)
        return torch.einsum("nks,sjd->nkjd", share.softmax(2), self.memory)
