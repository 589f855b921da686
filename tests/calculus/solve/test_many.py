"""Queries on many small networks: the same as one by one, in both kernels."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.directional import directional
from epignn.calculus.solve.many import Networks, close_many, directional_many, eliminate_many
from epignn.calculus.solve.sparse import dpc
from tests.conftest import random_network


def pack(calculus, networks, heads, tails) -> Networks:
    counts = [len(network) for network in networks]
    return Networks(
        calculus,
        np.array([len(network.names) for network in networks], dtype=np.int32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.concatenate([network.heads for network in networks]),
        np.concatenate([network.tails for network in networks]),
        np.concatenate([network.masks for network in networks]),
        np.array(heads, dtype=np.int32),
        np.array(tails, dtype=np.int32),
    )


@pytest.fixture
def packed(calculus, rng):
    networks = [random_network(calculus, rng, n, 0.5, 1.4) for n in rng.integers(2, 9, 40).tolist()]
    ends = [rng.choice(len(network.names), 2, replace=False).tolist() for network in networks]
    return pack(calculus, networks, *zip(*ends, strict=True)), networks, ends


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_the_same_as_one_by_one(packed, backend):
    many, networks, ends = packed
    complete, swept, one_way = (
        close_many(many, backend),
        eliminate_many(many, backend),
        directional_many(many),
    )
    for g, (network, (h, t)) in enumerate(zip(networks, ends, strict=True)):
        head, tail = str(h), str(t)
        for answers, result in (
            (complete, close(network)),
            (swept, dpc(network, queries=[(head, tail)])),
            (one_way, directional(network, head)),
        ):
            assert answers[g] == (result.mask(head, tail) if result.consistent else 0)
    assert (complete == 0).any()
    assert (complete != 0).any()


def test_out_of_range_arrays_are_refused():
    point = load("point")
    network = random_network(point, np.random.default_rng(1), 4, 1.0, 1)
    with pytest.raises(IndexError):
        close_many(pack(point, [network], [0], [9]), "compiled")
    with pytest.raises(IndexError):
        eliminate_many(pack(point, [network], [-1], [1]), "compiled")


def test_none_at_all():
    point = load("point")
    empty = np.zeros(0, dtype=np.int32)
    nothing = Networks(
        point, empty, np.zeros(1, dtype=np.int64), empty, empty, empty.astype(np.uint64), empty, empty
    )
    for ask in (close_many, eliminate_many, directional_many):
        assert len(ask(nothing)) == 0
