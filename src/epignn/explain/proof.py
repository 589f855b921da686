"""Proofs: trees of compositions and intersections, whose leaves are facts.

A proof concludes a relation set from a head to a tail, by one of seven rules:

    fact        it was given
    anything    nothing is known, so that every relation may hold
    distinct    two names mean two things, if the calculus says so: every relation but the identity may hold
    identity    an entity and itself
    converse    the premise, seen from the other end
    compose     the first premise, then the second, which begins where the first ends
    intersect   what all premises leave, of the same pair

Sub-proofs may be shared; as JSON a proof is a list of numbered steps, premises first. The functions here build
proofs; `checker` believes none of them.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

from epignn.calculus.algebra import Calculus


@dataclass(frozen=True, eq=False)
class Proof:
    """A conclusion, `mask` from head to tail, the rule that gives it, and what the rule was applied to."""

    rule: str
    head: str
    mask: int
    tail: str
    premises: tuple["Proof", ...] = ()

    def steps(self) -> list["Proof"]:
        """Every sub-proof once, premises before what they prove; the last is this proof."""
        done: dict[Proof, None] = {}
        stack = [self]
        while stack:
            proof = stack[-1]
            waiting = [premise for premise in proof.premises if premise not in done]
            if waiting:
                stack += reversed(waiting)
            else:
                done[stack.pop()] = None
        return list(done)

    def __len__(self) -> int:
        """The number of steps."""
        return len(self.steps())

    def facts(self) -> list[tuple[str, int, str]]:
        """The facts it rests on, each once."""
        return list(dict.fromkeys((s.head, s.mask, s.tail) for s in self.steps() if s.rule == "fact"))


def fact(head: str, mask: int, tail: str) -> Proof:
    """A given fact."""
    return Proof("fact", head, mask, tail)


def anything(calculus: Calculus, head: str, tail: str) -> Proof:
    """Of any pair, some relation holds."""
    return Proof("anything", head, calculus.universal, tail)


def distinct(calculus: Calculus, head: str, tail: str) -> Proof:
    """Two names mean two things."""
    return Proof("distinct", head, calculus.anything, tail)


def identity(calculus: Calculus, entity: str) -> Proof:
    """An entity bears the identity to itself."""
    return Proof("identity", entity, calculus.identity_mask, entity)


def converse(calculus: Calculus, of: Proof) -> Proof:
    """A proof seen from the other end; turned twice, it is itself again."""
    if of.rule == "converse":
        return of.premises[0]
    return Proof("converse", of.tail, calculus.converse(of.mask), of.head, (of,))


def compose(calculus: Calculus, left: Proof, right: Proof) -> Proof:
    """What follows along two proofs that meet in an entity."""
    assert left.tail == right.head
    return Proof("compose", left.head, calculus.compose(left.mask, right.mask), right.tail, (left, right))


def intersect(parts: tuple[Proof, ...]) -> Proof:
    """What several proofs about one pair leave together; one alone stays as it is."""
    first = parts[0]
    assert all((part.head, part.tail) == (first.head, first.tail) for part in parts)
    if len(parts) == 1:
        return first
    return Proof("intersect", first.head, reduce(lambda a, b: a & b, (p.mask for p in parts)), first.tail, parts)


# -- as JSON and as text --


def numbered(proof: Proof, told: Callable[[Proof], dict[str, Any]]) -> list[dict[str, Any]]:
    """The steps of a proof as plain values, premises by number; `told` is what a step concludes."""
    number = {step: n for n, step in enumerate(proof.steps())}
    return [
        {
            "rule": step.rule,
            "premises": [number[premise] for premise in step.premises],
            "head": step.head,
            **told(step),
            "tail": step.tail,
        }
        for step in number
    ]


def to_dict(proof: Proof, calculus: Calculus) -> dict[str, Any]:
    """A proof as plain values; the last step is the conclusion."""
    steps = numbered(proof, lambda step: {"relations": list(calculus.names(step.mask))})
    return {"calculus": calculus.name, "steps": steps}


def from_dict(document: Mapping[str, Any], calculus: Calculus) -> Proof:
    """A proof from what `to_dict` gave; nothing is checked."""
    steps: list[Proof] = []
    for step in document["steps"]:
        mask = sum(calculus.parse_one(name) for name in step["relations"])
        premises = tuple(steps[n] for n in step["premises"])
        steps.append(Proof(step["rule"], step["head"], mask, step["tail"], premises))
    return steps[-1]


WORDS = {
    "fact": "a fact",
    "anything": "nothing is known",
    "distinct": "two names mean two things",
    "identity": "an entity and itself",
    "converse": "turned round",
    "compose": "composed of",
    "intersect": "what these leave together",
}


def tree(proof: Proof, words: Callable[[int], str], reason: Callable[[Proof], str]) -> list[str]:
    """A proof as an indented tree, conclusion first; a sub-proof that is used again has a number.

    Args:
        proof: the proof.
        words: relations as text.
        reason: what gives a step, in words.
    """
    uses = Counter(premise for step in proof.steps() for premise in step.premises)
    numbers: dict[Proof, int] = {}
    lines, stack = [], [(proof, 0)]
    while stack:
        step, depth = stack.pop()
        said = f"{'  ' * depth}{words(step.mask)}({step.head}, {step.tail}): "
        if step in numbers:
            lines.append(f"{said}as in [{numbers[step]}]")
            continue
        mark = ""
        if uses[step] > 1 and step.premises:
            numbers[step] = len(numbers) + 1
            mark = f"[{numbers[step]}] "
        lines.append(said + mark + reason(step))
        if not _turned_fact(step):
            stack += [(premise, depth + 1) for premise in reversed(step.premises)]
    return lines


def _turned_fact(step: Proof) -> bool:
    return step.rule == "converse" and step.premises[0].rule == "fact"


def as_text(proof: Proof, calculus: Calculus) -> list[str]:
    r"""A proof by a calculus as an indented tree.

    >>> from epignn.calculus import load
    >>> rcc8 = load("rcc8")
    >>> ec, ntpp = fact("a", rcc8.parse("ec"), "b"), fact("b", rcc8.parse("ntpp"), "c")
    >>> print(*as_text(compose(rcc8, ec, ntpp), rcc8), sep="\n")
    PO|TPP|NTPP(a, c): composed of
      EC(a, b): a fact
      NTPP(b, c): a fact
    """

    def reason(step: Proof) -> str:
        if not _turned_fact(step):
            return WORDS[step.rule]
        (turned,) = step.premises
        return f"the fact {calculus.format(turned.mask)}({turned.head}, {turned.tail}), turned round"

    return tree(proof, calculus.format, reason)
