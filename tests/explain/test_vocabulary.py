"""Explanations of a model whose relations belong to no calculus: honest with rules beside it, and without."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.data.statements import Statements
from epignn.distil.rules import Rule, RuleSet
from epignn.errors import BadArgument
from epignn.explain.document import as_dict
from epignn.explain.picture import draw
from epignn.explain.symbolic import Status
from epignn.explain.text import lines
from epignn.explain.vocabulary import explain
from epignn.learn.answer import predict, probabilities
from epignn.learn.checkpoint import Trained
from epignn.learn.config import DataConfig, Experiment
from epignn.models.epignn import EpiGNN, ModelConfig

NAMES = tuple(f"r{n}" for n in range(24))
FACTS = Statements.of(NAMES, [("a", "r1", "b"), ("b", "r1", "c"), ("c", "r2", "d"), ("x", "r3", "a")])


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(params=["full", "directional"])
def trained(request):
    model = ModelConfig(dim=16, facets=2, rounds="auto", self_message=False, closure=request.param)
    experiment = Experiment(data=DataConfig(calculus=""), model=model)
    return Trained("kin", EpiGNN(24, model, torch.Generator().manual_seed(0)), experiment, NAMES, 0, {}, 0.05)


def rules_for(answer: int) -> RuleSet:
    """r1, r1 -> r5 and r5, r2 -> the answer."""
    return RuleSet(NAMES, 24, (Rule(1, 1, 5, 0.9), Rule(5, 2, answer, 0.8)))


def test_without_rules_nothing_is_proved(trained):
    found = explain(trained, None, FACTS, "a", "d")
    (answer,) = predict(trained, FACTS.graph("a", "d"))
    assert found.relations[found.likeliest] == answer.relation
    assert found.chances.max() == pytest.approx(answer.probability)
    assert not found.proved
    assert "Not proved: no rules are beside the model" in "\n".join(lines(found))
    assert as_dict(found)["table"] is None
    assert "no rules were distilled from it" in draw(found)


def test_proved_is_what_rules_derive_as_well(trained):
    likeliest = explain(trained, None, FACTS, "a", "d", threshold=0.99).likeliest
    right = explain(trained, rules_for(likeliest), FACTS, "a", "d", threshold=0.99)
    assert right.answers == (NAMES[likeliest],)
    assert right.proved
    assert "Proved: the rules distilled from the model derive the same." in lines(right)
    wrong = explain(trained, rules_for((likeliest + 1) % 24), FACTS, "a", "d", threshold=0.99)
    assert not wrong.proved
    text = "\n".join(lines(wrong))
    assert f"Not proved: the rules distilled from the model derive {wrong.table}" in text
    assert wrong.table.relations == (NAMES[(likeliest + 1) % 24],) != wrong.answers
    assert as_dict(wrong)["proved"] is False


def test_influence_is_what_is_lost_without_a_fact(trained):
    found = explain(trained, None, FACTS, "a", "d")
    for f in (0, 1, 2):  # without one of these nothing leads to d, and every relation is as likely
        assert found.influence[f] == pytest.approx(found.chances.max() - 1 / 24)
    if trained.experiment.model.closure == "full":  # the other kind hears what leads to the head as well
        assert found.influence[3] == pytest.approx(0, abs=1e-6)


def test_states_begin_when_the_model_has_one(trained):
    found = explain(trained, None, FACTS, "a", "d")
    assert found.states.entities == ("b", "c", "d")
    last = found.states.chances[-1]
    if trained.experiment.model.closure == "full":
        np.testing.assert_allclose(found.states.chances[0, 2], 1 / 24)  # three steps are more than one round joins
        expected = probabilities(trained, FACTS.graph("a", "d"))[0]
        np.testing.assert_allclose(last[2], expected, atol=1e-6)
    assert last[2].max() > 1 / 24
    assert len(explain(trained, None, FACTS, "a", "d", rounds=1).states.chances) == 1


def test_nothing_leads_from_head_to_tail(trained):
    """Of more relations than the threshold has room for, none is preferred."""
    found = explain(trained, rules_for(3), FACTS, "d", "a")
    assert found.status is Status.OPEN
    assert len(found.answers) == 24
    text = lines(found)
    assert text[0] == "not determined: no facts lead to an answer, every relation of (d, a) may hold"
    assert "derive nothing of the two" in text[1]


def test_what_does_not_fit(trained):
    with pytest.raises(BadArgument, match="speak of other relations"):
        explain(trained, RuleSet(("p",), 1, ()), FACTS, "a", "d")
    with pytest.raises(BadArgument, match="between 0 and 1"):
        explain(trained, None, FACTS, "a", "d", threshold=1.0)
    with pytest.raises(BadArgument, match="about itself"):
        explain(trained, None, FACTS, "a", "a")
    invented = replace(rules_for(3), relations=(*NAMES, "r1∘r2"))
    assert explain(trained, invented, FACTS, "a", "d").table is not None
