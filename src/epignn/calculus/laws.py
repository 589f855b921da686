"""The laws that a composition table must obey, as functions that name each cell that breaks one.

Closure relies on all of them but two, which a calculus can say that it does not claim: associativity, which tables
of weak composition may lack (`associative = false` in its file), and that no composition is empty, which fails
where things are of several sorts (`many_sorted = true`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from types import MappingProxyType

from epignn.calculus.algebra import Calculus, members


@dataclass(frozen=True)
class Violation:
    """One cell that breaks one law."""

    law: str
    cell: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"law '{self.law}' fails at {self.cell}: expected {self.expected}, found {self.found}"


Law = Callable[[Calculus], Iterator[tuple[str, str, str]]]


def _involution(c: Calculus) -> Iterator[tuple[str, str, str]]:
    for r, name in enumerate(c.relations):
        back = c.converses[c.converses[r]]
        if back != r:
            yield f"the converse of the converse of {name}", name, c.relations[back]


def _identity(c: Calculus) -> Iterator[tuple[str, str, str]]:
    one = c.relations[c.identity]
    for r, name in enumerate(c.relations):
        for cell, found in (
            (f"{one} ∘ {name}", c.composition[c.identity][r]),
            (f"{name} ∘ {one}", c.composition[r][c.identity]),
        ):
            if found != 1 << r:
                yield cell, name, c.format(found)


def _not_empty(c: Calculus) -> Iterator[tuple[str, str, str]]:
    for r, s in product(range(len(c)), repeat=2):
        if not c.composition[r][s]:
            yield f"{c.relations[r]} ∘ {c.relations[s]}", "at least one relation", "∅"


def _converse(c: Calculus) -> Iterator[tuple[str, str, str]]:
    for r, s in product(range(len(c)), repeat=2):
        found = c.converse(c.composition[r][s])
        expected = c.composition[c.converses[s]][c.converses[r]]
        if found != expected:
            cell = f"{c.relations[r]} ∘ {c.relations[s]}"
            mirror = f"{c.relations[c.converses[s]]} ∘ {c.relations[c.converses[r]]}"
            yield cell, f"{c.format(c.converse(expected))} (from {mirror})", c.format(c.composition[r][s])


def _peirce(c: Calculus) -> Iterator[tuple[str, str, str]]:
    for r, s in product(range(len(c)), repeat=2):
        found = c.composition[r][s]
        expected = sum(1 << t for t in range(len(c)) if c.composition[t][c.converses[s]] >> r & 1)
        for t in members(found ^ expected):
            name_r, name_s, name_t = c.relations[r], c.relations[s], c.relations[t]
            other = f"{name_t} ∘ {c.relations[c.converses[s]]}"
            if found >> t & 1:
                yield f"{name_r} ∘ {name_s}", f"no {name_t}, because {other} lacks {name_r}", c.format(found)
            else:
                yield f"{name_r} ∘ {name_s}", f"{name_t} too, because {other} has {name_r}", c.format(found)


def _associative(c: Calculus) -> Iterator[tuple[str, str, str]]:
    for r, s, t in product(range(len(c)), repeat=3):
        left = c.compose(c.composition[r][s], 1 << t)
        right = c.compose(1 << r, c.composition[s][t])
        if left != right:
            a, b, d = c.relations[r], c.relations[s], c.relations[t]
            yield f"({a} ∘ {b}) ∘ {d}", f"{c.format(right)} as {a} ∘ ({b} ∘ {d})", c.format(left)


LAWS: MappingProxyType[str, Law] = MappingProxyType(
    {
        "converse is an involution": _involution,
        "identity is neutral": _identity,
        "compositions are not empty": _not_empty,
        "converse of a composition": _converse,
        "Peirce": _peirce,
        "associativity": _associative,
    }
)


def laws_of(calculus: Calculus) -> dict[str, Law]:
    """The laws that a calculus is held to."""
    waived = {"associativity": not calculus.associative, "compositions are not empty": calculus.many_sorted}
    return {name: law for name, law in LAWS.items() if not waived.get(name)}


def violations(calculus: Calculus) -> Iterator[Violation]:
    """Every cell of the table that breaks a law the calculus is held to.

    >>> from epignn.calculus import load
    >>> list(violations(load("allen")))
    []
    """
    for name, law in laws_of(calculus).items():
        for cell, expected, found in law(calculus):
            yield Violation(name, cell, expected, found)
