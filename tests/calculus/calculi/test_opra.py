"""OPRA-1: its table does not grow with more places and looks, its laws, and points of real numbers."""

import numpy as np

from epignn.calculus import load
from epignn.calculus.calculi.opra import RELATIONS, opra, relate
from epignn.calculus.laws import violations

OPRA = load("opra1")


def test_more_places_and_looks_show_nothing_new():
    assert opra(3, 2).composition == OPRA.composition
    assert opra(1).composition != OPRA.composition


def test_there_are_the_20_relations_and_the_laws_hold():
    assert len(RELATIONS) == 20
    assert not list(violations(OPRA))
    assert OPRA.relations[OPRA.converses[RELATIONS.index("left-front")]] == "front-left"
    assert OPRA.relations[OPRA.converses[RELATIONS.index("same-left")]] == "same-right"


def test_two_who_face_a_third():
    """Both stand somewhere on the ray that the third looks along, and look back at it."""
    faces = OPRA.parse("front-front")
    assert OPRA.names(OPRA.compose(faces, faces)) == ("front-back", "back-front", "same")


def test_points_of_real_numbers_obey_the_table():
    rng = np.random.default_rng(1)
    points = rng.integers(-9, 10, size=(3, 4000, 4))
    points = points[:, (points[..., 2:] != 0).any(axis=-1).all(axis=0)]
    a, b, c = points
    for r, s, t in zip(relate(a, b).tolist(), relate(b, c).tolist(), relate(a, c).tolist(), strict=True):
        assert OPRA.composition[r][s] >> t & 1
