"""Walks over a knowledge graph, and how often the rules hold that they show.

A body is a sequence of relations; a walk follows it from one entity to another. A rule is a body and a relation. It
holds for a pair of entities that a walk of the body connects and that have the relation.
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import spans
from epignn.data.graph import Edges, Ints

Longs = NDArray[np.int64]
Floats = NDArray[np.float64]
TOGETHER = 2_000_000
"""Walks that are followed together, about."""
FROM_ONE = 5_000_000
"""Walks from one entity, at most. Where there are more, none are counted, and longer ones answer no question."""


class Walks(NamedTuple):
    """Walks of some length.

    Attributes:
        first: (N) which of the starts each begins at.
        body: (N) the relations that it follows, as one number.
        nodes: (N, length + 1) the entities that it visits, all different.
        chance: (N) how likely a walker takes it who goes, at each step, along any edge of the relation that comes
            next; 1 where nobody asks for it.
    """

    first: Longs
    body: Longs
    nodes: Longs
    chance: Floats


def follow(
    edges: Edges,
    starts: Longs,
    hops: int,
    relations: int,
    prefixes: Longs | None = None,
    most: int | None = None,
    alike: Ints | None = None,
) -> Iterator[Walks]:
    """Walks from some entities that visit none twice: those of one edge, then those of two, and so on.

    Args:
        edges: of the graph, inverses among them.
        starts: (S) entities.
        hops: how long the last ones are.
        relations: how many there are, with inverses.
        prefixes: go on only with walks whose bodies are among these, sorted; with all if None.
        most: walks of one length, before `prefixes` choose among them; where there would be more, the walks end.
        alike: see `alternatives`; walks then tell their chance.
    """
    degree, none = np.diff(edges.offset), np.zeros(len(starts), dtype=np.int64)
    walks = Walks(np.arange(len(starts)), none, starts[:, None].astype(np.int64), np.ones(len(starts)))
    for _ in range(hops):
        end = walks.nodes[:, -1]
        count = degree[end]
        if most is not None and count.sum() > most:
            return
        row = np.repeat(np.arange(len(end)), count)
        edge = spans(edges.offset[end], count)
        # What leads into an entity leads, as its inverse, out of it.
        label = (edges.label[edge] + relations // 2) % relations
        body = walks.body[row] * (relations + 1) + label + 1
        target = edges.source[edge].astype(np.int64)
        good = (walks.nodes[row] != target[:, None]).all(1)
        if prefixes is not None:
            good &= among(body, prefixes)
        row, edge = row[good], edge[good]
        chance = walks.chance[row] if alike is None else walks.chance[row] / alike[edge]
        walks = Walks(walks.first[row], body[good], np.column_stack([walks.nodes[row], target[good]]), chance)
        yield walks


def alternatives(edges: Edges, relations: int) -> Ints:
    """(E): how many edges of the same relation lead into the entity that each leads into.

    Walks go along inverses: there, they are the edges among which a walker of that relation chooses.
    """
    target = np.repeat(np.arange(len(edges.offset) - 1), np.diff(edges.offset))
    _, place, count = np.unique(target * relations + edges.label, return_inverse=True, return_counts=True)
    found: Ints = count[place].astype(np.int32)
    return found


def among(values: Longs, known: Longs) -> NDArray[np.bool_]:
    """Which values are in a sorted list."""
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    found: NDArray[np.bool_] = known[np.searchsorted(known, values).clip(max=len(known) - 1)] == values
    return found


def distinct(*columns: Longs) -> list[Longs]:
    """Rows of columns, none negative, each once, in order."""
    sizes = [int(column.max(initial=0)) + 1 for column in columns]
    if math.prod(sizes) < 2**63:  # as one number each, they are sorted many times as fast
        key = columns[0]
        for column, size in zip(columns[1:], sizes[1:], strict=True):
            key = key * size + column
        key = _runs(np.sort(key))[0]
        found = []
        for size in sizes[:0:-1]:
            key, part = np.divmod(key, size)
            found.append(part)
        return [key, *reversed(found)]
    return _ordered(columns)[1]


def summed(columns: tuple[Longs, ...], values: Floats) -> tuple[list[Longs], Floats]:
    """Rows of columns, each once, in order, and the sum of the values of each."""
    order, rows, first = _ordered(columns)
    return rows, np.add.reduceat(np.append(values[order], 0), first)


def _ordered(columns: Sequence[Longs]) -> tuple[Longs, list[Longs], Longs]:
    """The order of rows of columns, the rows in it, each once, and where each begins."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    first = np.flatnonzero(np.any([np.diff(column, prepend=column[:1] - 1) != 0 for column in ordered], 0))
    return order, [column[first] for column in ordered], first


def _runs(values: Longs) -> tuple[Longs, Longs]:
    """Values of a sorted list, each once, and how often each is there."""
    first = np.flatnonzero(np.diff(values, prepend=values[:1] - 1))
    return values[first], np.diff(np.append(first, len(values)))


def body_of(labels: Iterable[int], relations: int) -> int:
    """The number of a body.

    >>> body_of([0, 2], 4)
    8
    """
    number = 0
    for label in labels:
        number = number * (relations + 1) + label + 1
    return number


def relations_of(body: int, relations: int) -> list[int]:
    """The relations of a body; `body_of` turned round."""
    found: list[int] = []
    while body:
        body, label = divmod(body, relations + 1)
        found.insert(0, label - 1)
    return found


class Tally(NamedTuple):
    """How often rules hold in a graph, those that hold at all.

    Attributes:
        rule: (N) body · relations + relation of each, in order.
        held: (N) for how many pairs it holds.
        body: (M) bodies, in order.
        seen: (M) how many pairs each connects.
    """

    rule: Longs
    held: Longs
    body: Longs
    seen: Longs


def tally(edges: Edges, relations: int, hops: int, most: int, seed: int) -> Tally:
    """Count the rules of a graph by walks from all its entities, or, beyond `most` walks, from random ones."""
    nodes, groups = len(edges.offset) - 1, _starts(edges, hops, most, seed)
    begins = np.zeros(nodes, dtype=bool)
    begins[np.concatenate(groups)] = True
    kept = np.flatnonzero(begins[edges.source])
    target = np.searchsorted(edges.offset, kept, side="right") - 1
    pair = edges.source[kept] * np.int64(nodes) + target
    order = np.argsort(pair, kind="stable")
    pair, label = pair[order], edges.label[kept[order]].astype(np.int64)
    none = np.zeros(0, dtype=np.int64)
    counted, bodies = [(none, none)], [(none, none)]
    for starts in groups:
        for walks in follow(edges, starts, hops, relations):
            body, first, end = distinct(walks.body, walks.first, walks.nodes[:, -1])
            bodies.append(_runs(body))
            ends = starts[first].astype(np.int64) * nodes + end
            begin, stop = np.searchsorted(pair, ends), np.searchsorted(pair, ends, side="right")
            many = stop - begin
            here = label[spans(begin, many)]
            counted.append(_runs(np.sort(np.repeat(body, many) * relations + here)))
    rule, held = added(counted)
    says = rule // relations != rule % relations + 1  # r ← r says nothing
    return Tally(rule[says], held[says], *added(bodies))


def _starts(edges: Edges, hops: int, most: int, seed: int) -> list[Longs]:
    """Entities in a random order, in groups of about as many walks, until there are enough walks."""
    degree = np.diff(edges.offset).astype(np.float64)
    walks = degree
    for _ in range(hops - 1):
        walks = np.add.reduceat(np.append(walks[edges.source], 0), edges.offset[:-1]) * (degree > 0)
    few = (degree > 0) & (walks <= min(most, FROM_ONE))
    order = np.random.default_rng(seed).permutation(np.flatnonzero(few))
    total = np.cumsum(walks[order])
    enough = int(np.searchsorted(total, most, side="right"))
    group = (total[:enough] // TOGETHER).astype(np.int64)
    return np.split(order[:enough], np.flatnonzero(np.diff(group)) + 1)


def added(parts: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    """Values and counts of several parts as one: each value once, in order."""
    values, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, counts, minlength=len(distinct)).astype(np.int64)
