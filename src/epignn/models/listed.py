"""Numbers that few entities have for a relation, and all others not: rules lead to few, few are often answers."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import spans

Longs = NDArray[np.int64]


class Listed(NamedTuple):
    """What entities have for a relation, relation by relation.

    Attributes:
        offset: (R + 1) where the entities of each relation begin.
        entity: (N) those that have something, each once within a relation.
        value: (N) what they have.
    """

    offset: Longs
    entity: Longs
    value: NDArray[np.number]

    @classmethod
    def of(cls, kind: Longs, value: NDArray[np.number], relations: int, nodes: int) -> "Listed":
        """By relation · nodes + entity (N), in order, each once."""
        return cls(np.searchsorted(kind, np.arange(relations + 1) * nodes), kind % nodes, value)

    def asked(self, relations: NDArray[np.integer]) -> tuple[Longs, Longs, NDArray[np.number]]:
        """Rows, entities and values of a table that has a row for each of some relations (Q), in any order."""
        begin = self.offset[relations]
        count = self.offset[relations + 1] - begin
        here = spans(begin, count)
        return np.repeat(np.arange(len(relations)), count), self.entity[here], self.value[here]

    def table(self, relations: NDArray[np.integer], nodes: int) -> NDArray[np.float32]:
        """(Q, V): that table; 0 where an entity has nothing."""
        found = np.zeros((len(relations), nodes), dtype=np.float32)
        row, entity, value = self.asked(relations)
        found[row, entity] = value
        return found
