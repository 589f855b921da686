"""A knowledge graph as arrays: facts, the edges along which messages are passed, and questions from either side."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from epignn.errors import unknown

Ints = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Edges:
    """Facts as edges by target, each with its inverse; relation r + R is the inverse of r.

    Attributes:
        offset, source, label: edges into node v are offset[v]..offset[v+1]; label is below 2R.
        of_fact: (N, 2) the edge from head to tail of each fact, and its inverse.
    """

    offset: Ints
    source: Ints
    label: Ints
    of_fact: Ints

    def thinned(self, kept: NDArray[np.bool_]) -> "Edges":
        """The edges of some facts (N), as far as there are any; `of_fact` is -1 for the others."""
        stays = np.zeros(len(self.source) + 1, dtype=bool)
        stays[self.of_fact[kept]] = True
        return self.only(stays[:-1])  # the last stands for facts that have no edge

    def only(self, stays: NDArray[np.bool_]) -> "Edges":
        """Some of the edges (E); `of_fact` is -1 for facts whose edges are not among them."""
        stays = np.append(stays, False)
        before = np.cumsum(stays, dtype=np.int32) - stays
        of_fact = np.where(stays[self.of_fact], before[self.of_fact], -1).astype(np.int32)
        stays = stays[:-1]
        return Edges(before[self.offset], self.source[stays], self.label[stays], of_fact)


@dataclass(frozen=True, eq=False)
class Graph:
    """Entities, relations and facts (N, 3): head, relation, tail. Not every relation need occur in a fact."""

    entities: tuple[str, ...]
    relations: tuple[str, ...]
    facts: Ints

    @cached_property
    def edges(self) -> Edges:
        """The edges along which messages are passed."""
        count = len(self.facts)
        head, relation, tail = self.facts.T
        target = np.concatenate([tail, head])
        source = np.concatenate([head, tail])
        label = np.concatenate([relation, relation + len(self.relations)])
        order = np.lexsort((label, source, target))
        place = np.empty(2 * count, dtype=np.int32)
        place[order] = np.arange(2 * count, dtype=np.int32)
        offset = np.zeros(len(self.entities) + 1, dtype=np.int32)
        np.cumsum(np.bincount(target, minlength=len(self.entities)), out=offset[1:])
        of_fact = np.ascontiguousarray(place.reshape(2, count).T)
        return Edges(offset, _int32(source[order]), _int32(label[order]), of_fact)

    @cached_property
    def entity_number(self) -> dict[str, int]:
        """Where an entity stands in `entities`."""
        return {name: number for number, name in enumerate(self.entities)}

    def entity(self, name: str) -> int:
        """The number of an entity; an unknown one is an error with near misses."""
        if name not in self.entity_number:
            raise unknown("entity", name, self.entities)
        return self.entity_number[name]

    def relation(self, name: str) -> int:
        """The number of a relation, below 2R; `name^-1` is the inverse of `name`."""
        if name in self.relations:
            return self.relations.index(name)
        base = name.removesuffix(INVERSE)
        if base not in self.relations:
            raise unknown("relation", name, self.relations)
        return self.relations.index(base) + len(self.relations)

    def relation_name(self, number: int) -> str:
        """The name of a relation below 2R."""
        count = len(self.relations)
        return self.relations[number % count] + INVERSE * (number >= count)


INVERSE = "^-1"
"""Suffix of the name of a relation's inverse."""


def _int32(values: NDArray[np.integer]) -> Ints:
    return np.ascontiguousarray(values, dtype=np.int32)


def both_sides(triples: Ints, relations: int) -> Ints:
    """(2N, 3): (h, r, ?) of every triple, then (t, r^-1, ?), each with its answer."""
    head, relation, tail = triples.T
    turned = np.stack([tail, relation + relations, head], 1)
    return _int32(np.concatenate([triples, turned]))


class Known:
    """All triples that are known to hold, by which the other right answers of a question are filtered."""

    def __init__(self, groups: Sequence[Ints], entities: int, relations: int) -> None:
        asked = np.unique(np.concatenate([both_sides(group, relations) for group in groups]), axis=0)
        self._relations = 2 * relations
        self._key = asked[:, 0].astype(np.int64) * self._relations + asked[:, 1]
        self._tail = asked[:, 2]
        self._pair = self._key * entities + self._tail
        self._entities = entities

    def answers(self, head: int, relation: int) -> Ints:
        """All tails known for a question, sorted."""
        key = head * self._relations + relation
        first, last = np.searchsorted(self._key, [key, key + 1])
        return self._tail[first:last]

    def holds(
        self, head: NDArray[np.integer], relation: NDArray[np.integer], tail: NDArray[np.integer]
    ) -> NDArray[np.bool_]:
        """Whether triples are known."""
        key = head.astype(np.int64) * self._relations + relation
        pair = key * self._entities + tail
        place = np.searchsorted(self._pair, pair)
        found: NDArray[np.bool_] = self._pair[np.minimum(place, len(self._pair) - 1)] == pair
        return found


@dataclass(frozen=True, eq=False)
class Side:
    """A graph of facts, and triples over the same entities that are held out."""

    graph: Graph
    valid: Ints
    test: Ints

    def __str__(self) -> str:
        graph = self.graph
        return (
            f"{len(graph.entities):,} entities, {len(graph.relations):,} relations, {len(graph.facts):,} facts, "
            f"{len(self.valid):,} validation and {len(self.test):,} test triples"
        )

    def known(self) -> Known:
        """All triples of this side: what filtered ranking passes over."""
        groups = [self.graph.facts, self.valid, self.test]
        return Known(groups, len(self.graph.entities), len(self.graph.relations))

    def digest(self) -> str:
        """Tells this side from others: of its names, its facts and its validation triples."""
        names = json.dumps([self.graph.entities, self.graph.relations]).encode()
        parts = (names, self.graph.facts.tobytes(), self.valid.tobytes())
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()[:16]
