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
from epignn.explain.explanation import Explanation, Rounds, Theory
from epignn.explain.proof import Proof
from epignn.explain.rule_checker import check_rules
from epignn.explain.rule_proof import as_text, derive, to_dict, weight_of
from epignn.explain.smallest import Support

MOST_FACTS = 60
"""Of more facts it is not asked what else would follow by weaker rules."""
MOST_REDUCED = 150
"""Of more facts it is not tried which can be left out."""
MOST_SETS = 2000
"""So many sets of facts are tried at most in search of a smallest one."""


def theory(rules: RuleSet) -> Theory:
    """Rules as what answers, the strongest first."""
    return Theory(
        "rules",
        rules.relations,
        {"source": rules.source},
        ("derive", "say"),
        "What rules derive",
        "the rules",
        "Rules exclude nothing: any relation may hold that they do not derive.",
        words="|".join,
        steps=lambda proof: to_dict(proof, rules),
        tree=lambda proof: as_text(proof, rules),
    )


def explain(rules: RuleSet, facts: Statements, head: str, tail: str) -> Explanation:
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
    proofs = tuple(
        _checked(strong, part, derive(strong, part, head, tail, r), (head, rules.relations[r], tail))
        for r in answered
    )
    rounds = _rounds(strong, part, head, tail)
    relations = tuple(rules.relations[r] for r in answered)
    weight = min((weight_of(proof, strong) for proof in proofs), default=0.0)
    credit = f"by rules of weight {weight:.2f} or more" if answered else "no rule leads from one to the other"
    follows = f"{'|'.join(relations)}({head}, {tail})"
    said = f"not determined: {len(answered)} relations follow alike, {follows}"
    if not answered:
        said = f"not determined: no rule leads from {head} to {tail}"
    elif len(answered) == 1:
        said = f"{follows}: follows {credit}"
    return Explanation(
        facts,
        head,
        tail,
        relations,
        (said,),
        credit if len(answered) == 1 else f"not determined, {credit}",
        theory(rules),
        support,
        rounds,
        dict(zip(rounds.entities, rounds.relations[-1], strict=True)),
        proofs=proofs,
        weight=weight,
        weaker=_weaker(rules, graph, answered) if len(facts) <= MOST_FACTS else {},
    )


def _checked(rules: RuleSet, facts: Statements, proof: Proof, goal: tuple[str, str, str]) -> Proof:
    """The proof itself, once the checker has found that it proves the goal from these facts."""
    (a, proved, b), _ = check_rules(to_dict(proof, rules), rules, map(facts.triple, range(len(facts))))
    head, relation, tail = goal
    if (a, proved, b) != goal:
        raise WrongProof(f"{proved}({a}, {b}) is proved, not {relation}({head}, {tail}).")
    return proof


def _weaker(rules: RuleSet, graph: Dataset, answered: list[int]) -> dict[str, float]:
    """Other relations that follow, the surest first."""
    found = strengths(rules, graph)[0]
    order = sorted(np.flatnonzero(found).tolist(), key=lambda r: -found[r])
    return {rules.relations[r]: float(found[r]) for r in order if r not in answered}


def _rounds(rules: RuleSet, facts: Statements, head: str, tail: str) -> Rounds:
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
    return Rounds(tuple(facts.names[entity] for entity in near), tuple(rows))


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
            return Support(tuple(found), False, len(found) <= MOST_REDUCED)
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
