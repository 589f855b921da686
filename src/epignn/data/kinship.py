"""Kinship as a calculus: how terms compose, what the facts of a problem leave possible, where labels are open.

A base relation is a term together with the sex of the person it is seen from: "father" is `his-father` or
`her-father`, so that each has one converse (`his-father` and `his-son`). Pairs without a term of their own are told
apart as far as that sharpens answers. What is observed among all triples of simulated families is what may hold;
closure does the rest, as for regions and intervals.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.solve.many import Networks, close_many
from epignn.data.dataset import Dataset, offsets
from epignn.data.families import KINDS, TERMS, Bools, Family, kinds, simulate, through
from epignn.errors import unknown
from epignn.kernels import Backend

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
_PLACE = {name: r for r, name in enumerate(RELATIONS)}

FAMILIES, SEED = 30, 0
"""The families that the calculus is derived from; twenty show all there is."""

Reading = Mapping[str, tuple[str, ...]]
STRICT: Reading = MappingProxyType({term: (term,) for term in TERMS})
"""A term means what it says."""
LOOSE: Reading = MappingProxyType(
    {
        **STRICT,
        "father": ("father", "father-in-law"),
        "mother": ("mother", "mother-in-law"),
        "brother": ("brother", "brother-in-law"),
        "sister": ("sister", "sister-in-law"),
    }
)
"""As the published files use the terms: a spouse's parents and siblings may be called one's own.

They hold "my daughter's mother's father is my father", said by her father; under this reading all their labels are
possible, under the strict one about 3 of 100 are not.
"""


def relation_matrix(family: Family) -> NDArray[np.int64]:
    """The base relation of each pair of people, as a place in `RELATIONS` at `[a, b]`, shape (N, N)."""
    kind = np.full((len(family), len(family)), len(_NAMES) - 1)
    for number, holds in enumerate(_all_kinds(family)):
        kind[holds & (kind == len(_NAMES) - 1)] = number
    shape = (2, len(_NAMES), 2)
    places = [_PLACE.get(f"{whose}-{name}", -1) for whose in ("his", "her") for names in _NAMES for name in names]
    sex = family.female.astype(np.int64)
    result: NDArray[np.int64] = np.array(places).reshape(shape)[sex[:, None], kind, sex]
    np.fill_diagonal(result, _PLACE["self"])
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


@cache
def kinship(families: int = FAMILIES, seed: int = SEED) -> Calculus:
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
        identity=_PLACE["self"],
        converses=tuple(converse.tolist()),
        composition=tuple(map(tuple, composition.tolist())),
        title="Kinship: what one person is to another",
        source=f"derived from all triples of people in {families} simulated families",
        associative=False,
    )


@dataclass(frozen=True, eq=False)
class KinshipTable:
    """How two terms compose.

    Attributes:
        masks: the terms that may hold from end to end, as bits over `TERMS`, shape (20, 20).
        unnamed: whether the ends may bear each other no term, shape (20, 20).
        same: whether both ends may be one person, shape (20, 20).
    """

    masks: Masks
    unnamed: Bools
    same: Bools


def kinship_table() -> KinshipTable:
    """Composition of terms: b is the first of a, c is the second of b; what is c to a?"""
    meanings = _meanings(STRICT)
    found = kinship().compose_array(meanings[:, None], meanings)
    own = np.uint64(1 << _PLACE["self"])
    return KinshipTable(
        _as_terms(found, STRICT), (found & ~np.bitwise_or.reduce(meanings) & ~own) != 0, (found & own) != 0
    )


@cache
def _meanings_of(reading: tuple[tuple[str, ...], ...]) -> Masks:
    names = [[f"{whose}-{name}" for whose in ("his", "her") for name in meaning] for meaning in reading]
    return np.array([sum(1 << _PLACE[name] for name in some if name in _PLACE) for some in names], dtype=np.uint64)


def _meanings(reading: Reading) -> Masks:
    """For each term the base relations that it may mean, shape (20,)."""
    return _meanings_of(tuple(reading[term] for term in TERMS))


def _as_terms(found: Masks, reading: Reading) -> Masks:
    """Sets of base relations as sets of the terms that may be said of them, over `TERMS`."""
    weight = np.uint64(1) << np.arange(len(TERMS), dtype=np.uint64)
    named = (found[..., None] & _meanings(reading)) != 0
    terms: Masks = np.bitwise_or.reduce(np.where(named, weight, np.uint64(0)), axis=-1)
    return terms


def term_places(relations: tuple[str, ...]) -> NDArray[np.int64]:
    """The place in `TERMS` of each relation of a data set.

    Raises:
        UnknownName: one is no term of kinship.
    """
    for name in relations:
        if name not in TERMS:
            raise unknown("term of kinship", name, TERMS)
    return np.array([TERMS.index(name) for name in relations], dtype=np.int64)


def possible_labels(data: Dataset, reading: Reading = STRICT, backend: Backend = "auto") -> Masks:
    """The terms that the facts of each problem leave possible for its query, as bits over `TERMS`.

    Different nodes are different people. What closure cannot exclude counts as possible. Facts that no family obeys
    leave nothing: 0.
    """
    return _as_terms(close_many(_networks(data, reading), backend), reading)


def ambiguous(data: Dataset, reading: Reading = STRICT, backend: Backend = "auto") -> Bools:
    """Whether the facts of each problem leave more than one term possible for its query."""
    left = possible_labels(data, reading, backend)
    result: Bools = (left & (left - np.uint64(1))) != 0
    return result


def excluded(data: Dataset, reading: Reading = STRICT, backend: Backend = "auto") -> Bools:
    """Whether the label of each problem is not among what its facts leave possible."""
    label = np.uint64(1) << term_places(data.relations)[data.label].astype(np.uint64)
    result: Bools = (possible_labels(data, reading, backend) & label) == 0
    return result


def _networks(data: Dataset, reading: Reading) -> Networks:
    """The problems over the calculus: their facts, and that no two people are the same."""
    calculus = kinship()
    sizes = data.node_count.tolist()
    pairs = {size: np.triu_indices(size, 1) for size in set(sizes)}
    counts = np.array([len(pairs[size][0]) for size in sizes], dtype=np.int64) + data.edge_count
    offset = offsets(counts)
    source, target = np.empty((2, int(offset[-1])), dtype=np.int32)
    facts = np.full(len(source), calculus.universal & ~calculus.identity_mask, dtype=np.uint64)
    edge = np.repeat(offset[:-1] - data.edge_offset[:-1], data.edge_count) + np.arange(len(data.edge_label))
    source[edge], target[edge] = data.edge_source, data.edge_target
    facts[edge] = _meanings(reading)[term_places(data.relations)][data.edge_label]
    distinct = np.ones(len(source), dtype=bool)
    distinct[edge] = False
    source[distinct], target[distinct] = np.concatenate(
        [np.empty((2, 0), int), *(pairs[size] for size in sizes)], axis=1
    )
    return Networks(calculus, data.node_count, offset, source, target, facts, data.query_head, data.query_tail)
