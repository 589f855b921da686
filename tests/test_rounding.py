"""The measure of the numeric tests: rounding passes, anything more does not."""

import numpy as np
import pytest
import torch

from tests.rounding import close


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_in_another_order_are_close_and_a_lost_term_is_not(dtype, rng):
    terms = (1 + rng.random(1000)).astype(dtype)
    rising, falling, less = (np.add.accumulate(way)[-1] for way in (np.sort(terms), -np.sort(-terms), terms[1:]))
    assert rising != falling
    close(rising, falling, roundings=1000)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        close(rising, less, roundings=1000)


def test_the_coarser_precision_counts():
    third = torch.tensor(1 / 3, dtype=torch.float64)
    close(third, third.float(), roundings=1)
    close(third.float().double(), third, roundings=1, dtype=np.float32)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        close(third.float().double(), third, roundings=1)


def test_a_softmax_moves_as_its_arguments_do(rng):
    scores = 500 + rng.random((200, 8)).astype(np.float32)
    moved = np.where(rng.random(scores.shape) < 0.5, scores, np.nextafter(scores, np.float32(np.inf)))
    chances, other = (torch.softmax(torch.tensor(values, dtype=torch.float64), 1) for values in (scores, moved))
    close(chances, other, roundings=1, size=500, dtype=np.float32)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        close(chances, other, roundings=1, dtype=np.float32)
