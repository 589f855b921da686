"""A learnt table beside the true one: cells that differ are counted, and margins tell the side of the threshold."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.distil.calculus import distil_calculus
from epignn.distil.compare import compared
from epignn.distil.reading import Reading

RCC8 = load("rcc8")


def reading() -> Reading:
    """Scores that say what the true table says: 1 for possible facts, 9 for others."""
    bits = RCC8.composition_table[..., None] >> np.arange(8, dtype=np.uint64) & np.uint64(1)
    return Reading(RCC8.relations, np.where(bits.astype(bool), 1.0, 9.0))


def test_a_table_that_is_true_agrees_in_every_cell():
    found = distil_calculus(reading(), None)
    told = compared(found, reading(), RCC8)
    assert (told["agree"], told["cells"]) == (64, 64)
    cells = [cell for row in told["table"].values() for cell in row.values()]
    assert all(cell["learnt"] == cell["true"] for cell in cells)
    assert [cell["margin"] for cell in cells] == pytest.approx([4 / 5] * 64)


def test_a_cell_that_differs_is_counted_and_one_against_the_weights_is_below_the_threshold():
    scores = reading()
    scores.triple[0, 0, 0] = 6.0
    found = distil_calculus(reading(), None)
    told = compared(found, scores, RCC8)
    assert told["table"]["DC"]["DC"]["margin"] == pytest.approx((5 - 6) / 5)
    rows = [list(row) for row in RCC8.composition]
    rows[0][0] = 1
    other = replace(RCC8, composition=tuple(map(tuple, rows)))
    assert compared(found, scores, other)["agree"] == 63


def test_without_a_true_calculus_there_is_nothing_to_agree_with():
    found = distil_calculus(reading(), None)
    told = compared(found, reading(), None)
    assert told["agree"] is None
    assert told["table"]["EC"]["EC"]["true"] is None
    assert compared(found, reading(), load("rcc5"))["agree"] is None
