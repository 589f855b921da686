"""Predictions made elsewhere, scored as those of epignn's own models are: accuracy by k and b, with intervals.

>>> data = Dataset(("DC", "EC"), [3], [0, 2], [0, 1], [1, 2], [1, 0], [0], [2], [1], k=2, b=1)
>>> found = score(["EC"], data)
>>> found.accuracy, found.cells[0]["k"], found.cells[0]["b"], found.cells[0]["n"]
(1.0, 2, 1, 1)
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, Ints
from epignn.data.figures import figures
from epignn.errors import BadArgument, unknown


@dataclass(frozen=True)
class Score:
    """How well problems were answered.

    Attributes:
        cells: for each data set its `k` and `b`, size `n`, number of `distinct` problems, `accuracy`, and the 95 %
            interval of that, from `low` to `high`.
        accuracy: the mean over all cells, each counting alike, as the tables have it.
        low, high: the 95 % interval of the mean.
    """

    cells: tuple[dict[str, Any], ...]
    accuracy: float
    low: float
    high: float

    @classmethod
    def of(cls, cells: Sequence[dict[str, Any]]) -> Self:
        """What some cells come to."""
        return cls(tuple(cells), *average(cells))

    def to_dict(self) -> dict[str, Any]:
        """The same as plain values."""
        average = {"accuracy": self.accuracy, "low": self.low, "high": self.high}
        return {"cells": list(self.cells), "average": average}


def score(predictions: Any, data: Dataset | Sequence[Dataset]) -> Score:
    """Accuracy of predictions, whoever made them.

    Args:
        predictions: for each problem the name of a relation, or its number; or scores of all relations, shape
            (n, R), of which the highest counts. Lists, arrays and torch's tensors will do.
        data: the problems, with their labels; or several data sets, such as one for each k and b, and `predictions`
            has as many parts.

    Raises:
        BadArgument: there are more predictions than problems, or fewer; or one is no relation of the data set.
    """
    if isinstance(data, Dataset):
        predictions, data = [predictions], [data]
    if not data:
        raise BadArgument("nothing to score: give at least one data set.")
    if len(predictions) != len(data):
        raise BadArgument(f"{len(predictions)} sets of predictions for {len(data)} data sets; give one for each.")
    found = [
        figures(part, int((answers(told, part) == part.label).sum()))
        for told, part in zip(predictions, data, strict=True)
    ]
    return Score.of(found)


def average(cells: Sequence[dict[str, Any]]) -> tuple[float, float, float]:
    """The mean accuracy of cells and its 95 % interval, of the intervals of the cells (Zou and Donner, 2008).

    >>> [round(x, 3) for x in average([{"accuracy": 0.9, "low": 0.8, "high": 0.95}] * 4)]
    [0.9, 0.85, 0.925]
    """
    accuracy, low, high = (np.array([cell[name] for cell in cells]) for name in ("accuracy", "low", "high"))
    mean, count = float(accuracy.mean()), len(cells)
    below = math.sqrt(((accuracy - low) ** 2).sum()) / count
    above = math.sqrt(((high - accuracy) ** 2).sum()) / count
    return mean, max(0.0, mean - below), min(1.0, mean + above)


def answers(predictions: Any, data: Dataset) -> Ints:
    """The number of the relation that is predicted for each problem, shape (n,).

    Raises:
        BadArgument: as `score`.
    """
    if hasattr(predictions, "detach"):  # a tensor, perhaps of another device, perhaps with gradients
        predictions = predictions.detach().cpu().numpy()
    given = _array(predictions)
    if len(given) != len(data):
        raise BadArgument(f"{len(given)} predictions for {len(data)} problems; give one for each.")
    if given.ndim == 2:
        return _highest(given, data.relations)
    if given.dtype.kind in "iu":
        return _numbers(given, data.relations)
    return _names(given.tolist(), data.relations)


def _array(predictions: Any) -> NDArray[Any]:
    """Names, whole numbers, or a table of scores."""
    try:
        given = np.asarray(predictions)
    except ValueError as error:  # lists of different lengths
        raise BadArgument(f"predictions must be a list or a table: {error}.") from error
    if given.size == 0:
        return np.zeros(given.shape[:1], dtype=np.int32) if given.ndim else np.zeros(0, dtype=np.int32)
    if given.ndim == 2 and given.dtype.kind in "iuf":
        return given
    if given.ndim == 1 and (given.dtype.kind in "iuU" or all(isinstance(one, str) for one in given.tolist())):
        return given
    raise BadArgument(
        "predictions are names of relations, their whole numbers, or scores of shape (problems, relations); not an "
        f"array of shape {given.shape} and type {given.dtype}."
    )


def _highest(scores: NDArray[Any], relations: tuple[str, ...]) -> Ints:
    if scores.shape[1] != len(relations):
        raise BadArgument(
            f"scores have {scores.shape[1]} columns; expected {len(relations)}, one for each of "
            f"{' '.join(relations)}."
        )
    if (bad := np.flatnonzero(np.isnan(scores).any(1))).size:
        raise BadArgument(f"the scores of problem {bad[0]}, counted from 0, are not all numbers.")
    found: Ints = scores.argmax(1).astype(np.int32)
    return found


def _numbers(numbers: NDArray[Any], relations: tuple[str, ...]) -> Ints:
    if (bad := np.flatnonzero((numbers < 0) | (numbers >= len(relations)))).size:
        raise BadArgument(
            f"the prediction for problem {bad[0]}, counted from 0, is {numbers[bad[0]]}; relations are numbered "
            f"from 0 to {len(relations) - 1}."
        )
    return numbers.astype(np.int32)


def _names(names: Sequence[str], relations: tuple[str, ...]) -> Ints:
    """Names as they are written; where none is, in small letters or large."""
    folded = {name.casefold(): at for at, name in enumerate(relations)}
    exact = {name: at for at, name in enumerate(relations)}
    found = [exact.get(name, folded.get(name.casefold(), -1)) for name in names]
    if -1 in found:
        at = found.index(-1)
        raise BadArgument(
            f"the prediction for problem {at}, counted from 0: {unknown('relation', names[at], relations)}"
        )
    return np.array(found, dtype=np.int32)
