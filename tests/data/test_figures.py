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


@pytest.mark.parametrize(
    "count, student",
    [(2, 12.706), (3, 4.303), (6, 2.571), (11, 2.228), (31, 2.042), (121, 1.980), (200_001, 1.960)],
)
def test_few_values_have_the_intervals_of_students_t(count, student):
    """Two-sided 5 % points as tables have them, for count - 1 degrees of freedom."""
    values = np.linspace(-0.01, 0.01, count)
    _, low, high = interval(values, -1.0)
    assert (high - low) / 2 == pytest.approx(student * values.std(ddof=1) / np.sqrt(count), rel=1e-3)


def test_equal_values_leave_open_what_few_others_are():
    """Of 60 values alike, up to a twentieth of all may differ; of two, any number."""
    assert interval(np.ones(60)) == (1.0, pytest.approx(0.95), 1.0)
    assert interval(np.zeros(60), -1.0) == (0.0, pytest.approx(-0.05), pytest.approx(0.05))
    assert interval(np.full(2, 0.1), -1.0) == (pytest.approx(0.1), pytest.approx(-1.0), pytest.approx(1.0))


def test_intervals_stay_within_what_is_possible():
    assert interval(np.array([0.0, 1.0])).low == 0
    assert interval(np.array([-1.0, 1.0]), -1.0).low == -1
    assert interval(np.array([0.3])) == (0.3, 0.0, 1.0)  # one value tells no spread
    assert interval(np.zeros(0)) == (0.0, 0.0, 1.0)
