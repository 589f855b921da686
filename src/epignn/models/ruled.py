"""EpiGNN beside path rules, for links: what follows from states, and what paths have shown by themselves.

Both are learnt from the same graph, each alone; only their scores meet.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from torch import Tensor

from epignn.data.graph import Edges, Graph, Ints
from epignn.errors import BadArgument
from epignn.models.api import Model, Scorer, Scores
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.models.links import Questions
from epignn.models.rules import Rules, RulesConfig

NO_RULE = 1e-3
"""The confidence that stands for none, where no rule leads to an entity."""


@dataclass(frozen=True)
class RuledConfig(EpiGNNConfig):
    """The settings of an EpiGNN for links, and of the rules beside it.

    Attributes:
        trust: how much the rules count in a score, by the logarithm of their confidence; 0 is the EpiGNN by itself.
        hops: the length of the longest path of a rule.
        support: a rule is used if it holds for at least so many pairs.
        unseen: how many pairs are added to those for which a rule fails, so that rare rules are trusted less.
    """

    kind: str = "epignn-rules"
    forward_only: bool = True
    trust: float = 1.0
    hops: int = 3
    support: int = 2
    unseen: float = 5.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.trust < float("inf"):
            raise BadArgument(f"trust must be 0 or more, not {self.trust}.")
        self.rules  # noqa: B018 - refuses what rules cannot have

    @property
    def rules(self) -> RulesConfig:
        """The settings of the rules."""
        return RulesConfig(hops=self.hops, support=self.support, unseen=self.unseen)


class EpiGNNRules(EpiGNN):
    """Scores of an EpiGNN, which are logarithms of probabilities, plus the logarithm of the confidence of rules.

    The EpiGNN is trained as without rules; these are counted once, before its first epoch.
    """

    Config = RuledConfig
    grown: ClassVar[tuple[str, ...]] = tuple(f"rules.{name}" for name in Rules.grown)

    def __init__(self, relations: int, config: RuledConfig) -> None:
        super().__init__(relations, config)
        self.config: RuledConfig = config
        self.rules = Rules(relations, config.rules)

    def count(self, graphs: Iterable[Edges], epoch: int) -> float:
        """Count the rules."""
        return self.rules.count(graphs, epoch)

    def scores(self, batch: Any) -> Tensor:
        """Graphs are not classified."""
        return Model.scores(self, batch)

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates."""
        return super().rank(questions) + self.config.trust * (self.rules.rank(questions) + NO_RULE).log()

    def scorer(self, graph: Graph) -> Scorer:
        """All entities of a graph: one pass a head, and its walks."""
        return RuledScorer(super().scorer(graph), self.rules.scorer(graph), self.config.trust)

    def pruned_scorer(self, graph: Graph, share: float) -> Scorer:
        """The same by pruned passes; walks are never pruned."""
        return RuledScorer(super().pruned_scorer(graph, share), self.rules.scorer(graph), self.config.trust)


class RuledScorer:
    """The scores of both."""

    def __init__(self, passes: Scorer, rules: Scorer, trust: float) -> None:
        self.passes, self.rules, self.trust, self.chunk = passes, rules, trust, passes.chunk

    def prepare(self, heads: Ints) -> None:
        """Make the passes of some heads."""
        self.passes.prepare(heads)

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): see `Scorer`."""
        scores: Scores = self.passes(head, relations) + self.trust * np.log(self.rules(head, relations) + NO_RULE)
        return scores
