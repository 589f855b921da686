"""Scores of predictions made elsewhere: against counts by hand, however they are given; what is refused."""

import math

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.data.figures import wilson
from epignn.data.score import answers, average, score
from epignn.errors import BadArgument
from tests.data.test_dataset import RELATIONS, dataset


@pytest.fixture
def data() -> Dataset:
    """Ten graphs, of which the predictions below get seven right."""
    return dataset([2, 3, 1, 4, 2, 2, 3, 1, 5, 2], k=4, b=2)


@pytest.fixture
def told(data) -> list[int]:
    wrong = {1, 5, 8}
    return [(label + (g in wrong)) % 3 for g, label in enumerate(data.label.tolist())]


def kinds(told):
    """The same predictions in every form."""
    names = [RELATIONS[r] for r in told]
    scores = np.eye(3)[told] - 5.0
    return {
        "names": names,
        "small letters": [name.lower() for name in names],
        "an array of names": np.array(names),
        "objects": np.array(names, dtype=object),
        "numbers": told,
        "an array of numbers": np.array(told, dtype=np.uint8),
        "scores": scores,
        "lists of scores": scores.tolist(),
        "a tensor of numbers": torch.tensor(told),
        "a tensor of scores": torch.tensor(scores, requires_grad=True),
    }


@pytest.mark.parametrize("kind", list(kinds([0])))
def test_accuracy_is_a_count_by_hand(data, told, kind):
    assert answers(kinds(told)[kind], data).tolist() == told
    found = score(kinds(told)[kind], data)
    (cell,) = found.cells
    assert (cell["k"], cell["b"], cell["n"], cell["accuracy"]) == (4, 2, 10, 0.7)
    assert (cell["low"], cell["high"]) == wilson(7, 10)
    assert (found.accuracy, found.low, found.high) == pytest.approx((0.7, *wilson(7, 10)))


def test_several_data_sets_count_alike_in_the_average(data, told):
    other = dataset([1, 1], k=9, b=3)
    found = score([told, np.eye(3)[other.label]], [data, other])
    assert [(cell["k"], cell["b"], cell["accuracy"]) for cell in found.cells] == [(4, 2, 0.7), (9, 3, 1.0)]
    assert found.accuracy == 0.85
    assert found.to_dict()["average"] == {"accuracy": 0.85, "low": found.low, "high": found.high}


def test_the_interval_of_an_average_holds_the_truth_as_often_as_it_says():
    """Four cells of true accuracies .9 to .99, drawn 4,000 times."""
    rng, truth, n = np.random.default_rng(0), np.array([0.9, 0.95, 0.97, 0.99]), 200
    held = 0
    for right in rng.binomial(n, truth, (4000, 4)):
        cells = [
            dict(zip(("accuracy", "low", "high"), (r / n, *wilson(r, n)), strict=True)) for r in right.tolist()
        ]
        _, low, high = average(cells)
        held += low <= truth.mean() <= high
    assert 0.93 < held / 4000 < 0.98


def test_many_cells_make_the_interval_narrow():
    one = {"accuracy": 0.5, "low": 0.4, "high": 0.6}
    assert average([one] * 100) == pytest.approx((0.5, 0.49, 0.51))
    assert average([{"accuracy": 1.0, "low": 0.96, "high": 1.0}]) == (1.0, 0.96, 1.0)


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([0] * 9, "9 predictions for 10 problems; give one for each"),
        ([], "0 predictions for 10 problems"),
        (["EC"] * 9 + ["EQQ"], r"problem 9, counted from 0: Unknown relation 'EQQ'. Did you mean 'EQ'"),
        ([0] * 4 + [3] + [0] * 5, "problem 4, counted from 0, is 3; relations are numbered from 0 to 2"),
        ([-1] * 10, "problem 0, counted from 0, is -1"),
        (np.zeros((10, 2)), "scores have 2 columns; expected 3, one for each of DC EC EQ"),
        (np.full((10, 3), math.nan), "scores of problem 0, counted from 0, are not all numbers"),
        ([0.5] * 10, "predictions are names of relations, their whole numbers, or scores"),
        ([None] * 10, "not an array of shape"),
        (np.zeros((10, 3, 1)), "not an array of shape"),
        ([[1, 2, 3], [1]] + [[0]] * 8, "must be a list or a table"),
        ("EC", "not an array of shape"),
    ],
)
def test_what_is_refused(data, predictions, message):
    with pytest.raises(BadArgument, match=message):
        score(predictions, data)


def test_parts_that_do_not_fit_are_refused(data, told):
    with pytest.raises(BadArgument, match="1 sets of predictions for 2 data sets"):
        score([told], [data, data])
    with pytest.raises(BadArgument, match="at least one data set"):
        score([], [])
