"""Distilled calculi: exact from exact weights, exact from trained ones, and no guess where evidence lacks."""

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.laws import violations
from epignn.calculus.toml import read_calculus
from epignn.distil.calculus import distil_calculus
from epignn.distil.evidence import corrupt
from epignn.distil.files import calculus_text, certificate_text
from epignn.distil.orbits import Orbits
from epignn.distil.reading import Reading, read_weights
from epignn.errors import BadArgument
from epignn.learn.checkpoint import load_model
from epignn.learn.sources import training_data
from tests.distil.conftest import exact_model, exact_reading, problems, renamed, table

SOME = 400
"""Enough problems to decide most facts; the certificate counts all."""


@pytest.mark.parametrize("with_data", [True, False])
def test_a_model_that_is_a_calculus_gives_it_back(calculus, with_data):
    data = problems(calculus, 12) if with_data else None
    found = distil_calculus(read_weights(exact_model(calculus), calculus.relations), data, problems=SOME)
    assert found.calculus.composition == calculus.composition
    assert (found.calculus.identity, found.calculus.converses) == (calculus.identity, calculus.converses)
    assert found.certificate.lawful
    if data is not None:
        verdict = found.certificate.table
        assert (verdict.entailed, verdict.open, verdict.contradicted) == (len(data), 0, 0)


def test_names_and_order_play_no_part(calculus, rng):
    other = renamed(calculus, rng)
    assert not list(violations(other))
    found = distil_calculus(read_weights(exact_model(other), other.relations), problems(other, 6), problems=SOME)
    assert found.calculus.composition == other.composition
    assert found.calculus.relations == other.relations


@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_shipped_models_have_learnt_the_true_tables(name):
    trained = load_model(name)
    data, _ = training_data(trained.experiment.data)
    chosen = data.select(np.random.default_rng(0).permutation(len(data))[:7200])
    found = distil_calculus(read_weights(trained.model, trained.relations), chosen, problems=700)
    assert found.calculus.composition == load(name).composition
    assert found.certificate.lawful
    assert found.certificate.table.entailed == len(chosen)
    by_laws_alone = distil_calculus(read_weights(trained.model, trained.relations), None)
    assert by_laws_alone.calculus.composition == load(name).composition


def shaken(calculus, rng, share: float) -> Reading:
    """Scores with a share of all facts (six forms together) at random between possible and impossible."""
    orbits = Orbits.of(calculus.relations, calculus.identity, calculus.converses)
    score = np.where(orbits.possible(calculus), 0.0, 10.0)
    moved = (rng.random(len(orbits)) < share) & ~orbits.settled
    score = np.where(moved, rng.uniform(0, 10, len(orbits)), score)
    return Reading(calculus.relations, score[orbits.number])


@pytest.mark.parametrize("name", [name for name in CALCULI if name != "allen"])
@pytest.mark.parametrize(("per_label", "noise"), [(3, 0.0), (40, 0.05)])
def test_poor_evidence_leaves_cells_disjunctive_and_excludes_nothing_true(name, per_label, noise):
    true = load(name)
    rng = np.random.default_rng([per_label, len(true)])
    data = corrupt(problems(true, per_label), noise, rng)
    found = distil_calculus(shaken(true, rng, 0.3), data, problems=SOME)
    learnt = found.calculus
    assert (learnt.identity, learnt.converses) == (true.identity, true.converses)
    assert not (table(true) & ~table(learnt)).any()
    extra = table(learnt) & ~table(true)
    assert bool(found.certificate.uncertain) >= extra.any()
    cells = {f"{true.relations[a]} ∘ {true.relations[b]}" for a, b in np.argwhere(extra.any(2))}
    assert len(cells & set(found.certificate.uncertain_cells)) >= 0.8 * len(cells)


@pytest.mark.parametrize("name", ["rcc8", "point"])
def test_data_turn_facts_that_the_weights_have_wrong(name):
    true = load(name)
    orbits = Orbits.of(true.relations, true.identity, true.converses)
    score = np.where(orbits.possible(true), 0.0, 10.0)
    wrong = orbits.free[::9]
    score[wrong] = 10 - score[wrong]
    reading = Reading(true.relations, score[orbits.number])
    assert distil_calculus(reading, None).calculus.composition != true.composition
    found = distil_calculus(reading, problems(true, 40), problems=2500)
    assert found.calculus.composition == true.composition
    assert found.certificate.turned
    for judged in found.certificate.turned:
        assert (judged.gain > 0) == judged.possible
    assert found.certificate.margin <= 0  # scores overlap: the data had to decide


def test_without_any_knowledge_everything_stays_possible():
    true = load("rcc5")
    flat = Reading(true.relations, np.random.default_rng(0).random((5, 5, 5)))
    one = problems(true, 1).select([0])
    found = distil_calculus(flat, one)
    orbits = Orbits.of(true.relations, found.calculus.identity, found.calculus.converses)
    assert len(found.certificate.uncertain) == len(orbits.free)
    assert found.certificate.to_dict()["margin"] is None
    assert '"margin": null' in certificate_text(found)
    assert orbits.possible(found.calculus)[orbits.free].all()


def test_the_file_loads_like_any_other_and_tells_its_certificate():
    true = load("rcc5")
    found = distil_calculus(exact_reading(true), problems(true, 12), name="mine", source="weights")
    text = calculus_text(found)
    assert "# laws: all 6 hold" in text
    assert "instances entailed, 0 open, 0 contradicted" in text
    back = read_calculus(text, "mine.toml")
    assert back == found.calculus
    assert back.source == "weights"
    assert '"contradicted": 0' in certificate_text(found)


def test_an_unlawful_table_is_named_and_still_loads():
    true = load("rcc8")
    found = distil_calculus(shaken(true, np.random.default_rng([3, 8]), 0.3), problems(true, 3), problems=SOME)
    text = calculus_text(found)
    assert "# laws: associativity fails in" in text
    assert not read_calculus(text, "learnt.toml").associative


def test_other_relations_are_refused():
    with pytest.raises(BadArgument, match="the data of"):
        distil_calculus(exact_reading(load("rcc5")), problems(load("point"), 2))
