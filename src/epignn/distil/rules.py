"""Weighted rules `r1(X, Y), r2(Y, Z) -> r3(X, Z)`, as data."""

import math
from dataclasses import dataclass

from epignn.errors import BadArgument

GRADES = 10
"""Weights are compared in tenths: rules within one are trusted alike."""


@dataclass(frozen=True)
class Rule:
    """One rule.

    Attributes:
        left, right, head: positions of r1, r2 and r3.
        weight: how far it is trusted, above 0 and up to 1.
        support: training walks that show it.
        confidence: their share among those that show its body; 0 where none does.
        model: the model's probability of the head.
    """

    left: int
    right: int
    head: int
    weight: float
    support: int = 0
    confidence: float = 0.0
    model: float = 0.0

    @property
    def grade(self) -> int:
        """The weight in tenths, rounded up."""
        return math.ceil(round(self.weight * GRADES, 6))


@dataclass(frozen=True)
class RuleSet:
    """Rules over relations, by falling weight.

    Attributes:
        relations: names; those of the data come first, invented ones follow.
        named: how many are of the data.
        rules: the rules.
        ties: for each named relation, how many training queries bear it of those with several answers of equal
            strength; the most frequent of these is preferred. Empty where that is unknown.
        source: where the rules come from.
    """

    relations: tuple[str, ...]
    named: int
    rules: tuple[Rule, ...]
    ties: tuple[int, ...] = ()
    source: str = ""

    def __post_init__(self) -> None:
        if not 1 <= self.named <= len(self.relations) or len(set(self.relations)) != len(self.relations):
            raise BadArgument("rules need relations, each named once.")
        for rule in self.rules:
            if not 0 < rule.weight <= 1:
                raise BadArgument(f"the weight of a rule is above 0 and up to 1, not {rule.weight}.")
            if not all(0 <= r < len(self.relations) for r in (rule.left, rule.right, rule.head)):
                raise BadArgument("a rule speaks of a relation that is not listed.")
        ordered = sorted(self.rules, key=lambda rule: (-rule.weight, rule.left, rule.right, rule.head))
        object.__setattr__(self, "rules", tuple(ordered))

    def describe(self, rule: Rule) -> str:
        """A rule in words.

        >>> rules = RuleSet(("mother", "brother", "uncle"), 3, (Rule(0, 1, 2, 0.9),))
        >>> rules.describe(rules.rules[0])
        'mother(X, Y), brother(Y, Z) -> uncle(X, Z)'
        """
        r1, r2, r3 = (self.relations[r] for r in (rule.left, rule.right, rule.head))
        return f"{r1}(X, Y), {r2}(Y, Z) -> {r3}(X, Z)"
