"""Kinship problems judged by the calculus: what their facts leave possible, and where labels are open."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.calculus.algebra import Masks
from epignn.calculus.calculi.families import TERMS, Bools
from epignn.calculus.solve.many import close_many
from epignn.data.dataset import Dataset
from epignn.data.prove import networks
from epignn.errors import unknown
from epignn.kernels import Backend

Reading = Mapping[str, str]
STRICT: Reading = MappingProxyType({term: term for term in TERMS})
"""A term means what it says."""
LOOSE: Reading = MappingProxyType(
    {
        **STRICT,
        "father": "father|father-in-law",
        "mother": "mother|mother-in-law",
        "brother": "brother|brother-in-law",
        "sister": "sister|sister-in-law",
    }
)
"""As the published files use the terms: a spouse's parents and siblings may be called one's own.

They hold "my daughter's mother's father is my father", said by her father; under this reading all their labels are
possible, under the strict one about 3 of 100 are not.
"""


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
    calculus, meanings = load("kinship"), _meanings(STRICT)
    found = calculus.compose_array(meanings[:, None], meanings)
    own = np.uint64(calculus.identity_mask)
    return KinshipTable(
        _as_terms(found, STRICT), (found & ~np.bitwise_or.reduce(meanings) & ~own) != 0, (found & own) != 0
    )


def _meanings(reading: Reading) -> Masks:
    """For each term the base relations that it may mean, shape (20,)."""
    return np.array([load("kinship").parse(reading[term]) for term in TERMS], dtype=np.uint64)


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
    means = _meanings(reading)[term_places(data.relations)]
    return _as_terms(close_many(networks(data, load("kinship"), means), backend), reading)


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
