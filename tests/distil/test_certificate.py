"""Certificates: every entry is what it says, of good tables and of bad ones."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.laws import violations
from epignn.distil.calculus import _fill_empty_cells, distil_calculus
from epignn.distil.certificate import broken_laws
from epignn.distil.evidence import Evidence
from epignn.distil.orbits import Orbits
from epignn.distil.reading import Reading
from epignn.distil.refine import Refined
from tests.distil.conftest import exact_reading, problems
from tests.distil.test_calculus import shaken


@pytest.fixture(scope="module")
def true():
    return load("rcc5")


@pytest.fixture(scope="module")
def data(true):
    return problems(true, 40)


@pytest.fixture(scope="module")
def orbits(true):
    return Orbits.of(true.relations, true.identity, true.converses)


@pytest.fixture(scope="module")
def misread(true, orbits):
    """What weights say that take two impossible facts for possible, and these facts."""
    impossible = orbits.free[~orbits.possible(true)[orbits.free]]
    score = np.where(orbits.possible(true), 0.0, 10.0)
    score[impossible[:2]] = 0.0
    return Reading(true.relations, score[orbits.number]), impossible[:2]


def test_of_a_table_that_is_certain(true, data, orbits):
    found = distil_calculus(exact_reading(true), data).certificate
    assert found.identity[0] == "EQ"
    assert found.identity[1] == 0 < found.identity[2]
    assert found.converse[0] == 0 < found.converse[1]
    assert (found.highest_possible, found.lowest_impossible, found.margin) == (0, 10, 10)
    assert 0 < found.cut < 10
    assert found.facts == len(orbits.free) < len(orbits)
    assert found.table == found.by_cut == found.by_weights == Evidence.of(data).judge(true)
    assert (found.turned, found.uncertain, found.uncertain_cells) == ((), (), ())
    text = list(found.lines())
    assert "laws: all 6 hold" in text
    assert "uncertain: nothing" in text
    assert f"training data: {len(data):,} of {len(data):,} instances entailed, 0 open, 0 contradicted" in text


def test_what_the_data_turned_is_told_with_its_grounds(true, data, orbits, misread):
    reading, wrong = misread
    found = distil_calculus(reading, data)
    assert found.calculus.composition == true.composition
    certificate = found.certificate
    assert {judged.fact for judged in certificate.turned} == {orbits.describe(int(o)) for o in wrong}
    for judged in certificate.turned:
        assert (judged.possible, judged.score) == (False, 0)
        assert judged.gain < 0
    assert certificate.table.entailed == len(data)
    assert certificate.by_cut.log_likelihood < certificate.table.log_likelihood == 0
    by_weights = distil_calculus(reading, None).calculus
    assert certificate.by_weights == Evidence.of(data).judge(by_weights)
    assert certificate.by_weights != certificate.table
    assert certificate.margin == 0
    assert [judged.fact for judged in certificate.uncertain] == ["PO ∈ PO ∘ PO"]  # no problem shows it
    assert certificate.uncertain[0].gain == 0
    assert certificate.uncertain[0].possible


def test_what_the_data_turn_on_has_a_gain(true, data, orbits):
    """One problem of all shows that two regions apart from a third may be apart, and the weights deny it."""
    fact = int(orbits.number[0, 0, 0])
    score = np.where(orbits.possible(true), 0.0, 10.0)
    score[fact] = 10.0
    found = distil_calculus(Reading(true.relations, score[orbits.number]), data)
    assert found.calculus.composition == true.composition
    (judged,) = found.certificate.turned
    assert (judged.fact, judged.possible, judged.score) == ("DR ∈ DR ∘ DR", True, 10)
    contradicted = found.certificate.by_cut
    assert judged.gain == pytest.approx(-contradicted.log_likelihood)
    assert contradicted.contradicted == 1


def test_what_nothing_decides_is_told_by_fact_and_by_cell(true, orbits, misread):
    few = problems(true, 1).select([0])
    found = distil_calculus(misread[0], few).certificate
    named = {judged.fact for judged in found.uncertain}
    assert named == {orbits.describe(int(o)) for o in orbits.free}
    others = [r for r in true.relations if r != "EQ"]
    assert set(found.uncertain_cells) == {f"{a} ∘ {b}" for a in others for b in others}
    text = "\n".join(found.lines())
    assert f"uncertain, and left possible: {len(named)} of {len(named)} facts" in text
    assert "margin: none, for nothing is decided" in text


def test_broken_laws_are_counted_whether_or_not_they_are_claimed(true, orbits):
    turned = orbits.possible(true)
    turned[orbits.free[0]] = not turned[orbits.free[0]]
    wrong = orbits.calculus(turned, associative=False)
    assert broken_laws(wrong)["associativity"] > 0
    assert not any(broken_laws(true).values())


def test_a_table_that_breaks_a_law_says_so(true, data):
    good = distil_calculus(exact_reading(true), data)
    assert good.certificate.lawful
    assert good.calculus.associative
    bad = replace(good.certificate, laws={**good.certificate.laws, "associativity": 3})
    assert not bad.lawful
    assert "laws: associativity fails in 3 cells" in list(bad.lines())


def test_an_identity_that_is_hardly_one_is_told(true):
    certificate = distil_calculus(exact_reading(true), None).certificate
    assert "not clear" not in next(certificate.lines())
    doubtful = replace(certificate, identity=("EQ", 27.83, 27.84))
    assert next(doubtful.lines()).endswith("the next by 27.84: that is not clear")


def test_the_calculus_does_not_claim_a_law_that_it_breaks():
    """Facts that nothing decides stay possible, and may leave a table that is not associative."""
    rcc8 = load("rcc8")
    found = distil_calculus(shaken(rcc8, np.random.default_rng([3, 8]), 0.3), problems(rcc8, 3), problems=400)
    assert found.certificate.laws["associativity"] > 0
    assert not found.certificate.lawful
    assert not found.calculus.associative
    assert not list(violations(found.calculus))  # it is held to what it claims


def test_a_cell_of_which_nothing_is_possible_is_filled(orbits):
    nothing = np.zeros(len(orbits), dtype=bool)
    empty = Refined(orbits.neutral, np.zeros(len(orbits)), nothing, nothing, 0.0, 10.0)
    assert broken_laws(orbits.calculus(empty.possible))["compositions are not empty"] > 0
    filled = _fill_empty_cells(orbits, empty)
    assert broken_laws(orbits.calculus(filled.possible))["compositions are not empty"] == 0
    assert (filled.uncertain == (filled.possible & ~orbits.neutral)).all()
    again = _fill_empty_cells(orbits, filled)
    assert (again.possible == filled.possible).all()
