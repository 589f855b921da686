"""Kinship as a calculus: `father(a, b)` says that b is the father of a.

A base relation is a term together with the sex of the person it is seen from: "father" is `his-father` or
`her-father`, so that each has one converse (`his-father` and `his-son`). Pairs without a term of their own are told
apart as far as that sharpens answers. What is observed among all triples of simulated families is what may hold.

Two names are two people (`distinct`), as in stories: "father(ann, bob). daughter(bob, eve)" makes Eve a sister of
Ann, never Ann herself. People are of two sexes (`many_sorted`): a composition is empty where the person in the
middle would have to be man and woman. The composition is weak and not associative; whether closure finds every
contradiction is not known.
"""

from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus
from epignn.calculus.calculi.families import KINDS, TERMS, Bools, Family, kinds, simulate, through
from epignn.calculus.toml import load_calculus

UNNAMED_KINDS = MappingProxyType(
    {
        "sibling-in-law": ("brother-in-law", "sister-in-law"),
        "parent's sibling's spouse": ("uncle-by-marriage", "aunt-by-marriage"),
        "spouse's sibling's child": ("nephew-by-marriage", "niece-by-marriage"),
        "other": ("other-man", "other-woman"),
    }
)
"""Pairs that the 20 terms do not name; all but the closest are `other`."""

_NAMES = (*KINDS.values(), *UNNAMED_KINDS.values())
_IMPOSSIBLE = ("his-husband", "her-wife")
RELATIONS = (
    "self",
    *(
        name
        for whose in ("his", "her")
        for names in _NAMES
        for name in (f"{whose}-{names[0]}", f"{whose}-{names[1]}")
        if name not in _IMPOSSIBLE
    ),
)
PLACE = MappingProxyType({name: r for r, name in enumerate(RELATIONS)})

MEANINGS = MappingProxyType(
    {
        term: "|".join(name for name in (f"his-{term}", f"her-{term}") if name in PLACE)
        for term in (*TERMS, *(name for names in UNNAMED_KINDS.values() for name in names))
    }
)
"""What people say, whoever it is said of: the 20 terms, and names for the other pairs."""

FAMILIES, SEED = 30, 0
"""The families that the calculus is derived from; twenty show all there is."""


def kinship() -> Calculus:
    """The calculus, read from the table that `derive_kinship` gave."""
    return load_calculus(Path(__file__).parent / "tables" / "kinship.toml")


def derive_kinship(families: int = FAMILIES, seed: int = SEED) -> Calculus:
    """The calculus, derived from simulated families."""
    rng, size = np.random.default_rng(seed), len(RELATIONS)
    seen = np.zeros((size, size, size), dtype=bool)
    converse = np.full(size, -1)
    for _ in range(families):
        matrix = relation_matrix(simulate(rng, int(rng.integers(3, 8)), 5, children=(0, 4)))
        converse[matrix] = matrix.T
        for b in range(len(matrix)):
            seen[matrix[:, b, None], matrix[b], matrix] = True
    weight = np.uint64(1) << np.arange(size, dtype=np.uint64)
    composition = np.bitwise_or.reduce(np.where(seen, weight, np.uint64(0)), axis=2)
    return Calculus(
        "kinship",
        RELATIONS,
        identity=PLACE["self"],
        converses=tuple(converse.tolist()),
        composition=tuple(map(tuple, composition.tolist())),
        aliases=MEANINGS,
        terms=tuple(MEANINGS),
        title="Kinship: father(a, b) says that b is the father of a",
        source=f"derived from all triples of people in {families} simulated families; terms of CLUTRR, Sinha 2019",
        distinct=True,
        associative=False,
        many_sorted=True,
    )


def relation_matrix(family: Family) -> NDArray[np.int64]:
    """The base relation of each pair of people, as a place in `RELATIONS` at `[a, b]`, shape (N, N)."""
    kind = np.full((len(family), len(family)), len(_NAMES) - 1)
    for number, holds in enumerate(_all_kinds(family)):
        kind[holds & (kind == len(_NAMES) - 1)] = number
    shape = (2, len(_NAMES), 2)
    places = [PLACE.get(f"{whose}-{name}", -1) for whose in ("his", "her") for names in _NAMES for name in names]
    sex = family.female.astype(np.int64)
    result: NDArray[np.int64] = np.array(places).reshape(shape)[sex[:, None], kind, sex]
    np.fill_diagonal(result, PLACE["self"])
    return result


def _all_kinds(family: Family) -> list[Bools]:
    """The matrices of all kinds but `other`, in the order of `_NAMES`; where two hold, the first one counts."""
    named = kinds(family)
    sibling, spouse = named["sibling"], named["spouse"]
    return [
        *named.values(),
        through(spouse, sibling) | through(sibling, spouse),
        through(named["parent's sibling"], spouse),
        through(spouse, named["sibling's child"]),
    ]
