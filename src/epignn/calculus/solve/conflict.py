"""Minimal conflicts: facts of an inconsistent network that cannot hold together, though without any one they can.

The test of inconsistency is a function (closure, or search for disjunctive facts) that has to be monotone: more
facts never make an inconsistent set consistent. The network is first cut down to the surroundings of the pair that
became empty; a dense one then entity by entity; and at last fact by fact.
"""

from collections.abc import Callable

import numpy as np

from epignn.calculus.network import Network

Inconsistent = Callable[[Network], bool]
SPARSE = 3
"""Up to so many facts for each entity a network is sparse: testing entities first, or all pairs, does not pay."""


def minimal_conflict(network: Network, inconsistent: Inconsistent, near: tuple[int, int]) -> list[int]:
    """The numbers of a minimal set of facts that is inconsistent.

    Args:
        network: an inconsistent network.
        inconsistent: the test, applied to parts of the network.
        near: the pair of entities where the contradiction came to light; only speed depends on it.
    """
    loop = network.impossible_loop()
    if loop is not None:
        return [loop]

    def clash(facts: list[int]) -> bool:
        return inconsistent(network.select(facts).compact())

    facts = _surroundings(network, clash, near)
    by_entity: dict[int, list[int]] = {}
    for fact in facts:
        by_entity.setdefault(int(network.heads[fact]), []).append(fact)
        by_entity.setdefault(int(network.tails[fact]), []).append(fact)

    def inside(entities: list[int]) -> list[int]:
        chosen = set(entities)
        return [f for f in facts if network.heads[f] in chosen and network.tails[f] in chosen]

    if len(facts) > SPARSE * len(by_entity):
        facts = inside(minimal_subset(list(by_entity), lambda entities: clash(inside(entities))))
    return sorted(minimal_subset(facts, clash))


def _surroundings(network: Network, clash: Callable[[list[int]], bool], near: tuple[int, int]) -> list[int]:
    """The facts among the entities within some steps of a pair, as few steps as make them inconsistent."""
    reached = np.zeros(len(network.names), dtype=bool)
    reached[list(near)] = True
    tested = 1
    while True:
        size = int(reached.sum())
        if size >= 2 * tested:  # only when it has doubled, so that there are few tests
            tested = size
            facts: list[int] = np.flatnonzero(reached[network.heads] & reached[network.tails]).tolist()
            if facts and clash(facts):
                return facts
        touched = reached[network.heads] | reached[network.tails]
        reached[network.heads[touched]] = True
        reached[network.tails[touched]] = True
        if int(reached.sum()) == size:
            return list(range(len(network)))


def minimal_subset(items: list[int], test: Callable[[list[int]], bool]) -> list[int]:
    """A minimal subset that passes a monotone test which all items together pass (QuickXplain, Junker 2004).

    >>> minimal_subset(list(range(100)), lambda chosen: {7, 40} <= set(chosen))
    [40, 7]
    """

    def needed(given: list[int], rest: list[int], given_is_new: bool) -> list[int]:
        if given_is_new and test(given):
            return []
        if len(rest) == 1:
            return rest
        half = len(rest) // 2
        left, right = rest[:half], rest[half:]
        from_right = needed(given + left, right, True)
        from_left = needed(given + from_right, left, bool(from_right))
        return from_right + from_left

    return needed([], items, False) if items else []
