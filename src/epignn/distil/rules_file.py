"""Rule files: TOML, a rule a line.

    relations = ["brother", "mother", "uncle"]
    invented = []
    rules = [
      {left = "mother", right = "brother", head = "uncle", weight = 0.98, support = 83, confidence = 1.0},
    ]

A rule reads `left(X, Y), right(Y, Z) -> head(X, Z)`. Optional: `model`, the model's probability of the head,
`source`, and `[ties]`, which says how many training queries with several equally strong answers bore each label.
"""

import json
import tomllib
from pathlib import Path
from typing import Any

from epignn.distil.rules import Rule, RuleSet
from epignn.errors import BadArgument, BadFile, unknown

KEYS = ("relations", "invented", "rules", "ties", "source")
ENDS = ("left", "right", "head")
FIGURES = ("weight", "support", "confidence", "model")


def is_rule_file(path: Path) -> bool:
    """Whether a TOML file holds rules, not a calculus."""
    return "rules" in _parse(path)


def load_rules(path: Path) -> RuleSet:
    """Read a rule file.

    Raises:
        BadFile: it cannot be read, or is not such a file.
    """
    raw, file = _parse(path), str(path)
    for key in raw:
        if key not in KEYS:
            raise BadFile(str(unknown("key of a rule file", key, KEYS)), file)
    named, invented = (_names(raw.get(key, []), key, file) for key in ("relations", "invented"))
    relations = named + invented
    rules = raw.get("rules", [])
    if not isinstance(rules, list) or not all(isinstance(rule, dict) for rule in rules):
        raise BadFile("'rules' must be a list of {left, right, head, weight}.", file)
    ties = raw.get("ties", {})
    if not isinstance(ties, dict) or not all(type(count) is int for count in ties.values()):
        raise BadFile("[ties] must give a number for each relation.", file)
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


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(Path(path).read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BadFile(f"cannot read it: {error.strerror}.", str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadFile(f"not a TOML file: {error}.", str(path)) from error


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
        if key in ENDS and value not in positions:
            raise BadFile(str(unknown(f"relation in rule {number}", str(value), positions)), file)
        if key in FIGURES and (isinstance(value, bool) or not isinstance(value, int | float)):
            raise BadFile(f"{key} of rule {number} must be a number, not {value!r}.", file)
    left, right, head = (positions[raw[key]] for key in ENDS)
    support, confidence, model = (raw.get(key, 0) for key in FIGURES[1:])
    return Rule(left, right, head, float(raw["weight"]), int(support), float(confidence), float(model))


def write_rules(rules: RuleSet) -> str:
    """The TOML text of rules; `load_rules` gives them back."""

    def listed(names: tuple[str, ...]) -> str:
        return "[" + ", ".join(map(_quoted, names)) + "]"

    lines = [
        f"source = {_quoted(rules.source)}",
        f"relations = {listed(rules.relations[: rules.named])}",
        f"invented = {listed(rules.relations[rules.named :])}",
        "rules = [",
    ]
    for rule in rules.rules:
        ends = (rule.left, rule.right, rule.head)
        parts = [f"{key} = {_quoted(rules.relations[r])}" for key, r in zip(ENDS, ends, strict=True)]
        parts += [f"{key} = {getattr(rule, key)}" for key in FIGURES]
        lines.append("  {" + ", ".join(parts) + "},")
    lines.append("]")
    if any(rules.ties):
        lines += ["", "[ties]"]
        lines += [f"{_quoted(name)} = {n}" for name, n in zip(rules.relations, rules.ties, strict=False) if n]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    """A TOML string; JSON's escapes are among TOML's."""
    return json.dumps(text, ensure_ascii=False)
