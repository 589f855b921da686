"""A composition table read off counts, the laws that complete it, and reasoning with it.

Cell (i, j) of a table is the set of relations that may hold from a to c where i holds from a to b, and j from b
to c. A set is a mask of bits, bit r for relation r, as in `epignn.calculus`; unlike there, neither identity nor
converses need be known, and counts may contradict each other.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import offsets, spans
from epignn.models.pairs import PairBatch

Bools = NDArray[np.bool_]
Floats = NDArray[np.float32]
Longs = NDArray[np.int64]
Masks = NDArray[np.uint64]
UNKNOWN = -1
"""The converse of a relation whose converse is not known."""
MOST_RELATIONS = 64


@dataclass(frozen=True, eq=False)
class Cells:
    """A composition table: `allowed` (R, R, R) tells whether relation r is in cell (i, j)."""

    allowed: Bools

    def __len__(self) -> int:
        return len(self.allowed)

    @cached_property
    def pieces(self) -> Masks:
        """(P, P, 16, 16): the composition of any four relations with any four others, as masks."""
        count = (len(self) + 3) // 4
        padded = np.zeros((4 * count, 4 * count), dtype=np.uint64)
        padded[: len(self), : len(self)] = packed(self.allowed)
        cells = padded.reshape(count, 4, count, 4).transpose(0, 2, 1, 3)
        has = (np.arange(16)[:, None] >> np.arange(4) & 1).astype(bool)
        found = np.zeros((count, count, 16, 16), dtype=np.uint64)
        for i, j in np.ndindex(4, 4):
            both = np.logical_and.outer(has[:, i], has[:, j])
            found |= np.where(both, cells[:, :, i, j, None, None], np.uint64(0))
        return found

    def compose(self, left: Masks, right: Masks) -> Masks:
        """The composition of each two sets."""
        found = np.zeros_like(left)
        for p, row in enumerate(self.pieces):
            four = left >> np.uint64(4 * p) & np.uint64(15)
            for q, table in enumerate(row):
                found |= table[four, right >> np.uint64(4 * q) & np.uint64(15)]
        return found

    def close(self, batch: PairBatch) -> Masks:
        """What may hold of every pair of entities: what its facts say, and all compositions to it.

        Where these have nothing in common, what most of them allow stays. No set grows, and none becomes empty, so
        it ends.
        """
        facts, made = batch.rounds
        left, right, offset = (part.numpy() for part in (made.left, made.right, made.offset))
        sets: Masks = np.full(len(offset) - 1, (1 << len(self)) - 1, dtype=np.uint64)
        stated = np.uint64(1) << facts.right.numpy().astype(np.uint64)
        sets = self._narrowed(sets, facts.offset.numpy(), stated)
        while True:
            narrower = self._narrowed(sets, offset, self.compose(sets[left], sets[right]))
            if np.array_equal(narrower, sets):
                return sets
            sets = narrower

    def _narrowed(self, sets: Masks, offset: NDArray[np.int32], messages: Masks) -> Masks:
        """What is left of each set after the messages offset[p]..offset[p+1] that are for it."""
        heard = np.flatnonzero(np.diff(offset))
        if not len(heard):
            return sets
        narrower = sets.copy()
        narrower[heard] &= np.bitwise_and.reduceat(messages, offset[heard])
        torn = np.flatnonzero(narrower == 0)
        if len(torn):
            member = unpacked(sets[torn], len(self))
            most = np.where(member, votes(torn, offset, messages, len(self)), -1)
            narrower[torn] = packed(most == most.max(1, keepdims=True))
        return narrower

    def scores(self, batch: PairBatch, share: Floats) -> Floats:
        """(B, R): how likely each relation is between head and tail; high is likely.

        A score is 2 for what may hold, and 0 for the rest; and the share of compositions to the pair that allow the
        relation; and, where that leaves several, the share that it has of their cells.

        Args:
            batch: what `closed_pairs` gives.
            share: (R, R, R) the share of each relation in each cell.
        """
        made, query = batch.rounds[1], batch.query.numpy()
        sets, offset = self.close(batch), made.offset.numpy()
        count = np.diff(offset)[query]
        at = spans(offset[query], count)
        left, right = sets[made.left.numpy()[at]], sets[made.right.numpy()[at]]
        within, graph = np.arange(len(query)), np.repeat(np.arange(len(query)), count)
        said = votes(within, offsets(count), self.compose(left, right), len(self)) / np.maximum(count, 1)[:, None]
        counted = np.zeros((len(query), len(self)))
        np.add.at(counted, graph, _mean(left, right, share))
        found = 2 * unpacked(sets[query], len(self)) + said + counted / np.maximum(count, 1)[:, None]
        scores: Floats = found.astype(np.float32)
        return scores


def _mean(left: Masks, right: Masks, share: Floats) -> Floats:
    """(N, R): the mean share of each relation over the cells of all members of two sets."""
    size = len(share)
    one, other = (unpacked(sets, size).astype(np.float32) for sets in (left, right))
    one, other = (part / part.sum(1, keepdims=True) for part in (one, other))
    found: Floats = (one[:, :, None] * other[:, None]).reshape(-1, size * size) @ share.reshape(-1, size)
    return found


def votes(chosen: Longs, offset: NDArray[np.integer], messages: Masks, relations: int) -> Longs:
    """(N, R): how many of the messages for each of the chosen sets allow each relation."""
    count = np.diff(offset)[chosen]
    at = spans(offset[chosen], count)
    found = np.zeros((len(chosen), relations), dtype=np.int64)
    some = np.flatnonzero(count)
    if len(some):
        allowed = unpacked(messages[at], relations).astype(np.int64)
        found[some] = np.add.reduceat(allowed, offsets(count)[some])
    return found


def packed(members: Bools) -> Masks:
    """Masks of the last axis.

    >>> packed(np.array([[True, False, True]])).tolist()
    [5]
    """
    bits = np.uint64(1) << np.arange(members.shape[-1], dtype=np.uint64)
    masks: Masks = np.where(members, bits, np.uint64(0)).sum(-1, dtype=np.uint64)
    return masks


def unpacked(masks: Masks, relations: int) -> Bools:
    """(..., R): which relations are in each mask."""
    found: Bools = (masks[..., None] >> np.arange(relations, dtype=np.uint64) & np.uint64(1)).astype(bool)
    return found


def completed(seen: Bools, laws: bool) -> Bools:
    """(R, R, R): a composition table from what was seen; a cell that was never seen allows anything.

    The laws of relation algebras make several of one entry, those that its converse and Peircean forms name: an
    entry is in the table where one of them was seen, and where the cell of none was.

    Args:
        seen: (R, R, R) whether relation r was seen in cell (i, j).
        laws: whether they are used, as far as the table itself tells what the converses are.
    """
    known = np.broadcast_to(seen.any(-1, keepdims=True), seen.shape)
    if laws and (converse := converses(seen)) is not None:
        seen, known = (_forms(entries, converse) for entries in (seen, known))
    return seen | ~known


def _forms(entries: Bools, converse: Longs) -> Bools:
    """Entries with all their forms: r in i∘j, r' in j'∘i', i in r∘j', j in i'∘r, where ' is the converse."""
    while True:
        i, j, r = np.nonzero(entries)
        more = entries.copy()
        for cell in ((converse[j], converse[i], converse[r]), (r, converse[j], i), (converse[i], r, j)):
            told = np.min(cell, axis=0) != UNKNOWN
            more[tuple(part[told] for part in cell)] = True
        if np.array_equal(more, entries):
            return more
        entries = more


def identity(seen: Bools) -> int | None:
    """The one relation that changes nothing by composition on either side, as far as it was seen; None if none is.

    It must have been seen so with more than half of the relations.
    """
    same = np.eye(len(seen), dtype=bool)
    neutral = [
        e
        for e in range(len(seen))
        if not (seen[e] & ~same).any()
        and not (seen[:, e] & ~same).any()
        and seen[e, e, e]
        and seen[e].any(-1).sum() + seen[:, e].any(-1).sum() > len(seen)
    ]
    return neutral[0] if len(neutral) == 1 else None


def converses(seen: Bools) -> Longs | None:
    """The converse of each relation, by what was seen; `UNKNOWN` where that does not tell, None without identity.

    The converse of i is the one j with which i gives the identity. Where several do, or none, it is the j whose
    cells mirror those of i best among the relations that are left, if i is likewise the best for j.
    """
    one = identity(seen)
    if one is None:
        return None
    numbers = np.arange(len(seen))
    back = seen[:, :, one] | seen[:, :, one].T
    found: Longs = np.where(back.sum(1) == 1, back.argmax(1), UNKNOWN)
    found = np.where((found != UNKNOWN) & (found[found] == numbers), found, UNKNOWN)
    known, left = np.flatnonzero(found != UNKNOWN), np.flatnonzero(found == UNKNOWN)
    if len(left) and len(left) < len(known):
        mirror = found[known]
        cells = seen[np.ix_(left, known, known)]
        mirrored = seen[np.ix_(mirror, left, mirror)].transpose(1, 0, 2)
        alike = (cells[:, None] == mirrored).mean((2, 3))
        best = (alike + alike.T).argmax(1)
        mutual = best[best] == np.arange(len(left))
        found[left[mutual]] = left[best[mutual]]
    return found
