"""Worlds of kinship: a family, whose terms are those of `calculi.kinship`."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.calculi.families import Family
from epignn.calculus.calculi.kinship import RELATIONS, relation_matrix
from epignn.calculus.realise.world import Table, World, calculus_of, few_enough, mapping, sequence, text
from epignn.errors import BadArgument

MOST_PEOPLE = 2_000


@dataclass(frozen=True)
class Person:
    """Somebody in a family; others are told by their place in the list of people.

    Attributes:
        name: None for somebody whom no fact names.
        female: whether this is a woman.
        father, mother, spouse: their places, or None.
    """

    name: str | None
    female: bool
    father: int | None = None
    mother: int | None = None
    spouse: int | None = None


@dataclass(frozen=True)
class People(World):
    """A family: nobody marries twice or marries kin, and parents are married to each other."""

    people: tuple[Person, ...]
    kind: ClassVar[str] = "family"
    calculi: ClassVar[tuple[str, ...]] = ("kinship",)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {person.name: n for n, person in enumerate(self.people) if person.name is not None}

    @property
    def names(self) -> Collection[str]:
        """The people who have a name."""
        return self._places.keys()

    @cached_property
    def _relations(self) -> NDArray[np.int64]:
        def places(who: str) -> NDArray[np.int32]:
            found = (getattr(person, who) for person in self.people)
            return np.array([-1 if place is None else place for place in found], dtype=np.int32)

        female = np.array([person.female for person in self.people], dtype=bool)
        return relation_matrix(Family(female, places("father"), places("mother"), places("spouse")))

    def base_relation(self, a: str, b: str) -> str:
        """What the second person is to the first."""
        return RELATIONS[int(self._relations[self._places[a], self._places[b]])]

    def called(self, place: int | None) -> str:
        """The name of somebody; those without one are told by a number."""
        if place is None:
            return ""
        name = self.people[place].name
        return f"#{place}" if name is None else name

    def table(self) -> Table:
        """Sex, parents and spouse of each person."""
        rows: list[tuple[object, ...]] = [
            (
                self.called(n),
                "woman" if person.female else "man",
                self.called(person.father),
                self.called(person.mother),
                self.called(person.spouse),
            )
            for n, person in enumerate(self.people)
        ]
        return ("person", "sex", "father", "mother", "spouse"), rows

    def to_dict(self) -> dict[str, Any]:
        """`{kind, calculus, people: [{name, female, father, mother, spouse}]}`."""
        return {"kind": self.kind, "calculus": self.calculus, "people": [vars(person) for person in self.people]}

    @classmethod
    def read(cls, fields: Mapping[str, Any]) -> "People":
        """The world of a document."""
        rows = sequence(fields.get("people"), "'people' of a world")
        few_enough(len(rows))
        if len(rows) > MOST_PEOPLE:
            raise BadArgument(f"a family has at most {MOST_PEOPLE:,} people, not {len(rows):,}.")
        people = tuple(_person(row, n, len(rows)) for n, row in enumerate(rows))
        named = [person.name for person in people if person.name is not None]
        if len(set(named)) != len(named):
            raise BadArgument("two people of a world have the same name.")
        for n in range(len(people)):
            if wrong := _wrong(people, n):
                raise BadArgument(f"{_called(people[n], n)} {wrong}.")
        above = ancestors(people)
        for n, person in enumerate(people):
            if person.spouse is not None and above[n] & above[person.spouse]:
                raise BadArgument(f"{_called(person, n)} is married to kin.")
        return cls(calculus_of(fields, cls.kind, cls.calculi), people)


def _person(row: object, number: int, count: int) -> Person:
    what = f"person {number}"
    fields = mapping(row, what)
    name, female = fields.get("name"), fields.get("female")
    if not isinstance(female, bool):
        raise BadArgument(f"'female' of {what} is true or false, not {female!r}.")
    others = []
    for key in ("father", "mother", "spouse"):
        place = fields.get(key)
        if place is not None and (isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < count):
            raise BadArgument(f"{key!r} of {what} is null or a place from 0 to {count - 1}, not {place!r}.")
        others.append(place)
    return Person(None if name is None else text(name, f"the name of {what}"), female, *others)


def _wrong(people: tuple[Person, ...], n: int) -> str:
    """What is impossible about the parents and the marriage of a person, in words, or nothing."""
    person = people[n]
    if (person.father is None) != (person.mother is None):
        return "has one parent; a family tells both or none"
    if person.father is not None and person.mother is not None:
        if people[person.father].female or not people[person.mother].female:
            return "has a woman for a father or a man for a mother"
        if people[person.father].spouse != person.mother:
            return "has parents who are not married to each other"
    if person.spouse is not None:
        spouse = people[person.spouse]
        if spouse.spouse != n or spouse.female == person.female:
            return "is married to somebody who is married to somebody else, or of the same sex"
    return ""


def ancestors(people: tuple[Person, ...]) -> list[int]:
    """Each person and all whom they descend from, as bits.

    Raises:
        BadArgument: somebody descends from themselves.
    """
    known: dict[int, int] = {}
    for start in range(len(people)):
        stack, open_ = [start], set[int]()
        while stack:
            n = stack[-1]
            parents = [p for p in (people[n].father, people[n].mother) if p is not None]
            missing = [p for p in parents if p not in known]
            if n in known or not missing:
                known[n] = known.get(n, 1 << n)
                for p in parents:
                    known[n] |= known[p]
                stack.pop()
                continue
            if n in open_:
                raise BadArgument(f"{_called(people[n], n)} descends from themselves.")
            open_.add(n)
            stack += missing
    return [known[n] for n in range(len(people))]


def _called(person: Person, number: int) -> str:
    return f"person {number}" if person.name is None else repr(person.name)
