"""Weighted rules `r1(X, Y), r2(Y, Z) -> r3(X, Z)`, and the TOML files that hold them, a rule a line.

    relations = ["brother", "mother", "uncle"]
    invented = []
    rules = [
      {left = "mother", right = "brother", head = "uncle", weight = 0.98, support = 83, confidence = 1.0},
    ]

A rule reads `left(X, Y), right(Y, Z) -> head(X, Z)`. Optional: `model`, the model's probability of the head,
`source`, and `[ties]`, which gives, for training queries with several equally strong answers, the count of each
label.
"""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epignn.calculus.algebra import Calculus
from epignn.calculus.toml import read_calculus
from epignn.errors import BadArgument, BadFile, unknown
from epignn.files import parse_toml, quoted, read_text

GRADES = 10
"""Weights are compared in tenths: rules within one are trusted alike."""
KEYS = ("relations", "invented", "rules", "ties", "source")
LARGEST = 2**53
"""Of the figures of a rule; also excludes what is no number."""
ENDS = ("left", "right", "head")
FIGURES = ("weight", "support", "confidence", "model")


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


def load_distilled(path: Path) -> Calculus | RuleSet:
    """A calculus or rules, from a `.toml` file."""
    return read_distilled(read_text(path), str(path))


def read_distilled(text: str, file: str) -> Calculus | RuleSet:
    """A calculus or rules, from TOML text; `file` names it in errors."""
    return read_rules(text, file) if "rules" in parse_toml(text, file) else read_calculus(text, file)


def load_rules(path: Path) -> RuleSet:
    """Read a rule file.

    Raises:
        BadFile: it cannot be read, or is not such a file.
    """
    return read_rules(read_text(path), str(path))


def read_rules(text: str, file: str) -> RuleSet:
    """Read rules from TOML text; `file` names it in errors."""
    raw = parse_toml(text, file)
    for key in raw:
        if key not in KEYS:
            raise BadFile(str(unknown("key of a rule file", key, KEYS)), file)
    named, invented = (_names(raw.get(key, []), key, file) for key in ("relations", "invented"))
    relations = named + invented
    rules = raw.get("rules", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise BadFile("'rules' must be a list of {left, right, head, weight}.", file)
    ties = raw.get("ties", {})
    if not isinstance(ties, dict) or not all(type(n) is int and 0 <= n <= LARGEST for n in ties.values()):
        raise BadFile("[ties] must give a number for each relation.", file)
    for name in ties:
        if name not in named:
            raise BadFile(str(unknown("relation in [ties]", name, named)), file)
    positions = {name: r for r, name in enumerate(relations)}
    try:
        return RuleSet(
            relations,
            len(named),
            tuple(_rule(rule, positions, number, file) for number, rule in enumerate(rules, start=1)),
            tuple(ties.get(name, 0) for name in named) if ties else (),
            str(raw.get("source", "")),
        )
    except BadArgument as error:
        raise BadFile(str(error), file) from error


def _names(value: object, key: str, file: str) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise BadFile(f"'{key}' must be a list of names.", file)
    return tuple(value)


def _rule(raw: dict[str, Any], positions: dict[str, int], number: int, file: str) -> Rule:
    missing = [key for key in (*ENDS, "weight") if key not in raw]
    if missing:
        raise BadFile(f"rule {number} lacks {', '.join(missing)}.", file)
    for key, value in raw.items():
        if key not in ENDS + FIGURES:
            raise BadFile(str(unknown(f"key in rule {number}", key, ENDS + FIGURES)), file)
        if key in ENDS and (not isinstance(value, str) or value not in positions):
            raise BadFile(str(unknown(f"relation in rule {number}", str(value), positions)), file)
        if key in FIGURES and (type(value) not in (int, float) or not abs(value) <= LARGEST):
            raise BadFile(
                f"{key} of rule {number} must be a number up to {LARGEST:g}, not {str(value)[:40]}.", file
            )
    left, right, head = (positions[raw[key]] for key in ENDS)
    support, confidence, model = (raw.get(key, 0) for key in FIGURES[1:])
    return Rule(left, right, head, float(raw["weight"]), int(support), float(confidence), float(model))


def write_rules(rules: RuleSet) -> str:
    """The TOML text of rules; `load_rules` gives them back."""

    def listed(names: tuple[str, ...]) -> str:
        return "[" + ", ".join(map(quoted, names)) + "]"

    lines = [
        f"source = {quoted(rules.source)}",
        f"relations = {listed(rules.relations[: rules.named])}",
        f"invented = {listed(rules.relations[rules.named :])}",
        "rules = [",
    ]
    for rule in rules.rules:
        ends = (rule.left, rule.right, rule.head)
        parts = [f"{key} = {quoted(rules.relations[r])}" for key, r in zip(ENDS, ends, strict=True)]
        parts += [f"{key} = {getattr(rule, key)}" for key in FIGURES]
        lines.append("  {" + ", ".join(parts) + "},")
    lines.append("]")
    if any(rules.ties):
        lines += ["", "[ties]"]
        lines += [f"{quoted(name)} = {n}" for name, n in zip(rules.relations, rules.ties, strict=False) if n]
    return "\n".join(lines) + "\n"
