"""The relation vectors of a run as points in the plane, by principal components, read without torch."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors import safe_open

STATE, WEIGHTS = "state.safetensors", "weights.safetensors"
TENSORS = ((STATE, "model/relation_RFK"), (WEIGHTS, "relation_RFK"))
"""Where the vectors of the last epoch are, or else those of the best."""
Floats = NDArray[np.float64]


def placed(
    folder: Path, relations: int, constrained: bool, previous: list[list[float]] | None
) -> list[list[float]] | None:
    """A point for each relation; None where the files have no vectors, or some that are no numbers.

    Args:
        folder: of the run.
        relations: how many it has.
        constrained: whether its vectors are distributions.
        previous: where relations stood before; the axes, which are free, are turned to be as near as can be.
    """
    for file, name in TENSORS:
        if (folder / file).is_file():
            with safe_open(folder / file, "np") as tensors:
                if name in tensors.keys():  # noqa: SIM118 - no mapping
                    raw = tensors.get_tensor(name)[:relations].astype(np.float64)
                    if not np.isfinite(raw).all():
                        return None
                    points = plane(_simplex(raw) if constrained else raw)
                    return turned(points, previous).round(4).tolist()  # type: ignore[no-any-return]
    return None


def _simplex(raw: Floats) -> Floats:
    """The distributions that weights stand for, as `EpiGNN.relation_vectors` has them."""
    grown = np.exp(raw - raw.max(-1, keepdims=True))
    found: Floats = grown / grown.sum(-1, keepdims=True)
    return found


def plane(vectors: Floats) -> Floats:
    """(R, 2): the first two principal components of vectors, one a row."""
    flat = vectors.reshape(len(vectors), -1)
    left, size, _ = np.linalg.svd(flat - flat.mean(0), full_matrices=False)
    points = np.zeros((len(flat), 2))
    count = min(2, len(size))
    points[:, :count] = left[:, :count] * size[:count]
    return points


def turned(points: Floats, previous: list[list[float]] | None) -> Floats:
    """Points turned, and mirrored, to be as near as can be to others (the orthogonal Procrustes problem).

    >>> points = np.array([[1.0, 0.0], [0.0, 2.0]])
    >>> turned(points, [[0.0, 1.0], [2.0, 0.0]]).tolist()
    [[0.0, 1.0], [2.0, 0.0]]
    """
    if previous is None or len(previous) != len(points):
        return points
    left, _, right = np.linalg.svd(points.T @ np.array(previous))
    found: Floats = points @ (left @ right)
    return found
