"""What an explanation is: an answer of a calculus, of rules or of a model, and why.

There is one type for all three. Parts that an answer does not have are empty or None: rules exclude nothing, and
only a model has probabilities. `to_dict` gives it as plain values, `text` in words and `picture` as a drawing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.network import Fact
from epignn.calculus.result import Answer
from epignn.explain.proof import Proof
from epignn.explain.smallest import Support

Floats = NDArray[np.float64]


class Status(StrEnum):
    """What kind of answer it is."""

    DETERMINED = "determined"
    """One relation is left."""
    OPEN = "not determined"
    """Several are left."""
    CONTRADICTORY = "contradictory"
    """The facts cannot hold together."""


class Facts(Protocol):
    """What is given: a `Network` over a calculus, or `Statements` over a vocabulary."""

    @property
    def names(self) -> tuple[str, ...]:
        """The entities."""

    def __len__(self) -> int:
        """The number of facts."""

    def fact(self, f: int) -> Fact:
        """A fact in words."""

    def triple(self, f: int) -> tuple[Any, ...]:
        """A fact as plain values: head, relation or relations, tail."""


@dataclass(frozen=True, eq=False)
class Theory:
    """What reasons exactly, a calculus or rules, and how its answers and proofs are told.

    Attributes:
        kind: `calculus` or `rules`.
        relations: the names of all its relations.
        about: its name and source.
        verbs: as in "the calculus leaves …", and "it says …".
        states: what it tells of an entity after each round.
        checked: what its proofs are checked against.
        unsupported: what is said where an answer rests on no fact.
        words: a set of relations as text.
        steps: a proof as plain values, which its checker reads.
        tree: a proof as an indented tree.
    """

    kind: str
    relations: tuple[str, ...]
    about: Mapping[str, str]
    verbs: tuple[str, str]
    states: str
    checked: str
    unsupported: str
    words: Callable[[tuple[str, ...]], str]
    steps: Callable[[Proof], dict[str, Any]]
    tree: Callable[[Proof], list[str]]


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Why some relations cannot hold.

    Attributes:
        relations: those that these facts exclude.
        left: those that these facts leave.
        support: the facts.
        path: the entities from head to tail, where the facts are one path between them; else empty.
        along: what holds from each entity of the path to the next.
        proof: that nothing but `left` may hold.
    """

    relations: tuple[str, ...]
    left: tuple[str, ...]
    support: Support
    path: tuple[str, ...]
    along: tuple[str, ...]
    proof: Proof


@dataclass(frozen=True)
class Rounds:
    """What is known from the head to some entities after each round.

    `relations[n][e]` is known of entity e after n rounds; row 0 is what the facts say themselves.
    """

    entities: tuple[str, ...] = ()
    relations: tuple[tuple[tuple[str, ...], ...], ...] = ()


@dataclass(frozen=True, eq=False)
class Belief:
    """What a model thinks of a pair.

    Attributes:
        relations: the names of all relations.
        chances: their probabilities.
        threshold: a relation of at least this probability may still hold.
        entities: those that facts connect with the head.
        states: `states[n, e]` are the probabilities of relations from the head to entity e after n + 1 rounds of
            message passing; all the same as long as the model has no state of it.
        influence: for each fact, how much the probability of the likeliest relation falls without it; `nan` where
            there was no time to find out.
    """

    relations: tuple[str, ...]
    chances: Floats
    threshold: float
    entities: tuple[str, ...]
    states: Floats
    influence: Floats

    @property
    def likeliest(self) -> int:
        """The relation of the highest probability."""
        return int(self.chances.argmax())

    @property
    def possible(self) -> tuple[str, ...]:
        """The relations that may still hold: all from the threshold on, or else the likeliest, and its equals."""
        least = min(self.threshold, float(self.chances.max()))
        return tuple(self.relations[r] for r in np.flatnonzero(self.chances >= least).tolist())

    def words(self, relations: tuple[str, ...]) -> str:
        """Relations as text; `*` is all of them."""
        return "*" if len(relations) == len(self.relations) else "|".join(relations)

    @property
    def ignorant(self) -> bool:
        """Whether every relation is as likely as every other: no facts lead from head to tail."""
        return bool(self.chances.max() == self.chances.min())

    def to_dict(self, facts: Facts) -> dict[str, Any]:
        """Probabilities, states and what each fact is worth, as plain values."""

        def named(row: Floats) -> dict[str, float]:
            return dict(zip(self.relations, row.round(6).tolist(), strict=True))

        return {
            "threshold": self.threshold,
            "probabilities": named(self.chances),
            "rounds": [dict(zip(self.entities, map(named, rows), strict=True)) for rows in self.states],
            "influence": [
                {"fact": facts.triple(f), "probability_lost": None if np.isnan(lost) else round(float(lost), 6)}
                for f, lost in enumerate(self.influence)
            ],
        }


@dataclass(frozen=True, eq=False)
class Explanation:
    """An answer, and why.

    Attributes:
        facts: what is given.
        head, tail: the pair that was asked about.
        relations: the answer: what may hold by a calculus or a model, what follows by rules.
        said: the answer in a few lines.
        credit: who gives it.
        theory: the calculus or the rules that answer; None where a model does.
        support: the facts that give the answer; of contradictory facts, those that clash.
        rounds: what is known after each round, of the entities of the supporting facts.
        known: what is known in the end from the head to other entities.
        verdict: of a calculus: whether the facts can hold together, and whether that is certain.
        proofs: of a calculus, one proof that no other relation may hold, or that the facts clash; of rules, a proof
            for each relation that follows.
        exclusions: of a calculus: for every relation that cannot hold, why.
        weight: of rules: the weight of the weakest rule that is needed; 0 where nothing follows.
        weaker: of rules: relations that follow by weaker rules alone, and how strongly, in tenths.
        belief: of a model: its probabilities, states, and what each fact is worth to it.
        by: of a model: what the calculus or the rules distilled from it say of the same facts, with proofs.
    """

    facts: Facts
    head: str
    tail: str
    relations: tuple[str, ...]
    said: tuple[str, ...]
    credit: str
    theory: Theory | None = None
    support: Support = field(default_factory=lambda: Support((), True))
    rounds: Rounds = field(default_factory=Rounds)
    known: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    verdict: Answer | None = None
    proofs: tuple[Proof, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    weight: float | None = None
    weaker: Mapping[str, float] = field(default_factory=dict)
    belief: Belief | None = None
    by: "Explanation | None" = None

    @property
    def kind(self) -> str:
        """Who answers: `calculus`, `rules` or `neural`."""
        return self.theory.kind if self.theory else "neural"

    @property
    def status(self) -> Status:
        """Contradictory if the facts clash; otherwise whether one relation is left, or several, or none follows."""
        if self.verdict is Answer.INCONSISTENT or (self.by and self.by.status is Status.CONTRADICTORY):
            return Status.CONTRADICTORY
        return Status.DETERMINED if len(self.relations) == 1 else Status.OPEN

    @property
    def proved(self) -> bool:
        """Whether what was distilled from a model gives the very answer that the model gives."""
        by = self.by
        return by is not None and by.status is not Status.CONTRADICTORY and by.relations == self.relations

    @property
    def proof(self) -> Proof:
        """The first proof."""
        return self.proofs[0]

    def words(self, relations: tuple[str, ...]) -> str:
        """Relations as text."""
        teller = self.theory or self.belief
        return teller.words(relations) if teller else "|".join(relations)

    def told(self, support: Support, tell: Callable[[Fact], str] = str) -> list[str]:
        """Supporting facts in words, each as `tell` tells it."""
        return [tell(self.facts.fact(f)) for f in support.facts]

    def __str__(self) -> str:
        if self.status is Status.CONTRADICTORY:
            return f"contradictory: {', '.join(self.told((self.by or self).support))}"
        return f"{self.words(self.relations) or '?'}({self.head}, {self.tail})"

    def to_dict(self) -> dict[str, Any]:
        """The explanation as plain values, for JSON; each kind of answer has the parts that it can have.

        Proofs are what `checker.check`, or `rule_checker.check_rules`, reads. Of a model, `table` is the
        explanation by what was distilled from it.
        """
        document: dict[str, Any] = {
            "kind": self.kind,
            "head": self.head,
            "tail": self.tail,
            "status": str(self.status),
            "relations": list(self.relations),
        }
        if self.theory is not None:
            rounds = self.rounds
            document |= {**self.theory.about, "support": self._support(self.support)}
            document["rounds"] = [dict(zip(rounds.entities, map(list, r), strict=True)) for r in rounds.relations]
            if self.verdict is not None:
                document |= {"verdict": str(self.verdict), "proof": self.theory.steps(self.proof)}
                document["excluded"] = [self._exclusion(self.theory, exclusion) for exclusion in self.exclusions]
            if self.weight is not None:
                document |= {"weight": self.weight, "weaker": dict(self.weaker)}
                document["proofs"] = [self.theory.steps(proof) for proof in self.proofs]
        if self.belief is not None:
            document |= {"proved": self.proved, **self.belief.to_dict(self.facts)}
            document["table"] = self.by.to_dict() if self.by else None
        return document

    def _support(self, support: Support) -> dict[str, Any]:
        return {"facts": [self.facts.triple(f) for f in support.facts], "smallest": support.smallest}

    def _exclusion(self, theory: Theory, exclusion: Exclusion) -> dict[str, Any]:
        return {
            "relations": list(exclusion.relations),
            "left": list(exclusion.left),
            "path": list(exclusion.path),
            "support": self._support(exclusion.support),
            "proof": theory.steps(exclusion.proof),
        }
