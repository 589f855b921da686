"""EpiGNN beside rules and frequencies, for links: what states tell, what paths have shown, what is likely anyway.

The EpiGNN and the rules are learnt from the same graph, each alone; only their scores meet.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from epignn.data.graph import Edges, Graph, Ints
from epignn.errors import BadArgument
from epignn.models.api import Model, Scorer, Scores
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.models.frequency import RelationFrequency, frequencies, likelier
from epignn.models.links import Questions
from epignn.models.rule_scorer import Repeated, RuleScorer, Said
from epignn.models.rules import Rules, RulesConfig

NO_RULE = 1e-3
"""The confidence that stands for none, where no rule leads to an entity."""


@dataclass(frozen=True)
class RuledConfig(EpiGNNConfig):
    """The settings of an EpiGNN for links, and of rules and frequencies beside it.

    Attributes:
        trust: how much the rules count in a score, by the logarithm of their confidence; 0 leaves them out.
        frequency: how much it counts in a score how often an entity is the answer to the same relation.
        hops: the length of the longest path of a rule.
        support: a rule is used if it holds for at least so many pairs of the training graph.
        unseen: how many pairs are added to those for which a rule fails, so that rare rules are trusted less.
        adapt: rules are counted in the graph that is asked, too, and both counts are added up. What holds there for
            one pair is used.
        spread: what it costs that a path of the same relations leads elsewhere, too. The confidence of a rule is
            multiplied by the chance that a random walk along its relations ends at the answer, to this power.
    """

    kind: str = "epignn-rules"
    forward_only: bool = True
    trust: float = 1.0
    frequency: float = 1.0
    hops: int = 3
    support: int = 2
    unseen: float = 5.0
    adapt: bool = True
    spread: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("trust", "frequency"):
            if not 0 <= getattr(self, name) < float("inf"):
                raise BadArgument(f"{name} must be 0 or more, not {getattr(self, name)}.")
        self.rules  # noqa: B018 - refuses what rules cannot have

    @property
    def rules(self) -> RulesConfig:
        """The settings of the rules."""
        return RulesConfig(
            hops=self.hops, support=self.support, unseen=self.unseen, adapt=self.adapt, spread=self.spread
        )


class EpiGNNRules(EpiGNN):
    """Scores of an EpiGNN plus the logarithms of the confidence of rules and of how often an entity is an answer.

    The EpiGNN is trained as without them; rules are counted once, before its first epoch.
    """

    Config = RuledConfig
    grown: ClassVar[tuple[str, ...]] = tuple(f"rules.{name}" for name in Rules.grown)

    def __init__(self, relations: int, config: RuledConfig) -> None:
        super().__init__(relations, config)
        self.config: RuledConfig = config
        self.rules = Rules(relations, config.rules)
        self._said: WeakKeyDictionary[Graph, Said] = WeakKeyDictionary()

    def _load_from_state_dict(self, *args: Any, **options: Any) -> None:
        """As torch's; other rules say something else."""
        super()._load_from_state_dict(*args, **options)
        self._said.clear()

    def weigh_rules(self, config: RuledConfig) -> None:
        """Take other settings of rules and frequencies; what is learnt and counted stays."""
        self.config = config
        self.rules.weigh(config.rules)
        self._said.clear()

    def count(self, graphs: Iterable[Edges], epoch: int) -> float:
        """Count the rules."""
        self._said.clear()
        return self.rules.count(graphs, epoch)

    def scores(self, batch: Any) -> Tensor:
        """Graphs are not classified."""
        return Model.scores(self, batch)

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates."""
        learnt = super().rank(questions)
        rules = self.config.trust * (self.rules.rank(questions) + NO_RULE).log()
        often = torch.from_numpy(likelier(frequencies(questions, self.relations))).to(learnt)
        return learnt + rules + self.config.frequency * often

    def scorer(self, graph: Graph) -> Scorer:
        """All entities of a graph: one pass a head, and its walks."""
        return RuledScorer(super().scorer(graph), self.rules.scorer(graph), graph, self.config)

    def validating_scorer(self, graph: Graph) -> Scorer:
        """The same, but rules, which training does not change, are looked up once."""
        rules = Repeated(self.rules.scorer(graph), self._said.setdefault(graph, Said()))
        return RuledScorer(super().scorer(graph), rules, graph, self.config)

    def pruned_scorer(self, graph: Graph, share: float) -> Scorer:
        """The same by pruned passes; walks are never pruned."""
        return RuledScorer(super().pruned_scorer(graph, share), self.rules.scorer(graph), graph, self.config)


class RuledScorer:
    """The scores of all three. Rules and frequencies say something of few entities, so only those are looked at."""

    def __init__(self, passes: Scorer, rules: RuleScorer | Repeated, graph: Graph, config: RuledConfig) -> None:
        self.passes, self.rules, self.often, self.chunk = passes, rules, RelationFrequency(graph), passes.chunk
        self.trust, self.frequency = config.trust, config.frequency

    def prepare(self, heads: Ints) -> None:
        """Make the passes of some heads."""
        self.passes.prepare(heads)

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): see `Scorer`."""
        scores: Scores = self.passes(head, relations) + np.float32(self.trust * math.log(NO_RULE))
        row, entity, sure = self.rules.reached(head, relations).asked(relations)
        scores[row, entity] += self.trust * np.log1p(sure / NO_RULE)
        row, entity, count = self.often.counts.asked(relations)
        scores[row, entity] += self.frequency * likelier(count)
        return scores
