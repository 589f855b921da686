"""An EpiGNN beside its rules: states tell what may hold, rules what follows, and only their scores meet.

Where several rules have the same body, or most ways through a graph lead astray, one state for each node cannot
tell which way counts; the rules distilled from the same model can. Where rules leave several answers, or none, the
states decide.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import torch
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.distil.choose import Derivations
from epignn.distil.rules import Rule, RuleSet
from epignn.errors import BadArgument
from epignn.models.api import Model
from epignn.models.epignn import EpiGNN, EpiGNNConfig

NO_RULE = 1e-3
"""The strength that stands for none, where rules do not derive an answer."""
TRUSTS = (0.0, 1.0, 3.0, 10.0, 30.0, 100.0)
"""How much rules may count; validation chooses, and of equals the largest, since rules hold for walks of any
length."""


@dataclass(frozen=True, eq=False)
class RuledBatch:
    """Graphs twice: as states read them, and as rules do."""

    graphs: Any
    data: Dataset

    def __len__(self) -> int:
        return len(self.data)

    @property
    def label(self) -> Tensor:
        """(G) the right answers."""
        label: Tensor = self.graphs.label
        return label

    def select(self, graphs: Tensor) -> "RuledBatch":
        """Some of the graphs, in the given order."""
        return RuledBatch(self.graphs.select(graphs), self.data.select(graphs.cpu().numpy()))

    def slice(self, first: int, last: int) -> "RuledBatch":
        """The graphs from `first` up to `last`."""
        return RuledBatch(self.graphs.slice(first, last), self.data.select(np.arange(first, last)))

    def chunks(self, size: int) -> Iterator["RuledBatch"]:
        """Consecutive parts of at most `size` graphs, fewer where memory would run short."""
        first = 0
        for part in self.graphs.chunks(size):
            yield RuledBatch(part, self.data.select(np.arange(first, first + len(part))))
            first += len(part)

    def to(self, device: torch.device | str) -> "RuledBatch":
        """The same graphs on another device; rules reason where they are."""
        return RuledBatch(self.graphs.to(device), self.data)


@dataclass(frozen=True)
class WalksConfig(EpiGNNConfig):
    """The settings of an EpiGNN beside its rules: those of the EpiGNN."""

    kind: str = "epignn-walks"


class EpiGNNWalks(Model):
    """Scores of an EpiGNN plus the logarithms of how strongly its rules derive an answer.

    It is not trained: `epignn refine` makes it of a trained model.
    """

    Config = WalksConfig
    grown: ClassVar[tuple[str, ...]] = ("rule", "weight")
    rule: Tensor
    weight: Tensor
    trust: Tensor

    def __init__(self, relations: int, config: WalksConfig) -> None:
        super().__init__(relations, config)
        self.epignn = EpiGNN(relations, config)
        self.register_buffer("rule", torch.empty(0, 3, dtype=torch.int64))  # left, right, head
        self.register_buffer("weight", torch.empty(0, dtype=torch.float64))
        self.register_buffer("trust", torch.zeros(()))
        self._derivations: Derivations | None = None  # made when it is asked for

    @classmethod
    def prepare(cls, data: Dataset, config: Any) -> RuledBatch:
        """The graph work of the states; the rules have none."""
        return RuledBatch(EpiGNN.prepare(data, config), data)

    @classmethod
    def admit(cls, objective: Any, config: Any) -> None:
        """It is not trained.

        Raises:
            BadArgument: always.
        """
        raise BadArgument(
            "epignn-walks is not trained: `epignn refine RUN --out RUN2` makes it of a trained model and its rules."
        )

    @classmethod
    def of(cls, model: EpiGNN, config: WalksConfig, rules: RuleSet, trust: float = 0.0) -> Self:
        """A model beside rules over its relations."""
        made = cls(model.relations, config)
        made.load_state_dict(
            {
                **{f"epignn.{name}": value for name, value in model.state_dict().items()},
                "rule": torch.tensor([(r.left, r.right, r.head) for r in rules.rules]).view(-1, 3),
                "weight": torch.tensor([r.weight for r in rules.rules], dtype=torch.float64),
                "trust": torch.tensor(trust),
            }
        )
        return made.to(model.device)

    def _rules(self, relations: tuple[str, ...]) -> RuleSet:
        """Its rules, over relations of such names; relations that they invent have numbers for names."""
        last = int(self.rule.max()) if len(self.rule) else 0
        found = zip(self.rule.tolist(), self.weight.tolist(), strict=True)
        return RuleSet(
            (*relations, *(f" {number}" for number in range(self.relations, last + 1))),
            self.relations,
            tuple(Rule(left, right, head, weight) for (left, right, head), weight in found),
        )

    def scores(self, batch: RuledBatch) -> Tensor:
        """(B, R): minus the cross-entropy of the states, and what rules add to it."""
        learnt = self.epignn.scores(batch.graphs)
        if not self.trust:
            return learnt
        return learnt + self.trust * self.derived(batch.data).to(learnt)

    def derived(self, data: Dataset) -> Tensor:
        """(B, R): the logarithm of how strongly each answer is derived."""
        if self._derivations is None or self._derivations.rules.relations[: self.relations] != data.relations:
            self._derivations = Derivations(self._rules(data.relations))
        return torch.from_numpy(self._derivations.strengths(data) + NO_RULE).log()

    @torch.no_grad()
    def choose(self, valid: Dataset) -> float:
        """Let validation graphs choose how much the rules count; returns the share of them that is then right."""
        if not len(valid):
            self.trust.fill_(TRUSTS[-1])
            return 0.0
        parts = self.prepare(valid, self.config).to(self.device).chunks(512)
        learnt = torch.cat([self.epignn.scores(part.graphs).cpu() for part in parts])
        derived, label = self.derived(valid), torch.from_numpy(valid.label.astype(np.int64))
        right = [float(((learnt + trust * derived).argmax(1) == label).double().mean()) for trust in TRUSTS]
        best = max(range(len(TRUSTS)), key=lambda number: (right[number], number))
        self.trust.fill_(TRUSTS[best])
        return right[best]
