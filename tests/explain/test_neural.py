"""Explanations of a model: its own states and probabilities, and a proof only of what its table proves."""

import json
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn import Learnt, Neural
from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.data.statements import Statements
from epignn.distil.rules import Rule, RuleSet
from epignn.errors import BadArgument, UnknownName
from epignn.explain import neural, symbolic
from epignn.explain.checker import check
from epignn.explain.explanation import Status
from epignn.explain.neural import STEADY, chances_of
from epignn.explain.picture import draw
from epignn.explain.text import lines
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.tasks.star import generated
from tests import graphs
from tests.explain.conftest import given, network_of

pytestmark = pytest.mark.numeric
RCC8 = load("rcc8")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def trained():
    """A model in double precision, so that rounding is no part of what is compared."""
    found = Neural.load(str(graphs.TRAINED))
    found.trained_.model.double()
    return found


def untrained(**changes):
    return Neural.of(graphs.untrained(RCC8.relations, EpiGNNConfig(**changes), double=True))


def explain(model, calculus, network, head, tail, **options):
    """What a model says, and what a calculus says of the same facts."""
    by = symbolic.explain(replace(network, calculus=calculus), head, tail)
    return neural.explain(model, network, head, tail, by, **options)


def test_the_harbour_is_proved_by_what_the_model_has_learnt(trained, harbour):
    found = trained.explain(harbour, "harbour", "city")
    assert (found.status, str(found), found.proved) == (Status.DETERMINED, "PO(harbour, city)", True)
    (answer,) = trained.answer([(harbour, "harbour", "city")])
    belief = found.belief
    assert belief.chances[belief.likeliest] == pytest.approx(answer.probability)
    assert belief.chances.sum() == pytest.approx(1)
    document = json.loads(json.dumps(found.to_dict()))
    assert check(document["table"]["proof"], found.by.facts.calculus, given(harbour))[1] == {"PO"}
    assert document["probabilities"]["PO"] == pytest.approx(belief.chances[2], abs=1e-6)
    assert lines(found)[2] == "Proved: the calculus distilled from the model leaves the same."


def test_the_facts_that_matter_to_the_model_are_those_of_the_proof(trained, harbour):
    found = explain(trained, RCC8, harbour, "harbour", "city")
    order = np.argsort(-found.belief.influence)
    assert set(order[:4].tolist()) == set(found.by.support.facts)
    without = harbour.select([f for f in range(len(harbour)) if f != 2])
    lost = found.belief.chances[2] - chances_of(trained, [without], "harbour", "city")[0, 2]
    assert found.belief.influence[2] == pytest.approx(lost)


@pytest.mark.parametrize("changes", [{}, {"rounds": "auto", "self_message": False}])
def test_states_are_those_of_the_forward_model(changes, harbour):
    trained = untrained(**changes)
    found = explain(trained, RCC8, harbour, "harbour", "city")
    graph = trained.graph(harbour, "harbour", "city")
    model, config = trained.trained_.model, trained.trained_.experiment.model
    for number, chances in enumerate(found.belief.states, start=1):
        model.config = replace(config, rounds=number)
        ahead, _ = model.states(EpiGNN.prepare(graph, model.config))
        expected = torch.softmax(model.state_scores(ahead).double(), -1).detach().numpy()
        for name, row in zip(found.belief.entities, chances, strict=True):
            assert np.abs(expected - row).max(1).min() < 1e-6, name


def test_states_of_full_closure(harbour):
    trained = untrained(closure="full", rounds="auto")
    found = explain(trained, RCC8, harbour, "harbour", "city")
    city = found.belief.states[-1, found.belief.entities.index("city")]
    data = trained.graph(harbour, "harbour", "city")
    np.testing.assert_allclose(city, trained.probabilities(data)[0], rtol=0, atol=STEADY)


def test_rounds_can_be_limited(trained, harbour):
    whole = explain(trained, RCC8, harbour, "harbour", "city").belief.states
    part = explain(trained, RCC8, harbour, "harbour", "city", rounds=1).belief.states
    assert len(part) == 1 < len(whole)
    np.testing.assert_allclose(part, whole[:1])


@pytest.mark.parametrize("changes", [{}, {"closure": "full"}])
def test_what_there_is_no_time_for_is_told(changes, harbour):
    found = neural.explain(untrained(**changes), harbour, "harbour", "city", seconds=0).belief
    assert len(found.states) == 1
    chain = Network.of(RCC8, [(f"n{i}", "ntpp", f"n{i + 1}") for i in range(neural.TOGETHER + 8)])
    found = neural.explain(untrained(**changes), chain, "n0", "n8", seconds=0)
    measured = [f for f, lost in enumerate(found.belief.influence) if not np.isnan(lost)]
    assert measured == list(range(neural.TOGETHER))  # those near the pair
    assert f"without a fact, of the {neural.TOGETHER} nearest of {len(chain)}" in "\n".join(lines(found))
    lost = [one["probability_lost"] for one in found.to_dict()["influence"]]
    assert lost[-8:] == [None] * 8 and None not in lost[:-8]


def test_a_long_chain_is_explained_soon(trained):
    """Every round of states, and every fact left out in turn, took 90 s of 300 facts, and far longer of more."""
    chain = Network.of(RCC8, [(f"n{i}", "ntpp", f"n{i + 1}") for i in range(1000)])
    start = time.process_time()
    found = trained.explain(chain, "n0", "n1000")
    assert time.process_time() - start < 20  # 4 s on an idle machine
    assert (found.relations, found.belief.entities) == (("NTPP",), ())


def test_a_model_is_loaded_without_the_compiler_of_torch():
    program = "import sys; from epignn.reason import load; load('rcc8'); sys.exit('torch._dynamo' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


def test_where_table_and_model_differ_it_is_said(harbour):
    found = explain(untrained(), RCC8, harbour, "harbour", "city")
    assert not found.proved
    text = "\n".join(lines(found))
    assert "Not proved: the calculus distilled from the model leaves PO(harbour, city)" in text
    assert found.by.relations == ("PO",) != found.relations
    assert found.by.proof.mask == RCC8.parse("po")


def test_not_determined_and_contradictory(trained):
    several = explain(trained, RCC8, network_of("ec(a, b) ec(b, c)"), "a", "c")
    assert several.status is Status.OPEN
    assert lines(several)[0].startswith("not determined: ")
    apart = explain(trained, RCC8, network_of("ec(a, b) ec(c, d)"), "a", "d")
    assert apart.relations == RCC8.relations
    assert apart.proved
    clash = explain(trained, RCC8, network_of("ntpp(a, b) dc(a, b)"), "a", "b")
    assert clash.status is Status.CONTRADICTORY
    assert not clash.proved
    assert lines(clash)[0].startswith("contradictory: ")
    assert clash.by.proof.mask == 0
    assert str(clash) == "contradictory: NTPP(a, b), DC(a, b)"


def test_the_threshold_decides_what_may_hold(trained):
    network = network_of("ec(a, b) ec(b, c)")
    counts = [len(explain(trained, RCC8, network, "a", "c", threshold=t).relations) for t in (0.001, 0.05, 0.9)]
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] == 1
    with pytest.raises(BadArgument, match="between 0 and 1"):
        explain(trained, RCC8, network, "a", "c", threshold=1.5)


@pytest.mark.parametrize("name", ["rcc8", "allen"])
def test_shipped_models_have_the_table_of_the_calculus(name):
    known, learnt = load(name), Learnt.load(name).calculus_
    assert (learnt.composition, learnt.converses) == (known.composition, known.converses)


def test_proofs_for_benchmark_graphs(trained):
    """What the model answers on graphs larger than it was trained on is mostly what its table proves."""
    problems = generated(RCC8, 6, 2, 2, 3)
    learnt, proved = Learnt.load("rcc8").calculus_, 0
    for g in range(len(problems)):
        example = problems.example(g)
        network = Network.of(RCC8, [(str(a), r, str(b)) for a, r, b in example.edges])
        found = explain(trained, learnt, network, *map(str, example.query), rounds=1)
        assert found.by.relations == (example.label,)
        proved += found.proved
    assert proved >= 14


def test_weights_alone_and_other_relations(trained, harbour):
    assert Neural.of(trained.trained_).learnt_.calculus_.relations == RCC8.relations
    other = Neural.of(trained.trained_, Learnt.of(load("rcc5")))
    with pytest.raises(BadArgument, match="the model speaks of"):
        other.explain(harbour, "harbour", "city")


# -- a model whose relations belong to no calculus --


NAMES = tuple(f"r{n}" for n in range(24))
FACTS = Statements.of(NAMES, [("a", "r1", "b"), ("b", "r1", "c"), ("c", "r2", "d"), ("x", "r3", "a")])


@pytest.fixture(params=["full", "directional"])
def kin(request):
    model = replace(graphs.MODEL, closure=request.param)
    # In double precision: a temperature of 0.05 makes the rounding of scores twenty times as large.
    return Neural.of(graphs.untrained(NAMES, model, graphs.own(), "kin", calibrated=0.05, double=True))


def rules_for(answer: int) -> RuleSet:
    """r1, r1 -> r5 and r5, r2 -> the answer."""
    return RuleSet(NAMES, 24, (Rule(1, 1, 5, 0.9), Rule(5, 2, answer, 0.8)))


def ruled_by(model, rules, threshold=neural.THRESHOLD):
    """The same model, with rules beside it."""
    return Neural.of(model.trained_, Learnt.of(rules), threshold)


def test_without_rules_nothing_is_proved(kin):
    found = kin.explain(FACTS, "a", "d")
    (answer,) = kin.answer(FACTS.graph("a", "d"))
    assert found.belief.relations[found.belief.likeliest] == answer.relation
    assert found.belief.chances.max() == pytest.approx(answer.probability)
    assert not found.proved
    assert "Not proved: no rules are beside the model" in "\n".join(lines(found))
    assert found.to_dict()["table"] is None
    assert "no rules were distilled from it" in draw(found)


def test_proved_is_what_rules_derive_as_well(kin):
    likeliest = kin.explain(FACTS, "a", "d").belief.likeliest
    right = ruled_by(kin, rules_for(likeliest), 0.99).explain(FACTS, "a", "d")
    assert right.relations == (NAMES[likeliest],)
    assert right.proved
    assert "Proved: the rules distilled from the model derive the same." in lines(right)
    wrong = ruled_by(kin, rules_for((likeliest + 1) % 24), 0.99).explain(FACTS, "a", "d")
    assert not wrong.proved
    text = "\n".join(lines(wrong))
    assert f"Not proved: the rules distilled from the model derive {wrong.by}" in text
    assert wrong.by.relations == (NAMES[(likeliest + 1) % 24],) != wrong.relations
    assert wrong.to_dict()["proved"] is False


def test_influence_is_what_is_lost_without_a_fact(kin):
    found = kin.explain(FACTS, "a", "d").belief
    for f in (0, 1, 2):  # without one of these nothing leads to d, and every relation is as likely
        assert found.influence[f] == pytest.approx(found.chances.max() - 1 / 24)
    if kin.trained_.experiment.model.closure == "full":  # the other kind hears what leads to the head as well
        assert found.influence[3] == pytest.approx(0, abs=1e-6)


def test_states_begin_when_the_model_has_one(kin):
    found = kin.explain(FACTS, "a", "d").belief
    assert found.entities == ("b", "c", "d")
    last = found.states[-1]
    if kin.trained_.experiment.model.closure == "full":
        np.testing.assert_allclose(found.states[0, 2], 1 / 24)  # three steps are more than one round joins
        expected = kin.probabilities(FACTS.graph("a", "d"))[0]
        np.testing.assert_allclose(last[2], expected, rtol=0, atol=STEADY)
    assert last[2].max() > 1 / 24
    assert len(neural.explain(kin, FACTS, "a", "d", rounds=1).belief.states) == 1


def test_nothing_leads_from_head_to_tail(kin):
    """Of more relations than the threshold has room for, none is preferred."""
    found = ruled_by(kin, rules_for(3)).explain(FACTS, "d", "a")
    assert found.status is Status.OPEN
    assert len(found.relations) == 24
    text = lines(found)
    assert text[0] == "not determined: no facts lead to an answer, every relation of (d, a) may hold"
    assert "derive nothing of the two" in text[1]


def test_what_does_not_fit(kin):
    with pytest.raises(BadArgument, match="speak of other relations"):
        ruled_by(kin, RuleSet(("p",), 1, ())).explain(FACTS, "a", "d")
    with pytest.raises(BadArgument, match="between 0 and 1"):
        neural.explain(kin, FACTS, "a", "d", threshold=1.0)
    for explain in (kin.explain, lambda *question: neural.explain(kin, *question)):
        with pytest.raises(BadArgument, match="about itself"):
            explain(FACTS, "a", "a")
        with pytest.raises(UnknownName, match="Unknown entity 'q'"):
            explain(FACTS, "a", "q")
    invented = replace(rules_for(3), relations=(*NAMES, "r1∘r2"))
    assert ruled_by(kin, invented).explain(FACTS, "a", "d").by is not None
