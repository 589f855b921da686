"""Families: people who marry and have children over generations, and what each is to every other.

The world is CLUTRR's: nobody marries twice or marries kin, children have both parents in the family, brothers and
sisters share both. Uncles, aunts, nephews, nieces and grandparents are so by blood; in-laws are a spouse's parents
and a child's spouse, nobody else. A pair of people then has one term at most, and most pairs have none.
"""

from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]
People = NDArray[np.int32]

KINDS = MappingProxyType(
    {
        "parent": ("father", "mother"),
        "child": ("son", "daughter"),
        "sibling": ("brother", "sister"),
        "spouse": ("husband", "wife"),
        "grandparent": ("grandfather", "grandmother"),
        "grandchild": ("grandson", "granddaughter"),
        "parent's sibling": ("uncle", "aunt"),
        "sibling's child": ("nephew", "niece"),
        "spouse's parent": ("father-in-law", "mother-in-law"),
        "child's spouse": ("son-in-law", "daughter-in-law"),
    }
)
"""What a man and a woman of each kind are called."""

TERMS = tuple(sorted(name for names in KINDS.values() for name in names))
"""The 20 terms of kinship in the published files, sorted: a term's place is its bit."""

NO_TERM = -1


@dataclass(frozen=True, eq=False)
class Family:
    """People by number; `-1` where there is nobody.

    Attributes:
        female: whether each is a woman, shape (N,).
        father, mother, spouse: their numbers, shape (N,).
    """

    female: Bools
    father: People
    mother: People
    spouse: People

    def __len__(self) -> int:
        return len(self.female)


def simulate(
    rng: np.random.Generator,
    couples: int = 5,
    generations: int = 4,
    children: tuple[int, int] = (1, 4),
    marry: float = 0.9,
    outsiders: float = 0.3,
) -> Family:
    """Let a family grow.

    Args:
        rng: decides everything.
        couples: married people without parents, to begin with.
        generations: how many there are, the first one included.
        children: least and most of each couple.
        marry: the share of people who marry.
        outsiders: the share of them who marry somebody without parents; as do those who find nobody who is no kin.
    """
    growing = _Growing(rng)
    parents = [growing.couple() for _ in range(couples)]
    for generation in range(1, generations):
        born = []
        for father, mother in parents:
            count = int(rng.integers(children[0], children[1] + 1))
            born += [growing.person(bool(rng.random() < 0.5), father, mother) for _ in range(count)]
        last = generation == generations - 1
        parents = [] if last else growing.marriages(rng.permutation(born).tolist(), marry, outsiders)
    return growing.family()


class _Growing:
    """A family while it grows; `ancestors[p]` holds p and all p descends from, as bits."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.female: list[bool] = []
        self.parents: list[tuple[int, int]] = []
        self.spouse: list[int] = []
        self.ancestors: list[int] = []

    def person(self, female: bool, father: int = -1, mother: int = -1) -> int:
        number = len(self.female)
        above = self.ancestors[father] | self.ancestors[mother] if father >= 0 else 0
        self.female.append(female)
        self.parents.append((father, mother))
        self.spouse.append(-1)
        self.ancestors.append(above | 1 << number)
        return number

    def wed(self, a: int, b: int) -> tuple[int, int]:
        """Marry two people; returns husband and wife."""
        self.spouse[a], self.spouse[b] = b, a
        return (b, a) if self.female[a] else (a, b)

    def couple(self) -> tuple[int, int]:
        return self.wed(self.person(False), self.person(True))

    def marriages(self, people: list[int], marry: float, outsiders: float) -> list[tuple[int, int]]:
        """Marry people of one generation among each other, or to outsiders; returns the couples."""
        couples = []
        for number, person in enumerate(people):
            if self.spouse[person] >= 0 or self.rng.random() >= marry:
                continue
            if self.rng.random() < outsiders or (match := self._match(person, people[number + 1 :])) < 0:
                match = self.person(not self.female[person])
            couples.append(self.wed(person, match))
        return couples

    def _match(self, person: int, others: list[int]) -> int:
        for other in others:
            free = self.spouse[other] < 0 and self.female[other] != self.female[person]
            if free and not self.ancestors[person] & self.ancestors[other]:
                return other
        return -1

    def family(self) -> Family:
        father, mother = np.array(self.parents, dtype=np.int32).T
        return Family(np.array(self.female), father, mother, np.array(self.spouse, dtype=np.int32))


def kinds(family: Family) -> dict[str, Bools]:
    """For each kind of kinship whether b is that of a, as `[a, b]`, shape (N, N)."""
    size = len(family)
    parent, spouse = np.zeros((2, size, size), dtype=bool)
    for other, matrix in ((family.father, parent), (family.mother, parent), (family.spouse, spouse)):
        who = np.flatnonzero(other >= 0)
        matrix[who, other[who]] = True
    same = (family.father[:, None] == family.father) & (family.father >= 0)
    sibling = same & ~np.eye(size, dtype=bool)
    child = parent.T
    return {
        "parent": parent,
        "child": child,
        "sibling": sibling,
        "spouse": spouse,
        "grandparent": through(parent, parent),
        "grandchild": through(child, child),
        "parent's sibling": through(parent, sibling),
        "sibling's child": through(sibling, child),
        "spouse's parent": through(spouse, parent),
        "child's spouse": through(child, spouse),
    }


def through(first: Bools, second: Bools) -> Bools:
    """Whether somebody is the first of a and has b as the second, at `[a, b]`."""
    result: Bools = (first.astype(np.float32) @ second.astype(np.float32)) > 0
    return result


def terms(family: Family) -> NDArray[np.int8]:
    """The term for what b is to a, as a place in `TERMS` at `[a, b]`, or `NO_TERM`; shape (N, N)."""
    result = np.full((len(family), len(family)), NO_TERM, dtype=np.int8)
    for kind, holds in kinds(family).items():
        assert not np.any(holds & (result != NO_TERM)), "a pair has two terms: kin have married"
        man, woman = (TERMS.index(name) for name in KINDS[kind])
        result = np.where(holds, np.where(family.female, woman, man).astype(np.int8), result)
    return result
