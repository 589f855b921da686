"""What `epignn close` and `epignn entails` ask of networks, and their answers as plain values."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from epignn.calculus.network import Fact, Network
from epignn.calculus.result import Conflict, Result
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.conflict import SECONDS
from epignn.calculus.solve.directional import directional
from epignn.calculus.solve.search import Entailment, entails, minimal_labels, solve
from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
from epignn.errors import BadArgument, lookup
from epignn.files import json_text
from epignn.formats.facts import parse_facts
from epignn.formats.networks import write_network
from epignn.formats.rows import bytes_of_rows
from epignn.kernels import Backend
from epignn.workers.api import Tell

Pair = tuple[str, str]
ALGORITHMS: MappingProxyType[str, Callable[[Network, Sequence[Pair], str, Backend], Result]] = MappingProxyType(
    {
        "closure": lambda network, queries, head, backend: close(network, backend),
        "directional": lambda network, queries, head, backend: directional(network, head),
        "dpc": lambda network, queries, head, backend: dpc(network, (), queries, backend),
        "dpc+": lambda network, queries, head, backend: dpc_plus(network, (), queries, backend),
        "partial": lambda network, queries, head, backend: partial(network, (), queries, backend),
        "search": lambda network, queries, head, backend: solve(network, None, backend),
        "minimal": lambda network, queries, head, backend: minimal_labels(network, None, backend),
    }
)


def run(
    algorithm: str,
    network: Network,
    query: Pair | None = None,
    head: str = "",
    backend: Backend = "auto",
    only: bool = False,
) -> Result:
    """Run an algorithm by name.

    Args:
        algorithm: one of `ALGORITHMS`.
        network: any network.
        query: the pair that is asked about.
        head: where directional closure starts; by default the first of the pair.
        backend: which kernels answer.
        only: whether nothing but the pair is wanted, which may be had for less.

    Raises:
        UnknownName: there is no such algorithm, or no such entity.
        BadArgument: directional closure has no start.
    """
    chosen = lookup("algorithm", algorithm, ALGORITHMS)
    start = head or (query[0] if query else "")
    if algorithm == "directional" and not start:
        raise BadArgument("directional closure needs a start: --head NAME or --query A B.")
    for name in query or ():
        network.position(name)
    if only and query and chosen is ALGORITHMS["closure"]:
        return close(network, backend, query)
    return chosen(network, [query] if query else [], start, backend)


class Several(NamedTuple):
    """Networks, and what is asked of each; see `run`."""

    networks: Sequence[Network]
    algorithm: str
    query: Pair | None
    head: str
    backend: Backend


def run_several(asked: Several, tell: Tell) -> list[Result]:
    """Run an algorithm on several networks: a job for workers."""
    found = []
    for network in asked.networks:
        found.append(run(asked.algorithm, network, asked.query, asked.head, asked.backend).settled())
        tell(1)
    return found


def result_dict(result: Result, query: Pair | None, closed: bool = True) -> dict[str, Any]:
    """The outcome of an algorithm as plain values: what clashes, what is left of the query, or all that is left.

    With `closed` false, all that is left is left out, for `closed_json` to give.
    """
    network, calculus = result.network, result.network.calculus
    document: dict[str, Any] = {
        "title": network.title,
        "calculus": calculus.name,
        "algorithm": result.algorithm,
        "answer": str(result.answer),
        "consistent": result.consistent,
        "entities": len(network.names),
        "facts": len(network),
        "statistics": dict(result.statistics),
    }
    if not result.consistent:
        document["conflict"] = [fact.to_list() for fact in result.conflict]
        document["conflict_is_minimal"] = result.conflict_is_minimal
    elif query:
        relations = list(calculus.words(result.mask(*query)))
        document["query"] = {"head": query[0], "tail": query[1], "relations": relations}
    elif closed:
        document["closed"] = _rows(result.closed)
    return document


@dataclass(frozen=True)
class Conflicts:
    """Groups of facts that clash, no fact in two of them.

    Attributes:
        network: whose facts they are.
        each: the groups.
        complete: whether the facts without all of these can hold together; else there may be more.
    """

    network: Network
    each: tuple[Conflict, ...]
    complete: bool

    def to_list(self, tell: Callable[[Fact], dict[str, object]]) -> list[list[dict[str, object]]]:
        """The facts of each, as plain values."""
        return [[tell(self.network.fact(f)) for f in conflict.facts] for conflict in self.each]


def conflicts(result: Result, again: Callable[[Network], Result], seconds: float = SECONDS) -> Conflicts:
    """All disjoint conflicts: what clashes is taken out, until the rest does not.

    Args:
        result: of a network that is inconsistent.
        again: the algorithm, for parts of the network over the same entities.
        seconds: after so many, no further one is looked for.
    """
    network, end = result.network, time.monotonic() + seconds
    left, found = np.arange(len(network)), []
    while not result.consistent:
        clash = [int(left[f]) for f in result.conflict_facts]
        found.append(Conflict(clash, result.conflict_is_minimal))
        left = np.setdiff1d(left, clash)
        if time.monotonic() > end:
            return Conflicts(network, tuple(found), False)
        result = again(network.select(left))
    return Conflicts(network, tuple(found), True)


def closed_dict(result: Result, query: Pair | None) -> dict[str, Any]:
    """The same with the facts as they were read, what is new beside them, and which of them clash, by number."""
    more: dict[str, Any] = {"given": _rows(result.network), "inferred": [], "conflict_facts": []}
    if result.consistent:
        more["inferred"] = _rows(result.inferred)
    else:
        more["conflict_facts"] = list(result.conflict_facts)
    return result_dict(result, query) | more


def _rows(network: Network) -> list[tuple[str, tuple[str, ...], str]]:
    """Facts as head, words and tail."""
    words = {mask: network.calculus.words(mask) for mask in network.distinct_sets()[0]}
    rows = zip(network.heads.tolist(), network.masks.tolist(), network.tails.tolist(), strict=True)
    return [(network.names[i], words[mask], network.names[j]) for i, mask, j in rows]


def closed_json(result: Result) -> tuple[bytes | memoryview, ...]:
    """All that is left of every pair as JSON, as lists of head, relations and tail; `result_dict` has the same.

    In pieces of UTF-8, because the text may have hundreds of megabytes.
    """
    closed = result.closed
    masks, sets = closed.distinct_sets()
    words = [json_text(result.network.calculus.words(mask)) for mask in masks]
    names = [json_text(name) for name in closed.names]
    rows = bytes_of_rows(((closed.heads, names), (sets, words), (closed.tails, names)), ("[", ", ", ", ", "], "))
    return b"[", memoryview(rows)[:-2], b"]"


@dataclass(frozen=True, eq=False)
class Entailments:
    """Which facts follow from a network.

    Attributes:
        network: what is given.
        asked: head, relations and tail of each fact to prove.
        found: the answer to each.
        conflict: given facts that clash, where all that was asked follows only because everything does.
    """

    network: Network
    asked: list[tuple[str, str, str]]
    found: list[Entailment]
    conflict: tuple[Fact, ...]

    @property
    def entailed(self) -> bool | None:
        """Whether all of them follow; None where the search reached its limit."""
        each = [answer.entailed for answer in self.found]
        return False if False in each else None if None in each else True

    def to_dict(self) -> dict[str, Any]:
        """The answers as plain values."""
        return {
            "calculus": self.network.calculus.name,
            "consistent": not self.conflict,
            "conflict": [fact.to_list() for fact in self.conflict],
            "entailed": self.entailed,
            "facts": [
                {
                    "fact": list(fact),
                    "entailed": answer.entailed,
                    "counterexample": answer.counterexample
                    and write_network(answer.counterexample, "facts").splitlines(),
                    "statistics": answer.statistics,
                }
                for fact, answer in zip(self.asked, self.found, strict=True)
            ],
        }


def entailments(network: Network, facts: str, max_nodes: int | None = None) -> Entailments:
    """Whether a network entails some facts, by exact search.

    Args:
        network: what is given.
        facts: what to prove, as text.
        max_nodes: give up after so many refinements.

    Raises:
        BadArgument: there is nothing to prove.
        BadFile: the text holds no facts.
    """
    asked = [
        (fact.head, "|".join(fact.relations), fact.tail)
        for raw in parse_facts(facts, "the question")
        for fact in raw.facts
    ]
    if not asked:
        raise BadArgument('nothing to prove; write a fact such as "po(a, c)".')
    found = [entails(network, a, relations, b, max_nodes) for a, relations, b in asked]
    conflict: tuple[Fact, ...] = ()
    if all(answer.entailed for answer in found):
        # Everything follows from a contradiction, which is not what was meant to be asked.
        conflict = solve(network, max_nodes).conflict
    return Entailments(network, asked, found, conflict)
