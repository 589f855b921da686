"""Tables as sets of facts: breaches of the laws, and cells that would be empty."""

from dataclasses import replace

import numpy as np

from epignn.calculus import load
from epignn.calculus.laws import LAWS
from epignn.distil.calculus import broken_laws
from epignn.distil.table import Table, breaches, fill_empty_cells
from tests.distil.conftest import orbits_of


def test_the_true_table_is_a_set_of_facts(calculus):
    orbits = orbits_of(calculus)
    possible = orbits.possible(calculus)
    assert orbits.calculus(possible).composition == calculus.composition
    assert (breaches(orbits, possible) == 0) == calculus.associative


def test_breaches_count_what_the_laws_do(calculus, rng):
    orbits = orbits_of(calculus)
    turned = orbits.possible(calculus)
    chosen = rng.choice(orbits.free, min(2, len(orbits.free)), replace=False)
    turned[chosen] = ~turned[chosen]
    learnt = replace(orbits.calculus(turned), associative=True)
    expected = sum(len(list(LAWS[law](learnt))) for law in ("compositions are not empty", "associativity"))
    assert breaches(orbits, turned) == expected


def test_a_cell_of_which_nothing_is_possible_is_filled():
    orbits = orbits_of(load("rcc5"))
    nothing = np.zeros(len(orbits), dtype=bool)
    start = orbits.neutral
    empty = Table(start, np.zeros(len(orbits)), nothing, nothing, 0.0, 10.0, start, start, 5.0)
    assert broken_laws(orbits.calculus(empty.possible))["compositions are not empty"] > 0
    filled = fill_empty_cells(orbits, empty)
    assert broken_laws(orbits.calculus(filled.possible))["compositions are not empty"] == 0
    assert (filled.uncertain == (filled.possible & ~orbits.neutral)).all()
    again = fill_empty_cells(orbits, filled)
    assert (again.possible == filled.possible).all()
