"""Explanations by rules: proofs that pass the checker, no fact too many, on walks, on cycles and on long chains."""

import json
from itertools import combinations, product

import numpy as np
import pytest

from epignn.data.statements import Statements
from epignn.distil.reason import reason, strengths
from epignn.distil.rules import Rule, RuleSet
from epignn.explain import ruled
from epignn.explain.checker import WrongProof
from epignn.explain.explanation import Status
from epignn.explain.picture import draw
from epignn.explain.proof import Proof
from epignn.explain.rule_checker import check_rules
from epignn.explain.ruled import explain
from epignn.explain.text import lines
from tests.distil.test_reason import NAMES, random_rules

KIN = RuleSet(
    ("mother", "brother", "uncle", "father", "sister", "aunt"),
    6,
    (Rule(0, 1, 2, 0.95, 83), Rule(0, 4, 5, 0.95, 80), Rule(3, 1, 2, 0.94, 70), Rule(2, 1, 2, 0.5),
     Rule(1, 1, 1, 0.9), Rule(1, 0, 5, 0.3)),
)  # fmt: skip


def kin(*facts):
    return Statements.of(KIN.relations, [tuple(fact.split()) for fact in facts])


def given(facts, chosen):
    return [(facts.names[s], facts.relations[r], facts.names[t]) for s, t, r in (facts.edges[f] for f in chosen)]


def test_an_uncle():
    facts = kin("ann mother bea", "bea brother ben", "ben brother carl", "bea sister eve")
    found = explain(KIN, facts, "ann", "carl")
    assert (found.status, str(found), found.weight) == (Status.DETERMINED, "uncle(ann, carl)", 0.9)
    assert found.support.facts == (0, 1, 2)
    assert found.support.smallest
    text = lines(found)
    assert text[0] == "uncle(ann, carl): follows by rules of weight 0.90 or more"
    assert "  uncle(ann, carl): mother(X, Y), brother(Y, Z) -> uncle(X, Z), weight 0.95, support 83" in text
    assert "    brother(bea, carl): brother(X, Y), brother(Y, Z) -> brother(X, Z), weight 0.90, support 0" in text
    assert "3 facts of 4 that give this answer (no smaller set does)" in text


def test_rounds_tell_what_is_derived_when():
    found = explain(KIN, kin("ann mother bea", "bea brother ben", "ben brother carl"), "ann", "carl")
    by_name = {name: [row[e] for row in found.rounds.relations] for e, name in enumerate(found.rounds.entities)}
    assert by_name["ben"] == [(), ("uncle",), ("uncle",)]
    assert by_name["carl"] == [(), (), ("uncle",)]


def test_not_determined():
    several = explain(KIN, kin("a mother b", "b brother z", "a mother c", "c sister z"), "a", "z")
    assert (several.status, several.relations) == (Status.OPEN, ("uncle", "aunt"))
    assert lines(several)[0] == "not determined: 2 relations follow alike, uncle|aunt(a, z)"
    assert len(several.proofs) == 2
    assert several.support.facts == (0, 1, 2, 3)
    nothing = explain(KIN, kin("a mother b", "z brother b"), "a", "z")
    assert (nothing.status, nothing.relations, nothing.proofs) == (Status.OPEN, (), ())
    assert lines(nothing)[0] == "not determined: no rule leads from a to z"
    assert "Rules exclude nothing" in lines(nothing)[-1]


def test_weaker_answers_are_told():
    found = explain(KIN, kin("a mother b", "b brother z", "a brother c", "c mother z"), "a", "z")
    assert (found.relations, found.weaker) == (("uncle",), {"aunt": 0.3})
    assert "By weaker rules: aunt (0.3)" in lines(found)
    graph = found.facts.graph("a", "z")
    assert strengths(KIN, graph)[0].tolist() == [0, 0, 1.0, 0, 0, 0.3]


def random_facts(rng, names, entities):
    facts = []
    for _ in range(int(rng.integers(3, 10))):
        a, b = rng.choice(entities, 2, replace=False).tolist()
        facts.append((f"e{a}", str(rng.choice(names)), f"e{b}"))
    return Statements.of(NAMES, facts)


@pytest.mark.parametrize("invented", [0, 2])
def test_random_graphs(rng, invented):
    """Every answer is proved, by exactly its facts, and no smaller set of facts gives it."""
    proved = smaller = 0
    while proved < 25:
        rules = random_rules(rng, 12, invented)
        facts = random_facts(rng, NAMES, 5)
        if not {"e0", "e1"} <= set(facts.names):
            continue
        found = explain(rules, facts, "e0", "e1")
        answer = reason(rules, facts.graph("e0", "e1"))
        assert [NAMES.index(r) for r in found.relations] == np.flatnonzero(answer.possible[0]).tolist()
        if not found.relations:
            continue
        proved += 1
        document = json.loads(json.dumps(found.to_dict()))
        leaves = set()
        for relation, proof in zip(found.relations, document["proofs"], strict=True):
            goal, weight = check_rules(proof, rules, given(facts, found.support.facts))
            assert goal == ("e0", relation, "e1")
            assert np.ceil(round(weight * 10, 6)) / 10 >= answer.strength[0] - 1e-9
            leaves |= {(s["head"], s["relation"], s["tail"]) for s in proof["steps"] if s["rule"] == "fact"}
        assert leaves == {tuple(fact) for fact in document["support"]["facts"]}
        assert found.support.smallest
        for size in range(len(found.support.facts)):
            for chosen in combinations(range(len(facts)), size):
                part = reason(rules, facts.select(chosen).graph("e0", "e1"))
                assert (part.possible != answer.possible).any()
                smaller += 1
    assert smaller > 200


def test_long_chains_are_proved():
    """Steps around a circle: relation r moves r on, and r, s -> r + s."""
    names = ("by0", "by1", "by2")
    ends = product(range(3), repeat=2)
    rules = RuleSet(names, 3, tuple(Rule(r, s, (r + s) % 3, 0.95) for r, s in ends))
    steps = np.random.default_rng(0).integers(0, 3, 300)
    facts = Statements.of(names, [(f"e{n}", names[r], f"e{n + 1}") for n, r in enumerate(steps.tolist())])
    found = explain(rules, facts, "e0", "e300")
    assert found.relations == (names[steps.sum() % 3],)
    assert found.support.smallest
    assert len(found.proofs[0]) == 599
    assert draw(found).startswith("<svg")


def test_a_wrong_proof_is_an_error(monkeypatch):
    facts = kin("ann mother bea", "bea brother ben")
    monkeypatch.setattr(ruled, "derive", lambda *_: Proof("fact", "ann", 4, "ben"))
    monkeypatch.setattr(ruled._Answer, "_used", lambda self: [0, 1])
    with pytest.raises(WrongProof, match="fact does not give uncle"):
        explain(KIN, facts, "ann", "ben")
    monkeypatch.setattr(ruled, "derive", lambda *_: Proof("fact", "ann", 1, "bea"))
    with pytest.raises(WrongProof, match="is proved, not uncle"):
        explain(KIN, facts, "ann", "ben")


def test_pictures():
    found = explain(KIN, kin("ann mother bea", "bea brother ben", "bea sister eve"), "ann", "ben")
    picture = draw(found)
    assert "uncle(ann, ben)" in picture
    assert picture.count("stroke-width='2.2'") == 2
    nothing = draw(explain(KIN, kin("a mother b", "z brother b"), "a", "z"))
    assert "not determined" in nothing
    assert "No facts prove an answer" in nothing
