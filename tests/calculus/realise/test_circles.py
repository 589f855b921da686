"""Discs by numerical search: what is not near is refused, and what cannot be is not found."""

import time

import numpy as np
import pytest

from epignn.calculus.realise.circles import DC, EC, NTPP, PO, SEEN, TPP, _newton, _Pairs, find_discs


def two():
    ends = np.array([0]), np.array([1])
    return _Pairs(*ends, np.ones((1, 7), dtype=bool), np.eye(2)[:, ends[0]], np.eye(2)[:, ends[1]])


@pytest.mark.parametrize("relation", [EC, TPP])
def test_touching_is_made_exact(relation):
    rough = np.array([[0.0, 0.0, 1.0], [2.02 if relation == EC else 0.97, 0.0, 1.0 if relation == EC else 2.0]])
    (ax, ay, ar), (bx, by, br) = _newton(rough, np.array([relation]), two())
    distance = np.hypot(ax - bx, ay - by)
    assert distance == pytest.approx(ar + br if relation == EC else br - ar, rel=1e-12)
    assert np.abs(np.array([ax, ar, bx, br]) - rough[:, [0, 2]].ravel()).max() < 0.03


@pytest.mark.parametrize(
    ("relation", "at"), [(DC, 2 + SEEN / 2), (PO, 2 - SEEN / 2), (PO, SEEN / 2), (NTPP, 0.0), (TPP, 0.03)]
)
def test_what_is_not_clear_is_refused(relation, at):
    discs = np.array([[0.0, 0.0, 1.0], [at, 0.0, 1.0]])
    assert _newton(discs, np.array([relation]), two()) is None


def test_what_cannot_be_is_not_found(rng):
    """Five discs that all touch each other, in the time that is given."""
    sets = np.full((5, 5), 1 << EC, dtype=np.uint64)
    start = time.perf_counter()
    assert find_discs(sets, rng, start + 0.5) is None
