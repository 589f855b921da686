"""Disjunctive networks: consistency, entailment and minimal labelling by search over refinements.

Closure alone does not decide networks with arbitrary relation sets. The search parts a set into sets over which
closure does decide (those of a tractable class, where the calculus has one; single relations otherwise), closes
after every choice, and ends with a scenario: one relation for every pair.
"""

import time
from dataclasses import dataclass, replace

import numpy as np

from epignn.calculus.algebra import Calculus, members
from epignn.calculus.network import Network, arrays
from epignn.calculus.result import Answer, Conflict, Result, decided, triangle_ends, upper_triangle
from epignn.calculus.solve import plain
from epignn.calculus.solve.closure import DenseClosure, contradiction_test, dense_closure
from epignn.calculus.solve.conflict import minimal_conflict
from epignn.kernels import Backend, kernels

MOST_NODES = 20_000
"""Refinements of a part of a network that is tested for a conflict; one that needs more is taken to agree."""
UNLIMITED = 2**63 - 1
"""Refinements that no search comes to, and that a kernel can count to."""


def solve(network: Network, max_nodes: int | None = None, backend: Backend = "auto") -> Result:
    """Whether a network has a model; if so, the result holds a scenario: one relation for every pair.

    Args:
        network: any network.
        max_nodes: give up, with the answer `UNDECIDED`, after so many refinements.
        backend: which kernels answer.
    """
    start = time.perf_counter()
    closure, loaded = _load(network, backend)
    answer, nodes = _search(network.calculus, closure, max_nodes, backend) if loaded else (Answer.INCONSISTENT, 0)
    return Result(
        network,
        "search",
        answer,
        *triangle_ends(len(network.names)),
        closure.triangle(),
        statistics={"seconds": time.perf_counter() - start, "nodes": nodes, "steps": closure.steps},
        _explain=lambda: _conflict(network, closure, backend),
    )


@dataclass(frozen=True)
class Entailment:
    """Whether facts entail that one of some relations holds.

    Attributes:
        entailed: True or False; None when the search reached its limit.
        counterexample: a scenario in which none of the relations holds, where there is one.
        statistics: seconds, refinements tried and steps.
    """

    entailed: bool | None
    counterexample: Network | None
    statistics: dict[str, float]


def entails(
    network: Network,
    head: str,
    relations: str | int,
    tail: str,
    max_nodes: int | None = None,
    backend: Backend = "auto",
) -> Entailment:
    """Whether every model of the facts has one of `relations` from head to tail.

    An inconsistent network entails everything.

    >>> from epignn.calculus import load
    >>> facts = [("a", "<|m", "b"), ("b", "<|m", "c")]
    >>> network = Network.of(load("allen"), facts)
    >>> entails(network, "a", "<", "c").entailed, entails(network, "a", "<", "b").entailed
    (True, False)
    """
    calculus = network.calculus
    mask = calculus.parse(relations) if isinstance(relations, str) else relations
    excluded = _with_fact(network, network.position(head), network.position(tail), calculus.universal & ~mask)
    result = solve(excluded, max_nodes, backend)
    if result.answer is Answer.UNDECIDED:
        return Entailment(None, None, dict(result.statistics))
    entailed = result.answer is Answer.INCONSISTENT
    return Entailment(entailed, None if entailed else result.closed, dict(result.statistics))


def minimal_labels(network: Network, max_nodes: int | None = None, backend: Backend = "auto") -> Result:
    """The minimal network: every relation left between two entities holds in some model.

    Each scenario that is found shows that one relation of every pair is possible, so that few searches are needed.
    """
    start = time.perf_counter()
    calculus = network.calculus
    closure, loaded = _load(network, backend)
    searches = nodes = 0
    answer = Answer.INCONSISTENT
    matrix = closure.matrix()
    if loaded and closure.close():
        matrix = closure.matrix()
        seen = np.zeros_like(matrix)
        answer = Answer.CONSISTENT if calculus.decides else Answer.CLOSED
        for i, j in zip(*np.triu_indices(len(matrix), 1), strict=True):
            for r in members(int(matrix[i, j] & ~seen[i, j])):
                if int(seen[i, j]) >> r & 1:
                    continue
                trial = closure.copy()
                trial.refine(*arrays([i], [j], [1 << r]))
                found, tried = _search(calculus, trial, max_nodes, backend)
                searches, nodes = searches + 1, nodes + tried
                if found is Answer.UNDECIDED:
                    answer = Answer.UNDECIDED
                elif found is Answer.INCONSISTENT:
                    matrix[i, j] &= ~np.uint64(1 << r)
                else:
                    seen |= trial.matrix()
            if not matrix[i, j]:
                answer = Answer.INCONSISTENT
                break
    return Result(
        network,
        "minimal",
        answer,
        *upper_triangle(matrix),
        statistics={"seconds": time.perf_counter() - start, "searches": searches, "nodes": nodes},
        _explain=lambda: _conflict(network, closure, backend),
    )


def _load(network: Network, backend: Backend) -> tuple[DenseClosure, bool]:
    closure = dense_closure(network.calculus, len(network.names), backend)
    return closure, closure.refine(network.heads, network.tails, network.masks)


def _search(
    calculus: Calculus, closure: DenseClosure, max_nodes: int | None, backend: Backend
) -> tuple[Answer, int]:
    """Search inside a loaded network; on success `closure` holds the scenario."""
    tractable = calculus.tractable if calculus.decides else frozenset()
    limit = -1 if max_nodes is None else min(max(max_nodes, 0), UNLIMITED)
    module = kernels(backend)
    if module is None:
        assert isinstance(closure, plain.PlainClosure)
        code, nodes = plain.solve(closure, tractable, limit)
    else:
        code, nodes = module.solve(closure, np.array(sorted(tractable), dtype=np.uint64), limit)
    found = Answer.CONSISTENT if calculus.decides else Answer.CLOSED
    answers = {
        plain.CONSISTENT: found,
        plain.INCONSISTENT: Answer.INCONSISTENT,
        plain.UNDECIDED: Answer.UNDECIDED,
    }
    return answers[code], nodes


def _conflict(network: Network, closure: DenseClosure, backend: Backend) -> Conflict:
    near = closure.conflict if closure.conflict[0] >= 0 else (int(network.heads[0]), int(network.tails[0]))
    if decided(network.calculus, network.distinct_sets()[0]):
        return minimal_conflict(network, contradiction_test(network, backend), near)
    undecided = False

    def clash(part: Network) -> bool:
        nonlocal undecided
        answer = solve(part, MOST_NODES, backend).answer
        undecided |= answer is Answer.UNDECIDED
        return answer is Answer.INCONSISTENT

    found = minimal_conflict(network, clash, near)
    return replace(found, minimal=found.minimal and not undecided)


def _with_fact(network: Network, head: int, tail: int, mask: int) -> Network:
    heads, tails, masks = arrays([head], [tail], [mask])
    return replace(
        network,
        heads=np.concatenate([network.heads, heads]),
        tails=np.concatenate([network.tails, tails]),
        masks=np.concatenate([network.masks, masks]),
        title="",
    )
