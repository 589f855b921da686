"""Intervals against what they promise: to hold the true mean in 19 of 20 samples."""

import numpy as np
import pytest

from epignn.data.figures import interval


def test_intervals_hold_the_mean_as_often_as_they_say(rng):
    """2,000 samples of 150 reciprocal ranks, drawn from a thousand whose mean is known."""
    population = 1 / rng.geometric(0.3, 1000)
    samples = rng.choice(population, (2000, 150))
    held = [low <= population.mean() <= high for _, low, high in map(interval, samples)]
    assert np.mean(held) == pytest.approx(0.95, abs=0.02)


def test_intervals_stay_within_what_is_possible():
    assert interval(np.array([0.0, 1.0])).low == 0
    assert interval(np.array([-1.0, 1.0]), -1.0).low == -1
    assert interval(np.array([0.3])) == (0.3, 0.0, 1.0)  # one value tells no spread
    assert interval(np.zeros(0)) == (0.0, 0.0, 1.0)
