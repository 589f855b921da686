"""Why a model whose relations belong to no calculus, such as kinship, answers as it does.

Its states and probabilities are told as for any model. The proof is by the rules that were distilled from it, where
that was done: `epignn distil RUN --out RUN/rules.toml`. Where it was not, nothing is proved, and that is said.
"""

from dataclasses import dataclass

import numpy as np

from epignn.data.dataset import Dataset
from epignn.data.statements import Statements
from epignn.distil.rules import RuleSet
from epignn.errors import BadArgument
from epignn.explain import ruled
from epignn.explain.neural import THRESHOLD, Belief, Floats, check_threshold, states_of
from epignn.explain.ruled import RuleExplanation
from epignn.explain.symbolic import Status
from epignn.learn.answer import probabilities
from epignn.learn.checkpoint import Trained


@dataclass(frozen=True, eq=False)
class VocabularyExplanation(Belief):
    """An answer of a model, and why.

    Attributes:
        facts: what is given.
        head, tail: the pair that was asked about.
        table: what the rules distilled from the model say of the same facts, with proofs; None without rules.
    """

    facts: Statements
    head: str
    tail: str
    table: RuleExplanation | None

    @property
    def answers(self) -> tuple[str, ...]:
        """The names of the relations that may still hold."""
        return tuple(name for r, name in enumerate(self.relations) if self.mask >> r & 1)

    @property
    def status(self) -> Status:
        """Whether the model leaves one relation or several; nothing that it knows is a contradiction."""
        return Status.DETERMINED if self.mask.bit_count() == 1 else Status.OPEN

    @property
    def proved(self) -> bool:
        """Whether the distilled rules derive the very set that the model answers with."""
        return self.table is not None and self.table.relations == self.answers

    def __str__(self) -> str:
        return f"{'|'.join(self.answers)}({self.head}, {self.tail})"


def explain(
    trained: Trained,
    rules: RuleSet | None,
    facts: Statements,
    head: str,
    tail: str,
    threshold: float = THRESHOLD,
    rounds: int | None = None,
) -> VocabularyExplanation:
    """What a model says of a pair, and why.

    Args:
        trained: the model.
        rules: what was distilled from it, over the same relations and perhaps invented ones; None if nothing was.
        facts: what is given.
        head: what may hold from this entity …
        tail: … to this one.
        threshold: a relation of at least this probability may still hold.
        rounds: the most rounds of states to keep; None for all until they no longer change.

    Raises:
        BadArgument: the rules speak of other relations, or the pair is one entity.
    """
    if rules is not None and rules.relations[: rules.named] != trained.relations:
        raise BadArgument("the rules beside the model speak of other relations; distil them anew.")
    check_threshold(threshold)
    chances = _chances(trained, [facts], head, tail)[0]
    likeliest = int(chances.argmax())
    without = [facts.select([f for f in range(len(facts)) if f != left_out]) for left_out in range(len(facts))]
    influence = chances[likeliest] - _chances(trained, without, head, tail)[:, likeliest]
    far = {facts.names[entity]: steps for entity, steps in facts.ahead(facts.position(head)).items() if steps}
    states = states_of(trained, tuple(far), tuple(far.values()), lambda name: facts.graph(head, name), rounds)
    table = None if rules is None else ruled.explain(rules, facts, head, tail)
    return VocabularyExplanation(trained.relations, chances, threshold, states, influence, facts, head, tail, table)


def _chances(trained: Trained, parts: list[Statements], head: str, tail: str) -> Floats:
    """(N, R): probabilities of relations by each set of facts; all the same where none lead from head to tail."""
    count = len(trained.relations)
    chances = np.full((len(parts), count), 1 / count)
    graphs = [part.graph(head, tail) for part in parts]
    h, t = parts[0].position(head), parts[0].position(tail)
    joined = [n for n, part in enumerate(parts) if t in part.ahead(h)]
    if joined:
        chances[joined] = probabilities(trained, Dataset.concat([graphs[n] for n in joined]))
    return chances
