"""Facts in six forms obey the laws that tie the forms; identity and converse against all involutions."""

from itertools import permutations

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.laws import LAWS
from epignn.distil.orbits import EXACT_MATCHING, choose_converse, choose_identity, disagreement
from tests.distil.conftest import exact_reading, orbits_of, table


def test_any_set_of_facts_obeys_converse_peirce_and_identity(calculus, rng):
    orbits = orbits_of(calculus)
    for density in (0.1, 0.5, 0.9):
        possible = np.where(orbits.settled, orbits.neutral, rng.random(len(orbits)) < density)
        learnt = orbits.calculus(possible)
        for law in ("converse is an involution", "identity is neutral", "converse of a composition", "Peirce"):
            assert not list(LAWS[law](learnt)), law
        assert (orbits.possible(learnt) == possible).all()


def test_means_and_words(calculus):
    orbits = orbits_of(calculus)
    values = np.random.default_rng(0).random(orbits.number.shape)
    means = orbits.mean(values)
    for orbit in (0, len(orbits) // 2, len(orbits) - 1):
        assert np.isclose(means[orbit], values[orbits.number == orbit].mean())
    first = orbits.describe(int(orbits.number[0, 0, 0]))
    assert "∈" in first
    cells = orbits.cells(np.array([orbits.number[0, 0, 0]]))
    assert f"{calculus.relations[0]} ∘ {calculus.relations[0]}" in cells


def involutions(count: int, identity: int):
    for order in permutations(range(count)):
        if order[identity] == identity and all(order[order[r]] == r for r in range(count)):
            yield order


@pytest.mark.parametrize("name", ["point", "rcc5", "rcc8"])
def test_the_true_converse_disagrees_least_of_all(name):
    true = load(name)
    rng = np.random.default_rng(0)
    triple = np.where(table(true), 0.0, 10.0) + rng.normal(0, 2, (len(true),) * 3)
    assert choose_identity(triple)[0] == true.identity
    best = min(involutions(len(true), true.identity), key=lambda order: disagreement(triple, order))
    found, least, other = choose_converse(triple, true.identity)
    assert found == best == true.converses
    assert least == disagreement(triple, best) < other


def test_every_shipped_converse(decided):
    """That of kinship's 55 relations is found as well, in a minute."""
    reading = exact_reading(decided)
    identity, changed, other = choose_identity(reading.triple)
    assert (identity, changed) == (decided.identity, 0)
    assert other > 0
    assert choose_converse(reading.triple, identity)[:2] == (decided.converses, 0)


def test_many_relations_are_paired_greedily_first():
    count = EXACT_MATCHING + 4
    converses = [0, *(r + 1 if r % 2 else r - 1 for r in range(1, count))]
    converses[-1] = count - 1
    triple = np.full((count, count, count), 5.0)
    for a, b in enumerate(converses):
        triple[a, b, 0] = 0.0
        triple[0, a, a] = triple[a, 0, a] = 0.0
    assert choose_converse(triple, 0)[0] == tuple(converses)
