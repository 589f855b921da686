"""Minimal conflicts: facts of an inconsistent network that cannot hold together, though without any one they can.

The test of inconsistency is a function (closure, or search for disjunctive facts) that has to be monotone: more
facts never make an inconsistent set consistent. The network is first cut down to the surroundings of the pair that
became empty; a dense one then entity by entity; and at last fact by fact.
"""

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.network import Network
from epignn.calculus.result import Conflict

Inconsistent = Callable[[Network], bool]
SPARSE = 3
"""Up to so many facts for each entity a network is sparse: testing entities first, or all pairs, does not pay."""


SECONDS = 3.0
"""How long facts are left out one after the other; after that, what is left is told as it is."""


def minimal_conflict(
    network: Network,
    inconsistent: Inconsistent,
    near: tuple[int, int],
    seconds: float = SECONDS,
    *,
    of_circles: bool = True,
) -> Conflict:
    """The numbers of a minimal set of facts that is inconsistent; of a small one, where time runs out.

    Args:
        network: an inconsistent network.
        inconsistent: the test, applied to parts of the network.
        near: the pair of entities where the contradiction came to light; only speed depends on it.
        seconds: the limit of time.
        of_circles: whether the test fails for facts that form no circle, as that of a contradiction does.
    """
    loop = network.impossible_loop()
    if loop is not None:
        return Conflict([loop], True)
    end = time.monotonic() + seconds

    def clash(facts: list[int]) -> bool:
        return inconsistent(network.select(facts).compact())

    facts = _surroundings(network, clash, near)
    if of_circles and len(facts) > FEW and _trees_agree(network):
        circle = _without_trees(network, facts)
        if len(circle) < len(facts) and clash(circle):
            facts = circle
        # Without any one of its facts a circle is a path, which is a tree.
        if facts == circle and _is_circle(network, facts):
            return Conflict(facts, True)
    by_entity: dict[int, list[int]] = {}
    for fact in facts:
        by_entity.setdefault(int(network.heads[fact]), []).append(fact)
        by_entity.setdefault(int(network.tails[fact]), []).append(fact)

    def inside(entities: list[int]) -> list[int]:
        chosen = set(entities)
        return [f for f in facts if network.heads[f] in chosen and network.tails[f] in chosen]

    if len(facts) > SPARSE * len(by_entity):
        facts = inside(minimal_subset(list(by_entity), lambda entities: clash(inside(entities)), end))
    found = sorted(minimal_subset(facts, clash, end))
    return Conflict(found, time.monotonic() < end)


FEW = 8
"""Up to so many facts, tests are quicker than looking at their shape."""


def _trees_agree(network: Network) -> bool:
    """Whether facts that form no circle can always hold together: no composition is empty, names may be one."""
    calculus = network.calculus
    lawful = calculus.decides and calculus.associative and not calculus.many_sorted
    return lawful and not calculus.distinct and bool(network.masks.all())


def _without_trees(network: Network, facts: list[int]) -> list[int]:
    """The facts without those that hang on the others like branches, from their ends inwards."""
    by_entity: dict[int, set[int]] = {}
    for fact in facts:
        for entity in (int(network.heads[fact]), int(network.tails[fact])):
            by_entity.setdefault(entity, set()).add(fact)
    ends = [entity for entity, touching in by_entity.items() if len(touching) == 1]
    while ends:
        touching = by_entity[ends.pop()]
        if len(touching) != 1:
            continue
        (fact,) = touching
        for entity in (int(network.heads[fact]), int(network.tails[fact])):
            by_entity[entity].discard(fact)
            if len(by_entity[entity]) == 1:
                ends.append(entity)
    left = set().union(*by_entity.values())
    return [fact for fact in facts if fact in left]


def _is_circle(network: Network, facts: list[int]) -> bool:
    """Whether facts form one circle, in which every entity has two of them."""
    heads, tails = network.heads[facts], network.tails[facts]
    entities, count = np.unique(np.concatenate([heads, tails]), return_counts=True)
    if len(entities) != len(facts) or not (count == 2).all():
        return False
    levels = _levels(network.select(facts), [int(heads[0])])
    return bool((levels[entities] >= 0).all())


def _levels(network: Network, start: list[int]) -> NDArray[np.int64]:
    """How many facts away from the start each entity is, in either direction; -1 where none lead to it."""
    ends = np.concatenate([network.heads, network.tails])
    order = np.argsort(ends, kind="stable")
    others = np.concatenate([network.tails, network.heads])[order].tolist()
    first = np.searchsorted(ends[order], np.arange(len(network.names) + 1)).tolist()
    levels = [-1] * len(network.names)
    for entity in start:
        levels[entity] = 0
    waiting = list(dict.fromkeys(start))
    for entity in waiting:
        for other in others[first[entity] : first[entity + 1]]:
            if levels[other] < 0:
                levels[other] = levels[entity] + 1
                waiting.append(other)
    return np.array(levels, dtype=np.int64)


def _surroundings(network: Network, clash: Callable[[list[int]], bool], near: tuple[int, int]) -> list[int]:
    """The facts among the entities within some steps of a pair, as few steps as make them inconsistent."""
    levels = _levels(network, list(near))
    sizes = np.cumsum(np.bincount(levels[levels >= 0]))
    of_fact = np.maximum(levels[network.heads], levels[network.tails])
    of_fact[levels[network.heads] < 0] = len(network)
    tested = 1
    for level, size in enumerate(sizes.tolist()):
        if size >= 2 * tested:  # only when it has doubled, so that there are few tests
            tested = size
            facts: list[int] = np.flatnonzero(of_fact <= level).tolist()
            if facts and clash(facts):
                return facts
    return list(range(len(network)))


def minimal_subset(items: list[int], test: Callable[[list[int]], bool], end: float = math.inf) -> list[int]:
    """A minimal subset that passes a monotone test which all items together pass (QuickXplain, Junker 2004).

    After `end`, by the clock of `time.monotonic`, nothing more is left out: what is given back still passes.

    >>> minimal_subset(list(range(100)), lambda chosen: {7, 40} <= set(chosen))
    [40, 7]
    """

    def needed(given: list[int], rest: list[int], given_is_new: bool) -> list[int]:
        if given_is_new and test(given):
            return []
        if len(rest) == 1 or time.monotonic() >= end:
            return rest
        half = len(rest) // 2
        left, right = rest[:half], rest[half:]
        from_right = needed(given + left, right, True)
        from_left = needed(given + from_right, left, bool(from_right))
        return from_right + from_left

    return needed([], items, False) if items else []
