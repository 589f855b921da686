"""Kinship problems of any length in CLUTRR's manner: walks through simulated families.

A problem begins with two relatives. A fact is replaced by two, through a relative of both its people, until there
are `k`; all of them, and the label, are true in one family. Which two facts may stand for one tells how far the
label follows from them: CLUTRR's rules derive it, they entail it, or they are merely true.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.calculi.families import TERMS, Bools, Family, simulate, terms
from epignn.data.dataset import Dataset, offsets
from epignn.data.kin_rules import rule_table
from epignn.data.kinship import kinship_table
from epignn.errors import BadArgument, lookup

Fact = tuple[int, int, int]
"""Head, place of the term in `TERMS`, tail."""

NEVER_EDGES = ("daughter-in-law", "father-in-law", "mother-in-law", "nephew", "niece", "son-in-law")
EDGE_TERMS = tuple(term for term in TERMS if term not in NEVER_EDGES)
"""The 14 terms that the published files state as facts."""
LABEL_TERMS = tuple(term for term in TERMS if term not in ("husband", "wife"))
"""The 18 terms that they ask for."""

PER_FAMILY = 100
"""Problems from one family before another is simulated."""
ATTEMPTS = 200


def _by_rules() -> Bools:
    """Where CLUTRR's rules derive the first term from the other two."""
    weight = np.uint64(1) << np.arange(len(TERMS), dtype=np.uint64)
    derived: Bools = rule_table() == weight[:, None, None]
    return derived


def _by_entailment() -> Bools:
    """Where two facts about three people leave the first term alone possible."""
    table = kinship_table()
    weight = np.uint64(1) << np.arange(len(TERMS), dtype=np.uint64)
    entailed: Bools = (table.masks == weight[:, None, None]) & ~table.unnamed
    return entailed


def _by_truth() -> Bools:
    return np.ones((len(TERMS),) * 3, dtype=bool)


REPLACEMENTS = MappingProxyType({"rules": _by_rules, "entailed": _by_entailment, "true": _by_truth})
"""By name: whether a fact of the first term may be replaced by two of the second and third, shape (20, 20, 20)."""


@dataclass(frozen=True, eq=False)
class Walk:
    """A problem: people one after the other, the terms from each to the next, and how it was made.

    Attributes:
        family: where it takes place.
        people: numbers in the family; the first and the last are asked about.
        edges: places in `TERMS`, one fewer than people.
        label: what the last is to the first.
        proof: for each replacement the fact, and the two it follows from, in the order they were made.
    """

    family: Family
    people: tuple[int, ...]
    edges: tuple[int, ...]
    label: int
    proof: tuple[tuple[Fact, Fact, Fact], ...]


def family_walks(
    k: int,
    count: int,
    rng: np.random.Generator,
    relations: Sequence[str] = EDGE_TERMS,
    revisits: bool = False,
    replace: str = "rules",
) -> Iterator[Walk]:
    """Problems of `k` facts, each label as often as any other.

    Args:
        k: facts of each problem, 2 or more.
        count: how many problems.
        rng: decides everything.
        relations: the terms that facts may have.
        revisits: whether a walk may meet somebody twice, as the published ones do.
        replace: which two facts may stand for one: those of CLUTRR's `rules`, as in the published files; those by
            which it is `entailed`, so that the label follows, which for long walks needs revisits; or any that are
            `true`, which leaves most labels open.

    Raises:
        BadArgument: a value is out of range, or no such walk is found.
    """
    if k < 2 or count < 1:
        raise BadArgument(f"a walk has 2 facts or more, and there must be one at least; not k={k}, count={count}.")
    places = {term: place for place, term in enumerate(TERMS)}
    may = _may_replace(replace, tuple(lookup("term of kinship", term, places) for term in relations))
    labels = [places[term] for term in LABEL_TERMS if may[places[term]].any()]
    if not labels:
        raise BadArgument(f"no fact can be replaced by two of these terms: {' '.join(relations)}.")
    return _walks(k, count, rng, may, labels, revisits)


def _walks(
    k: int, count: int, rng: np.random.Generator, may: Bools, labels: list[int], revisits: bool
) -> Iterator[Walk]:
    order = np.concatenate([rng.permutation(labels) for _ in range(-(-count // len(labels)))])[:count]
    for start in range(0, count, PER_FAMILY):
        family = simulate(rng, couples=max(4, k // 12), generations=4 if k <= 20 else 5, children=(3, 6))
        found = terms(family)
        for label in order[start : start + PER_FAMILY].tolist():
            yield _walk(family, found, may, label, k, rng, revisits)


@cache
def _may_replace(replace: str, relations: tuple[int, ...]) -> Bools:
    """`REPLACEMENTS` by facts of some terms; the last place of each axis is for pairs without a term."""
    may = np.zeros((len(TERMS) + 1,) * 3, dtype=bool)
    facts = np.ix_(range(len(TERMS)), relations, relations)
    may[facts] = lookup("way to replace a fact", replace, REPLACEMENTS)()[facts]
    return may


def _walk(
    family: Family,
    found: NDArray[np.int8],
    may: Bools,
    label: int,
    k: int,
    rng: np.random.Generator,
    revisits: bool,
) -> Walk:
    pairs = np.argwhere(found == label)
    for _ in range(ATTEMPTS):
        head, tail = pairs[rng.integers(len(pairs))].tolist()
        if (made := _lengthen(found, may, [head, tail], k, rng, revisits)) is not None:
            people, proof = made
            facts = ((_fact(found, a, c), _fact(found, a, b), _fact(found, b, c)) for a, b, c in proof)
            edges = tuple(int(found[a, b]) for a, b in pairwise(people))
            return Walk(family, tuple(people), edges, label, tuple(facts))
    raise BadArgument(f"found no walk of {k} facts that ends in {TERMS[label]!r}; allow revisits, or more terms.")


def _fact(found: NDArray[np.int8], head: int, tail: int) -> Fact:
    return head, int(found[head, tail]), tail


def _lengthen(
    found: NDArray[np.int8], may: Bools, people: list[int], k: int, rng: np.random.Generator, revisits: bool
) -> tuple[list[int], list[tuple[int, int, int]]] | None:
    """Lengthen a walk to `k` edges that may all be facts; tells who came between whom. `None` if it gets stuck."""
    proof: list[tuple[int, int, int]] = []
    used = np.zeros(len(found), dtype=bool)
    used[people] = True
    while len(people) <= k:
        for edge in rng.permutation(len(people) - 1).tolist():
            a, b = people[edge], people[edge + 1]
            between = may[found[a, b], found[a], found[:, b]]
            between[[a, b]] = False
            candidates = np.flatnonzero(between if revisits else between & ~used)
            if len(candidates):
                break
        else:
            return None
        chosen = int(candidates[rng.integers(len(candidates))])
        used[chosen] = True
        people.insert(edge + 1, chosen)
        proof.append((a, chosen, b))
    return people, proof


def as_dataset(walks: Sequence[Walk], k: int = 0) -> Dataset:
    """The problems over `TERMS`; people are numbered as they are met first, so the query is from 0."""
    nodes = [nodes_of(walk) for walk in walks]
    steps = [
        np.array([number[person] for person in walk.people]) for walk, number in zip(walks, nodes, strict=True)
    ]
    return Dataset(
        TERMS,
        node_count=np.array([len(number) for number in nodes], dtype=np.int32),
        edge_offset=offsets(np.array([len(walk.edges) for walk in walks])),
        edge_source=np.concatenate([step[:-1] for step in steps], dtype=np.int32),
        edge_target=np.concatenate([step[1:] for step in steps], dtype=np.int32),
        edge_label=np.concatenate([np.array(walk.edges) for walk in walks], dtype=np.int32),
        query_head=np.array([step[0] for step in steps], dtype=np.int32),
        query_tail=np.array([step[-1] for step in steps], dtype=np.int32),
        label=np.array([walk.label for walk in walks], dtype=np.int32),
        k=k,
    )


def nodes_of(walk: Walk) -> dict[int, int]:
    """The node of each person of a walk."""
    return {person: node for node, person in enumerate(dict.fromkeys(walk.people))}
