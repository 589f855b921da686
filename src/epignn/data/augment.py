"""Longer and shorter walks from given ones: a part of a walk is replaced by one that comes to the same.

Where training shows that a then b is c, a walk with an edge c keeps its label when the edge becomes a, b; and a
walk with a, b keeps it when they become c, a relation that may stand on no edge of the training data. What two
relations come to is read off the data alone: from walks of two edges, and from longer ones as far as their parts
are known.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, Ints, offsets

Walk = tuple[int, ...]
AGREEMENT = 0.9
"""The share of distinct walks that must agree on what two relations come to."""


def equal_paths(data: Dataset) -> dict[tuple[int, int], int]:
    """What pairs of relations come to, as far as the walks of a data set agree on it.

    Walks of two edges state it. A walk of three edges whose first two are known to come to one tells what that one
    and its third come to; and so on, until nothing new is learnt.
    """
    walks = {(walk, label) for walk, label in _walks(data) if len(walk) > 1}
    known = _agreed_on(_votes((walk, label) for walk, label in walks if len(walk) == 2))
    while True:
        derived = _agreed_on(_votes(_shortened(walks, known)))
        fresh = {pair: label for pair, label in derived.items() if pair not in known}
        if not fresh:
            return known
        known = known | fresh


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
    for pair, label in known.items():
        ways[label].append(pair)
    walks = sorted(set(_walks(data)))
    if not known or not walks:
        return data
    made = []
    for first in rng.integers(0, len(walks), count).tolist():
        walk, label = walks[first]
        for _ in range(int(rng.integers(1, longest))):
            walk = _varied(walk, known, ways, longest, rng)
        made.append((walk, label))
    return Dataset.concat([data, _chains(made, data.relations)])


def _varied(
    walk: Walk,
    known: dict[tuple[int, int], int],
    ways: dict[int, list[tuple[int, int]]],
    longest: int,
    rng: np.random.Generator,
) -> Walk:
    """A walk with one edge replaced by two, or two by one."""
    choices: list[tuple[int, int, Walk]] = []
    if len(walk) < longest:
        choices += [(at, 1, pair) for at, relation in enumerate(walk) for pair in ways[relation]]
    shorter = [
        (at, 2, (known[pair],)) for at in range(len(walk) - 1) if (pair := (walk[at], walk[at + 1])) in known
    ]
    if len(walk) > 2 and shorter and (not choices or rng.random() < 0.5):
        choices = list(shorter)
    if not choices:
        return walk
    at, width, part = choices[int(rng.integers(len(choices)))]
    return walk[:at] + part + walk[at + width :]


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


def _shortened(walks: set[tuple[Walk, int]], known: dict[tuple[int, int], int]) -> set[tuple[Walk, int]]:
    """All walks of two edges that given ones come to, once each."""
    found: set[tuple[Walk, int]] = set()
    layer = walks
    while layer:
        found |= {(walk, label) for walk, label in layer if len(walk) == 2}
        layer = {
            ((*walk[:at], known[walk[at], walk[at + 1]], *walk[at + 2 :]), label)
            for walk, label in layer
            if len(walk) > 2
            for at in range(len(walk) - 1)
            if (walk[at], walk[at + 1]) in known
        }
    return found


def _votes(walks: Iterable[tuple[Walk, int]]) -> dict[tuple[int, int], Counter[int]]:
    """How many walks of two edges say that their relations come to each label."""
    votes: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for (first, second), label in walks:
        votes[first, second][label] += 1
    return votes


def _agreed_on(votes: dict[tuple[int, int], Counter[int]]) -> dict[tuple[int, int], int]:
    best = {pair: (counter.most_common(1)[0], counter.total()) for pair, counter in votes.items()}
    return {pair: label for pair, ((label, most), total) in best.items() if most >= AGREEMENT * total}


def _chains(walks: list[tuple[Walk, int]], relations: tuple[str, ...]) -> Dataset:
    """Walks as graphs of as many nodes as they need."""
    count = np.array([len(walk) for walk, _ in walks], dtype=np.int64)
    offset = offsets(count)
    source: Ints = (np.arange(offset[-1]) - np.repeat(offset[:-1], count)).astype(np.int32)
    label: NDArray[np.int32] = np.array([relation for walk, _ in walks for relation in walk], dtype=np.int32)
    ends = count.astype(np.int32)
    answers = np.array([answer for _, answer in walks], dtype=np.int32)
    return Dataset(relations, ends + 1, offset, source, source + 1, label, np.zeros_like(ends), ends, answers)
