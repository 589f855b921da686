"""The checker of proofs by rules: believes right proofs, and refuses whatever is changed in one."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest

from epignn.data.statements import Statements
from epignn.distil.rules import Rule, RuleSet
from epignn.explain import rule_checker
from epignn.explain.checker import WrongProof
from epignn.explain.rule_checker import check_rules
from epignn.explain.rule_proof import derive, to_dict

RULES = RuleSet(
    ("mother", "brother", "uncle", "son", "cousin"),
    4,
    (Rule(0, 1, 2, 0.9, 83), Rule(2, 3, 4, 0.7, 5), Rule(1, 1, 1, 0.8, 9), Rule(3, 0, 2, 0.6, 0)),
)
GIVEN = [("ann", "mother", "bea"), ("bea", "brother", "ben"), ("ben", "brother", "carl"), ("carl", "son", "dan")]


@pytest.fixture
def proof():
    facts = Statements.of(RULES.relations, GIVEN)
    return to_dict(derive(RULES, facts, "ann", "dan", 4), RULES)


def test_a_right_proof(proof):
    assert check_rules(proof, RULES, GIVEN) == (("ann", "cousin", "dan"), 0.7)
    assert len(proof["steps"]) == 7


def change(key, value):
    def mutate(step):
        step[key] = value

    return mutate


def turn(step):
    step["premises"].reverse()
    step["weight"] -= 0 if step["premises"] else 0.5


def drop(step):
    step["premises"] = step["premises"][:1]
    step["weight"] -= 0 if step["premises"] else 0.5


MUTATIONS = {
    "another relation": change("relation", "sister"),
    "a relation that some other rule gives": change("relation", "uncle"),
    "another head": change("head", "eve"),
    "another tail": change("tail", "eve"),
    "more weight": change("weight", 1.5),
    "less weight": change("weight", 0.1),
    "an unknown rule": change("rule", "guess"),
    "premises turned round": turn,
    "a premise less": drop,
}


@pytest.mark.parametrize("mutate", MUTATIONS.values(), ids=MUTATIONS)
def test_every_mutation_is_refused(mutate, proof):
    changed = 0
    for n in range(len(proof["steps"])):
        wrong = copy.deepcopy(proof)
        mutate(wrong["steps"][n])
        if wrong != proof:
            changed += 1
            with pytest.raises(WrongProof):
                check_rules(wrong, RULES, GIVEN)
    assert changed >= 6


def test_facts_are_given_and_sure(proof):
    for n in range(len(GIVEN)):
        with pytest.raises(WrongProof, match="fact does not give"):
            check_rules(proof, RULES, GIVEN[:n] + GIVEN[n + 1 :])
    with pytest.raises(WrongProof, match="fact does not give"):
        check_rules({"steps": [{**proof["steps"][0], "weight": 0.9}]}, RULES, GIVEN)


def test_every_rule_is_needed(proof):
    for used in ("mother", "brother", "uncle"):
        fewer = replace(RULES, rules=tuple(r for r in RULES.rules if RULES.relations[r.left] != used))
        with pytest.raises(WrongProof, match="apply does not give"):
            check_rules(proof, fewer, GIVEN)
    unused = replace(RULES, rules=tuple(r for r in RULES.rules if RULES.relations[r.left] != "son"))
    assert check_rules(proof, unused, GIVEN)[1] == 0.7


def test_of_equal_rules_the_strongest_counts():
    twice = replace(RULES, rules=(*RULES.rules, Rule(0, 1, 2, 0.2), Rule(2, 3, 4, 0.3)))
    facts = Statements.of(RULES.relations, GIVEN)
    proof = to_dict(derive(twice, facts, "ann", "dan", 4), twice)
    assert check_rules(proof, twice, GIVEN) == (("ann", "cousin", "dan"), 0.7)


def test_steps_meet_in_an_entity():
    steps = [
        {"rule": "fact", "premises": [], "head": "a", "relation": "mother", "tail": "b", "weight": 1.0},
        {"rule": "fact", "premises": [], "head": "c", "relation": "brother", "tail": "d", "weight": 1.0},
        {"rule": "apply", "premises": [0, 1], "head": "a", "relation": "uncle", "tail": "d", "weight": 0.9},
    ]
    with pytest.raises(WrongProof, match="step 2: apply does not give uncle"):
        check_rules({"steps": steps}, RULES, [("a", "mother", "b"), ("c", "brother", "d")])


@pytest.mark.parametrize("premises", [[6, 5], [7, 0], [-1, 0], [True, 2], ["0", 1]])
def test_premises_are_earlier_steps(premises, proof):
    proof["steps"][-1]["premises"] = premises
    with pytest.raises(WrongProof, match="earlier steps"):
        check_rules(proof, RULES, GIVEN)


@pytest.mark.parametrize("document", [{}, {"steps": []}, {"steps": [{}]}, {"steps": 3}])
def test_what_is_no_proof(document):
    with pytest.raises(WrongProof, match="not a proof"):
        check_rules(document, RULES, [])


def test_it_is_small_and_stands_alone():
    lines = Path(rule_checker.__file__).read_text().splitlines()
    assert len(lines) < 80
    imports = [line for line in lines if line.startswith(("import", "from")) and "epignn" in line]
    assert imports == ["from epignn.distil.rules import RuleSet", "from epignn.explain.checker import WrongProof"]
