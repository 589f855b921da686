"""Distilled calculi: exact from exact weights, exact from trained ones, and no guess where evidence lacks.

Certificates: every entry is what it says, of good tables and of bad ones.
"""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.laws import violations
from epignn.calculus.toml import read_calculus
from epignn.distil.calculus import broken_laws, distil_calculus
from epignn.distil.evidence import Evidence, corrupt
from epignn.distil.orbits import Orbits
from epignn.distil.reading import Reading, read_weights
from epignn.distil.weights import exact_model
from epignn.errors import BadArgument
from epignn.learn.checkpoint import load_model
from epignn.models.epignn import EpiGNNConfig
from epignn.workers import workers_of
from tests.conftest import DECIDED
from tests.distil.conftest import exact_reading, orbits_of, problems, renamed, table

pytestmark = pytest.mark.numeric

SOME = 400
"""Enough problems to decide most facts; the certificate counts all."""


@pytest.mark.parametrize("with_data", [True, False])
def test_a_model_that_is_a_calculus_gives_it_back(decided, with_data):
    data = problems(decided, 12) if with_data else None
    found = distil_calculus(
        read_weights(exact_model(decided, EpiGNNConfig()), decided.relations), data, problems=SOME
    )
    assert found.calculus.composition == decided.composition
    assert (found.calculus.identity, found.calculus.converses) == (decided.identity, decided.converses)
    assert found.certificate.lawful
    if data is not None:
        verdict = found.certificate.table
        assert (verdict.entailed, verdict.open, verdict.contradicted) == (len(data), 0, 0)


def test_names_and_order_play_no_part(decided, rng):
    other = renamed(decided, rng)
    assert not list(violations(other))
    found = distil_calculus(
        read_weights(exact_model(other, EpiGNNConfig()), other.relations), problems(other, 6), problems=SOME
    )
    assert found.calculus.composition == other.composition
    assert found.calculus.relations == other.relations


@pytest.mark.parametrize("seed", range(4))
def test_the_last_digits_of_scores_decide_nothing(seed):
    """All facts that a calculus excludes have one score, but for rounding; some of them no problem decides."""
    true = load("rcc8")
    reading = read_weights(exact_model(true, EpiGNNConfig()), true.relations)
    last_digits = (
        np.random.default_rng(seed).uniform(-1, 1, reading.triple.shape) * np.finfo(np.float32).eps * len(true)
    )
    rounded = Reading(reading.relations, reading.triple * (1 + last_digits))
    assert distil_calculus(rounded, problems(true, 12), problems=SOME).calculus.composition == true.composition


@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_shipped_models_have_learnt_the_true_tables(name):
    trained = load_model(name)
    data, _ = trained.experiment.data.examples()
    chosen = data.select(np.random.default_rng(0).permutation(len(data))[:7200])
    found = distil_calculus(read_weights(trained.model, trained.relations), chosen, problems=700)
    assert found.calculus.composition == load(name).composition
    assert found.certificate.lawful
    assert found.certificate.table.entailed == len(chosen)
    by_laws_alone = distil_calculus(read_weights(trained.model, trained.relations), None)
    assert by_laws_alone.calculus.composition == load(name).composition


def shaken(calculus, rng, share: float) -> Reading:
    """Scores with a share of all facts (six forms together) at random between possible and impossible."""
    orbits = orbits_of(calculus)
    score = np.where(orbits.possible(calculus), 0.0, 10.0)
    moved = (rng.random(len(orbits)) < share) & ~orbits.settled
    score = np.where(moved, rng.uniform(0, 10, len(orbits)), score)
    return Reading(calculus.relations, score[orbits.number])


@pytest.mark.parametrize("name", [name for name in DECIDED if name != "allen"])
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
    orbits = orbits_of(true)
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
    assert '"margin": null' in found.certificate_text()
    assert orbits.possible(found.calculus)[orbits.free].all()


def test_the_file_loads_like_any_other_and_tells_its_certificate():
    true = load("rcc5")
    found = distil_calculus(exact_reading(true), problems(true, 12), name="mine", source="weights")
    text = found.calculus_text()
    assert "# laws: all 6 hold" in text
    assert "labels, leaves 0 open and contradicts 0" in text
    back = read_calculus(text, "mine.toml")
    assert back == found.calculus
    assert back.source == "weights"
    assert '"contradicted": 0' in found.certificate_text()


def test_an_unlawful_table_is_named_and_still_loads():
    true = load("rcc8")
    found = distil_calculus(shaken(true, np.random.default_rng([3, 8]), 0.3), problems(true, 3), problems=SOME)
    text = found.calculus_text()
    assert "# laws: associativity fails in" in text
    assert not read_calculus(text, "learnt.toml").associative


def test_other_relations_are_refused():
    with pytest.raises(BadArgument, match="the data of"):
        distil_calculus(exact_reading(load("rcc5")), problems(load("point"), 2))


# -- certificates --


@pytest.fixture(scope="module")
def true():
    return load("rcc5")


@pytest.fixture(scope="module")
def data(true):
    return problems(true, 40)


@pytest.fixture(scope="module")
def orbits(true):
    return orbits_of(true)


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
    assert f"facts that nothing decides, kept as possible: 0 of {found.facts}" in text
    assert text[3] == (
        f"training data: closure with this table entails {len(data):,} of {len(data):,} labels, leaves 0 open and "
        "contradicts 0"
    )


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
    assert f"facts that nothing decides, kept as possible: {len(named)} of {len(named)}\n  in the cells " in text
    assert "no fact is decided on one side of the threshold" in text


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
    assert "too close" not in next(certificate.lines())
    doubtful = replace(certificate, identity=("EQ", 27.83, 27.84))
    assert next(doubtful.lines()).endswith("next best candidate 27.84, too close to be sure")


def test_the_calculus_does_not_claim_a_law_that_it_breaks():
    """Facts that nothing decides stay possible, and may leave a table that is not associative.

    Workers find the same, although the data turn facts here while others are being judged.
    """
    rcc8 = load("rcc8")
    reading, data = shaken(rcc8, np.random.default_rng([3, 8]), 0.3), problems(rcc8, 3)
    found = distil_calculus(reading, data, problems=400)
    assert len(found.certificate.turned) > 1
    with workers_of("2") as workers:
        assert distil_calculus(reading, data, problems=400, workers=workers) == found
    assert found.certificate.laws["associativity"] > 0
    assert not found.certificate.lawful
    assert not found.calculus.associative
    assert not list(violations(found.calculus))  # it is held to what it claims
