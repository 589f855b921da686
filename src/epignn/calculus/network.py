"""A network: entities and the relation sets known to hold between them, as arrays.

A network keeps its facts as they were given, in order, so that a conflict is reported in the user's own words. What
they say of each pair is computed on demand: as a square matrix of masks for the dense algorithms, as merged pairs
for the sparse ones.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.errors import BadArgument, unknown
from epignn.extras import optional

if TYPE_CHECKING:
    from epignn.calculus.realise import Realisation

Indices = NDArray[np.int32]
SMALL = 16
"""Relations of a calculus whose sets can be counted in a table."""


@dataclass(frozen=True)
class Fact:
    """One fact as text: one of the relations holds from head to tail.

    `number` is that of the fact among those of its network, by which it is found in a file.
    """

    relations: str
    head: str
    tail: str
    number: int = field(default=-1, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.relations}({self.head}, {self.tail})"

    def to_list(self) -> list[str]:
        """Head, relations and tail, for JSON."""
        return [self.head, self.relations, self.tail]


@dataclass(frozen=True, eq=False)
class Network:
    """Facts over a calculus.

    Attributes:
        calculus: what the masks mean.
        names: the entities; a fact refers to them by position.
        heads, tails: positions of the two entities of each fact.
        masks: the relation set of each fact.
        title: what a file calls the network.

    >>> from epignn.calculus import load
    >>> network = Network.of(load("rcc8"), [("a", "ntpp", "b"), ("b", "ec|dc", "c")])
    >>> print(network)
    NTPP(a, b)
    DC|EC(b, c)
    """

    calculus: Calculus
    names: tuple[str, ...]
    heads: Indices
    tails: Indices
    masks: Masks
    title: str = field(default="")

    @classmethod
    def of(
        cls,
        calculus: Calculus,
        facts: Iterable[tuple[str, str | int, str]] | Any,
        names: Sequence[str] = (),
        title: str = "",
    ) -> "Network":
        """Build a network from `(head, relations, tail)` triples; entities are numbered as they appear.

        Facts may be a data frame of pandas or polars as well, with columns `head`, `relations` and `tail`; or three
        columns of other names, in this order.
        """
        facts = _rows(facts) if hasattr(facts, "columns") else facts
        index = {name: i for i, name in enumerate(names)}
        if len(index) != len(names):
            raise BadArgument("an entity is listed twice.")
        rows = [
            (
                index.setdefault(head, len(index)),
                index.setdefault(tail, len(index)),
                calculus.parse(relations) if isinstance(relations, str) else relations,
            )
            for head, relations, tail in facts
        ]
        heads, tails, masks = zip(*rows, strict=True) if rows else ((), (), ())
        return cls(calculus, tuple(index), *arrays(heads, tails, masks), title=title)

    def __post_init__(self) -> None:
        if not len(self.heads) == len(self.tails) == len(self.masks):
            raise BadArgument("heads, tails and masks of a network must have the same length.")
        ends = np.concatenate([self.heads, self.tails])
        if len(ends) and not 0 <= ends.min() <= ends.max() < len(self.names):
            raise BadArgument(f"a fact refers to an entity outside 0..{len(self.names) - 1}.")
        if len(self.masks) and int(self.masks.max()) > self.calculus.universal:
            raise BadArgument(f"a mask has bits beyond the relations of {self.calculus.name}.")

    def __len__(self) -> int:
        """The number of facts."""
        return len(self.masks)

    def __str__(self) -> str:
        return "\n".join(str(self.fact(f)) for f in range(len(self)))

    def fact(self, f: int) -> Fact:
        """Fact number `f` as text."""
        return Fact(
            self.calculus.format(int(self.masks[f])),
            self.names[self.heads[f]],
            self.names[self.tails[f]],
            int(f),
        )

    def triple(self, f: int) -> tuple[str, tuple[str, ...], str]:
        """Fact number `f` as head, names of relations and tail."""
        names = self.calculus.names(int(self.masks[f]))
        return self.names[self.heads[f]], names, self.names[self.tails[f]]

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}

    def position(self, name: str) -> int:
        """The position of an entity; an `UnknownName` error suggests the near miss."""
        try:
            return self._positions[name]
        except KeyError:
            raise unknown("entity", name, self.names) from None

    def select(self, facts: NDArray[np.intp] | Sequence[int]) -> "Network":
        """The same entities with some of the facts."""
        chosen = np.asarray(facts, dtype=np.intp)
        return replace(self, heads=self.heads[chosen], tails=self.tails[chosen], masks=self.masks[chosen])

    def distinct_sets(self) -> tuple[list[int], Indices]:
        """The relation sets that occur, each once, and which of them every fact has."""
        if len(self.calculus) <= SMALL:  # counting is several times faster than sorting
            places = self.masks.astype(np.intp)
            masks = np.flatnonzero(np.bincount(places, minlength=1))
            number = np.zeros(1 << len(self.calculus), dtype=np.int32)
            number[masks] = np.arange(len(masks), dtype=np.int32)
            return masks.tolist(), number[places]
        found, sets = np.unique(self.masks, return_inverse=True)
        return found.tolist(), sets.astype(np.int32)

    def compact(self) -> "Network":
        """The same facts over the entities that occur in them."""
        used, ends = np.unique(np.concatenate([self.heads, self.tails]), return_inverse=True)
        heads, tails = np.split(ends.astype(np.int32), 2)
        return replace(self, names=tuple(self.names[i] for i in used), heads=heads, tails=tails)

    def matrix(self) -> Masks:
        """What the facts say of every pair: `matrix[i, j]` from i to j, converses included."""
        n, calculus = len(self.names), self.calculus
        matrix = np.full((n, n), calculus.anything, dtype=np.uint64)
        np.fill_diagonal(matrix, np.uint64(calculus.identity_mask))
        np.bitwise_and.at(matrix, (self.heads, self.tails), self.masks)
        np.bitwise_and.at(matrix, (self.tails, self.heads), calculus.converse_array(self.masks))
        return matrix

    def pairs(self) -> tuple[Indices, Indices, Masks]:
        """What the facts say of every pair that has one, merged, with `first < second`.

        A fact of an entity and itself is left to `impossible_loop`.
        """
        low, high = np.minimum(self.heads, self.tails), np.maximum(self.heads, self.tails)
        masks = np.where(self.heads <= self.tails, self.masks, self.calculus.converse_array(self.masks))
        proper = low != high
        low, high, masks = low[proper], high[proper], masks[proper]
        order = np.lexsort((high, low))
        low, high, masks = low[order], high[order], masks[order]
        starts = np.flatnonzero(np.r_[True, (np.diff(low) != 0) | (np.diff(high) != 0)][: len(low)])
        merged = np.bitwise_and.reduceat(masks, starts) if len(starts) else masks
        return low[starts], high[starts], merged & np.uint64(self.calculus.anything)

    def to_pandas(self) -> Any:
        """The facts as a data frame with the columns `head`, `relations` (as `TPP|NTPP`) and `tail`.

        Raises:
            BadArgument: pandas is not installed.
        """
        pandas = optional("pandas", "a data frame")
        names = np.array(self.names, dtype=object)
        masks, which = self.distinct_sets()
        sets = np.array([self.calculus.format(mask) for mask in masks], dtype=object)
        cells = (names[self.heads], sets[which], names[self.tails])
        return pandas.DataFrame(dict(zip(COLUMNS, cells, strict=True)))

    def to_networkx(self) -> Any:
        """The facts as a graph of networkx that may have parallel edges, with `relations` and `mask` on each.

        Raises:
            BadArgument: networkx is not installed.
        """
        graph = optional("networkx", "a graph of networkx").MultiDiGraph(calculus=self.calculus.name)
        graph.add_nodes_from(self.names)
        words = {mask: self.calculus.format(mask) for mask in self.distinct_sets()[0]}
        rows = zip(self.heads.tolist(), self.tails.tolist(), self.masks.tolist(), strict=True)
        names = self.names
        graph.add_edges_from((names[i], names[j], {"relations": words[mask], "mask": mask}) for i, j, mask in rows)
        return graph

    def impossible_loop(self) -> int | None:
        """The first fact of an entity and itself that excludes the identity, if there is one."""
        loops = (self.heads == self.tails) & ((self.masks & np.uint64(self.calculus.identity_mask)) == 0)
        return int(np.argmax(loops)) if loops.any() else None

    def realise(self, seed: int = 0, seconds: float = 5.0) -> "Realisation":
        """A concrete world in which all facts hold, or why there is none; see `epignn.calculus.realise`."""
        from epignn.calculus.realise import realise  # built on networks, and seldom needed

        return realise(self, seed, seconds)


COLUMNS = ("head", "relations", "tail")
"""The columns of a table of facts."""


def _rows(frame: Any) -> Iterable[tuple[str, str, str]]:
    """The facts of a data frame."""
    named = [str(name) for name in frame.columns]
    if set(COLUMNS) <= set(named):
        chosen = [frame.columns[named.index(name)] for name in COLUMNS]
    elif len(named) == len(COLUMNS):
        chosen = list(frame.columns)
    else:
        raise BadArgument(
            f"a table of facts has the columns {', '.join(COLUMNS)}, or three columns in this order; this one has "
            f"{', '.join(named)}."
        )
    cells = ([str(value) for value in frame[name].to_list()] for name in chosen)
    return zip(*cells, strict=True)


def arrays(heads: object, tails: object, masks: object) -> tuple[Indices, Indices, Masks]:
    """The arrays of a network from any sequences."""
    return (
        np.asarray(heads, dtype=np.int32),
        np.asarray(tails, dtype=np.int32),
        np.asarray(masks, dtype=np.uint64),
    )
