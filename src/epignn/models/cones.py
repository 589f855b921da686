"""Rounds of message passing that compute what an answer depends on, and nothing that all passes have in common.

A node that no path from the head has reached yet has the same state in all passes: that of a pass without a head,
which is made once. And of the nodes that are reached, only those count from which a path leads to a candidate in
the rounds that are left. On a sparse graph that is a small part of it.

Nodes are those of a `WholeGraph`; node v of pass p, of P passes, has the number v · P + p.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor, from_numpy

from epignn.data.dataset import offsets, spans
from epignn.data.graph import Ints
from epignn.models.joining import Incoming, WholeGraph

Longs = NDArray[np.int64]


class Round(NamedTuple):
    """What nodes of passes receive in a round.

    Senders are the nodes of the graph, as they are where no head reaches them, and behind these the nodes of passes
    that received in the round before, or, in the first, the heads, pass by pass.

    Attributes:
        incoming: the edges into the nodes that receive. Where passes have relation vectors of their own, labels are
            numbered r · P + p.
        own: the sender that each of these nodes was.
        at_head, of_pass: which of them are heads, and of which pass.
    """

    incoming: Incoming
    own: Tensor
    at_head: Tensor
    of_pass: Tensor


class Cones(NamedTuple):
    """All rounds of some passes.

    Attributes:
        rounds: one after the other.
        taken: (P) how many nodes of each pass receive, in all rounds.
        place: (V P) where each node of a pass stands among the senders of a round after the last.
    """

    rounds: list[Round]
    taken: Longs
    place: Ints


def cones(whole: WholeGraph, heads: Longs, rounds: int, wanted: Longs | None, alike: bool = True) -> Cones:
    """The rounds of a pass from each head.

    Args:
        whole: the graph; every edge has an inverse.
        heads: (P) where each pass starts.
        rounds: how many there are.
        wanted: the nodes of passes that are asked about; None stands for all.
        alike: whether nodes that are not reached have the same state in all passes. If not, all count as reached,
            and passes have relation vectors of their own.
    """
    passes, start = len(heads), heads * len(heads) + np.arange(len(heads))
    reached = _steps(whole, start, rounds) if alike else np.zeros(len(whole) * passes, dtype=np.int32)
    needed = np.full(len(reached), wanted is None)
    needed[wanted if wanted is not None else start] = True
    received: list[Longs] = []
    for number in range(rounds, 0, -1):
        received.append(np.flatnonzero(needed & (reached <= number)))
        if not needed.all():
            needed[_edges(whole, received[-1], passes)[1]] = True  # in the round before
    place = _places(start, len(whole), passes)
    found, taken = [], np.zeros(passes, dtype=np.int64)
    for node in reversed(received):
        edge, sender = _edges(whole, node, passes)
        label = whole.label[edge] if alike else whole.label[edge] * np.int32(passes) + (sender % passes)
        source, own = place[sender], place[node].astype(np.int64)
        place = _places(node, len(whole), passes)
        at = place[start].astype(np.int64) - len(whole)  # below 0 for heads that do not receive
        there = np.flatnonzero(at >= 0)
        begin = offsets(whole.count[node // passes]).astype(np.int32)
        incoming = Incoming(begin, source, label.astype(np.int32), whole.degree, whole.device, whole.native)
        found.append(Round(incoming, *(from_numpy(part).to(whole.device) for part in (own, at[there], there))))
        taken += np.bincount(node % passes, minlength=passes)
    return Cones(found, taken, place)


def _steps(whole: WholeGraph, start: Longs, most: int) -> Ints:
    """(V P): how many edges lead from the head of its pass to each node, or one more than `most`."""
    found = np.full(len(whole) * len(start), most + 1, dtype=np.int32)
    found[start] = 0
    last = start
    for step in range(1, most + 1):
        near = _edges(whole, last, len(start))[1]
        near = near[found[near] > most]
        found[near] = step
        last = np.unique(near)
    return found


def _edges(whole: WholeGraph, node: Longs, passes: int) -> tuple[Longs, Longs]:
    """The edges into nodes of passes, one node after the other, and the node of the pass that each comes from."""
    entity, own = np.divmod(node, passes)
    count = whole.count[entity]
    edge = spans(whole.offset[entity], count)
    return edge, whole.source[edge].astype(np.int64) * passes + np.repeat(own, count)


def _places(before: Longs, nodes: int, passes: int) -> Ints:
    """(V P): where nodes of passes stand among senders, if some received in the round before."""
    place = np.repeat(np.arange(nodes, dtype=np.int32), passes)
    place[before] = nodes + np.arange(len(before), dtype=np.int32)
    return place
