"""The figures of an evaluation: accuracy with its interval, and how many problems are distinct. No torch."""

import math
from typing import Any

import numpy as np

from epignn.data.dataset import Dataset
from epignn.data.stream import digests


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
