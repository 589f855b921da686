"""What path rules say of a graph: walks from a head along their bodies, and the scores of where these end.

Compiled kernels walk and join where there are any (native/bodies.hpp); otherwise numpy does.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import spans
from epignn.data.graph import Edges, Ints
from epignn.kernels import Backend, kernels
from epignn.models.api import Scores
from epignn.models.listed import Listed
from epignn.models.tally import FROM_ONE, Floats, Longs, Walks, alternatives, among, follow, summed

NEXT_BEST = 1e-3
"""How much the second best rule counts where the best one decides: it settles ties."""
MOST_KEPT = 2**23
"""So many scores of rules are kept for questions that are asked again, at most."""


class Tree(NamedTuple):
    """The bodies of rules as a tree: a body is its parent and one relation more. The first is empty.

    Attributes:
        child: (N + 1) the children of body b are child[b]..child[b+1].
        last: (N) the relation that each ends with.
        rule: (N + 1) the rules of body b are rule[b]..rule[b+1].
        relation, confidence: of each rule, those of a body in the order of relations.
    """

    child: Ints
    last: Ints
    rule: Longs
    relation: Ints
    confidence: Floats


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rules as they are looked up.

    Attributes:
        known: (M) their bodies, in order.
        offset: (M + 1) where the rules of each body begin.
        relation, confidence: (N) of every rule, those of one body together.
        prefix: every body and every beginning of one, in order.
        relations: how many there are, with inverses.
        aggregate: see `RulesConfig`.
    """

    known: Longs
    offset: Longs
    relation: Longs
    confidence: Floats
    prefix: Longs
    relations: int
    aggregate: str

    @classmethod
    def of(cls, relation: Longs, body: Longs, confidence: Floats, relations: int, aggregate: str) -> "Lookup":
        """Rules (N) in any order."""
        order = np.lexsort((relation, body))
        known, first = np.unique(body[order], return_index=True)
        part, base, prefixes = known, relations + 1, [known]
        while len(part := np.unique(part // base)) and part[-1]:
            prefixes.append(part)
        prefix, offset = np.unique(np.concatenate(prefixes)), np.append(first, len(body))
        prefix = prefix[prefix > 0]  # the empty body, which begins all
        return cls(known, offset, relation[order], confidence[order], prefix, relations, aggregate)

    @cached_property
    def tree(self) -> Tree:
        """The same for the compiled kernels. Bodies are in order, so the children of each are together."""
        base, count = self.relations + 1, len(self.prefix) + 1
        parent = np.searchsorted(np.append(0, self.prefix), self.prefix // base)
        child = 1 + np.searchsorted(parent, np.arange(count + 1))
        rules = np.zeros(count + 1, dtype=np.int64)
        rules[2 + np.searchsorted(self.prefix, self.known)] = np.diff(self.offset)
        return Tree(
            child.astype(np.int32),
            np.append(-1, self.prefix % base - 1).astype(np.int32),
            np.cumsum(rules),
            self.relation.astype(np.int32),
            np.ascontiguousarray(self.confidence, dtype=np.float64),
        )

    def score(self, relations: NDArray[np.integer], body: Longs, end: Longs, weight: Floats, nodes: int) -> Listed:
        """The scores of entities that paths of some bodies (N) reach (N), as answers to some relations.

        The confidence of a rule counts as much as the weight (N) says of where it leads.
        """
        use = among(body, self.known)
        place = np.searchsorted(self.known, body[use])
        begin = self.offset[place]
        count = self.offset[place + 1] - begin
        rule, end, weight = spans(begin, count), np.repeat(end[use], count), np.repeat(weight[use], count)
        asked = np.zeros(self.relations, dtype=bool)
        asked[relations] = True
        kept = asked[self.relation[rule]]
        kind = self.relation[rule[kept]] * nodes + end[kept]
        return Listed.of(*self._joined(kind, self.confidence[rule[kept]] * weight[kept]), self.relations, nodes)

    def _joined(self, kind: Longs, confidence: Floats) -> tuple[Longs, Floats]:
        """Relations and entities that rules say something of, each once, in order, and what the rules come to."""
        if self.aggregate == "noisy-or":
            (kind,), score = summed((kind,), -np.log1p(-confidence))
            return kind, score
        order = np.lexsort((-confidence, kind))
        kind, confidence = kind[order], confidence[order]
        best = np.flatnonzero(np.diff(kind, prepend=-1))
        score, several = confidence[best], np.diff(np.append(best, len(kind))) > 1
        score[several] += NEXT_BEST * confidence[best[several] + 1]
        return kind[best], score


class RuleScorer:
    """The scores of rules on a graph. Walks from a head that has very many are cut short (`FROM_ONE`).

    Args:
        lookup: the rules.
        edges: of the graph.
        hops, spread: see `RulesConfig`.
        backend: whether compiled kernels serve.
    """

    chunk = 1

    def __init__(self, lookup: Lookup, edges: Edges, hops: int, spread: float, backend: Backend = "auto") -> None:
        self.lookup, self.edges, self.nodes = lookup, edges, len(edges.offset) - 1
        self.hops, self.spread, self.relations = hops, spread, lookup.relations
        self.alike = alternatives(edges, self.relations) if spread else None
        native = kernels(backend)
        self._compiled = None if native is None else self._bind(native)

    def _bind(self, native: ModuleType) -> Any:
        """The compiled kernel of this graph and these rules. It reads arrays by address, so these are kept."""
        edges, tree = self.edges, self.lookup.tree
        self._kept = [np.ascontiguousarray(of, np.int32) for of in (edges.offset, edges.source, edges.label)]
        alike = 0 if self.alike is None else self.alike.ctypes.data
        graph = native.walk_graph(self.nodes, self.relations, *(of.ctypes.data for of in self._kept), alike)
        bodies = native.bodies(len(tree.last), *(of.ctypes.data for of in tree))
        noisy = self.lookup.aggregate == "noisy-or"
        return native.RulesFrom(graph, bodies, self.hops, FROM_ONE, self.spread, NEXT_BEST, noisy)

    def prepare(self, heads: Ints) -> None:
        """Nothing is shared between heads."""

    def reached(self, head: int, relations: NDArray[np.integer]) -> Listed:
        """The scores of all entities that a rule leads to from a head, for some relations."""
        if self._compiled is not None:
            asked = np.zeros(self.relations, dtype=np.uint8)
            asked[relations] = 1
            said = self._compiled.said(head, asked.ctypes.data)
            offset, entity = np.empty(self.relations + 1, dtype=np.int64), np.empty(said.size, dtype=np.int64)
            value = np.empty(said.size)
            said.copy(*(of.ctypes.data for of in (offset, entity, value)))
            return Listed(offset, entity, value)
        start, prefix = np.array([head], dtype=np.int64), self.lookup.prefix
        walked = follow(self.edges, start, self.hops, self.relations, prefix, FROM_ONE, self.alike)
        (body, end), chance = _reached(walked)
        return self.lookup.score(relations, body, end, chance**self.spread, self.nodes)

    def __call__(self, head: int, relations: NDArray[np.integer]) -> Scores:
        """(Q, V): see `Scorer`."""
        return self.reached(head, relations).table(relations, self.nodes)


@dataclass(eq=False)
class Said:
    """What rules have said of some heads, each asked for some relations.

    Attributes:
        found: by head and relations.
        room: how many more scores are kept.
    """

    found: dict[tuple[int, bytes], Listed] = field(default_factory=dict)
    room: int = MOST_KEPT


class Repeated:
    """Rules that are asked the same again and again, and say the same: most of it is looked up once."""

    def __init__(self, rules: RuleScorer, said: Said) -> None:
        self.rules, self.said = rules, said

    def reached(self, head: int, relations: NDArray[np.integer]) -> Listed:
        """As of `RuleScorer`."""
        asked = head, relations.tobytes()
        if (before := self.said.found.get(asked)) is not None:
            return before
        found = self.rules.reached(head, relations)
        if len(found.entity) <= self.said.room:
            self.said.room -= len(found.entity)
            self.said.found[asked] = found
        return found


def _reached(walks: Iterable[Walks]) -> tuple[list[Longs], Floats]:
    """Body and end of some walks, each once, in order, and the chance that a walk of the body ends there."""
    none = np.zeros(0, dtype=np.int64)
    parts = [(none, none, np.zeros(0)), *((part.body, part.nodes[:, -1], part.chance) for part in walks)]
    body, end, chance = (np.concatenate(column) for column in zip(*parts, strict=True))
    return summed((body, end), chance)
