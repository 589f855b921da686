"""One question to all: models of a calculus, of words that a calculus knows, and of words that none knows."""

import json

import pytest
import torch

from epignn.distil.rules import Rule, RuleSet, write_rules
from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.formats.told import Told
from epignn.learn.checkpoint import WEIGHTS, save_config, save_tensors
from epignn.reason.ask import ask
from tests.graphs import own, untrained

WORDS = ("contains", "disconnected", "equals", "inside", "overlaps", "touches")
"""Words of RCC-8: `inside` is TPP or NTPP, so that none of these models can read a network of RCC-8."""
CHAIN = "inside(a, b). inside(b, c). disconnected(c, d)"


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def run(tmp_path):
    """A run folder of a model of some words, with rules beside it if there are any."""

    def make(relations, *rules):
        trained = untrained(relations, task=own())
        save_tensors(tmp_path / WEIGHTS, trained.model.state_dict())
        save_config(tmp_path, trained.config)
        if rules:
            named = [Rule(*map(relations.index, rule), 0.9) for rule in rules]
            text = write_rules(RuleSet(relations, len(relations), tuple(named)))
            (tmp_path / "rules.toml").write_text(text, encoding="utf-8")
        return str(tmp_path)

    return make


def test_words_of_a_calculus_are_answered_by_model_rules_and_closure(run):
    model = run(WORDS, ("inside", "inside", "inside"), ("inside", "disconnected", "disconnected"))
    found = ask(Told.read(CHAIN), "a", "d", model)
    assert found.neural.relation in WORDS
    assert 0 < found.neural.runner_up_probability < found.neural.probability
    assert found.learnt.relations == ("disconnected",)
    assert (found.exact.relations, found.exact.consistent) == (("disconnected",), True)
    assert found.agree == (found.neural.relation == "disconnected")
    document = json.loads(json.dumps(found.to_dict()))
    assert (document["calculus"], document["exact"], document["consistent"]) == ("rcc8", ["disconnected"], True)


def test_sets_are_told_in_the_words_of_the_model_as_far_as_they_reach(run):
    few = tuple(word for word in WORDS if word != "disconnected")
    found = ask(Told.read("touches(a, b). inside(b, c)"), "a", "c", run(few))
    assert found.exact.relations == ("inside", "overlaps", "touches")
    found = ask(Told.read("inside(a, b). touches(b, c)"), "a", "c", run(few))
    assert found.exact.relation == "touches|DC"


def test_facts_that_only_the_calculus_reads(run):
    found = ask(Told.read("ntpp(a, b). inside(b, c)"), "a", "c", run(WORDS, ("inside", "inside", "inside")))
    assert found.neural.reason.startswith("no answer: the facts:1:1: Unknown relation 'ntpp'")
    assert found.learnt is None
    assert found.exact.relations == ("inside",)
    assert not found.agree
    assert found.to_dict()["neural"] is None


def test_a_clash_is_found_by_closure_alone(run):
    found = ask(Told.read("inside(a, b). inside(b, c). disconnected(a, c)"), "a", "c", run(WORDS))
    assert found.exact.consistent is False
    assert [str(fact) for fact in found.exact.conflict] == ["TPP|NTPP(a, b)", "TPP|NTPP(b, c)", "DC(a, c)"]
    assert found.to_dict()["consistent"] is False
    assert found.differences == []


def test_closure_may_look_back_where_the_model_cannot(run):
    found = ask(Told.read(CHAIN), "d", "a", run(WORDS))
    assert found.neural.reason.startswith("no answer: no path leads from head to tail")
    assert found.exact.relations == ("disconnected",)


def test_differences_are_told(run):
    asked = Told.read(CHAIN), "a", "d"
    said = ask(*asked, run(WORDS)).neural.relation
    other = next(word for word in WORDS if word not in (said, "disconnected"))
    found = ask(*asked, run(WORDS, ("inside", "inside", "inside"), ("inside", "disconnected", other)))
    assert found.learnt.relations == (other,)
    assert found.differences == [
        *(["The model's answer is not possible."] if said != "disconnected" else []),
        "The model's answer is not one that its rules derive.",
    ]


def test_words_of_no_calculus_have_no_exact_answer(run):
    model = run(("by1", "by2"))
    found = ask(Told.read("by1(a, b). by1(b, c)"), "a", "c", model)
    assert (found.calculus, found.exact, found.learnt, found.agree) == (None, None, None, False)
    with pytest.raises(BadFile, match="Unknown relation 'by3'"):
        ask(Told.read("by3(a, b)"), "a", "b", model)
    with pytest.raises(BadArgument, match="no path leads from head to tail"):
        ask(Told.read("by1(a, b)"), "b", "a", model)
    with pytest.raises(UnknownName, match="Unknown entity 'z'"):
        ask(Told.read("by1(a, b)"), "a", "z", model)


def test_a_shipped_model_is_chosen_by_the_words():
    assert ask(Told.read("before(a, b). meets(b, c)"), "a", "c").model == "allen"
    assert ask(Told.read("touches(a, b). ntpp(b, c)"), "a", "c").calculus == "rcc8"
    with pytest.raises(BadArgument, match="no model is shipped for rcc5"):
        ask(Told.read("dr(a, b)"), "a", "b")
