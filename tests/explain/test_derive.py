"""Proofs conclude exactly what closure gives, pass the checker, and hold nothing that can be left out."""

from itertools import pairwise

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.explain.checker import check
from epignn.explain.derive import derive, refute
from epignn.explain.proof import as_text, compose, fact, from_dict, intersect, to_dict
from tests.conftest import random_network
from tests.explain.conftest import given, network_of


def checked(network, proof):
    calculus = network.calculus
    head, relations, tail = check(to_dict(proof, calculus), calculus, given(network))
    return head, sum(calculus.parse_one(r) for r in relations), tail


@pytest.mark.parametrize("size", [1, 2, 4])
def test_random_networks(calculus, size, rng):
    consistent = contradictory = 0
    while consistent < 30:
        network = random_network(calculus, rng, int(rng.integers(2, 9)), 0.5, min(size, len(calculus) - 1))
        result = close(network)
        if result.consistent:
            head, tail = rng.choice(network.names, 2, replace=False).tolist()
            mask = result.mask(head, tail)
            assert checked(network, derive(network, head, tail, mask)) == (head, mask, tail)
            consistent += 1
        else:
            assert checked(network, refute(network))[1] == 0
            contradictory += 1
    assert contradictory or size > 1


def test_a_weaker_goal_gives_a_shorter_proof(harbour):
    calculus = harbour.calculus
    mask = calculus.parse("dc|ec|po|tppi|ntppi|eq")
    proof = derive(harbour, "harbour", "city", mask)
    assert not proof.mask & ~mask
    assert proof.facts() == [("harbour", calculus.parse("tppi"), "pier"), ("pier", calculus.parse("po"), "city")]


def test_parts_of_intersections_are_needed(calculus, rng):
    """Without any one of its premises an intersection would leave more."""
    seen = 0
    while seen < 10:
        network = random_network(calculus, rng, 7, 0.6, 2)
        result = close(network)
        if not result.consistent:
            continue
        for step in derive(network, "0", "6", result.mask("0", "6")).steps():
            if step.rule != "intersect":
                continue
            seen += 1
            for premise in step.premises:
                masks = [other.mask for other in step.premises if other is not premise]
                assert np.bitwise_and.reduce(masks) & ~step.mask


def test_long_chains_do_not_exhaust_the_stack(calculus):
    names = [f"e{i}" for i in range(60)]
    alike = calculus.parse("his-brother") if calculus.distinct else calculus.identity_mask
    network = Network.of(calculus, [(a, alike, b) for a, b in pairwise(names)])
    proof = derive(network, "e0", "e59", alike)
    assert checked(network, proof) == ("e0", alike, "e59")
    assert len(as_text(proof, calculus)) >= len(proof.facts()) == 59


def test_what_nothing_is_known_of(harbour):
    network = network_of("ec(a, b) ec(c, d)")
    proof = derive(network, "a", "d", network.calculus.universal)
    assert proof.rule == "anything"
    assert checked(network, proof) == ("a", network.calculus.universal, "d")
    assert derive(harbour, "city", "city", 1).rule == "identity"


@pytest.mark.parametrize(
    "text", ["ec(a, a)", "ec(a, b) dc(a, b)", "ec(a, b) ntpp(b, a)", "< (a,b) < (b,c) < (c,a)"]
)
def test_refutations(text):
    network = network_of(text)
    proof = refute(network)
    assert checked(network, proof)[1] == 0
    assert len(proof.facts()) == len(network)


def test_json_and_text(harbour):
    calculus = harbour.calculus
    proof = derive(harbour, "harbour", "city", calculus.parse("po"))
    again = from_dict(to_dict(proof, calculus), calculus)
    assert to_dict(again, calculus) == to_dict(proof, calculus)
    assert as_text(again, calculus) == [
        "PO(harbour, city): what these leave together",
        "  PO|TPP|NTPP(harbour, city): composed of",
        "    EC(harbour, old town): a fact",
        "    NTPP(old town, city): a fact",
        "  PO|TPPI|NTPPI(harbour, city): composed of",
        "    TPPI(harbour, pier): a fact",
        "    PO(pier, city): a fact",
    ]


def test_shared_steps_are_told_once():
    """A sub-proof that two others use is one step, numbered in the text."""
    calculus = load("point")
    shared = compose(calculus, fact("a", 2, "b"), fact("b", 2, "c"))
    twice = intersect((compose(calculus, shared, fact("c", 2, "d")), compose(calculus, shared, fact("c", 3, "d"))))
    text = as_text(twice, calculus)
    assert sum("[1]" in line for line in text) == 2
    assert len(twice) == 8
