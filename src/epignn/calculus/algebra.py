"""A calculus: base relations, identity, converse and composition, as data.

A relation set is an `int` bit mask: bit `r` says that base relation `r` may hold. The empty mask is a
contradiction; `Calculus.universal`, with all bits set, says nothing. Composition of sets is the union of the
compositions of their members. Closure uses composition and converse, and nothing else of a calculus.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from epignn.errors import BadArgument, BadCalculus, near_misses, unknown

Model = TypeVar("Model")
Masks = NDArray[np.uint64]

MAX_RELATIONS = 64
RESERVED = ("*", "?", "∅")
"""`*` and `?` mean the universal set, `∅` the empty one."""
DIFFERENT = "≠"
"""Everything but the identity, in a calculus of distinct names."""


def members(mask: int) -> Iterator[int]:
    """The base relations of a set, in order.

    >>> list(members(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def hyphened(name: str) -> str:
    """A name as it is looked up: `met_by` and `Met by` are `met-by`."""
    return name.casefold().replace("_", "-").replace(" ", "-")


def passive(name: str) -> bool:
    """Whether a word is said of the second thing: `overlapped by` turns `overlaps` round."""
    return hyphened(name).endswith("by")


@dataclass(frozen=True)
class Calculus:
    """A qualitative calculus.

    Attributes:
        name: what the command line calls it.
        relations: names of the base relations; their order gives the bits of a mask.
        identity: index of the relation that everything bears to itself.
        converses: `converses[r]` is the base relation that holds from b to a when r holds from a to b.
        composition: `composition[r][s]` is the set of relations possible from a to c, given r(a,b), s(b,c).
        aliases: other spellings of base relations, or of sets of them.
        terms: aliases to print sets with; a term stands for its base relations where a set has all of them.
        title: one line for people.
        source: where the table comes from.
        distinct: whether two names always mean two things, so that the identity holds of nothing else.
        associative: whether composition is meant to be associative; tables of weak composition need not be.
        many_sorted: whether things are of several sorts, such as men and women. A composition is then empty where
            the thing in the middle would have to be of two.
        decides: whether closure decides consistency of networks over base relations.
        tractable: relation sets over which closure decides consistency as well; empty where unknown.

    >>> from epignn.calculus import load
    >>> rcc8 = load("rcc8")
    >>> rcc8.format(rcc8.compose(rcc8.parse("ec"), rcc8.parse("ntpp")))
    'PO|TPP|NTPP'
    >>> rcc8.format(rcc8.converse(rcc8.parse("tpp|dc")))
    'DC|TPPI'
    """

    name: str
    relations: tuple[str, ...]
    identity: int
    converses: tuple[int, ...]
    composition: tuple[tuple[int, ...], ...] = field(repr=False)
    aliases: Mapping[str, str] = field(default_factory=dict, compare=False)
    terms: tuple[str, ...] = field(default=(), compare=False)
    title: str = field(default="", compare=False)
    source: str = field(default="", compare=False)
    distinct: bool = False
    associative: bool = field(default=True, compare=False)
    many_sorted: bool = field(default=False, compare=False)
    decides: bool = field(default=False, compare=False)
    tractable: frozenset[int] = field(default=frozenset(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if not 1 <= len(self.relations) <= MAX_RELATIONS:
            raise BadCalculus(f"{self.name}: 1 to {MAX_RELATIONS} base relations, not {len(self.relations)}.")
        folded: dict[str, str] = {}
        for relation in self.relations:
            if relation in RESERVED or not relation or any(c.isspace() or c in "|(),." for c in relation):
                raise BadCalculus(f"{self.name}: {relation!r} cannot name a relation; choose a plain word.")
            twin = folded.setdefault(relation.casefold(), relation)
            if twin is not relation:
                raise BadCalculus(
                    f"{self.name}: the relations {twin!r} and {relation!r} differ only in case; rename one."
                )

    def __len__(self) -> int:
        return len(self.relations)

    @property
    def universal(self) -> int:
        """The set of all base relations: nothing is known."""
        return (1 << len(self.relations)) - 1

    @property
    def anything(self) -> int:
        """What may hold between two names of which nothing is said; without the identity if names are distinct."""
        return self.universal & ~self.identity_mask if self.distinct else self.universal

    @property
    def identity_mask(self) -> int:
        """The set that holds the identity alone."""
        return 1 << self.identity

    # -- names --

    @cached_property
    def _by_name(self) -> dict[str, int]:
        masks = {name.casefold(): 1 << r for r, name in enumerate(self.relations)}
        for alias, meaning in self.aliases.items():
            masks.setdefault(alias.casefold(), sum(masks[m.casefold()] for m in meaning.split("|")))
        for name, mask in list(masks.items()):
            masks.setdefault(hyphened(name), mask)
        if self.distinct:
            masks[DIFFERENT] = self.anything
        return masks

    def knows(self, name: str) -> bool:
        """Whether a base relation or alias has this name; neither case nor `_` for `-` matters."""
        return name.casefold() in self._by_name or hyphened(name) in self._by_name

    def parse_one(self, name: str) -> int:
        """The mask of one name; `*` and `?` are the universal set, `∅` the empty one."""
        if name in RESERVED:
            return 0 if name == "∅" else self.universal
        mask = self._by_name.get(name.casefold(), self._by_name.get(hyphened(name)))
        if mask is None:
            known = [*self.relations, *self.aliases]
            raise unknown(f"{self.name} relation", name, known, self.near(name))
        return mask

    def near(self, name: str) -> list[str]:
        """The known names that look like one that is not: never the opposite of what was meant.

        >>> from epignn.calculus import load
        >>> load("allen").near("overlaped by"), load("rcc8").near("containd")
        (['overlapped-by'], ['contains'])
        """
        found: list[str] = []
        for other in near_misses(name, [*self.relations, *self.aliases], most=4):
            mask = self.parse_one(other)
            opposite = any(
                self.converse(self.parse_one(one)) == mask for one in found if self.parse_one(one) != mask
            )
            if passive(name) == passive(other) and not opposite:
                found.append(other)
        return found[:2]

    def parse(self, text: str) -> int:
        """The mask of `"ntpp|tpp"`."""
        mask = 0
        for name in text.split("|"):
            mask |= self.parse_one(name.strip())
        return mask

    def names(self, mask: int) -> tuple[str, ...]:
        """The names of the base relations in a set."""
        return tuple(self.relations[r] for r in members(mask))

    def words(self, mask: int) -> tuple[str, ...]:
        """A set in the words that people say: terms of which it has every member, and other base relations.

        >>> from epignn.calculus import load
        >>> kinship = load("kinship")
        >>> kinship.words(kinship.parse("his-aunt|her-aunt|his-son"))
        ('his-son', 'aunt')
        """
        if not self.terms:
            return self.names(mask)
        said: dict[int, str] = {}
        for name in self.terms:
            meant = self._by_name[name.casefold()]
            if meant & mask == meant:
                said[meant & -meant] = name
                mask &= ~meant
        said |= {1 << r: self.relations[r] for r in members(mask)}
        return tuple(said[first] for first in sorted(said))

    def format(self, mask: int) -> str:
        """A set as text that `parse` reads, in words; `∅` is the empty one, `*` the universal one.

        Where names are distinct, `≠` is every relation but the identity.
        """
        if mask == self.universal:
            return "*"
        return DIFFERENT if mask == self.anything else "|".join(self.words(mask)) or "∅"

    # -- operations on sets --

    def converse(self, mask: int) -> int:
        """The converses of all relations of a set."""
        result = 0
        for r in members(mask):
            result |= 1 << self.converses[r]
        return result

    def compose(self, left: int, right: int) -> int:
        """What may hold from a to c, given `left` from a to b and `right` from b to c."""
        result = 0
        rights = list(members(right))
        for r in members(left):
            row = self.composition[r]
            for s in rights:
                result |= row[s]
        return result

    def compose_path(self, path: Iterable[int]) -> int:
        """What may hold from the start to the end of a path of sets."""
        result = self.identity_mask
        for mask in path:
            result = self.compose(result, mask)
        return result

    @cached_property
    def spreads(self) -> bool:
        """Whether composition with anything gives anything, as in every calculus whose table has no empty cell."""
        return all(self.compose(1 << r, self.universal) == self.universal for r in range(len(self)))

    # -- the same on arrays --

    @cached_property
    def composition_table(self) -> Masks:
        """`composition` as an array, for kernels."""
        return np.array(self.composition, dtype=np.uint64)

    @cached_property
    def converse_table(self) -> NDArray[np.int32]:
        """`converses` as an array, for kernels."""
        return np.array(self.converses, dtype=np.int32)

    @cached_property
    def _nibbles(self) -> tuple[Masks, Masks]:
        """Converse and composition of every four-bit piece of a mask, for `converse_array` and `compose_array`."""
        pieces = [[bits << shift for bits in range(16)] for shift in range(0, len(self), 4)]
        keep = self.universal
        converse = [[self.converse(m & keep) for m in piece] for piece in pieces]
        compose = [
            [[[self.compose(a & keep, b & keep) for b in right] for a in left] for right in pieces]
            for left in pieces
        ]
        return np.array(converse, dtype=np.uint64), np.array(compose, dtype=np.uint64)

    def converse_array(self, masks: Masks) -> Masks:
        """`converse` of every element."""
        table, _ = self._nibbles
        result = np.zeros(masks.shape, dtype=np.uint64)
        for piece in range(len(table)):
            result |= table[piece][(masks >> np.uint64(4 * piece)) & np.uint64(15)]
        return result

    def compose_array(self, left: Masks, right: Masks) -> Masks:
        """`compose` of every pair of elements; shapes broadcast."""
        _, table = self._nibbles
        lefts = [(left >> np.uint64(4 * p)) & np.uint64(15) for p in range(len(table))]
        rights = [(right >> np.uint64(4 * p)) & np.uint64(15) for p in range(len(table))]
        result = np.zeros(np.broadcast_shapes(left.shape, right.shape), dtype=np.uint64)
        for p, q in product(range(len(table)), repeat=2):
            result |= table[p, q][lefts[p], rights[q]]
        return result


def derive(
    name: str,
    relations: Sequence[str],
    relate: Callable[[Model, Model], str],
    models: Sequence[Model],
    **about: object,
) -> Calculus:
    """Derive a calculus by enumeration: t is in r∘s if some a, b, c of `models` have r(a, b), s(b, c) and t(a, c).

    `models` must show every configuration of three things, as intervals over six points do for three intervals.
    Each base relation has to occur, and exactly one may hold between a thing and itself.
    """
    index = {relation: r for r, relation in enumerate(relations)}
    table = np.array([[index[relate(a, b)] for b in models] for a in models])
    composition = [[0] * len(relations) for _ in relations]
    for a, b in product(range(len(models)), repeat=2):
        row = composition[table[a, b]]
        for s, t in set(zip(table[b].tolist(), table[a].tolist(), strict=True)):
            row[s] |= 1 << t
    converses = dict(zip(table.ravel().tolist(), table.T.ravel().tolist(), strict=True))
    identities = set(np.diagonal(table).tolist())
    if len(converses) != len(relations) or len(identities) != 1:
        raise BadArgument(f"{name}: the models do not show every relation, or show several identities.")
    return Calculus(
        name=name,
        relations=tuple(relations),
        identity=identities.pop(),
        converses=tuple(converses[r] for r in range(len(relations))),
        composition=tuple(map(tuple, composition)),
        **about,  # type: ignore[arg-type]
    )


def horn_sets(comparisons: Mapping[str, Sequence[int]], relations: Sequence[str]) -> frozenset[int]:
    """The relation sets that ORD-Horn clauses over point comparisons define.

    `comparisons[relation]` holds the signs (-1, 0, 1) of the compared coordinates. A clause is a disjunction
    of any inequalities `≠` and at most one of `≤`, `≥`, `=`; a set is ORD-Horn when it is a conjunction of
    clauses (Nebel and Bürckert, 1995). Closure decides consistency of networks over such sets.
    """

    def satisfying(test: Callable[[Sequence[int]], bool]) -> int:
        return sum(1 << r for r, relation in enumerate(relations) if test(comparisons[relation]))

    pairs = range(len(next(iter(comparisons.values()))))
    positive = [0]
    for p in pairs:
        positive.append(satisfying(lambda signs, p=p: signs[p] <= 0))  # type: ignore[misc]
        positive.append(satisfying(lambda signs, p=p: signs[p] >= 0))  # type: ignore[misc]
        positive.append(satisfying(lambda signs, p=p: signs[p] == 0))  # type: ignore[misc]
    unequal = [satisfying(lambda signs, p=p: signs[p] != 0) for p in pairs]  # type: ignore[misc]
    clauses: set[int] = set()
    for chosen in product((False, True), repeat=len(unequal)):
        negative = 0
        for mask, used in zip(unequal, chosen, strict=True):
            negative |= mask if used else 0
        clauses.update(negative | mask for mask in positive)
    sets = {(1 << len(relations)) - 1}
    for clause in clauses:
        sets |= {mask & clause for mask in sets}
    return frozenset(sets - {0})
