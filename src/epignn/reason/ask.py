"""One question, answered by a model, by what was distilled from it, and by an exact calculus."""

from dataclasses import dataclass
from typing import Any

from epignn.errors import BadArgument, BadFile
from epignn.formats.told import Told
from epignn.reason.answer import Answer
from epignn.reason.exact import Exact
from epignn.reason.folders import shipped_models
from epignn.reason.learnt import Learnt
from epignn.reason.neural import Neural


@dataclass(frozen=True, eq=False)
class Answers:
    """Who answers what.

    Attributes:
        model: the model's name; None where none was asked.
        calculus: the name of the exact calculus, if one has words for the model's relations.
        neural: the model's answer; None where none was asked.
        learnt: that of the calculus, or the rules, distilled from it; None if there are none.
        exact: that of the exact calculus; None if there is none.
    """

    model: str | None
    calculus: str | None
    neural: Answer | None
    learnt: Answer | None
    exact: Answer | None

    @property
    def agree(self) -> bool:
        """Whether the model has an answer, and all others, of which there is one, have the same."""
        others = [answer for answer in (self.learnt, self.exact) if answer is not None]
        if self.neural is None or self.neural.reason or not others:
            return False
        return all(answer.relations == self.neural.relations for answer in others)

    @property
    def differences(self) -> list[str]:
        """Who answers otherwise than who knows better, in sentences; none where all agree."""
        learnt, exact, said = self.learnt, self.exact, []
        neural = self.neural or Answer.none("no model was asked")
        if exact is not None and exact.consistent and neural.relations not in ((), exact.relations):
            among = neural.relation in exact.relations
            said.append(f"The model's answer is {'one of those possible' if among else 'not possible'}.")
        if learnt is not None and learnt.consistent is not None and exact is not None:  # it is a calculus
            if (learnt.relations, learnt.consistent) != (exact.relations, exact.consistent):
                said.append("The learnt calculus disagrees with the exact one.")
        elif learnt is not None and learnt.relations and neural.relations not in ((), learnt.relations):
            among = neural.relation in learnt.relations
            said.append(f"The model's answer is {'one of those' if among else 'not one'} that its rules derive.")
        return said

    def to_dict(self) -> dict[str, Any]:
        """The answers as plain values; those of sets as lists of relations, empty where facts clash."""
        return {
            "calculus": self.calculus,
            "model": self.model,
            "neural": None if self.neural is None or self.neural.reason else self.neural.to_dict(),
            "learnt": None if self.learnt is None else list(self.learnt.relations),
            "exact": None if self.exact is None else list(self.exact.relations),
            "agree": self.agree,
            "consistent": None if self.exact is None else self.exact.consistent,
        }


def ask(told: Told, head: str, tail: str, model: str | None = None) -> Answers:
    """What may hold from head to tail, by all who can tell.

    Args:
        told: the facts, in words of the model or of the exact calculus.
        head: from this entity …
        tail: … to this one.
        model: by name or run folder; without one, the shipped model of the calculus that knows the facts' words.

    Raises:
        BadArgument: no model is shipped for such facts, or nobody has an answer.
        BadFile: nobody knows a word of the facts.
        UnknownName: no fact names one of the two.
    """
    return ask_model(Neural.load(model or shipped_for(told)), told, head, tail)


def ask_model(neural: Neural, told: Told, head: str, tail: str) -> Answers:
    """The same with a model that is loaded already."""
    exact = neural.exact
    if exact is not None and not told.known_to(exact.calculus_):
        exact = None
    learnt = neural.learnt_
    try:
        # The facts of another calculus are read as such: the model says that they are.
        facts = neural.read(told) if exact or neural.calculus is None else told.network()
        (first,) = neural.answer([(facts, head, tail)])
        second = learnt.answer([(facts, head, tail)])[0] if learnt else None
    except BadFile as error:
        if exact is None:
            raise
        first, second = Answer.none(f"no answer: {error}"), None
    if first.reason and exact is None:
        raise BadArgument(first.reason)
    third = exact.answer([(exact.read(told), head, tail)])[0] if exact else None
    return Answers(neural.trained_.name, exact and exact.calculus_.name, first, second, third)


def ask_exact(told: Told, head: str, tail: str, exact: Exact | Learnt) -> Answers:
    """The same where no model is asked: by a calculus, or by rules, alone."""
    (answer,) = exact.answer([(exact.read(told), head, tail)])
    return Answers(None, exact.calculus_.name if isinstance(exact, Exact) else None, None, None, answer)


def shipped_for(told: Told) -> str:
    """The shipped model for facts: it has the name of their calculus."""
    name = told.network().calculus.name
    if name not in shipped_models():
        raise BadArgument(f"no model is shipped for {name}; train one and name it with --model.")
    return name
