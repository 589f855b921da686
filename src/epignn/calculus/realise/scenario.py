"""Scenarios that differ with the seed: one relation for every pair, at random where the facts leave a choice."""

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from epignn.calculus.algebra import Masks, members
from epignn.calculus.network import Network, arrays
from epignn.calculus.result import Answer, Result, upper_triangle
from epignn.calculus.solve.closure import DenseClosure, dense_closure
from epignn.calculus.solve.search import solve

FIRST_NODES, MORE = 1_000, 8
"""The first limit of a search, and by how much the next one is larger at most."""
MOST_CHOICES = 600
"""So many pairs are chosen at random; search decides the rest."""


def decide(network: Network, deadline: float) -> Result:
    """Whether a network has a scenario, and one; `UNDECIDED` if that is not known at the deadline."""
    nodes, start = FIRST_NODES, time.perf_counter()
    while True:
        result = solve(network, nodes)
        now = time.perf_counter()
        more = min(MORE, (deadline - now) / (now - start))
        if result.answer is not Answer.UNDECIDED or more < 1:
            return result
        nodes, start = int(nodes * more), now


def vary(found: Result, weights: Sequence[float], rng: np.random.Generator, deadline: float) -> Masks:
    """Another scenario of a network, as a matrix; the one that was found, if none is met in time.

    Args:
        found: a scenario of the network.
        weights: how likely each base relation is to be chosen where several may hold.
        rng: decides what is chosen.
        deadline: when to leave what is still open to search.
    """
    network = found.network
    refined = _choose(network, weights, rng, deadline)
    if refined is not None:
        first, second, masks = upper_triangle(refined.matrix())
        other = solve(replace(network, heads=first, tails=second, masks=masks), FIRST_NODES)
        if other.answer is Answer.CONSISTENT:
            return _matrix(other)
    return _matrix(found)


def _matrix(result: Result) -> Masks:
    return replace(result.network, heads=result.first, tails=result.second, masks=result.masks).matrix()


def _choose(
    network: Network, weights: Sequence[float], rng: np.random.Generator, deadline: float
) -> DenseClosure | None:
    """Choose a relation for one pair after another, closing each time; None if that leads nowhere."""
    closure = dense_closure(network.calculus, len(network.names))
    if not (closure.refine(network.heads, network.tails, network.masks) and closure.close()):
        return None
    first, second, masks = upper_triangle(closure.matrix())
    open_pairs = np.flatnonzero(masks & (masks - np.uint64(1)))
    for pair in rng.permutation(open_pairs)[:MOST_CHOICES].tolist():
        i, j = int(first[pair]), int(second[pair])
        while (mask := closure.label(i, j)).bit_count() > 1 and time.perf_counter() < deadline:
            choices = list(members(mask))
            chance = np.array([weights[r] for r in choices])
            chosen = 1 << choices[int(rng.choice(len(choices), p=chance / chance.sum()))]
            trial = closure.copy()
            if trial.refine(*arrays([i], [j], [chosen])) and trial.close():
                closure = trial
            elif not (closure.refine(*arrays([i], [j], [mask & ~chosen])) and closure.close()):
                return None
    return closure
