"""Proofs by rules: trees of rule applications, whose leaves are facts.

A proof here has two kinds of steps. A `fact` was given; `apply` takes r1(X, Y) and r2(Y, Z) to r3(X, Z) by a rule.
Each is as strong as the weakest rule below it. `rule_checker` believes none of them.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.statements import Statements
from epignn.distil.reason import first_rounds
from epignn.distil.rules import Rule, RuleSet
from epignn.explain.proof import WORDS, Proof, numbered, tree

Triple = tuple[int, int, int]
"""A relation and two entities, by number."""


def derive(rules: RuleSet, facts: Statements, head: str, tail: str, relation: int) -> Proof:
    """A proof that a relation follows from head to tail, strong rules and early conclusions first.

    The relation has to follow. A proof's `mask` has the bit of one relation.
    """
    first = first_rounds(rules, facts.graph(head, tail))
    goal = relation, facts.position(head), facts.position(tail)
    assert first[goal] >= 0, "the relation does not follow"
    built: dict[Triple, Proof] = {}
    stack = [goal]
    while stack:
        triple = stack[-1]
        below = _premises(rules, first, triple) if first[triple] else ()
        waiting = [premise for premise in below if premise not in built]
        if waiting:
            stack += reversed(waiting)
            continue
        r, i, j = stack.pop()
        kind = "apply" if below else "fact"
        built[triple] = Proof(kind, facts.names[i], 1 << r, facts.names[j], tuple(built[p] for p in below))
    return built[goal]


def _premises(rules: RuleSet, first: NDArray[np.int32], triple: Triple) -> tuple[Triple, Triple]:
    """What the strongest rule that gives a fact was applied to; of several ways, the one known earliest."""
    head, i, j = triple
    late = first[triple]
    for rule in rules.rules:
        if rule.head == head:
            left, right = first[rule.left, i], first[rule.right, :, j]
            (through,) = np.nonzero((left >= 0) & (left < late) & (right >= 0) & (right < late))
            if len(through):
                m = int(through[np.argmin((left + right)[through])])
                return (rule.left, i, m), (rule.right, m, j)
    raise AssertionError("what is first known in a round follows from what was known before")


def _weighed(proof: Proof, rules: RuleSet) -> Iterator[tuple[Proof, Rule | None, float]]:
    """Every step, premises first, with its rule, if any, and how strong it is."""
    by_ends = {(rule.left, rule.right, rule.head): rule for rule in reversed(rules.rules)}  # the strongest
    strength: dict[Proof, float] = {}
    for step in proof.steps():
        rule = None
        if step.premises:
            rule = by_ends[tuple(_relation(part) for part in (*step.premises, step))]  # type: ignore[index]
        strength[step] = min([1.0 if rule is None else rule.weight, *(strength[p] for p in step.premises)])
        yield step, rule, strength[step]


def _relation(step: Proof) -> int:
    return step.mask.bit_length() - 1


def weight_of(proof: Proof, rules: RuleSet) -> float:
    """The weight of the weakest rule in a proof; 1 for a fact."""
    return list(_weighed(proof, rules))[-1][2]


def to_dict(proof: Proof, rules: RuleSet) -> dict[str, Any]:
    """A proof as plain values; the last step is the conclusion."""
    weight = {step: weight for step, _, weight in _weighed(proof, rules)}
    return {
        "steps": numbered(
            proof, lambda step: {"relation": rules.relations[_relation(step)], "weight": weight[step]}
        )
    }


def as_text(proof: Proof, rules: RuleSet) -> list[str]:
    r"""A proof by rules as an indented tree.

    >>> rules = RuleSet(("mother", "brother", "uncle"), 3, (Rule(0, 1, 2, 0.98, 83),))
    >>> facts = Statements.of(rules.relations, [("ann", "mother", "bea"), ("bea", "brother", "carl")])
    >>> print(*as_text(derive(rules, facts, "ann", "carl", 2), rules), sep="\n")
    uncle(ann, carl): mother(X, Y), brother(Y, Z) -> uncle(X, Z), weight 0.98, support 83
      mother(ann, bea): a fact
      brother(bea, carl): a fact
    """
    applied = {step: rule for step, rule, _ in _weighed(proof, rules)}

    def reason(step: Proof) -> str:
        rule = applied[step]
        if rule is None:
            return WORDS["fact"]
        return f"{rules.describe(rule)}, weight {rule.weight:.2f}, support {rule.support}"

    return tree(proof, lambda mask: rules.relations[mask.bit_length() - 1], reason)
