"""Why rules answer as they do: proofs by rule applications, few facts that are enough, and what is less sure.

Rules conclude and exclude nothing: what they do not derive may still hold, and facts cannot contradict each other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset
from epignn.data.statements import Statements
from epignn.distil.reason import first_rounds, reason, strengths
from epignn.distil.rules import GRADES, RuleSet
from epignn.explain.checker import WrongProof
from epignn.explain.proof import Proof
from epignn.explain.rule_checker import check_rules
from epignn.explain.rule_proof import derive, to_dict, weight_of
from epignn.explain.smallest import Support
from epignn.explain.symbolic import Status

MOST_FACTS = 60
"""Of more facts it is not asked what else would follow by weaker rules."""
MOST_REDUCED = 150
"""Of more facts it is not tried which can be left out."""
MOST_SETS = 2000
"""So many sets of facts are tried at most in search of a smallest one."""


@dataclass(frozen=True)
class RuleRounds:
    """What is derived from the head to each entity; `relations[n][e]` is known of entity e after n rounds."""

    entities: tuple[str, ...]
    relations: tuple[tuple[tuple[str, ...], ...], ...]


@dataclass(frozen=True, eq=False)
class RuleExplanation:
    """An answer of rules, and why.

    Attributes:
        rules: the rules.
        facts: what is given.
        head, tail: the pair that was asked about.
        relations: what follows most surely; none where nothing follows.
        weight: of the weakest rule that it needs; 0 where nothing follows.
        support: the facts that give the answer.
        proofs: one for each of the relations.
        weaker: relations that follow by weaker rules alone, and how strongly, in tenths.
        rounds: what is derived in each round from the supporting facts; of all facts where nothing follows.
    """

    rules: RuleSet
    facts: Statements
    head: str
    tail: str
    relations: tuple[str, ...]
    weight: float
    support: Support
    proofs: tuple[Proof, ...]
    weaker: dict[str, float]
    rounds: RuleRounds

    @property
    def status(self) -> Status:
        """Determined if one relation follows; facts never contradict rules."""
        return Status.DETERMINED if len(self.relations) == 1 else Status.OPEN

    def __str__(self) -> str:
        return f"{'|'.join(self.relations) or '?'}({self.head}, {self.tail})"


def explain(rules: RuleSet, facts: Statements, head: str, tail: str) -> RuleExplanation:
    """What follows from head to tail by rules, and why; every proof has passed the checker.

    Raises:
        BadArgument: the pair is one entity.
        UnknownName: no fact names one of the two.
        WrongProof: a proof does not pass; that is an error of this program.
    """
    graph = facts.graph(head, tail)
    found = reason(rules, graph)
    answered = np.flatnonzero(found.possible[0]).tolist()
    grade = round(float(found.strength[0]) * GRADES)
    strong = replace(rules, rules=tuple(rule for rule in rules.rules if rule.grade >= grade))
    support = _Answer(strong, facts, (head, tail), found.possible[0]).support() if answered else Support((), True)
    part = facts.select(support.facts) if answered else facts
    proofs = tuple(_checked(strong, part, derive(strong, part, head, tail, r), (head, r, tail)) for r in answered)
    return RuleExplanation(
        rules,
        facts,
        head,
        tail,
        tuple(rules.relations[r] for r in answered),
        min((weight_of(proof, strong) for proof in proofs), default=0.0),
        support,
        proofs,
        _weaker(rules, graph, answered) if len(facts) <= MOST_FACTS else {},
        _rounds(strong, part, head, tail),
    )


def _checked(rules: RuleSet, facts: Statements, proof: Proof, goal: tuple[str, int, str]) -> Proof:
    """The proof itself, once the checker has found that it proves the goal from these facts."""
    names, relations = facts.names, rules.relations
    given = [(names[s], relations[r], names[t]) for s, t, r in facts.edges]
    proved, _ = check_rules(to_dict(proof, rules), rules, given)
    head, relation, tail = goal
    if proved != (head, relations[relation], tail):
        raise WrongProof(
            f"{proved[1]}({proved[0]}, {proved[2]}) is proved, not {relations[relation]}({head}, {tail})."
        )
    return proof


def _weaker(rules: RuleSet, graph: Dataset, answered: list[int]) -> dict[str, float]:
    """Other relations that follow, the surest first."""
    found = strengths(rules, graph)[0]
    order = sorted(np.flatnonzero(found).tolist(), key=lambda r: -found[r])
    return {rules.relations[r]: float(found[r]) for r in order if r not in answered}


def _rounds(rules: RuleSet, facts: Statements, head: str, tail: str) -> RuleRounds:
    """What is known from the head to the entities that facts lead to, after each round; invented relations too."""
    start = facts.position(head)
    near = sorted({*facts.ahead(start)} - {start})
    first = first_rounds(rules, facts.graph(head, tail))[:, start, near]
    rows = [
        tuple(
            tuple(rules.relations[r] for r in np.flatnonzero(column)) for column in ((first >= 0) & (first <= n)).T
        )
        for n in range(int(first.max(initial=0)) + 1)
    ]
    return RuleRounds(tuple(facts.names[entity] for entity in near), tuple(rows))


@dataclass(frozen=True, eq=False)
class _Answer:
    """The search for few facts that give the same answer, by the rules that are as strong as it needs.

    More facts never take a conclusion away, and stronger ones than the answer there are not, even from all facts.
    """

    rules: RuleSet
    facts: Statements
    pair: tuple[str, str]
    possible: NDArray[np.bool_]

    def support(self) -> Support:
        """A smallest set of facts, or one of which none can be left out."""
        head, tail = (self.facts.position(name) for name in self.pair)
        least = self.facts.ahead(head)[tail]  # every proof goes along some path
        found = self._used()
        if len(found) > least:
            found = self._irreducible(found)
        if len(found) == least:
            return Support(tuple(found), True)
        after, before = self.facts.ahead(head), self.facts.behind(tail)
        between = [f for f, (s, t, _) in enumerate(self.facts.edges) if s in after and t in before]
        sizes = range(least, len(found))
        if sum(comb(len(between), size) for size in sizes) > MOST_SETS:
            return Support(tuple(found), False)
        for size in sizes:
            sets = [list(chosen) for chosen in combinations(between, size)]
            if passing := [chosen for chosen, enough in zip(sets, self._enough(sets), strict=True) if enough]:
                return Support(tuple(passing[0]), True)
        return Support(tuple(found), True)

    def _used(self) -> list[int]:
        """The facts of some proofs of the answer, one fact of each kind."""
        number = {edge: f for f, edge in reversed(list(enumerate(self.facts.edges)))}
        position = {name: at for at, name in enumerate(self.facts.names)}
        proofs = [derive(self.rules, self.facts, *self.pair, r) for r in np.flatnonzero(self.possible).tolist()]
        given = {fact for proof in proofs for fact in proof.facts()}
        return sorted(number[position[h], position[t], mask.bit_length() - 1] for h, mask, t in given)

    def _irreducible(self, facts: list[int]) -> list[int]:
        """Leave facts out, one after the other, as long as the rest is enough."""
        if len(facts) > MOST_REDUCED:
            return facts
        while True:
            sets = [facts[:n] + facts[n + 1 :] for n in range(len(facts))]
            passing = np.flatnonzero(self._enough(sets))
            if not len(passing):
                return facts
            facts = sets[passing[0]]

    def _enough(self, sets: Sequence[Sequence[int]]) -> NDArray[np.bool_]:
        """Which of some sets of facts give the same answer; all are closed together."""
        found = reason(self.rules, Dataset.concat([self.facts.select(chosen).graph(*self.pair) for chosen in sets]))
        return np.asarray((found.possible == self.possible).all(1))
