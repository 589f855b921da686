"""Coordinates from ranks: whole numbers, in order, of many lengths."""

import numpy as np

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import realise
from epignn.calculus.realise.ordered import WIDEST_GAP, spread


def test_spread_keeps_order(rng):
    ranks = rng.integers(0, 9, 40)
    places = spread(ranks, rng)
    assert places.min() == 0 if (ranks == 0).any() else places.min() > 0
    for a, b in zip(ranks, places, strict=True):
        assert np.array_equal(ranks < a, places < b)
        assert np.array_equal(ranks == a, places == b)
    gaps = np.diff(np.unique(places))
    assert 1 <= gaps.min() <= gaps.max() <= WIDEST_GAP * 9


def test_lengths_differ():
    network = Network.of(load("allen"), [(f"i{n}", "<", f"i{n + 1}") for n in range(12)])
    ends = realise(network).world.intervals.values()
    assert len({end - start for start, end in ends}) >= 3
    assert all(isinstance(end, int) for pair in ends for end in pair)
