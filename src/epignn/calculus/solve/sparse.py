"""Closure of large sparse networks along an elimination order.

Entities are eliminated one by one; the neighbours of each become a clique, so that the graph becomes chordal,
and only the pairs of that graph are kept. `dpc` sweeps up the order (directional path consistency), `dpc_plus`
sweeps up and down (Long, Sioutis and Li, 2016), `partial` repeats until nothing changes (partial closure, Bliek and
Sam-Haroud, 1999). For networks of single relations each of them decides consistency, if the calculus `decides`.

A pair of which nothing is known is not composed with others. In a calculus of several sorts (`many_sorted`), where
that would tell something, and for names that are `distinct`, complete closure finds more.
"""

import time
from collections.abc import Iterable, Sequence

import numpy as np

from epignn.calculus.algebra import Masks
from epignn.calculus.network import Indices, Network, arrays
from epignn.calculus.result import Answer, Result, verdict
from epignn.calculus.solve import plain_sparse
from epignn.calculus.solve.conflict import minimal_conflict
from epignn.calculus.solve.native import native_algebra
from epignn.errors import BadArgument
from epignn.kernels import Backend, kernels

Queries = Iterable[tuple[str, str]]
NO_ORDER = np.zeros(0, dtype=np.int32)


def dpc(network: Network, order: Sequence[str] = (), queries: Queries = (), backend: Backend = "auto") -> Result:
    """Directional path consistency: one sweep along an elimination order.

    Args:
        network: what to close.
        order: the entities in the order of their elimination; by default the one with fewest neighbours next.
        queries: pairs whose sets are wanted although no fact mentions them. The two entities of the first
            query are eliminated last, so that one sweep refines it completely.
        backend: which kernels answer.
    """
    return _sweep(network, "dpc", 1, order, queries, backend)


def dpc_plus(
    network: Network, order: Sequence[str] = (), queries: Queries = (), backend: Backend = "auto"
) -> Result:
    """DPC+: a sweep along the elimination order and one back; see `dpc` for the arguments."""
    return _sweep(network, "dpc+", 2, order, queries, backend)


def partial(
    network: Network, order: Sequence[str] = (), queries: Queries = (), backend: Backend = "auto"
) -> Result:
    """Partial closure: sweeps until nothing changes; see `dpc` for the arguments."""
    return _sweep(network, "partial", 0, order, queries, backend)


def _sweep(
    network: Network, algorithm: str, sweeps: int, order: Sequence[str], queries: Queries, backend: Backend
) -> Result:
    start = time.perf_counter()
    asked = [(network.position(a), network.position(b)) for a, b in queries]
    loop = network.impossible_loop()
    _, first, second, masks, empty, triangles, refinements, made = swept(
        network, asked, sweeps, backend, _elimination(network, order)
    )
    near = (int(first[empty]), int(second[empty])) if empty >= 0 else (0, 0)
    return Result(
        network,
        algorithm,
        verdict(network, empty < 0 and loop is None, atomic_only=sweeps > 0),
        first,
        second,
        masks,
        statistics={
            "seconds": time.perf_counter() - start,
            "pairs": len(masks),
            "triangles": triangles,
            "refinements": refinements,
            "sweeps": made,
        },
        _explain=lambda: minimal_conflict(
            network, lambda n: partial(n, backend=backend).answer is Answer.INCONSISTENT, near
        ),
    )


Swept = tuple[Indices, Indices, Indices, Masks, int, int, int, int]
"""The order; both ends and the set of every pair that is kept, those of each entity together, in that order; the
number of the pair that became empty, or -1; triangles seen, refinements and sweeps made."""


def swept(
    network: Network,
    asked: Sequence[tuple[int, int]],
    sweeps: int,
    backend: Backend,
    order: Indices = NO_ORDER,
    most: int = plain_sparse.ALL,
) -> Swept:
    """Sweep along an elimination order and back, so many times, or for 0 until nothing changes.

    Args:
        network: what to sweep.
        asked: positions of pairs that are kept in any case; those of the first are eliminated last.
        sweeps: how often.
        backend: which kernels answer.
        order: all entities; by default the one with the fewest neighbours is next.
        most: give up where more pairs would be kept; the order is then empty.
    """
    rank = np.zeros(len(network.names), dtype=np.int32)
    rank[list(asked[0]) if asked else []] = 1
    call = (len(network.names), *_with_queries(network, asked), order, rank, sweeps, most)
    module = kernels(backend)
    if module is None:
        return plain_sparse.sweep(network.calculus, *call)
    found: Swept = module.sweep(native_algebra(network.calculus), *call)
    return found


def _with_queries(network: Network, asked: Sequence[tuple[int, int]]) -> tuple[Indices, Indices, Masks]:
    """The merged facts, and for each query its pair with the universal set."""
    first, second, masks = network.pairs()
    extra = [(min(a, b), max(a, b), network.calculus.anything) for a, b in asked if a != b]
    if not extra:
        return first, second, masks
    more_first, more_second, more_masks = arrays(*zip(*extra, strict=True))
    return (
        np.concatenate([first, more_first]),
        np.concatenate([second, more_second]),
        np.concatenate([masks, more_masks]),
    )


def _elimination(network: Network, order: Sequence[str]) -> Indices:
    positions = np.array([network.position(name) for name in order], dtype=np.int32)
    if len(positions) and len(np.unique(positions)) != len(network.names):
        raise BadArgument("an elimination order names every entity of the network once.")
    return positions
