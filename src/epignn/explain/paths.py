"""Ways between entities along facts, in either direction."""

from collections.abc import Iterable
from itertools import pairwise

from epignn.calculus.network import Network
from epignn.data.statements import reached


def distances(network: Network, start: int) -> dict[int, int]:
    """Facts between the start and each entity, in either direction; entities that none lead to are left out."""
    return steps(zip(network.heads.tolist(), network.tails.tolist(), strict=True), start)


def steps(ends: Iterable[tuple[int, int]], start: int) -> dict[int, int]:
    """The same for facts given by the two entities of each."""
    pairs = set(ends)
    return reached(sorted(pairs | {(j, i) for i, j in pairs}), start)


def path_of(network: Network, head: str, tail: str) -> tuple[str, ...]:
    """The entities from head to tail, where the facts of a network are one path between them; else nothing."""
    far = distances(network, network.position(head))
    order = sorted(far, key=lambda entity: far[entity])
    steps = {frozenset(ends) for ends in zip(network.heads.tolist(), network.tails.tolist(), strict=True)}
    along = [frozenset(ends) for ends in pairwise(order)]
    is_path = order[-1] == network.position(tail) and len(network) == len(along) and steps == set(along)
    return tuple(network.names[entity] for entity in order) if is_path else ()
