"""What a reasoner is, what it is asked, and what it answers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol, Self

from epignn.calculus.network import Fact, Network
from epignn.data.dataset import Dataset
from epignn.data.statements import Statements
from epignn.explain.explanation import Explanation
from epignn.formats.told import Told

Facts = Network | Statements
Question = tuple[Facts, str, str]
"""Facts, and the pair that is asked about."""


@dataclass(frozen=True, eq=False)
class Answer:
    """What a reasoner says of one pair.

    Attributes:
        relation: the answer as text: `PO`, or `DC|EC`; `*` where any relation may hold, `∅` where the facts clash,
            `?` where there is no answer.
        relations: the relations that may hold, or follow; of a model, the likeliest.
        probability: of a model: how likely that is.
        runner_up, runner_up_probability: of a model: the next likeliest relation.
        consistent: of a calculus: whether no contradiction was found; None from who cannot tell.
        reason: why there is no answer.
    """

    relation: str
    relations: tuple[str, ...] = ()
    probability: float | None = None
    runner_up: str | None = None
    runner_up_probability: float | None = None
    consistent: bool | None = None
    reason: str = ""
    _conflict: Callable[[], tuple[Fact, ...]] = field(default=tuple, repr=False)

    @classmethod
    def none(cls, reason: str) -> Self:
        """That there is no answer."""
        return cls("?", reason=reason)

    @cached_property
    def conflict(self) -> tuple[Fact, ...]:
        """Facts that cannot hold together, where they clash; found when first asked for."""
        return self._conflict()

    def chances(self) -> dict[str, Any]:
        """Of a model, the likeliest relation and the next with their probabilities, as plain values."""
        keys = ("relation", "probability", "runner_up", "runner_up_probability")
        return {key: getattr(self, key) for key in keys}

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain values, with the parts that it has."""
        parts = {**self.chances(), "consistent": self.consistent, "reason": self.reason or None}
        parts["conflict"] = [fact.to_list() for fact in self.conflict] or None
        return {"relations": list(self.relations), **{key: part for key, part in parts.items() if part is not None}}


class Reasoner(Protocol):
    """What all reasoners do."""

    def fit(self, data: Dataset) -> Self:
        """Learn from problems with answers."""

    def worded(self, told: Told) -> Self:
        """The same reasoner, which answers people in the words of some facts."""

    def read(self, told: Told) -> Facts:
        """Facts in words as it takes them: over its calculus, or over its vocabulary."""

    def answer(self, questions: Dataset | Sequence[Question]) -> list[Answer]:
        """The answer to every question."""

    def predict(self, questions: Dataset | Sequence[Question]) -> list[str]:
        """The answers as text: `PO`, or `DC|EC`; `∅` where facts clash, `?` where nothing follows."""
        return [answer.relation for answer in self.answer(questions)]

    def explain(self, facts: Facts, head: str, tail: str) -> Explanation:
        """The answer to one question, and why."""
