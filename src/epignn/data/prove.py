"""Proofs of benchmark labels: what the calculus itself says of each problem."""

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


def networks(data: Dataset, calculus: Calculus) -> Networks:
    """The problems as networks over a calculus whose relations are those of the data."""
    assert data.relations == calculus.relations
    return Networks(
        calculus,
        data.node_count,
        data.edge_offset,
        data.edge_source,
        data.edge_target,
        np.uint64(1) << data.edge_label.astype(np.uint64),
        data.query_head,
        data.query_tail,
    )


def answers(data: Dataset, calculus: Calculus, method: str = "closure", backend: Backend = "auto") -> Masks:
    """What may hold between the two entities of each query; 0 where the facts contradict each other."""
    return METHODS[method](networks(data, calculus), backend)


def prove(data: Dataset, calculus: Calculus, backend: Backend = "auto") -> NDArray[np.bool_]:
    """Whether each problem is consistent by DPC+ and its label entailed by closure.

    For single relations both methods decide; they have to agree that the label alone is left.
    """
    label = np.uint64(1) << data.label.astype(np.uint64)
    by_elimination = answers(data, calculus, "dpc", backend)
    by_closure = answers(data, calculus, "closure", backend)
    proved: NDArray[np.bool_] = (by_elimination == label) & (by_closure == label)
    return proved
