"""Proofs of benchmark labels, by closing each problem with the calculus."""

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.solve.many import Networks, close_many, directional_many, eliminate_many
from epignn.data.dataset import Dataset
from epignn.kernels import Backend

METHODS: MappingProxyType[str, Callable[[Networks, Backend], Masks]] = MappingProxyType(
    {
        "closure": close_many,
        "dpc": eliminate_many,
        "directional": lambda networks, backend: directional_many(networks),
    }
)


def networks(data: Dataset, calculus: Calculus, means: Masks | None = None) -> Networks:
    """The problems as networks over a calculus whose relations are those of the data, or are what these mean."""
    if means is None:
        assert data.relations == calculus.relations
        means = np.uint64(1) << np.arange(len(calculus), dtype=np.uint64)
    return Networks(
        calculus,
        data.node_count,
        data.edge_offset,
        data.edge_source,
        data.edge_target,
        means[data.edge_label],
        data.query_head,
        data.query_tail,
    )


def answers(data: Dataset, calculus: Calculus, method: str = "closure", backend: Backend = "auto") -> Masks:
    """What may hold between the two entities of each query; 0 where the facts contradict each other."""
    return METHODS[method](networks(data, calculus), backend)


def prove(data: Dataset, calculus: Calculus, backend: Backend = "auto") -> NDArray[np.bool_]:
    """Whether each problem is consistent by DPC+ and its label entailed by closure.

    Both methods decide networks of single relations; each has to leave the label alone.
    """
    label = np.uint64(1) << data.label.astype(np.uint64)
    by_elimination = answers(data, calculus, "dpc", backend)
    by_closure = answers(data, calculus, "closure", backend)
    proved: NDArray[np.bool_] = (by_elimination == label) & (by_closure == label)
    return proved
