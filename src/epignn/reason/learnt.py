"""Exact reasoning with what was distilled from a model."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self, final

from epignn.calculus.algebra import Calculus
from epignn.data.dataset import Dataset
from epignn.data.statements import Statements
from epignn.distil.reason import reason
from epignn.distil.rules import RuleSet, load_distilled
from epignn.errors import BadArgument
from epignn.explain import ruled
from epignn.explain.explanation import Explanation
from epignn.formats.told import Told
from epignn.reason.answer import Answer, Facts, Question, Reasoner
from epignn.reason.exact import Exact
from epignn.reason.folders import distilled_beside, model_folder

if TYPE_CHECKING:
    from epignn.learn.config import Experiment


@final
class Learnt(Reasoner):
    """Exact reasoning with what is distilled from a model trained on examples: a calculus, or else rules.

    Args:
        experiment: model and training, by name or itself.
        seed: of the training run.
    """

    def __init__(self, experiment: "str | Experiment" = "rcc8", seed: int = 0) -> None:
        self.experiment, self.seed = experiment, seed
        self._learnt: Calculus | RuleSet | None = None

    @classmethod
    def of(cls, learnt: Calculus | RuleSet) -> Self:
        """A calculus or rules that were learnt before."""
        self = cls()
        self._learnt = learnt
        return self

    @classmethod
    def load(cls, name: str) -> "Learnt":
        """One that was learnt before: a `.toml` file, or what belongs to a model by name or run folder.

        Raises:
            BadArgument: no rules are beside a model that needs some.
        """
        if name.endswith(".toml"):
            return cls.of(load_distilled(Path(name)))
        folder = model_folder(name)
        if folder is not None and (found := distilled_beside(folder)) is not None:
            return cls.of(found)
        from epignn.reason.neural import Neural

        if (learnt := Neural.load(name).learnt_) is not None:
            return learnt
        raise BadArgument(f"no rules are beside {name}; epignn distil {name} --out {name}/rules.toml makes them.")

    @property
    def learnt_(self) -> Calculus | RuleSet:
        """What was learnt."""
        if self._learnt is None:
            raise BadArgument("it has learnt nothing yet; call fit first, or load one that has.")
        return self._learnt

    @property
    def calculus_(self) -> Calculus:
        """The calculus that was learnt."""
        if isinstance(self.learnt_, RuleSet):
            raise BadArgument("it has learnt rules, not a calculus.")
        return self.learnt_

    @property
    def rules_(self) -> RuleSet:
        """The rules that were learnt."""
        if isinstance(self.learnt_, Calculus):
            raise BadArgument("it has learnt a calculus, not rules.")
        return self.learnt_

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that it speaks of; invented ones do not count."""
        return self._exact.relations if self._exact else self.rules_.relations[: self.rules_.named]

    @property
    def _exact(self) -> Exact | None:
        """Closure in the calculus, if one was learnt."""
        return Exact(self.learnt_) if isinstance(self.learnt_, Calculus) else None

    def worded(self, told: Told) -> Self:
        """The same, which answers in the words of some facts; rules have no other words than their own."""
        learnt = self.learnt_
        return self.of(told.spoken(learnt)) if isinstance(learnt, Calculus) else self

    def fit(self, data: Dataset) -> Self:
        """Train a model and distil a calculus from it, or rules, certified by the same examples."""
        from epignn.distil.learnt import distil
        from epignn.reason.neural import Neural

        trained = Neural(self.experiment, self.seed).fit(data).trained_
        self._learnt = distil(trained.model, trained.relations, trained.experiment, data)
        return self

    def read(self, told: Told) -> Facts:
        """Facts over the calculus, or over the vocabulary of the rules."""
        return self._exact.read(told) if self._exact else told.statements(self.relations)

    def answer(self, questions: Dataset | Sequence[Question]) -> list[Answer]:
        """What closure leaves, or rules derive, of every pair that is asked about."""
        if self._exact:
            return self._exact.answer(questions)
        if not isinstance(questions, Dataset):
            questions = Dataset.concat([self._stated(facts).graph(*pair) for facts, *pair in questions])
        rows = [[self.relations[r] for r in row.nonzero()[0]] for row in reason(self.rules_, questions).possible]
        nothing = Answer.none("no rule leads to an answer")
        return [Answer("|".join(names), tuple(names)) if names else nothing for names in rows]

    def explain(self, facts: Facts, head: str, tail: str) -> Explanation:
        """The answer of closure or of rules, with its proof."""
        if self._exact:
            return self._exact.explain(facts, head, tail)
        return ruled.explain(self.rules_, self._stated(facts), head, tail)

    def _stated(self, facts: Facts) -> Statements:
        """Facts that the rules can be applied to."""
        if not isinstance(facts, Statements):
            raise BadArgument("rules are applied to Statements; a Network is for a calculus.")
        if facts.relations != self.relations:
            known = " ".join(self.rules_.relations)
            raise BadArgument(f"the rules speak of {known}, not of {' '.join(facts.relations)}.")
        return facts
