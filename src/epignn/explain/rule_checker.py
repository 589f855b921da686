"""The checker of proofs by rules: reads a proof as JSON and looks every step up among the rules and the facts.

It believes nothing else, and shares no code with what builds proofs.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from epignn.distil.rules import RuleSet
from epignn.explain.checker import WrongProof

Fact = tuple[str, str, str]
"""Head, relation and tail, by name."""


def check_rules(proof: Mapping[str, Any], rules: RuleSet, facts: Iterable[Fact]) -> tuple[Fact, float]:
    """What a proof proves, and the weight of the weakest rule that it needs.

    Args:
        proof: `{"steps": [{"rule", "premises", "head", "relation", "tail", "weight"}, …]}`; premises are earlier
            steps.
        rules: which decide.
        facts: what is given.

    Raises:
        WrongProof: a step states anything else than what a rule gives, or rests on what is not given.
    """
    given = set(facts)
    names = rules.relations
    weights: dict[Fact, float] = {}
    for rule in rules.rules:
        ends = names[rule.left], names[rule.right], names[rule.head]
        weights[ends] = max(rule.weight, weights.get(ends, 0.0))
    proved: list[tuple[Fact, float]] = []
    try:
        for number, step in enumerate(proof["steps"]):
            if any(type(n) is not int or not 0 <= n < number for n in step["premises"]):
                raise WrongProof(f"step {number}: its premises must be earlier steps.")
            stated = (step["head"], step["relation"], step["tail"]), step["weight"]
            premises = [proved[n] for n in step["premises"]]
            if not _follows(step["rule"], stated, premises, weights, given):
                (head, relation, tail), weight = stated
                raise WrongProof(
                    f"step {number}: {step['rule']} does not give {relation}({head}, {tail}) with weight {weight}."
                )
            proved.append(stated)
        return proved[-1]
    except (KeyError, IndexError, TypeError) as error:
        raise WrongProof(f"not a proof: {error!r}.") from error


def _follows(
    rule: str,
    stated: tuple[Fact, float],
    premises: list[tuple[Fact, float]],
    weights: Mapping[Fact, float],
    given: set[Fact],
) -> bool:
    """Whether a step is a given fact, or one of the rules gives exactly what is stated."""
    (head, relation, tail), weight = stated
    match rule, premises:
        case "fact", []:
            return stated[0] in given and weight == 1
        case "apply", [((a, left, b), w1), ((c, right, d), w2)]:
            known = weights.get((left, right, relation))
            return b == c and (head, tail) == (a, d) and known is not None and weight == min(known, w1, w2)
    return False
