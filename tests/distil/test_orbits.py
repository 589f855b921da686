"""Facts in six forms: any set of them obeys the laws that tie the forms."""

from dataclasses import replace

import numpy as np

from epignn.calculus.laws import LAWS
from epignn.distil.cut import breaches
from epignn.distil.orbits import Orbits


def orbits_of(calculus) -> Orbits:
    return Orbits.of(calculus.relations, calculus.identity, calculus.converses)


def test_any_set_of_facts_obeys_converse_peirce_and_identity(calculus, rng):
    orbits = orbits_of(calculus)
    for density in (0.1, 0.5, 0.9):
        possible = np.where(orbits.settled, orbits.neutral, rng.random(len(orbits)) < density)
        learnt = orbits.calculus(possible)
        for law in ("converse is an involution", "identity is neutral", "converse of a composition", "Peirce"):
            assert not list(LAWS[law](learnt)), law
        assert (orbits.possible(learnt) == possible).all()


def test_the_true_table_is_a_set_of_facts(calculus):
    orbits = orbits_of(calculus)
    possible = orbits.possible(calculus)
    assert orbits.calculus(possible).composition == calculus.composition
    assert breaches(orbits, possible) == 0


def test_breaches_count_what_the_laws_do(calculus, rng):
    orbits = orbits_of(calculus)
    turned = orbits.possible(calculus)
    chosen = rng.choice(orbits.free, min(2, len(orbits.free)), replace=False)
    turned[chosen] = ~turned[chosen]
    learnt = replace(orbits.calculus(turned), associative=True)
    expected = sum(len(list(LAWS[law](learnt))) for law in ("compositions are not empty", "associativity"))
    assert breaches(orbits, turned) == expected


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
