"""Scorers made of others."""

import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.learn.scorers import Mean, normalised, scorer_of
from tests.links import RELATIONS, experiment, family, trained_on

pytestmark = pytest.mark.numeric
SIDE = family(0)


@pytest.fixture(scope="module")
def model():
    return trained_on(SIDE, experiment(epochs=1)).trained.model


def test_relations_are_known_by_name(model):
    """In another order, with one more: the answers are the same, and the new one has none."""
    facts = SIDE.graph.facts
    names = ("sibling", "adopted", "grandparent", "parent")
    place = np.array([names.index(name) for name in RELATIONS], dtype=np.int32)
    other = np.stack([facts[:, 0], place[facts[:, 1]], facts[:, 2]], 1)
    other = np.concatenate([other, np.array([[0, 1, 5], [7, 1, 3]], dtype=np.int32)])
    wide = Graph(SIDE.graph.entities, names, other)
    plain, translated = model.scorer(SIDE.graph), scorer_of(model, RELATIONS, wide)
    for head in (0, 17):
        expected = plain(head, np.arange(6, dtype=np.int32))
        asked = np.concatenate([place, place + len(names)])
        found = translated(head, asked)
        assert np.allclose(found, expected, rtol=1e-4, atol=1e-4)
        assert not translated(head, np.array([1, 5], dtype=np.int32)).any()
    assert type(scorer_of(model, RELATIONS, SIDE.graph)) is type(plain)


def test_the_mean_of_a_model_with_itself_ranks_as_it_does(model):
    plain, mean = model.scorer(SIDE.graph), Mean([model.scorer(SIDE.graph), model.scorer(SIDE.graph)])
    mean.prepare(np.array([3], dtype=np.int32))
    asked = np.arange(6, dtype=np.int32)
    one, other = plain(3, asked).astype(np.float64), mean(3, asked)
    scale = (one - one.mean(1, keepdims=True)) / one.std(1, keepdims=True)
    assert np.allclose(scale, other, atol=1e-4)


def test_a_model_does_not_count_where_it_does_not_know_the_relation(model):
    """One that knows `parent` alone leaves the others to the first; what neither knows is all the same."""
    names = (*RELATIONS, "adopted")
    wide = Graph(SIDE.graph.entities, names, SIDE.graph.facts)
    narrow = trained_on(SIDE, experiment(epochs=1)).trained.model
    one, other = scorer_of(model, RELATIONS, wide), scorer_of(narrow, (RELATIONS[0], "x", "y"), wide)
    mean = Mean([one, other])
    for scorer in (one, other, mean):
        scorer.prepare(np.array([3], dtype=np.int32))
    asked = np.arange(4, dtype=np.int32)
    found, first, second = mean(3, asked), normalised(one(3, asked)), normalised(other(3, asked))
    np.testing.assert_allclose(found[0], (first[0] + second[0]) / 2, rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(found[1:3], first[1:3])
    assert not found[3].any()


def test_what_is_no_number_is_the_least():
    found = normalised(np.array([[1.0, np.nan, 3.0, -np.inf]]))
    assert np.isfinite(found).all()
    assert found[0, 1] == found[0, 3] == found.min()
    assert not normalised(np.full((1, 3), -np.inf)).any()
