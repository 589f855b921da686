"""A family for facts of kinship, by search: each fact becomes parents and marriages, and people merge on demand.

A term may come about in several ways (an uncle is a brother of the father or of the mother), and a fact may allow
several terms; the search tries them all. People are added as a term asks for them, and two become one only where
the world demands it: a person has one father, one mother and one spouse, brothers and sisters share both parents,
parents are married to each other. So the family is the least special one for the ways that were chosen, and if no
choice of ways gives a family, there is none.
"""

import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from epignn.calculus.algebra import members
from epignn.calculus.calculi.families import KINDS
from epignn.calculus.calculi.kinship import UNNAMED_KINDS
from epignn.calculus.network import Network
from epignn.calculus.realise.people import People, Person, ancestors
from epignn.calculus.solve.closure import close
from epignn.errors import BadArgument


class _Impossible(Exception):
    """The people of a family would have to be what nobody can be."""


class OutOfTime(Exception):
    """The search for a family has reached its deadline."""


class _Kin:
    """A family while it is put together; people are numbers, and one who was merged stands for another."""

    def __init__(self) -> None:
        self.same: list[int] = []
        self.names: list[str | None] = []
        self.females: list[bool | None] = []
        self.fathers: list[int] = []
        self.mothers: list[int] = []
        self.spouses: list[int] = []

    def copy(self) -> "_Kin":
        other = _Kin()
        for key, value in vars(self).items():
            setattr(other, key, value.copy())
        return other

    def add(self, female: bool | None = None, name: str | None = None) -> int:
        self.same.append(len(self.same))
        self.names.append(name)
        self.females.append(female)
        for others in (self.fathers, self.mothers, self.spouses):
            others.append(-1)
        return len(self.same) - 1

    def find(self, person: int) -> int:
        while self.same[person] != person:
            person = self.same[person]
        return person

    def female(self, person: int) -> bool | None:
        return self.females[self.find(person)]

    def is_female(self, person: int, female: bool) -> None:
        person = self.find(person)
        if self.females[person] is None:
            self.females[person] = female
            if self.spouses[person] >= 0:
                self.is_female(self.spouses[person], not female)
        elif self.females[person] != female:
            raise _Impossible

    def parent(self, person: int, female: bool | None) -> int:
        """The mother or the father, who are added together, as a couple."""
        person = self.find(person)
        if self.fathers[person] < 0:
            father, mother = self.add(False), self.add(True)
            self.spouses[father], self.spouses[mother] = mother, father
            self.fathers[person], self.mothers[person] = father, mother
        return self.mothers[person] if female else self.fathers[person]

    def spouse(self, person: int) -> int:
        person = self.find(person)
        if self.spouses[person] < 0:
            female = self.females[person]
            self.spouses[person] = self.add(None if female is None else not female)
            self.spouses[self.spouses[person]] = person
        return self.spouses[person]

    def siblings(self, a: int, b: int) -> None:
        self.merge(self.parent(a, False), self.parent(b, False))

    def merge(self, a: int, b: int) -> None:
        """Make two people one, and with them their parents and their spouses."""
        a, b = self.find(a), self.find(b)
        if a == b:
            return
        if self.names[a] is not None and self.names[b] is not None:
            raise _Impossible
        if self.females[b] is not None:
            self.is_female(a, self.females[b])  # type: ignore[arg-type]
        elif self.females[a] is not None:
            self.is_female(b, self.females[a])  # type: ignore[arg-type]
        self.same[b] = a
        self.names[a] = self.names[b] if self.names[a] is None else self.names[a]
        for others in (self.spouses, self.fathers, self.mothers):
            if others[a] >= 0 and others[b] >= 0:
                self.merge(others[a], others[b])
            elif others[b] >= 0:
                others[a] = others[b]

    def people(self, rng: np.random.Generator) -> tuple[Person, ...]:
        """The family; who is still of either sex gets one."""
        kept = [n for n in range(len(self.same)) if self.find(n) == n]
        for n in kept:
            if self.females[n] is None:
                self.is_female(n, bool(rng.random() < 0.5))
        place = {n: at for at, n in enumerate(kept)}

        def who(other: int) -> int | None:
            return None if other < 0 else place[self.find(other)]

        return tuple(
            Person(
                self.names[n],
                bool(self.females[n]),
                who(self.fathers[n]),
                who(self.mothers[n]),
                who(self.spouses[n]),
            )
            for n in kept
        )


Way = Callable[[_Kin, int, int], None]


def _by_parent(way: Callable[[_Kin, int, int, int], None]) -> tuple[Way, Way]:
    """A way through the father and one through the mother; `way` gets the parent between the two people."""

    def by(female: bool) -> Way:
        return lambda kin, a, b: way(kin, kin.parent(a, female), a, b)

    return by(False), by(True)


WAYS: Mapping[str, tuple[Way, ...]] = MappingProxyType(
    {
        "parent": (lambda kin, a, b: kin.merge(kin.parent(a, kin.female(b)), b),),
        "sibling": (lambda kin, a, b: kin.siblings(a, b),),
        "spouse": (lambda kin, a, b: kin.merge(kin.spouse(a), b),),
        "grandparent": _by_parent(lambda kin, parent, a, b: kin.merge(kin.parent(parent, kin.female(b)), b)),
        "parent's sibling": _by_parent(lambda kin, parent, a, b: kin.siblings(parent, b)),
        "spouse's parent": (lambda kin, a, b: kin.merge(kin.parent(kin.spouse(a), kin.female(b)), b),),
        "sibling-in-law": (
            lambda kin, a, b: kin.siblings(kin.spouse(a), b),
            lambda kin, a, b: kin.siblings(a, kin.spouse(b)),
        ),
        "parent's sibling's spouse": _by_parent(lambda kin, parent, a, b: kin.siblings(parent, kin.spouse(b))),
        "other": (lambda kin, a, b: None,),
    }
)
"""How b may come to be that of a."""
TURNED = MappingProxyType(
    {
        "child": "parent",
        "grandchild": "grandparent",
        "sibling's child": "parent's sibling",
        "child's spouse": "spouse's parent",
        "spouse's sibling's child": "parent's sibling's spouse",
    }
)
"""Kinds that are others, seen from b."""


@dataclass(frozen=True)
class _Term:
    """A base relation: the sex of both people, what one is to the other, and how early that kind counts."""

    female: bool
    kind: str
    other_female: bool
    rank: int

    def ways(self) -> list[Way]:
        turned = TURNED.get(self.kind)
        found = WAYS[turned or self.kind]
        return [(lambda kin, a, b, way=way: way(kin, b, a)) if turned else way for way in found]  # type: ignore[misc]


TERMS: Mapping[str, _Term] = MappingProxyType(
    {
        f"{whose}-{name}": _Term(whose == "her", kind, name == names[1], rank)
        for rank, (kind, names) in enumerate([*KINDS.items(), *UNNAMED_KINDS.items()])
        for whose in ("his", "her")
        for name in names
    }
)
"""What each relation but `self` means."""


def find_family(network: Network, rng: np.random.Generator, deadline: float) -> People | None:
    """A family in which the facts hold; None if there is none.

    Args:
        network: facts in which closure finds no contradiction.
        rng: decides in which order ways are tried.
        deadline: when to give up.

    Raises:
        OutOfTime: the deadline has passed.
    """
    return _Search(network, rng, deadline).run()


@dataclass(frozen=True)
class _Fact:
    """A pair of people and all ways to give them a relation that a fact allows, with its rank and both sexes."""

    a: int
    b: int
    options: list[tuple[_Term, Way]]


@dataclass(frozen=True)
class _State:
    """A family so far, the facts that it does not have yet, and what was chosen for the others."""

    kin: _Kin
    facts: list[_Fact]
    chosen: list[tuple[_Fact, _Term]]


class _Search:
    def __init__(self, network: Network, rng: np.random.Generator, deadline: float) -> None:
        self.network, self.rng, self.deadline = network, rng, deadline
        calculus = network.calculus
        closed = close(network)
        self.facts = []
        for i, j, mask in zip(closed.first.tolist(), closed.second.tolist(), closed.masks.tolist(), strict=True):
            told = ((network.heads == i) & (network.tails == j)) | ((network.heads == j) & (network.tails == i))
            if told.any() and mask != calculus.anything:
                terms = [TERMS[calculus.relations[r]] for r in members(mask)]
                options = [(term, way) for term in terms for way in term.ways()]
                self.facts.append(_Fact(i, j, [options[n] for n in rng.permutation(len(options))]))

    def run(self) -> People | None:
        kin = _Kin()
        for name in self.network.names:
            kin.add(name=name)
        open_ = [iter([_State(kin, self.facts, [])])]  # not by recursion: there may be a thousand facts
        while open_:
            state = next(open_[-1], None)
            if time.perf_counter() > self.deadline:
                raise OutOfTime
            if state is None:
                open_.pop()
            elif state.facts:
                open_.append(self._extend(state))
            elif (world := self._world(state.kin)) is not None:
                return world
        return None

    def _extend(self, state: _State) -> Iterator[_State]:
        """Give one more fact each of its ways: the fact with the fewest that are possible."""
        best: tuple[_Fact, list[tuple[_Kin, _Term]]] | None = None
        for fact in state.facts:
            grown = [(after, term) for term, way in fact.options if (after := _apply(state.kin, fact, term, way))]
            if best is None or len(grown) < len(best[1]):
                best = fact, grown
            if len(grown) < 2:
                break
        assert best is not None
        rest = [other for other in state.facts if other is not best[0]]
        for after, term in best[1]:
            chosen = [*state.chosen, (best[0], term)]
            if self._sound(after, chosen):
                yield _State(after, rest, chosen)

    def _world(self, kin: _Kin) -> People | None:
        world = People("kinship", kin.people(self.rng))
        return None if world.broken(self.network) else world

    def _sound(self, kin: _Kin, chosen: list[tuple[_Fact, _Term]]) -> bool:
        """Whether nobody descends from themselves or is married to kin, and no pair is more than was chosen.

        Of two kinds that hold the first counts, and a family that grows loses none: a pair that has an earlier kind
        than the chosen one will never have that.
        """
        people = kin.copy().people(self.rng)
        try:
            above = ancestors(people)
        except BadArgument:
            return False
        if any(person.spouse is not None and above[n] & above[person.spouse] for n, person in enumerate(people)):
            return False
        world, names = People("kinship", people), self.network.names
        return all(
            TERMS[world.base_relation(names[fact.a], names[fact.b])].rank >= term.rank for fact, term in chosen
        )


def _apply(kin: _Kin, fact: _Fact, term: _Term, way: Way) -> _Kin | None:
    """The family after a fact has come about in one way; None if that cannot be."""
    after = kin.copy()
    try:
        after.is_female(fact.a, term.female)
        after.is_female(fact.b, term.other_female)
        way(after, fact.a, fact.b)
    except _Impossible:
        return None
    return after
