"""Statements: facts over a vocabulary that belongs to no calculus, in the direction in which they are given."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from epignn.calculus.algebra import members
from epignn.calculus.network import Fact, Network
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument, unknown

Node = TypeVar("Node", int, str)


@dataclass(frozen=True)
class Statements:
    """Facts of one relation each, `mother(ann, bea)`; nothing is known of their converses.

    Attributes:
        relations: the vocabulary.
        names: the entities.
        edges: source, target and relation of each fact, by number.

    >>> facts = Statements.of(("mother", "uncle"), [("ann", "mother", "bea"), ("bea", "uncle", "carl")])
    >>> print(facts.fact(1))
    uncle(bea, carl)
    """

    relations: tuple[str, ...]
    names: tuple[str, ...]
    edges: tuple[tuple[int, int, int], ...]

    @classmethod
    def of(cls, relations: tuple[str, ...], facts: Iterable[tuple[str, str, str]]) -> "Statements":
        """Facts as head, relation and tail.

        Raises:
            UnknownName: a relation is not in the vocabulary.
        """
        position = {name: at for at, name in enumerate(relations)}
        names: dict[str, int] = {}
        edges = []
        for head, relation, tail in facts:
            if relation not in position:
                raise unknown("relation", relation, position)
            source, target = (names.setdefault(name, len(names)) for name in (head, tail))
            edges.append((source, target, position[relation]))
        return cls(relations, tuple(names), tuple(edges))

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.edges)

    def fact(self, f: int) -> Fact:
        """A fact as text."""
        head, relation, tail = self.triple(f)
        return Fact(relation, head, tail, f)

    def triple(self, f: int) -> tuple[str, str, str]:
        """A fact as head, relation and tail."""
        source, target, relation = self.edges[f]
        return self.names[source], self.relations[relation], self.names[target]

    def position(self, name: str) -> int:
        """The number of an entity."""
        if name not in self.names:
            raise unknown("entity", name, self.names)
        return self.names.index(name)

    def select(self, facts: Sequence[int]) -> "Statements":
        """Some of the facts, over the same entities."""
        return replace(self, edges=tuple(self.edges[f] for f in facts))

    def ahead(self, start: int) -> dict[int, int]:
        """The distance, in facts, from an entity to each that can be reached from it."""
        return reached(((source, target) for source, target, _ in self.edges), start)

    def behind(self, start: int) -> dict[int, int]:
        """The distance, in facts, from each entity that reaches this one."""
        return reached(((target, source) for source, target, _ in self.edges), start)

    def leads(self, head: str, tail: str) -> bool:
        """Whether facts lead from head to tail."""
        return tail in self.names and self.position(tail) in self.ahead(self.position(head))

    def graph(self, head: str, tail: str) -> Dataset:
        """The facts as a graph with a query; its label is 0, since the answer is not known.

        Raises:
            UnknownName: no fact names one of the two.
            BadArgument: they are the same.
        """
        h, t = self.position(head), self.position(tail)
        if h == t:
            raise BadArgument(f"{head!r} is asked about itself; name two entities.")
        source, target, label = np.array(self.edges, dtype=np.int32).reshape(-1, 3).T
        nodes, at, to, nothing = (np.array([n], dtype=np.int32) for n in (len(self.names), h, t, 0))
        offset = np.array([0, len(self)], dtype=np.int64)
        return Dataset(self.relations, nodes, offset, source, target, label, at, to, nothing)


def reached(edges: Iterable[tuple[Node, Node]], start: Node) -> dict[Node, int]:
    """How many edges lead from the start to each node that they lead to, nearest first."""
    near: dict[Node, list[Node]] = {}
    for source, target in edges:
        near.setdefault(source, []).append(target)
    found, queue = {start: 0}, deque([start])
    while queue:
        at = queue.popleft()
        for node in near.get(at, ()):
            if node not in found:
                found[node] = found[at] + 1
                queue.append(node)
    return found


def directed(facts: Network | Statements, head: str) -> Statements:
    """Facts as a model reads them from a head: in their own direction, or those of a calculus turned away from it.

    A fact of a network that points towards the head is turned round, with the converse relation: it says the same.
    Entities are then numbered by their distance from the head; those that nothing connects with it are left out.

    Raises:
        BadArgument: a fact of the network has several relations.
    """
    if isinstance(facts, Statements):
        return facts
    several = np.flatnonzero(np.bitwise_count(facts.masks) != 1)
    if len(several):
        raise BadArgument(
            f"the model reads facts of one relation; {facts.fact(int(several[0]))} has several. Exact reasoning "
            "takes them: epignn close."
        )
    ends = list(zip(facts.heads.tolist(), facts.tails.tolist(), facts.masks.tolist(), strict=True))
    far = reached((edge for i, j, _ in ends for edge in ((i, j), (j, i))), facts.position(head))
    number = {entity: n for n, entity in enumerate(sorted(far, key=lambda entity: (far[entity], entity)))}
    edges = []
    for i, j, mask in ends:
        if i in number and i != j:
            forward = number[i] < number[j]
            (relation,) = members(mask if forward else facts.calculus.converse(mask))
            edges.append((number[i], number[j], relation) if forward else (number[j], number[i], relation))
    return Statements(facts.calculus.relations, tuple(facts.names[entity] for entity in number), tuple(edges))
