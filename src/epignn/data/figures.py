"""The figures of an evaluation: accuracy with its interval, and how many problems are distinct. No torch."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset
from epignn.data.stream import digests


class Interval(NamedTuple):
    """A mean, and the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


def wilson(right: int, count: int, z: float = 1.96) -> tuple[float, float]:
    """The 95 % interval of a share (Wilson, 1927).

    >>> [round(bound, 3) for bound in wilson(90, 100)]
    [0.826, 0.945]
    """
    if not count:
        return 0.0, 1.0
    share, weight = right / count, z * z / count
    middle = (share + weight / 2) / (1 + weight)
    half = z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)


def interval(values: NDArray[np.float64], least: float = 0.0, most: float = 1.0) -> Interval:
    """A mean and its 95 % interval, by the spread of the values (Student's t).

    Where all are equal, so many values leave open what three in as many of all others are. Of few values, most of
    them equal, no interval by their spread holds as often as it says.

    >>> [round(bound, 3) for bound in interval(np.array([0.0, 1.0, 1.0, 1.0]))]
    [0.75, 0.0, 1.0]
    """
    count, mean = len(values), float(values.mean()) if len(values) else 0.0
    if count < 2 or (values == values[0]).all():
        others = min(1.0, 3 / max(count, 1))
        return Interval(mean, mean - others * (mean - least), mean + others * (most - mean))
    half = _student(count - 1) * float(values.std(ddof=1)) / math.sqrt(count)
    return Interval(mean, max(least, mean - half), min(most, mean + half))


def _student(freedom: int) -> float:
    """What Student's t of so many degrees of freedom exceeds, either way, with a chance of 5 %.

    The angle whose tangent is t / √n has the density cos^(n-1). From 10,000 on t changes in the fourth digit alone.
    """
    freedom = min(freedom, 10_000)
    angle = np.linspace(0, math.pi / 2, 50_001)
    within = np.cumsum(np.cos((angle[1:] + angle[:-1]) / 2) ** (freedom - 1))
    return math.sqrt(freedom) * math.tan(angle[1 + np.searchsorted(within, 0.95 * within[-1])])


def figures(data: Dataset, right: int) -> dict[str, Any]:
    """Size, distinct problems, accuracy and its interval, where `right` of the problems were answered correctly."""
    low, high = wilson(right, len(data))
    return {
        "k": data.k,
        "b": data.b,
        "n": len(data),
        "distinct": len(np.unique(digests(data))),
        "accuracy": right / len(data) if len(data) else 0.0,
        "low": low,
        "high": high,
    }
