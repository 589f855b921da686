"""Every published label is entailed, by every method; a wrong one is not proved."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data.prove import METHODS, answers, prove

CELLS = [(k, 1) for k in range(2, 10)] + [(k, b) for k in (2, 3, 4) for b in (2, 3)]


@pytest.mark.parametrize(("k", "b"), CELLS)
@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_every_published_label_is_entailed(name, k, b, cell):
    calculus, problems = load(name), cell(name, k, b)
    assert len(problems) == 800 * len(calculus)
    label = np.uint64(1) << problems.label.astype(np.uint64)
    for method in METHODS:
        np.testing.assert_array_equal(answers(problems, calculus, method), label)


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_a_wrong_label_is_not_proved(backend, cell):
    calculus = load("rcc8")
    problems = cell("rcc8", 5, 1).select(np.arange(0, 6400, 320))
    assert prove(problems, calculus, backend).all()
    spoiled = replace(problems, label=(problems.label + np.arange(20) % 2).astype(np.int32) % 8)
    np.testing.assert_array_equal(prove(spoiled, calculus, backend), np.arange(20) % 2 == 0)
