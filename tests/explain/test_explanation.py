"""What explanations of every kind have in common: plain values, words, a picture and a table of states."""

import json
from xml.etree import ElementTree

import pytest
import torch

from epignn import Learnt, Neural
from epignn.calculus import load
from epignn.data.statements import Statements
from epignn.distil.rules import Rule, RuleSet
from epignn.explain.picture import draw
from epignn.explain.text import lines, states
from tests.explain.conftest import network_of
from tests.graphs import own, untrained

RULES = RuleSet(("p", "q", "r"), 3, (Rule(0, 0, 1, 0.9), Rule(1, 0, 2, 0.8)))
STATED = Statements.of(RULES.relations, [("a", "p", "b"), ("b", "p", "c"), ("c", "p", "d"), ("d", "q", "x")])
NETWORK = network_of("ntpp(a, b) ntpp(b, c) ntpp(c, d) ec(d, x)")


def model(relations, calculus, learnt=None):
    return Neural.of(untrained(relations, task=None if calculus else own()), learnt)


KINDS = {
    "calculus": lambda: Learnt.of(load("rcc8")).explain(NETWORK, "a", "d"),
    "clash": lambda: Learnt.of(load("rcc8")).explain(network_of("ec(a, b) dc(a, b) ec(b, d)"), "a", "d"),
    "rules": lambda: Learnt.of(RULES).explain(STATED, "a", "d"),
    "no rule": lambda: Learnt.of(RULES).explain(STATED, "d", "a"),
    "model": lambda: model(load("rcc8").relations, "rcc8", Learnt.of(load("rcc8"))).explain(NETWORK, "a", "d"),
    "model and rules": lambda: model(RULES.relations, "", Learnt.of(RULES)).explain(STATED, "a", "d"),
    "model alone": lambda: model(RULES.relations, "").explain(STATED, "a", "d"),
    "ignorant model": lambda: model(RULES.relations, "").explain(STATED, "d", "a"),
}


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def found(request):
    torch.set_num_threads(1)
    return request.param()


def test_plain_values(found):
    document = json.loads(json.dumps(found.to_dict()))
    assert (document["kind"], document["status"]) == (found.kind, found.status)
    assert (document["head"], document["tail"]) == (found.head, found.tail)
    assert document["relations"] == list(found.relations)
    assert isinstance(document["rounds"], list)
    parts = {"calculus": {"verdict", "proof", "excluded"}, "rules": {"weight", "weaker", "proofs"}}
    parts["neural"] = {"probabilities", "threshold", "influence", "proved", "table"}
    for kind, keys in parts.items():
        assert keys <= set(document) if kind == found.kind else not keys & set(document)
    if found.kind == "neural":
        assert document["table"] == (json.loads(json.dumps(found.by.to_dict())) if found.by else None)
    else:
        assert document["support"]["facts"] == [
            json.loads(json.dumps(found.facts.triple(f))) for f in found.support.facts
        ]


def test_words_and_picture(found):
    text = lines(found)
    assert text[: len(found.said)] == list(found.said)
    picture = ElementTree.fromstring(draw(found))
    shown = [element.text for element in picture.iter("{http://www.w3.org/2000/svg}text")]
    assert shown[1] == found.credit
    assert shown[0] == ("contradictory" if found.status == "contradictory" else str(found))


@pytest.mark.parametrize("most", [None, 0, 1])
def test_states(found, most):
    title, columns, rows = states(found, most)
    assert f"from {found.head}, round by round" in title
    assert all(len(row) == len(columns) for row in rows)
    if most is not None:
        assert len(columns) <= most + 1
    entities = found.belief.entities if found.belief else found.rounds.entities
    assert [row[0] for row in rows] == ([] if most == 0 else list(entities))


def test_a_step_that_is_used_again_is_told_once():
    facts = Statements.of(("p",), [("a", "p", "b"), ("b", "p", "a"), ("b", "p", "c")])
    rules = RuleSet(("p",), 1, (Rule(0, 0, 0, 0.9),))
    found = Learnt.of(rules).explain(facts, "a", "c")
    (proof,) = found.proofs
    twice = type(proof)("apply", "a", 1, "c", (proof, proof))
    told = found.theory.tree(twice)
    assert [line.split(": ")[1][:9] for line in told if "(a, c)" in line][1:] == ["[1] p(X, ", "as in [1]"]
