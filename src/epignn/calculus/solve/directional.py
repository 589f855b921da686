"""Directional algebraic closure: what may hold between one head entity and every other.

The approximation of the paper's appendix that the forward EpiGNN makes differentiable: only sets from the head are
kept, and refined along the facts in their given direction, without converses,

    X_e ← X_e ∩ ⋂ { X_f ∘ s | s(f, e) a fact },   X_head = {identity}, X_e = anything.

Sound, linear in the facts for each round, and weaker than complete closure.
"""

import time
from dataclasses import dataclass

import numpy as np

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Indices, Network
from epignn.calculus.result import Answer, Result
from epignn.calculus.solve.closure import close


@dataclass(frozen=True, eq=False, kw_only=True)
class DirectionalResult(Result):
    """A result with its history.

    Attributes:
        head: the entity that all sets are seen from.
        rounds: `rounds[i, e]` is the set of entity e after i rounds; the last row is stable, or that of the last
            round asked for.
    """

    head: str
    rounds: Masks


def directional(network: Network, head: str, max_rounds: int | None = None) -> DirectionalResult:
    """Directional closure from `head`, for `max_rounds` rounds or until nothing changes.

    An inconsistent answer is certain. Otherwise the answer is `CLOSED`: facts may contradict each other
    where no path from the head shows it.
    """
    start = time.perf_counter()
    calculus, at = network.calculus, network.position(head)
    sets = np.full(len(network.names), calculus.anything, dtype=np.uint64)
    sets[at] = calculus.identity_mask
    rounds = propagate(calculus, sets, network.heads, network.tails, network.masks, max_rounds)
    consistent = bool(rounds[-1].all())
    others = np.delete(np.arange(len(network.names), dtype=np.int32), at)
    return DirectionalResult(
        network,
        "directional",
        Answer.CLOSED if consistent else Answer.INCONSISTENT,
        np.full(len(others), at, dtype=np.int32),
        others,
        rounds[-1][others],
        statistics={
            "seconds": time.perf_counter() - start,
            "rounds": len(rounds) - 1,
            "refinements": int((rounds[1:] != rounds[:-1]).sum()),
        },
        _explain=lambda: close(network)._explain(),
        head=head,
        rounds=rounds,
    )


def propagate(
    calculus: Calculus,
    sets: Masks,
    sources: Indices,
    targets: Indices,
    masks: Masks,
    max_rounds: int | None = None,
) -> Masks:
    """Refine sets along edges; the graph may hold many disjoint problems. Returns the sets of every round."""
    order = np.argsort(targets, kind="stable")
    sources, targets, masks = sources[order], targets[order], masks[order]
    starts = np.flatnonzero(np.diff(targets, prepend=-1))
    reached = targets[starts]
    rounds = [sets]
    while len(starts) and (max_rounds is None or len(rounds) <= max_rounds):
        sets = rounds[-1].copy()
        messages = calculus.compose_array(sets[sources], masks)
        sets[reached] &= np.bitwise_and.reduceat(messages, starts)
        if max_rounds is None and np.array_equal(sets, rounds[-1]):
            break
        rounds.append(sets)
    return np.stack(rounds)
