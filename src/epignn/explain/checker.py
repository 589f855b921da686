"""The checker: reads a proof as JSON, recomputes every step from the table, and believes nothing else.

It shares no code with what builds proofs. Of a calculus it uses relation names, identity, converses, the
composition of two base relations, and whether names are distinct.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from epignn.calculus.algebra import Calculus
from epignn.errors import EpignnError

Conclusion = tuple[str, frozenset[str], str]


class WrongProof(EpignnError):
    """A proof with a step that does not follow; the message names the step."""


def check(
    proof: Mapping[str, Any], calculus: Calculus, facts: Iterable[tuple[str, Iterable[str], str]]
) -> Conclusion:
    """What a proof proves: head, relation names and tail of its last step.

    Args:
        proof: `{"steps": [{"rule", "premises", "head", "relations", "tail"}, …]}`; premises are earlier steps.
        calculus: whose table decides.
        facts: what is given, as head, relation names and tail.

    Raises:
        WrongProof: a step states anything else than what its rule gives, or rests on what is not given.
    """
    given = {(head, frozenset(relations), tail) for head, relations, tail in facts}
    proved: list[Conclusion] = []
    try:
        for number, step in enumerate(proof["steps"]):
            if any(type(n) is not int or not 0 <= n < number for n in step["premises"]):
                raise WrongProof(f"step {number}: its premises must be earlier steps.")
            stated = step["head"], frozenset(step["relations"]), step["tail"]
            premises = [proved[n] for n in step["premises"]]
            if not _follows(step["rule"], stated, premises, calculus, given):
                raise WrongProof(f"step {number}: {step['rule']} does not give {_words(stated)}.")
            proved.append(stated)
        return proved[-1]
    except (KeyError, IndexError, TypeError) as error:
        raise WrongProof(f"not a proof: {error!r}.") from error


def _follows(
    rule: str, stated: Conclusion, premises: list[Conclusion], calculus: Calculus, given: set[Conclusion]
) -> bool:
    """Whether a rule gives exactly what is stated."""
    head, relations, tail = stated
    names = calculus.relations
    match rule, premises:
        case "fact", []:
            return stated in given
        case "anything", []:
            return relations == frozenset(names)
        case "distinct", []:
            return calculus.distinct and head != tail and relations == {*names} - {names[calculus.identity]}
        case "identity", []:
            return head == tail and relations == {names[calculus.identity]}
        case "converse", [(a, of, b)]:
            return (head, tail) == (b, a) and relations == {names[calculus.converses[names.index(r)]] for r in of}
        case "compose", [(a, left, b), (c, right, d)]:
            cells = [calculus.composition[names.index(r)][names.index(s)] for r in left for s in right]
            union = {name for bit, name in enumerate(names) if any(cell >> bit & 1 for cell in cells)}
            return b == c and (head, tail) == (a, d) and relations == union
        case "intersect", [_, *_]:
            same_pair = all((a, b) == (head, tail) for a, _, b in premises)
            return same_pair and relations == frozenset.intersection(*(of for _, of, _ in premises))
    return False


def _words(stated: Conclusion) -> str:
    head, relations, tail = stated
    return f"{'|'.join(sorted(relations)) or '∅'}({head}, {tail})"
