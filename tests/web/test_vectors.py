"""Relation vectors as points: distances are kept as well as two dimensions can, and points do not jump."""

import numpy as np

from epignn.web.vectors import plane, turned


def test_vectors_of_two_dimensions_keep_all_distances(rng):
    flat = rng.normal(size=(9, 2)) @ rng.normal(size=(2, 12))
    points = plane(flat.reshape(9, 3, 4))
    for a in range(9):
        for b in range(9):
            assert np.isclose(np.linalg.norm(points[a] - points[b]), np.linalg.norm(flat[a] - flat[b]))


def test_a_single_vector_has_a_place():
    assert plane(np.ones((1, 2, 3))).tolist() == [[0.0, 0.0]]


def test_turned_points_are_as_near_as_any_turn_brings_them(rng):
    points, before = rng.normal(size=(2, 7, 2))
    found = turned(points, before.tolist())
    assert np.allclose(np.linalg.norm(found, axis=1), np.linalg.norm(points, axis=1))
    least = np.linalg.norm(found - before)
    for angle in np.linspace(0, 2 * np.pi, 90):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        for mirror in (np.eye(2), np.diag([1.0, -1.0])):
            assert np.linalg.norm(points @ turn @ mirror - before) >= least - 1e-9


def test_other_relations_than_before_start_anew(rng):
    points = rng.normal(size=(3, 2))
    assert turned(points, [[0.0, 0.0]]) is points
