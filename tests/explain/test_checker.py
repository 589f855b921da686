"""The checker: believes right proofs, and refuses whatever is changed in one."""

import copy
from dataclasses import replace
from pathlib import Path

import pytest

from epignn.calculus import load
from epignn.calculus.solve.closure import close
from epignn.explain import checker
from epignn.explain.checker import WrongProof, check
from epignn.explain.derive import derive, refute
from epignn.explain.proof import from_dict, to_dict
from tests.conftest import random_network
from tests.explain.conftest import given, network_of

RCC8 = load("rcc8")


def proof_of(network, head, tail):
    return to_dict(derive(network, head, tail, close(network).mask(head, tail)), network.calculus)


@pytest.fixture
def proof(harbour):
    return proof_of(harbour, "harbour", "city")


def test_a_right_proof(proof, harbour):
    assert check(proof, RCC8, given(harbour)) == ("harbour", {"PO"}, "city")
    assert len(from_dict(proof, RCC8)) == len(proof["steps"]) == 7


def change_relations(step, rng):
    names = set(RCC8.relations)
    flipped = {rng.choice(sorted(names))}
    step["relations"] = sorted(set(step["relations"]) ^ flipped)


def change_end(step, rng):
    step[rng.choice(["head", "tail"])] = "elsewhere"


def change_rule(step, rng):
    step["rule"] = rng.choice([r for r in ("fact", "compose", "intersect", "converse", "x") if r != step["rule"]])


def drop_premise(step, rng):
    if step["premises"]:
        step["premises"].pop(int(rng.integers(len(step["premises"]))))
    else:
        change_relations(step, rng)


def swap_premises(step, rng):
    if step["rule"] == "compose":
        step["premises"].reverse()
    else:
        change_end(step, rng)


@pytest.mark.parametrize("mutate", [change_relations, change_end, change_rule, drop_premise, swap_premises])
def test_every_mutation_is_refused(mutate, proof, harbour, rng):
    for n in range(len(proof["steps"])):
        for _ in range(8):
            wrong = copy.deepcopy(proof)
            mutate(wrong["steps"][n], rng)
            with pytest.raises(WrongProof, match=r"step|not a proof"):
                check(wrong, RCC8, given(harbour))


def test_mutations_of_random_proofs_are_refused(calculus, rng):
    """A changed set anywhere in a proof, whichever step it is."""
    tried = 0
    while tried < 20:
        network = random_network(calculus, rng, 6, 0.5, 2)
        result = close(network)
        proof = to_dict(
            derive(network, "0", "5", result.mask("0", "5")) if result.consistent else refute(network),
            calculus,
        )
        check(proof, calculus, given(network))
        step = proof["steps"][rng.integers(len(proof["steps"]))]
        step["relations"] = sorted(set(step["relations"]) ^ {str(rng.choice(calculus.relations))})
        with pytest.raises(WrongProof):
            check(proof, calculus, given(network))
        tried += 1


def test_names_are_distinct_only_where_the_calculus_says_so():
    kinship = load("kinship")
    for calculus, head, tail, right in (
        (kinship, "a", "b", True),
        (kinship, "a", "a", False),
        (RCC8, "a", "b", False),
    ):
        others = [name for r, name in enumerate(calculus.relations) if r != calculus.identity]
        proof = {"steps": [{"rule": "distinct", "premises": [], "head": head, "relations": others, "tail": tail}]}
        if right:
            assert check(proof, calculus, []) == (head, set(others), tail)
            proof["steps"][0]["relations"] = others[1:]
        with pytest.raises(WrongProof, match="distinct does not give"):
            check(proof, calculus, [])


def test_a_fact_that_is_not_given_is_refused(proof, harbour):
    facts = given(harbour)
    for n in range(4):
        with pytest.raises(WrongProof, match="fact does not give"):
            check(proof, RCC8, facts[:n] + facts[n + 1 :])
    assert check(proof, RCC8, facts[:4])


@pytest.mark.parametrize("premises", [[7, 6], [-1, 0], [6, 6], [True, 2], ["0", 1]])
def test_premises_are_earlier_steps(premises, proof, harbour):
    proof["steps"][-1]["premises"] = premises
    with pytest.raises(WrongProof, match="earlier steps"):
        check(proof, RCC8, given(harbour))


@pytest.mark.parametrize(
    "document", [{}, {"steps": []}, {"steps": [{}]}, {"steps": 3}, {"steps": [{"premises": 1}]}]
)
def test_what_is_no_proof(document):
    with pytest.raises(WrongProof, match="not a proof"):
        check(document, RCC8, [])


def test_another_table_refuses(proof, harbour):
    """The same proof against a table in which one cell it uses is larger."""
    ec, ntpp = RCC8.relations.index("EC"), RCC8.relations.index("NTPP")
    rows = [list(row) for row in RCC8.composition]
    rows[ec][ntpp] = RCC8.universal
    other = replace(RCC8, composition=tuple(map(tuple, rows)))
    with pytest.raises(WrongProof, match="compose does not give"):
        check(proof, other, given(harbour))


def test_composition_needs_a_common_entity():
    network = network_of("ec(a, b) ntpp(b, c) ntpp(x, c)")
    proof = proof_of(network, "a", "c")
    wrong = copy.deepcopy(proof)
    wrong["steps"][[s["head"] for s in wrong["steps"]].index("b")]["head"] = "x"
    with pytest.raises(WrongProof, match="compose"):
        check(wrong, RCC8, given(network))


def step(rule, premises, head, relations, tail):
    return {"rule": rule, "premises": premises, "head": head, "relations": relations.split("|"), "tail": tail}


FACTS = [("a", ["EC"], "b"), ("b", ["NTPP"], "c"), ("a", ["DC", "EC"], "b")]
EC, NTPP, BOTH = (
    step("fact", [], "a", "EC", "b"),
    step("fact", [], "b", "NTPP", "c"),
    step("fact", [], "a", "DC|EC", "b"),
)


@pytest.mark.parametrize(
    ("before", "right", "wrong"),
    [
        (
            [],
            step("identity", [], "a", "EQ", "a"),
            [step("identity", [], "a", "EQ", "b"), step("identity", [], "a", "PO", "a")],
        ),
        (
            [],
            step("anything", [], "a", "|".join(RCC8.relations), "z"),
            [step("anything", [], "a", "DC|EC", "z")],
        ),
        (
            [NTPP],
            step("converse", [0], "c", "NTPPI", "b"),
            [
                step("converse", [0], "b", "NTPPI", "c"),
                step("converse", [0], "c", "NTPP", "b"),
                step("converse", [0], "c", "NTPPI|EQ", "b"),
                step("converse", [0], "a", "NTPPI", "b"),
            ],
        ),
        (
            [EC, NTPP],
            step("compose", [0, 1], "a", "PO|TPP|NTPP", "c"),
            [
                step("compose", [0, 1], "a", "PO|TPP|NTPP|EQ", "c"),
                step("compose", [0, 1], "a", "PO|TPP", "c"),
                step("compose", [0, 1], "a", "PO|TPP|NTPP", "b"),
                step("compose", [0, 1], "b", "PO|TPP|NTPP", "c"),
                step("compose", [1, 0], "b", "PO|TPP|NTPP", "b"),
                step("compose", [0], "a", "EC", "b"),
            ],
        ),
        (
            [EC, BOTH, NTPP],
            step("intersect", [0, 1], "a", "EC", "b"),
            [
                step("intersect", [0, 1], "a", "DC|EC", "b"),
                step("intersect", [0, 1], "a", "DC", "b"),
                step("intersect", [0, 1], "b", "EC", "a"),
                step("intersect", [1, 0], "a", "EC", "c"),
                step("intersect", [2, 2], "a", "NTPP", "b"),
                step("intersect", [], "a", "EC", "b"),
            ],
        ),
    ],
    ids=["identity", "anything", "converse", "compose", "intersect"],
)
def test_every_rule_gives_what_it_says_and_nothing_else(before, right, wrong):
    stated = right["head"], frozenset(right["relations"]), right["tail"]
    assert check({"steps": [*before, right]}, RCC8, FACTS) == stated
    for other in wrong:
        with pytest.raises(WrongProof, match=f"step {len(before)}: {right['rule']} does not give"):
            check({"steps": [*before, other]}, RCC8, FACTS)


def test_it_is_small_and_stands_alone():
    lines = Path(checker.__file__).read_text().splitlines()
    assert len(lines) < 80
    imports = [line for line in lines if line.startswith(("import", "from")) and "epignn" in line]
    assert imports == ["from epignn.calculus.algebra import Calculus", "from epignn.errors import EpignnError"]
