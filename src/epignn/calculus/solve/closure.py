"""Algebraic closure: refine what may hold between every two entities through every third, until nothing changes.

Compose is ×, intersect is +: closure multiplies the matrix of relation sets with itself until it is stable
(paper, appendix "Full algebraic closure"). `solve.incremental` keeps a network closed while facts come and go.
"""

import time
from typing import Protocol

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Indices, Network, arrays
from epignn.calculus.result import Result, decided, triangle_ends, verdict
from epignn.calculus.solve.conflict import SPARSE, Inconsistent, minimal_conflict
from epignn.calculus.solve.native import native_algebra
from epignn.calculus.solve.paths import Closed, along_paths
from epignn.calculus.solve.plain import PlainClosure
from epignn.calculus.solve.sparse import partial
from epignn.errors import BadArgument
from epignn.kernels import Backend, kernels

MAX_DENSE = 20_000
"""The most entities of a network of which every pair is kept: see docs/limits.md for what that takes."""


class DenseClosure(Protocol):
    """The interface of the compiled closure and of `PlainClosure`."""

    conflict: tuple[int, int]
    steps: int
    refinements: int

    def refine(self, heads: Indices, tails: Indices, masks: Masks) -> bool:
        """Restrict pairs."""

    def close(self) -> bool:
        """Propagate."""

    def label(self, i: int, j: int) -> int:
        """The set of one pair."""

    def matrix(self) -> Masks:
        """The set of every pair."""

    def triangle(self) -> Masks:
        """The sets of the pairs i < j, row by row."""

    def copy(self) -> "DenseClosure":
        """A copy of its own sets; it shares a cache, so do not close it and the original in two threads at once."""

    def grown(self, entities: int) -> "DenseClosure":
        """The same with more entities."""


def dense_closure(calculus: Calculus, entities: int, backend: Backend = "auto") -> DenseClosure:
    """An empty dense network, ready to be refined.

    Raises:
        BadArgument: too many entities.
    """
    refuse_many(entities)
    closure = unconstrained(calculus, entities, backend)
    keep_apart(closure, calculus, 0, entities)
    return closure


def refuse_many(entities: int) -> None:
    """Refuse to keep every pair of too many entities.

    Raises:
        BadArgument: they are.
    """
    if entities > MAX_DENSE:
        raise BadArgument(
            f"{entities:,} entities are too many to keep every pair of them; up to {MAX_DENSE:,} can be. "
            "Use partial closure, which keeps the pairs that matter."
        )


def unconstrained(calculus: Calculus, entities: int, backend: Backend) -> DenseClosure:
    """A dense network in which two entities may still be one."""
    module = kernels(backend)
    if module is None:
        return PlainClosure(calculus, entities)
    closure: DenseClosure = module.Closure(native_algebra(calculus), entities)
    return closure


def keep_apart(closure: DenseClosure, calculus: Calculus, first: int, end: int) -> None:
    """Where names are distinct, let none of the entities from `first` to `end` be one that comes before it."""
    for i in range(first, end if calculus.distinct else first):
        closure.refine(*arrays([i] * i, range(i), [calculus.anything] * i))


def close(network: Network, backend: Backend = "auto", query: tuple[str, str] | None = None) -> Result:
    """Complete algebraic closure (path consistency) of a network.

    Args:
        network: what to close.
        backend: which kernels answer.
        query: the one pair that is wanted: what is known of the others is not kept, which takes less memory, and in
            sparse networks less time.

    >>> from epignn.calculus import load
    >>> rcc8 = load("rcc8")
    >>> facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c")]
    >>> result = close(Network.of(rcc8, facts))
    >>> result.answer, result.relations("a", "c")
    (<Answer.CONSISTENT: 'consistent'>, ('PO',))
    """
    start = time.perf_counter()
    asked = None if query is None else (network.position(query[0]), network.position(query[1]))
    if asked is None:
        refuse_many(len(network.names))
    found = along_paths(network, asked, backend) or _complete(network, asked, backend)
    return Result(
        network,
        "closure",
        verdict(network, found.consistent),
        found.first,
        found.second,
        found.masks,
        statistics={
            "seconds": time.perf_counter() - start,
            "steps": found.steps,
            "refinements": found.refinements,
        },
        _explain=lambda: minimal_conflict(network, contradiction_test(network, backend), found.near),
    )


def _complete(network: Network, asked: tuple[int, int] | None, backend: Backend) -> Closed:
    """Closure through every third entity."""
    closure = dense_closure(network.calculus, len(network.names), backend)
    consistent = closure.refine(network.heads, network.tails, network.masks) and closure.close()
    if asked is None:
        pairs = (*triangle_ends(len(network.names)), closure.triangle())
    else:
        pairs = arrays([asked[0]], [asked[1]], [closure.label(*asked)])
    return Closed(consistent, closure.conflict, *pairs, closure.steps, closure.refinements)


def contradiction_test(network: Network, backend: Backend) -> Inconsistent:
    """A test whether closure finds a contradiction in a part of a network.

    Where closure decides, partial closure finds the same contradictions, on sparse networks much faster.
    """
    certain = decided(network.calculus, network.distinct_sets()[0])

    def fails(part: Network) -> bool:
        if certain and len(part) <= SPARSE * len(part.names):
            return not partial(part, backend=backend).consistent
        closure = dense_closure(part.calculus, len(part.names), backend)
        return not (closure.refine(part.heads, part.tails, part.masks) and closure.close())

    return fails
