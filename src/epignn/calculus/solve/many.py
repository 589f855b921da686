"""Many small networks at once: what closure leaves of one query in each."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Indices, Network
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.directional import propagate
from epignn.calculus.solve.native import native_algebra
from epignn.calculus.solve.sparse import dpc
from epignn.kernels import Backend, kernels


@dataclass(frozen=True, eq=False)
class Networks:
    """Networks over one calculus, flat: facts `offset[g]..offset[g+1]` belong to network g.

    Attributes:
        calculus: what the masks mean.
        sizes: number of entities of each network.
        offset: where the facts of each network begin, and the end.
        source, target: entities of each fact, counted from 0 in each network.
        masks: relation set of each fact.
        head, tail: the pair each network is asked about.
    """

    calculus: Calculus
    sizes: Indices
    offset: NDArray[np.int64]
    source: Indices
    target: Indices
    masks: Masks
    head: Indices
    tail: Indices

    def __len__(self) -> int:
        return len(self.sizes)

    def __iter__(self) -> Iterator[Network]:
        for g, size in enumerate(self.sizes.tolist()):
            facts = slice(self.offset[g], self.offset[g + 1])
            names = tuple(map(str, range(size)))
            yield Network(self.calculus, names, self.source[facts], self.target[facts], self.masks[facts])

    def kept_apart(self) -> "Networks":
        """The same with a fact for every two entities, that they are two, before the others."""
        sizes, given = self.sizes.tolist(), np.diff(self.offset)
        pairs = {size: np.array(np.triu_indices(size, 1)) for size in set(sizes)}
        count = given + np.array([pairs[size].shape[1] for size in sizes], dtype=np.int64)
        offset = np.concatenate([[0], np.cumsum(count)])
        fact = np.repeat(offset[1:] - self.offset[1:], given) + np.arange(len(self.masks))
        apart = np.ones(offset[-1], dtype=bool)
        apart[fact] = False
        ends, masks = (
            np.empty((2, len(apart)), dtype=np.int32),
            np.full(len(apart), self.calculus.anything, np.uint64),
        )
        ends[:, fact], masks[fact] = (self.source, self.target), self.masks
        ends[:, apart] = np.concatenate([np.empty((2, 0), dtype=np.int32), *map(pairs.get, sizes)], axis=1)
        return replace(self, offset=offset, source=ends[0], target=ends[1], masks=masks)


def close_many(networks: Networks, backend: Backend = "auto") -> Masks:
    """What complete closure leaves of each query; 0 where a network is inconsistent."""
    return _ask("close_many", networks.kept_apart() if networks.calculus.distinct else networks, backend)


def eliminate_many(networks: Networks, backend: Backend = "auto") -> Masks:
    """What directional path consistency, query last, leaves of each query; 0 where inconsistent."""
    # The compiled kernel lets two entities be one.
    return _ask("eliminate_many", networks, "plain" if networks.calculus.distinct else backend)


def _ask(kernel: str, networks: Networks, backend: Backend) -> Masks:
    module = kernels(backend)
    if module is not None:
        answers: Masks = getattr(module, kernel)(
            native_algebra(networks.calculus),
            networks.sizes,
            networks.offset,
            networks.source,
            networks.target,
            networks.masks,
            networks.head,
            networks.tail,
        )
        return answers
    answered = []
    for network, h, t in zip(networks, networks.head.tolist(), networks.tail.tolist(), strict=True):
        head, tail = str(h), str(t)
        if kernel == "close_many":
            result = close(network, backend)
        else:
            result = dpc(network, queries=[(head, tail)], backend=backend)
        answered.append(result.mask(head, tail) if result.consistent else 0)
    return np.array(answered, dtype=np.uint64)


def directional_many(networks: Networks) -> Masks:
    """What directional closure from each head leaves of its tail; 0 where a set becomes empty.

    All networks are refined together, as one disjoint graph.
    """
    calculus = networks.calculus
    start = np.concatenate([[0], np.cumsum(networks.sizes)]).astype(np.int64)
    of_fact = np.repeat(start[:-1], np.diff(networks.offset))
    sets = np.full(start[-1], calculus.anything, dtype=np.uint64)
    sets[start[:-1] + networks.head] = calculus.identity_mask
    source, target = ((of_fact + ends).astype(np.int32) for ends in (networks.source, networks.target))
    last = propagate(calculus, sets, source, target, networks.masks)[-1]
    consistent = np.bitwise_and.reduceat(last != 0, start[:-1]) if len(networks) else np.zeros(0, dtype=bool)
    return np.where(consistent, last[start[:-1] + networks.tail], np.uint64(0))
