"""Statements: facts over a vocabulary that belongs to no calculus, in the direction in which they were made."""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument, BadFile, unknown
from epignn.formats.facts import RawNetwork


@dataclass(frozen=True)
class Statements:
    """Facts of one relation each, `mother(ann, bea)`; nothing is known of their converses.

    Attributes:
        relations: the vocabulary.
        names: the entities.
        edges: source, target and relation of each fact, by number.

    >>> facts = Statements.of(("mother", "uncle"), [("ann", "mother", "bea"), ("bea", "uncle", "carl")])
    >>> facts.fact(1)
    'uncle(bea, carl)'
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

    @classmethod
    def read(cls, raw: RawNetwork, relations: tuple[str, ...], file: str) -> "Statements":
        """Facts as a file has them.

        Raises:
            BadFile: a relation is not in the vocabulary; the message tells where it stands.
        """
        for fact in raw.facts:
            if len(fact.relations) != 1 or fact.relations[0] not in relations:
                message = unknown("relation", "|".join(fact.relations), relations)
                raise BadFile(str(message), file, fact.line, fact.column)
        return cls.of(relations, ((fact.head, fact.relations[0], fact.tail) for fact in raw.facts))

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.edges)

    def fact(self, f: int) -> str:
        """A fact in words."""
        source, target, relation = self.edges[f]
        return f"{self.relations[relation]}({self.names[source]}, {self.names[target]})"

    def position(self, name: str) -> int:
        """The number of an entity."""
        if name not in self.names:
            raise unknown("entity", name, self.names)
        return self.names.index(name)

    def select(self, facts: Sequence[int]) -> "Statements":
        """Some of the facts, over the same entities."""
        return replace(self, edges=tuple(self.edges[f] for f in facts))

    def ahead(self, start: int) -> dict[int, int]:
        """How many facts lead from an entity to each that they lead to at all."""
        return self._reached(start, 0, 1)

    def behind(self, start: int) -> dict[int, int]:
        """How many facts lead from each entity to this one, where any do."""
        return self._reached(start, 1, 0)

    def _reached(self, start: int, this: int, other: int) -> dict[int, int]:
        near: dict[int, list[int]] = {}
        for edge in self.edges:
            near.setdefault(edge[this], []).append(edge[other])
        found, queue = {start: 0}, deque([start])
        while queue:
            at = queue.popleft()
            for entity in near.get(at, ()):
                if entity not in found:
                    found[entity] = found[at] + 1
                    queue.append(entity)
        return found

    def graph(self, head: str, tail: str) -> Dataset:
        """A graph with a question whose answer is not known.

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
