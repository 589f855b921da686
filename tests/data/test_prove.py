"""Every label of the benchmark's files is entailed, by every method; a wrong one is not proved."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data.prove import METHODS, answers, prove
from tests.conftest import made_here
from tests.samples import CELLS, PER_LABEL


@pytest.mark.parametrize(("k", "b"), CELLS)
@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_every_label_of_the_files_is_entailed(name, k, b, cell, files):
    calculus, problems = load(name), cell(name, k, b)
    assert len(problems) == (PER_LABEL if made_here(files) else 800) * len(calculus)
    label = np.uint64(1) << problems.label.astype(np.uint64)
    for method in METHODS:
        np.testing.assert_array_equal(answers(problems, calculus, method), label)


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_a_wrong_label_is_not_proved(backend, cell):
    calculus = load("rcc8")
    problems = cell("rcc8", 5, 1)
    problems = problems.select(np.arange(0, len(problems), len(problems) // 20))
    assert prove(problems, calculus, backend).all()
    spoiled = replace(problems, label=(problems.label + np.arange(20) % 2).astype(np.int32) % 8)
    np.testing.assert_array_equal(prove(spoiled, calculus, backend), np.arange(20) % 2 == 0)
