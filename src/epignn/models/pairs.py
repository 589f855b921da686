"""Full closure: which pairs of entities inform which, worked out once per data set.

Directional reasoning keeps a state for every entity, seen from the head; full closure keeps one for every pair and
refines it through every third entity. What is composed with what depends on the facts alone: a pair is known once a
fact states it or two known pairs compose to it. Only entities between head and tail can matter, those that some
path from the head reaches and from which some path leads on to the tail; the others are left out.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import Dataset, Ints, offsets
from epignn.data.reach import FAR, distances, refuse_unreachable
from epignn.errors import BadArgument
from epignn.models.batch import ranges

CHUNK = 1 << 23
"""Triples of entities that are looked at together while structures are made."""
PAIRS = 20_000
"""Pairs that are scored together: at 64 components in 8 facets, 40 MB of matrices."""
COMPOSITIONS = 1 << 26
"""So many compositions of pairs are listed at most: 2 GB while they are made."""


@dataclass(frozen=True, eq=False)
class PairRound:
    """What every pair receives in one round, in order of the pair that receives it.

    Attributes:
        offset: (P+1) pair p receives messages offset[p]..offset[p+1].
        left: the pair on the left of a composition; -1 where the message is a fact.
        right: the pair on its right; the relation of the fact where the message is one.
    """

    offset: Tensor
    left: Tensor
    right: Tensor

    def moved(self, messages: Tensor | slice, offset: Tensor, by: Tensor | int) -> "PairRound":
        """Some of the messages, with the numbers of pairs moved."""
        left, right = self.left[messages], self.right[messages]
        fact = left < 0
        return PairRound(offset, torch.where(fact, left, left + by), torch.where(fact, right, right + by))


@dataclass(frozen=True, eq=False)
class PairBatch:
    """G graphs as P pairs of entities; pair numbers run through all of them.

    Attributes:
        pair_offset: (G+1) where the pairs of each graph begin.
        query: (G) the pair from head to tail.
        label: (G) the relation that holds between them, int64.
        rounds: what is received in each round; in the first, facts alone. A graph that has had its rounds receives
            nothing more.
    """

    pair_offset: Tensor
    query: Tensor
    label: Tensor
    rounds: tuple[PairRound, ...]

    def __len__(self) -> int:
        return len(self.query)

    def select(self, graphs: Tensor) -> "PairBatch":
        """Some of the graphs, in the given order."""
        pairs, pair_offset, shift = ranges(self.pair_offset, graphs)
        by_pair = shift.repeat_interleave(pair_offset.diff())
        rounds = []
        for received in self.rounds:
            messages, offset, _ = ranges(received.offset, pairs)
            rounds.append(received.moved(messages, offset, by_pair.repeat_interleave(offset.diff())))
        return PairBatch(pair_offset, self.query[graphs] + shift, self.label[graphs], tuple(rounds))

    def slice(self, first: int, last: int) -> "PairBatch":
        """The graphs from `first` up to `last`."""
        p0, p1 = int(self.pair_offset[first]), int(self.pair_offset[last])
        rounds = []
        for received in self.rounds:
            m0, m1 = int(received.offset[p0]), int(received.offset[p1])
            rounds.append(received.moved(slice(m0, m1), received.offset[p0 : p1 + 1] - m0, -p0))
        offset = self.pair_offset[first : last + 1] - p0
        return PairBatch(offset, self.query[first:last] - p0, self.label[first:last], tuple(rounds))

    def chunks(self, size: int) -> Iterator["PairBatch"]:
        """Consecutive parts of at most `size` graphs and, but for single graphs, `PAIRS` pairs."""
        first = 0
        while first < len(self):
            full = int(torch.searchsorted(self.pair_offset, self.pair_offset[first] + PAIRS, right=True)) - 1
            last = min(max(full, first + 1), first + size, len(self))
            yield self.slice(first, last)
            first = last

    def to(self, device: torch.device | str) -> "PairBatch":
        """The same graphs on another device."""
        rounds = tuple(PairRound(r.offset.to(device), r.left.to(device), r.right.to(device)) for r in self.rounds)
        return PairBatch(self.pair_offset.to(device), self.query.to(device), self.label.to(device), rounds)


def prepare_pairs(data: Dataset, rounds: int | None = None) -> PairBatch:
    """The structure of full closure on every graph of a data set.

    Args:
        data: the graphs; a fact between an entity and itself says nothing here.
        rounds: of composition, for all graphs; None for one more than each needs until no further pair is known,
            which is about the logarithm, to base two, of its longest path. In the last round that makes pairs known
            a pair may have been composed in few of its ways; one more round has them all.

    Raises:
        BadArgument: in some graph no path leads from head to tail, or they are the same entity.
    """
    graphs = _between(data)
    groups = [_closed(graphs, chosen, rounds) for chosen in _groups(graphs)]
    count = np.zeros(len(data), dtype=np.int64)
    for group in groups:
        count[group.graphs] = (group.level > 0).sum((1, 2))
    pair_offset = offsets(count)
    query = np.empty(len(data), dtype=np.int64)
    deepest = max((int(group.needed.max(initial=0)) for group in groups), default=0)
    received: list[list[_Messages]] = [[] for _ in range(deepest + 1)]
    for group in groups:
        number = _numbers(group, pair_offset)
        members = np.arange(len(group.graphs))
        query[group.graphs] = number[members, graphs.head[group.graphs], graphs.tail[group.graphs]]
        for step, messages in enumerate(received):
            messages += _received(graphs, group, number, step)
    return PairBatch(
        _int32(pair_offset),
        _int32(query),
        torch.from_numpy(data.label.astype(np.int64)),
        tuple(_round(messages, int(pair_offset[-1])) for messages in received),
    )


def closed_pairs(data: Dataset) -> PairBatch:
    """Every pair that a path connects, for reasoning that goes on until nothing changes.

    The first round has the facts, the second each composition of two pairs to a third. All graphs are treated as
    one, and only pairs that are connected are looked at, so that graphs may be large.

    Raises:
        BadArgument: as for `prepare_pairs`, or there are too many compositions.
    """
    graphs = _between(data)
    first = offsets(graphs.size)
    nodes = int(first[-1])
    base = np.repeat(first[:-1], np.diff(graphs.fact_offset))
    source, target = graphs.source + base, graphs.target + base
    pair = _connected(source, target, nodes)
    begin, end = np.divmod(pair, max(nodes, 1))
    left, right = _followed(end, np.searchsorted(begin, np.arange(nodes + 1)))
    two = begin[left] != end[right]
    left, right = left[two], right[two]
    made = np.searchsorted(pair, begin[left] * nodes + end[right])
    stated = np.searchsorted(pair, source * nodes + target)
    asked = (graphs.head + first[:-1]) * nodes + graphs.tail + first[:-1]
    facts = _Messages(stated, np.full(len(stated), -1), graphs.label.astype(np.int64))
    return PairBatch(
        _int32(np.searchsorted(pair, first * nodes)),
        _int32(np.searchsorted(pair, asked)),
        torch.from_numpy(data.label.astype(np.int64)),
        tuple(_round([messages], len(pair)) for messages in (facts, _Messages(made, left, right))),
    )


def _connected(source: NDArray[np.int64], target: NDArray[np.int64], nodes: int) -> NDArray[np.int64]:
    """The pairs of two entities that a path connects, as source * nodes + target, in order."""
    order = np.argsort(source, kind="stable")
    begin = np.searchsorted(source[order], np.arange(nodes + 1))
    known = fresh = np.unique(source * nodes + target)
    while len(fresh):
        start, here = np.divmod(fresh, nodes)
        path, fact = _followed(here, begin)
        start, here = start[path], target[order[fact]]
        reached = np.unique((start * nodes + here)[start != here])
        fresh = np.setdiff1d(reached, known, assume_unique=True)
        known = np.union1d(known, fresh)
    return known


def _followed(end: NDArray[np.int64], begin: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What follows what: each thing that ends at a node, with each of the things begin[v]..begin[v+1] after it."""
    count = begin[end + 1] - begin[end]
    if count.sum() > COMPOSITIONS:
        raise BadArgument(
            f"the graphs have {count.sum():,} compositions of two pairs of entities; at most {COMPOSITIONS:,} are "
            "made at a time. Give fewer graphs at a time, or smaller ones."
        )
    before = np.repeat(np.arange(len(end)), count)
    after = np.repeat(begin[end] - offsets(count)[:-1], count) + np.arange(len(before))
    return before, after


class _Graphs(NamedTuple):
    """The entities between head and tail, numbered from 0 in each graph, and the facts among them."""

    size: NDArray[np.int64]
    head: NDArray[np.int64]
    tail: NDArray[np.int64]
    fact_offset: NDArray[np.int64]
    source: NDArray[np.int64]
    target: NDArray[np.int64]
    label: Ints


class _Group(NamedTuple):
    """Graphs of one size: the round after which each pair is known, counted from 1; 0 for never."""

    graphs: NDArray[np.int64]
    level: NDArray[np.int16]
    needed: NDArray[np.int64]


class _Messages(NamedTuple):
    target: NDArray[np.int64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]


def _between(data: Dataset) -> _Graphs:
    start = offsets(data.node_count)
    base = np.repeat(start[:-1], data.edge_count)
    source, target = data.edge_source + base, data.edge_target + base
    head, tail = data.query_head + start[:-1], data.query_tail + start[:-1]
    same = np.flatnonzero(head == tail)
    if len(same):
        raise BadArgument(
            f"graph {same[0]} asks about one entity alone: {data.example(int(same[0]))}. Name two entities."
        )
    ahead = distances(source, target, head, int(start[-1]))
    behind = distances(target, source, tail, int(start[-1]))
    refuse_unreachable(data, ahead[tail] == FAR)
    kept = (ahead != FAR) & (behind != FAR)
    rank = np.cumsum(kept) - 1
    size = np.add.reduceat(kept.astype(np.int64), start[:-1]) if len(data) else np.zeros(0, dtype=np.int64)
    first = offsets(size)
    graph = np.repeat(np.arange(len(data)), data.edge_count)
    fact = kept[source] & kept[target] & (source != target)
    graph = graph[fact]
    return _Graphs(
        size,
        rank[head] - first[:-1],
        rank[tail] - first[:-1],
        offsets(np.bincount(graph, minlength=len(data))),
        rank[source[fact]] - first[graph],
        rank[target[fact]] - first[graph],
        data.edge_label[fact],
    )


def _groups(graphs: _Graphs) -> Iterator[NDArray[np.int64]]:
    """Graphs of equally many entities, few enough to be treated as one dense array."""
    for size in np.unique(graphs.size).tolist():
        alike = np.flatnonzero(graphs.size == size)
        step = max(1, CHUNK // size**3)
        for first in range(0, len(alike), step):
            yield alike[first : first + step]


def _facts(graphs: _Graphs, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The facts of some graphs, and the position of their graph among these."""
    first, last = graphs.fact_offset[chosen], graphs.fact_offset[chosen + 1]
    at = np.repeat(np.arange(len(chosen)), last - first)
    return np.arange(len(at)) - np.repeat(offsets(last - first)[:-1] - first, last - first), at


def _closed(graphs: _Graphs, chosen: NDArray[np.int64], rounds: int | None) -> _Group:
    size = int(graphs.size[chosen[0]])
    facts, at = _facts(graphs, chosen)
    level = np.zeros((len(chosen), size, size), dtype=np.int16)
    level[at, graphs.source[facts], graphs.target[facts]] = 1
    needed = np.zeros(len(chosen), dtype=np.int64)
    distinct = ~np.eye(size, dtype=bool)
    for step in range(1, size + 1 if rounds is None else rounds + 1):
        known = (level > 0).astype(np.float32)
        fresh = (known @ known > 0) & (level == 0) & distinct
        grown = fresh.any((1, 2))
        if not grown.any():
            break
        level[fresh] = step + 1
        needed[grown] = step + 1
    if rounds is not None:
        needed[:] = rounds
    return _Group(chosen, level, needed)


def _numbers(group: _Group, pair_offset: NDArray[np.int64]) -> NDArray[np.int64]:
    """The number of every known pair, (G, N, N)."""
    known = (group.level > 0).reshape(len(group.level), -1)
    number = np.cumsum(known, axis=1) - 1 + pair_offset[group.graphs][:, None]
    return number.reshape(group.level.shape)


def _received(graphs: _Graphs, group: _Group, number: NDArray[np.int64], step: int) -> Iterator[_Messages]:
    """Facts, and compositions of pairs that are known before this round."""
    active = np.flatnonzero(group.needed >= step)
    if not len(active):
        return
    facts, at = _facts(graphs, group.graphs[active])
    pair = number[active[at], graphs.source[facts], graphs.target[facts]]
    yield _Messages(pair, np.full(len(pair), -1), graphs.label[facts].astype(np.int64))
    if step == 0:
        return
    known = (group.level[active] > 0) & (group.level[active] <= step)
    distinct = ~np.eye(known.shape[1], dtype=bool)
    g, i, j, k = np.nonzero(known[:, :, None, :] & known.transpose(0, 2, 1)[:, None] & distinct[:, :, None])
    g = active[g]
    yield _Messages(number[g, i, j], number[g, i, k], number[g, k, j])


def _round(messages: list[_Messages], pairs: int) -> PairRound:
    target, left, right = (
        np.concatenate([getattr(m, name) for m in messages]) if messages else np.zeros(0, dtype=np.int64)
        for name in _Messages._fields
    )
    order = np.argsort(target, kind="stable")
    offset = offsets(np.bincount(target, minlength=pairs))
    return PairRound(_int32(offset), _int32(left[order]), _int32(right[order]))


def _int32(values: NDArray[np.int64]) -> Tensor:
    return torch.from_numpy(values.astype(np.int32))
