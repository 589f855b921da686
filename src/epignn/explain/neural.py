"""Why a trained model answers as it does: its states round by round, the facts that matter, and a proof.

The proof is by the calculus, or the rules, that were distilled from the model's weights: sets and conclusions that
the model's own computation approximates. Where the two answer differently the explanation says so; where nothing
was distilled, nothing is proved.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Protocol

import numpy as np

from epignn.calculus.network import Network
from epignn.data.dataset import Dataset
from epignn.data.statements import Statements, directed, reached
from epignn.errors import BadArgument
from epignn.explain.explanation import Belief, Explanation, Floats, Status

THRESHOLD = 0.05
"""A relation of at least this probability may still hold."""
MANY, LEAST_SHOWN = 13, 0.001
"""Of more relations than so many, only those of some probability are listed."""
STEADY = 1e-6
"""States that move less than this between two rounds no longer change."""
SECONDS = 1.0
"""How long it is measured what facts are worth, and how long states are followed; what is left out then is told."""
TOGETHER = 32
"""Facts that are left out in turn between two looks at the clock."""
MOST_ENTITIES = 50
"""Of more entities there is no table of states: nobody reads it, and its time grows as their number squared."""


class Model(Protocol):
    """What an explanation asks of a model."""

    @property
    def relations(self) -> tuple[str, ...]:
        """The relations that it tells apart."""

    def probabilities(self, data: Dataset) -> Floats:
        """(G, R): of each relation, for each graph."""

    def by_rounds(self, data: Dataset) -> Iterator[Floats]:
        """The same after one round, two, and so on, forward only."""

    def rounds(self, entities: int) -> int:
        """How many rounds it takes to reach so many entities."""

    def reach(self, rounds: int) -> float:
        """How many facts away an entity may be to have a state of its own after so many rounds."""


def explain(
    model: Model,
    facts: Network | Statements,
    head: str,
    tail: str,
    by: Explanation | None = None,
    threshold: float = THRESHOLD,
    rounds: int | None = None,
    seconds: float = SECONDS,
    names: tuple[str, ...] = (),
) -> Explanation:
    """What a model says of a pair, and why.

    Args:
        model: the model.
        facts: what is given, of one relation each.
        head: what may hold from this entity …
        tail: … to this one.
        by: what the calculus or the rules distilled from the model say of the pair, if there are any.
        threshold: a relation of at least this probability may still hold.
        rounds: the most rounds of states to keep; None for all until they no longer change.
        seconds: how long it is measured what facts are worth, and how long states are followed.
        names: what to call the model's relations; by default as it does.

    Raises:
        UnknownName: no fact names one of the two.
        BadArgument: the model cannot read such facts, or the pair is one entity.
    """
    if not 0 < threshold < 1:
        raise BadArgument(f"the threshold must lie between 0 and 1, not at {threshold}.")
    for name in (head, tail):
        facts.position(name)
    (chances,) = chances_of(model, [facts], head, tail)
    likeliest = int(chances.argmax())
    influence = chances[likeliest] - _without(model, facts, (head, tail), likeliest, seconds)
    entities, states = _states(model, directed(facts, head), head, rounds, seconds)
    names = names or model.relations
    belief = Belief(names, chances, threshold, entities, states, influence)
    said, *listed = _said(belief, f"({head}, {tail})")
    proved, credit = _compared(belief, by)
    credit = f"by the model, {names[likeliest]} with probability {chances.max():.3f}; {credit}"
    lines = (said, *listed, proved)
    if by is not None and by.status is Status.CONTRADICTORY:
        lines = (proved, f"The model answers {said}", *listed)
    return Explanation(facts, head, tail, belief.possible, lines, credit, belief=belief, by=by)


def _said(belief: Belief, pair: str) -> list[str]:
    """What a model says of a pair, and the probabilities, likeliest first."""
    if belief.ignorant:
        return [f"not determined: no facts lead to an answer, every relation of {pair} may hold"]
    order = sorted(range(len(belief.relations)), key=lambda r: -belief.chances[r])
    some = [r for r in order if belief.chances[r] >= LEAST_SHOWN] if len(order) > MANY else order
    listed = "  ".join(f"{belief.relations[r]} {belief.chances[r]:.3f}" for r in some)
    listed += f"  others below {LEAST_SHOWN:g}" if len(some) < len(order) else ""
    left = f"{belief.words(belief.possible)}{pair}"
    said = f"not determined: {left} have a probability of {belief.threshold:g} or more"
    if len(belief.possible) == 1:
        said = f"{left} with probability {belief.chances.max():.3f}; all others below {belief.threshold:g}"
    return [said, f"  {listed}"]


def _compared(belief: Belief, by: Explanation | None) -> tuple[str, str]:
    """Whether what was distilled from a model gives the same answer: for the text, and for the picture."""
    if by is None or by.theory is None:
        hint = "`epignn distil RUN --out RUN/rules.toml` reads them off the model"
        return f"Not proved: no rules are beside the model; {hint}.", "no rules were distilled from it"
    kind, (leaves, says) = by.kind, by.theory.verbs
    if by.status is Status.CONTRADICTORY:
        refuted = "refutes the facts, whatever the model answers"
        return (
            f"contradictory: the {kind} distilled from the model {refuted}",
            f"its distilled {kind} refutes the facts",
        )
    distilled = f"the {kind} distilled from the model {leaves}"
    if by.relations == belief.possible:
        return f"Proved: {distilled} the same.", f"proved by its distilled {kind}"
    below = ", and the proof below is of that" if by.verdict else ""
    differ = f"{distilled} {by if by.relations else 'nothing of the two'}{below}"
    return f"Not proved: {differ}.", f"its distilled {kind} {says} {by}"


def chances_of(model: Model, parts: Sequence[Network | Statements], head: str, tail: str) -> Floats:
    """(N, R): probabilities of relations by each set of facts; all the same where none lead from head to tail."""
    count = len(model.relations)
    chances = np.full((len(parts), count), 1 / count)
    read = [directed(part, head) for part in parts]
    joined = [n for n, part in enumerate(read) if part.leads(head, tail)]
    if joined:
        chances[joined] = model.probabilities(Dataset.concat([read[n].graph(head, tail) for n in joined]))
    return chances


def _without(
    model: Model, facts: Network | Statements, pair: tuple[str, str], relation: int, seconds: float
) -> Floats:
    """(N): the probability of a relation without each fact; `nan` of those for which there was no time.

    Facts near the pair come first.
    """
    head, tail = pair
    ends = [(facts.fact(f).head, facts.fact(f).tail) for f in range(len(facts))]
    both = [edge for a, b in ends for edge in ((a, b), (b, a))]
    far = [reached(both, name) for name in pair]
    near = [min(far[0].get(name, len(ends)) + far[1].get(name, len(ends)) for name in names) for names in ends]
    order = sorted(range(len(ends)), key=near.__getitem__)
    found, end = np.full(len(ends), np.nan), time.monotonic() + seconds
    for first in range(0, len(order), TOGETHER):
        left_out = order[first : first + TOGETHER]
        parts = [facts.select([f for f in range(len(ends)) if f != one]) for one in left_out]
        found[left_out] = chances_of(model, parts, head, tail)[:, relation]
        if time.monotonic() >= end:
            break
    return found


def _states(
    model: Model, facts: Statements, head: str, most: int | None, seconds: float
) -> tuple[tuple[str, ...], Floats]:
    """The entities that facts lead to from the head, and the model's states of them, round by round until steady.

    Each state is what the model would answer of that entity if it went forward only and stopped after so many
    rounds. Of more than `MOST_ENTITIES` there are none.
    """
    count, end = len(model.relations), time.monotonic() + seconds
    far = {facts.names[entity]: steps for entity, steps in facts.ahead(facts.position(head)).items() if steps}
    last = model.rounds(len(far)) if 0 < len(far) <= MOST_ENTITIES else 0
    last = last if most is None else min(most, last)
    if not last:
        return (), np.zeros((0, 0, count))
    data = Dataset.concat([facts.graph(head, name) for name in far])
    states: list[Floats] = []
    for number, found in enumerate(islice(model.by_rounds(data), last), start=1):
        found[np.array(list(far.values())) > model.reach(number)] = 1 / count
        if states and np.abs(found - states[-1]).max() < STEADY:
            break
        states.append(found)
        if time.monotonic() >= end:
            break
    return tuple(far), np.array(states).reshape(len(states), len(far), count)
