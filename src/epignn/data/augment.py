"""Longer and shorter walks from given ones, by replacing parts with others that compose to the same relation.

If the training walk a, b has the label c, then a walk with an edge c keeps its label when that edge is replaced by
a, b; and a walk with a, b keeps it when these are replaced by c, a relation that may occur on no training edge.
Long walks show a model that composes in any order which of their parts compose to no named relation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from epignn.data.contract import Walk, contractions, needed
from epignn.data.dataset import Dataset, Ints, offsets
from epignn.data.reach import between, distances
from epignn.data.ways import in_order, problems

AGREEMENT = 0.9
"""The share of distinct problems that must agree on what a walk composes to."""
SURE = 0.5
"""The weight of a contraction by which walks are varied."""


def equal_paths(data: Dataset, steps: int = 2) -> dict[Walk, int]:
    """What walks of two up to `steps` edges compose to, as far as the graphs of a data set agree on it.

    Each distinct graph that is one walk has one vote: its label.
    """
    walks = {(walk, label) for walk, label in _walks(data) if 2 <= len(walk) <= steps}
    votes: dict[Walk, Counter[int]] = defaultdict(Counter)
    for walk, label in walks:
        votes[walk][label] += 1
    best = {walk: (counter.most_common(1)[0], counter.total()) for walk, counter in votes.items()}
    return {walk: label for walk, ((label, most), total) in best.items() if most >= AGREEMENT * total}


def contracted(data: Dataset) -> dict[Walk, int]:
    """What walks and their shortest forms come to, by `epignn.data.contract`, as far as it is sure."""
    weights = needed(contractions(problems(data)).weights)
    best = {body: max(heads.items(), key=lambda head: head[1]) for body, heads in weights.items()}
    return {body: head for body, (head, weight) in best.items() if weight >= SURE}


def augment(data: Dataset, count: int, longest: int, rng: np.random.Generator, steps: int = 2) -> Dataset:
    """A data set and `count` more walks, each a given one with parts replaced by others of the same composition.

    Args:
        data: graphs; those that are one walk from head to tail are varied.
        count: walks to add.
        longest: edges that a walk may come to have.
        rng: chooses walks and replacements.
        steps: edges of the longest part that is replaced, or put in, each of which is a walk of the data set; 0
            for all that walks come to when they are contracted.
    """
    known = equal_paths(data, steps) if steps else contracted(data)
    steps = max(map(len, known), default=2)
    ways: dict[int, list[Walk]] = defaultdict(list)
    for part, whole in known.items():
        ways[whole].append(part)
    walks = sorted({(walk, label) for walk, label in _walks(data) if len(walk) > 1})
    if not known or not walks:
        return data
    made = []
    for first in rng.integers(0, len(walks), count).tolist():
        walk, label = walks[first]
        walk = _shortened(walk, int(rng.integers(2, len(walk) + 1)), known, steps, rng)
        made.append((_lengthened(walk, int(rng.integers(2, longest + 1)), ways, rng), label))
    return Dataset.concat([data, _chains(made, data.relations)])


def _shortened(walk: Walk, length: int, known: dict[Walk, int], steps: int, rng: np.random.Generator) -> Walk:
    """A walk with parts replaced by one edge each until it has `length` edges, or no part can be."""
    while len(walk) > length:
        parts = [
            (at, at + size)
            for size in range(2, min(steps, len(walk) - 1) + 1)
            for at in range(len(walk) - size + 1)
            if walk[at : at + size] in known
        ]
        if not parts:
            break
        first, last = parts[int(rng.integers(len(parts)))]
        walk = (*walk[:first], known[walk[first:last]], *walk[last:])
    return walk


def _lengthened(walk: Walk, length: int, ways: dict[int, list[Walk]], rng: np.random.Generator) -> Walk:
    """A walk with edges replaced by several until it has `length` edges, or none can be."""
    while len(walk) < length:
        room = length - len(walk) + 1
        choices = [(at, part) for at, relation in enumerate(walk) for part in ways[relation] if len(part) <= room]
        if not choices:
            break
        at, part = choices[int(rng.integers(len(choices)))]
        walk = (*walk[:at], *part, *walk[at + 1 :])
    return walk


def _walks(data: Dataset) -> Iterator[tuple[Walk, int]]:
    """The graphs that are one walk from head to tail, as the relations along it.

    Either all their edges, in their order, are that walk; or the edges between head and tail are one path.
    """
    straight = in_order(data)
    yield from _labels(data.select(straight))
    rest = between(data.select(~straight))
    start, graph, source, target, head, tail = rest.disjoint()
    ahead = distances(source, target, head, int(start[-1]))
    path = rest.edge_count == ahead[tail]
    order = np.lexsort((ahead[source], graph))
    edges = {name: getattr(rest, name)[order] for name in ("edge_source", "edge_target", "edge_label")}
    yield from _labels(replace(rest, **edges).select(path))


def _labels(data: Dataset) -> Iterator[tuple[Walk, int]]:
    """The labels of the edges of each graph, and its own label."""
    labels, offset = data.edge_label.tolist(), data.edge_offset.tolist()
    for g, label in enumerate(data.label.tolist()):
        yield tuple(labels[offset[g] : offset[g + 1]]), label


def _chains(walks: list[tuple[Walk, int]], relations: tuple[str, ...]) -> Dataset:
    """Walks as graphs of as many nodes as they need."""
    count = np.array([len(walk) for walk, _ in walks], dtype=np.int64)
    offset = offsets(count)
    source: Ints = (np.arange(offset[-1]) - np.repeat(offset[:-1], count)).astype(np.int32)
    label: NDArray[np.int32] = np.array([relation for walk, _ in walks for relation in walk], dtype=np.int32)
    ends = count.astype(np.int32)
    answers = np.array([answer for _, answer in walks], dtype=np.int32)
    return Dataset(relations, ends + 1, offset, source, source + 1, label, np.zeros_like(ends), ends, answers)
