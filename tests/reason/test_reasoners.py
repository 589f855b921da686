"""Reasoners: one interface, three ways to answer."""

import numpy as np
import pytest
import torch

import epignn
from epignn import Exact, Learnt, Network, Neural, Statements, load
from epignn.distil.rules import Rule, RuleSet, write_rules
from epignn.errors import BadArgument
from epignn.tasks.star import generated
from tests.distil.test_induce import circle
from tests.graphs import own, small

pytestmark = pytest.mark.numeric

RCC8 = load("rcc8")
FACTS = [
    ("harbour", "ec", "old town"),
    ("old town", "ntpp", "city"),
    ("harbour", "tppi", "pier"),
    ("pier", "po", "city"),
]
SMALL = small()


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def network():
    return Network.of(RCC8, FACTS)


@pytest.fixture(params=["exact", "learnt", "neural"])
def reasoner(request):
    return {
        "exact": lambda: Exact("rcc8"),
        "learnt": lambda: Learnt.load("rcc8"),
        "neural": lambda: Neural.load("rcc8"),
    }[request.param]()


def test_all_three_answer_and_explain(reasoner, network):
    assert reasoner.predict([(network, "harbour", "city")]) == ["PO"]
    found = reasoner.explain(network, "harbour", "city")
    assert str(found) == "PO(harbour, city)"
    assert found.status == "determined"


def test_all_three_predict_data_sets(reasoner):
    data = generated(RCC8, 4, 2, 4, 7)
    found = reasoner.predict(data)
    right = sum(answer == RCC8.relations[label] for answer, label in zip(found, data.label, strict=True))
    assert right == len(data) if not isinstance(reasoner, Neural) else right >= 0.9 * len(data)


def test_several_relations_and_clashes():
    open_question = Network.of(RCC8, [("a", "tpp", "b"), ("b", "ec", "c")])
    clash = Network.of(RCC8, [("a", "ec", "c"), ("a", "dc", "c")])
    questions = [(open_question, "a", "c"), (clash, "a", "c"), (open_question, "a", "a")]
    assert Exact().predict(questions) == ["DC|EC", "∅", "EQ"]
    several, none, _ = Exact().answer(questions)
    assert several.to_dict() == {"relation": "DC|EC", "relations": ["DC", "EC"], "consistent": True}
    assert none.to_dict()["conflict"] == [["a", "EC", "c"], ["a", "DC", "c"]]
    assert (none.relations, none.consistent) == ((), False)
    apart = Network.of(RCC8, [("a", "ec", "b"), ("c", "ec", "d")])
    (anything,) = Exact().answer([(apart, "a", "d")])
    assert (anything.relation, anything.relations) == ("*", RCC8.relations)


def test_answers_are_what_is_predicted(reasoner, network):
    (answer,) = reasoner.answer([(network, "harbour", "city")])
    assert [answer.relation] == reasoner.predict([(network, "harbour", "city")])
    assert answer.to_dict()["relations"] == ["PO"]
    assert (answer.probability is not None) == isinstance(reasoner, Neural)
    assert answer.consistent is (None if isinstance(reasoner, Neural) else True)


def test_fit():
    data = generated(RCC8, 2, 1, 20, 1)
    neural = Neural(SMALL, seed=1)
    assert neural.fit(data) is neural
    assert neural.trained_.calibrated is not None
    assert len(neural.predict(data)) == len(data)
    assert neural.learnt_.calculus_.relations == RCC8.relations
    again = Neural(SMALL, seed=1).fit(data)
    assert torch.equal(again.trained_.model.relation_RFK, neural.trained_.model.relation_RFK)
    learnt = Learnt(SMALL).fit(data)
    assert learnt.calculus_.relations == RCC8.relations
    exact = Exact("rcc8")
    assert exact.fit(data) is exact


CIRCLE = small(own(), name="circle")


def test_relations_that_belong_to_no_calculus():
    """Steps around a circle: rules take the place of the calculus, Statements that of a Network."""
    data = circle(np.random.default_rng(0), 600, (2, 3))
    facts = Statements.of(data.relations, [("a", "by1", "b"), ("b", "by1", "c"), ("c", "by2", "d")])
    learnt = Learnt(CIRCLE).fit(data)
    assert learnt.predict([(facts, "a", "d"), (facts, "d", "a")]) == ["by4", "?"]
    assert learnt.predict(data.select([0])) == [data.relations[data.label[0]]]
    assert str(learnt.explain(facts, "a", "d")) == "by4(a, d)"
    neural = Neural(CIRCLE).fit(data)
    (answer,) = neural.predict([(facts, "a", "d")])
    found = neural.explain(facts, "a", "d")
    assert found.belief.relations[found.belief.likeliest] == answer
    assert found.proved == (found.relations == ("by4",))
    assert found.by.relations == ("by4",)
    with pytest.raises(BadArgument, match="has learnt rules"):
        _ = learnt.calculus_
    with pytest.raises(BadArgument, match="Statements are for rules"):
        Exact("rcc8").explain(facts, "a", "d")
    with pytest.raises(BadArgument, match="a Network is for a calculus"):
        learnt.explain(Network.of(RCC8, FACTS), "harbour", "city")
    with pytest.raises(BadArgument, match="the rules speak of"):
        learnt.explain(Statements.of(("x",), [("a", "x", "b")]), "a", "b")


def test_rules_are_loaded(tmp_path):
    path = tmp_path / "rules.toml"
    path.write_text(write_rules(RuleSet(("p", "q"), 2, (Rule(0, 0, 1, 0.9),))), encoding="utf-8")
    facts = Statements.of(("p", "q"), [("a", "p", "b"), ("b", "p", "c")])
    learnt = Learnt.load(str(path))
    assert learnt.predict([(facts, "a", "c")]) == ["q"]
    with pytest.raises(BadArgument, match="has learnt a calculus"):
        _ = Learnt.load("rcc8").rules_


def test_what_is_not_fitted_or_does_not_fit(network):
    for reasoner in (Learnt("rcc8"), Neural("rcc8")):
        with pytest.raises(BadArgument, match="call fit first"):
            reasoner.predict([(network, "harbour", "city")])
    with pytest.raises(BadArgument, match="rcc5 speaks of"):
        Exact("rcc5").explain(network, "harbour", "city")
    with pytest.raises(BadArgument, match="allen speaks of"):
        Exact("allen").fit(generated(RCC8, 2, 1, 1, 0))


def test_exports_are_loaded_when_used():
    assert epignn.Reasoner is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = epignn.Nothing
