"""Longer and shorter walks from given ones: a part of a walk is replaced by one that comes to the same.

Where a training walk of two edges, a then b, is labelled c, a walk with an edge c keeps its label when the edge
becomes a, b; and a walk with a, b keeps it when they become c, a relation that may stand on no edge of the training
data. Long walks show a model that composes in any order which parts come to nothing that is known.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, Ints, offsets

Walk = tuple[int, ...]
AGREEMENT = 0.9
"""The share of distinct problems that must agree on what two relations come to."""


def equal_paths(data: Dataset) -> dict[tuple[int, int], int]:
    """What pairs of relations come to, as far as the walks of a data set agree on it.

    Walks of two edges state it, each distinct one once.
    """
    walks = {(walk, label) for walk, label in _walks(data) if len(walk) == 2}
    votes: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for (first, second), label in walks:
        votes[first, second][label] += 1
    best = {pair: (counter.most_common(1)[0], counter.total()) for pair, counter in votes.items()}
    return {pair: label for pair, ((label, most), total) in best.items() if most >= AGREEMENT * total}


def augment(data: Dataset, count: int, longest: int, rng: np.random.Generator) -> Dataset:
    """A data set and `count` more walks, each a given one with parts replaced by their equals.

    Args:
        data: graphs; those that are one walk from head to tail are varied.
        count: walks to add.
        longest: edges that a walk may come to have.
        rng: chooses walks and replacements.
    """
    known = equal_paths(data)
    ways: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for pair, whole in known.items():
        ways[whole].append(pair)
    walks = sorted({(walk, label) for walk, label in _walks(data) if len(walk) > 1})
    if not known or not walks:
        return data
    made = []
    for first in rng.integers(0, len(walks), count).tolist():
        walk, label = walks[first]
        walk = _shortened(walk, int(rng.integers(2, len(walk) + 1)), known, rng)
        made.append((_lengthened(walk, int(rng.integers(2, longest + 1)), ways, rng), label))
    return Dataset.concat([data, _chains(made, data.relations)])


def _shortened(walk: Walk, length: int, known: dict[tuple[int, int], int], rng: np.random.Generator) -> Walk:
    """A walk with two edges replaced by one, over and over, as far as it goes."""
    while len(walk) > length:
        places = [at for at in range(len(walk) - 1) if (walk[at], walk[at + 1]) in known]
        if not places:
            break
        at = places[int(rng.integers(len(places)))]
        walk = (*walk[:at], known[walk[at], walk[at + 1]], *walk[at + 2 :])
    return walk


def _lengthened(walk: Walk, length: int, ways: dict[int, list[tuple[int, int]]], rng: np.random.Generator) -> Walk:
    """A walk with one edge replaced by two, over and over, as far as it goes."""
    while len(walk) < length:
        choices = [(at, pair) for at, relation in enumerate(walk) for pair in ways[relation]]
        if not choices:
            break
        at, pair = choices[int(rng.integers(len(choices)))]
        walk = (*walk[:at], *pair, *walk[at + 1 :])
    return walk


def _walks(data: Dataset) -> Iterator[tuple[Walk, int]]:
    """The graphs that are one walk from head to tail, as the relations along it."""
    inner = np.ones(len(data.edge_source), dtype=bool)
    inner[data.edge_offset[:-1]] = False
    broken = np.flatnonzero(inner[1:] & (data.edge_source[1:] != data.edge_target[:-1]))
    graph = np.repeat(np.arange(len(data)), data.edge_count)
    walk = np.ones(len(data), dtype=bool)
    walk[graph[broken + 1]] = False
    first, last = data.edge_offset[:-1], data.edge_offset[1:] - 1
    walk &= (data.edge_source[first] == data.query_head) & (data.edge_target[last] == data.query_tail)
    labels = data.edge_label.tolist()
    for g in np.flatnonzero(walk).tolist():
        yield tuple(labels[data.edge_offset[g] : data.edge_offset[g + 1]]), int(data.label[g])


def _chains(walks: list[tuple[Walk, int]], relations: tuple[str, ...]) -> Dataset:
    """Walks as graphs of as many nodes as they need."""
    count = np.array([len(walk) for walk, _ in walks], dtype=np.int64)
    offset = offsets(count)
    source: Ints = (np.arange(offset[-1]) - np.repeat(offset[:-1], count)).astype(np.int32)
    label: NDArray[np.int32] = np.array([relation for walk, _ in walks for relation in walk], dtype=np.int32)
    ends = count.astype(np.int32)
    answers = np.array([answer for _, answer in walks], dtype=np.int32)
    return Dataset(relations, ends + 1, offset, source, source + 1, label, np.zeros_like(ends), ends, answers)
