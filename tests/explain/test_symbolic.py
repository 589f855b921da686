"""Explanations by a calculus: answers, exclusions, rounds, and the three kinds of answer."""

import json

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.errors import UnknownName
from epignn.explain import symbolic
from epignn.explain.checker import WrongProof, check
from epignn.explain.explanation import Status
from epignn.explain.proof import Proof, anything
from epignn.explain.symbolic import explain
from epignn.explain.text import lines
from epignn.tasks.star import generated
from tests.conftest import random_network
from tests.explain.conftest import given, network_of


def test_the_harbour(harbour):
    found = explain(harbour, "harbour", "city")
    assert (found.status, found.relations) == (Status.DETERMINED, ("PO",))
    assert found.support.facts == (0, 1, 2, 3)
    paths = {e.relations: e.path for e in found.exclusions}
    assert paths == {
        ("DC", "EC", "TPPI", "NTPPI", "EQ"): ("harbour", "old town", "city"),
        ("TPP", "NTPP"): ("harbour", "pier", "city"),
    }
    text = "\n".join(lines(found))
    assert "PO(harbour, city): the only relation left" in text
    assert "harbour –TPPI→ pier –PO→ city" in text
    assert "4 facts of 6 that give this answer (no smaller set does)" in text


def test_not_determined(harbour):
    found = explain(harbour, "pier", "old town")
    assert (found.status, found.relations) == (Status.OPEN, ("DC", "EC"))
    assert lines(found)[0] == "not determined: 2 of 8 relations may hold, DC|EC(pier, old town)"
    nothing = explain(network_of("ec(a, b) ec(c, d)"), "a", "d")
    assert nothing.support.facts == ()
    assert lines(nothing)[0].startswith("not determined: nothing follows about (a, d)")
    assert not nothing.exclusions


def test_contradictory():
    found = explain(network_of("ntpp(a, b) dc(c, b) tpp(d, a) po(d, c) ec(x, y)"), "x", "y")
    assert (found.status, found.relations) == (Status.CONTRADICTORY, ())
    assert found.support.facts == (0, 1, 2, 3)
    assert found.support.smallest
    assert found.proof.mask == 0
    assert str(found) == "contradictory: NTPP(a, b), DC(c, b), TPP(d, a), PO(d, c)"
    assert "4 facts of 5 that cannot hold together" in "\n".join(lines(found))


def set_of(calculus, names):
    return calculus.parse("|".join(names))


def test_random_networks(calculus, rng):
    """Every relation is left or excluded once, by facts that do exclude it; JSON proofs pass the checker."""
    seen = set()
    while len(seen) < 3:
        network = random_network(calculus, rng, 6, 0.5, rng.choice([1, 2]))
        found = explain(network, "0", "5")
        seen.add(found.status)
        document = json.loads(json.dumps(found.to_dict()))
        check(document["proof"], calculus, given(network))
        if found.status is Status.CONTRADICTORY:
            continue
        mask = close(network).mask("0", "5")
        assert set_of(calculus, found.relations) == mask == found.proof.mask
        assert sum(set_of(calculus, e.relations) for e in found.exclusions) == calculus.anything & ~mask
        for exclusion, stored in zip(found.exclusions, document["excluded"], strict=True):
            part = network.select(list(exclusion.support.facts))
            left = set_of(calculus, exclusion.left)
            assert close(part).mask("0", "5") == left == exclusion.proof.mask
            assert not left & set_of(calculus, exclusion.relations)
            assert set_of(calculus, check(stored["proof"], calculus, given(part))[1]) == left
            assert stored["left"] == list(exclusion.left)
        assert found.rounds.relations[-1][found.rounds.entities.index("5")] == found.relations
        assert found.known["5"] == found.relations


def test_benchmark_graphs(rng):
    """Graphs of the benchmark: the label is the answer, and a path of the graph's length is enough or is not."""
    calculus = load("rcc8")
    problems = generated(calculus, 5, 2, 1, 3)
    for g in range(len(problems)):
        example = problems.example(g)
        network = Network.of(calculus, [(str(a), r, str(b)) for a, r, b in example.edges])
        found = explain(network, *map(str, example.query))
        assert found.relations == (example.label,)
        for exclusion in found.exclusions:
            assert not exclusion.path or len(exclusion.path) == len(exclusion.support.facts) + 1


def test_rounds_refine(harbour):
    rounds = explain(harbour, "harbour", "city").rounds
    assert set(rounds.entities) == {"harbour", "old town", "city", "pier"}
    city = [row[rounds.entities.index("city")] for row in rounds.relations]
    assert city == [harbour.calculus.relations, ("PO",)]


def test_a_wrong_proof_is_an_error(harbour, monkeypatch):
    monkeypatch.setattr(symbolic, "derive", lambda *_: Proof("fact", "harbour", 4, "city"))
    with pytest.raises(WrongProof):
        explain(harbour, "harbour", "city")


def test_a_proof_of_too_little_is_an_error(harbour, monkeypatch):
    everything = anything(harbour.calculus, "harbour", "city")
    monkeypatch.setattr(symbolic, "derive", lambda *_: everything)
    with pytest.raises(WrongProof, match="is proved, not PO"):
        explain(harbour, "harbour", "city")


def test_unknown_entities(harbour):
    with pytest.raises(UnknownName, match="Did you mean 'city'"):
        explain(harbour, "harbour", "citi")
    assert explain(harbour, "city", "city").relations == ("EQ",)


def test_a_chain_of_a_thousand_facts():
    network = Network.of(load("rcc8"), [(f"n{i}", "ntpp", f"n{i + 1}") for i in range(1000)])
    found = explain(network, "n0", "n1000")
    assert str(found) == "NTPP(n0, n1000)"
    assert (len(found.support.facts), found.support.smallest) == (1000, True)
    assert len(found.proof) == 1999  # the facts, and a composition for each but one; the checker has passed it


@pytest.mark.parametrize("length", [20, 40])
def test_a_path_is_proved_alike_by_halves_and_by_a_trace(length):
    """Facts in either direction; up to 30 of them the trace proves, above that composition by halves."""
    facts = [(f"n{i}", "ntpp", f"n{i + 1}") if i % 2 else (f"n{i + 1}", "ntppi", f"n{i}") for i in range(length)]
    found = explain(Network.of(load("rcc8"), [*facts, ("n4", "ec", "z")]), "n0", f"n{length}")
    assert str(found) == f"NTPP(n0, n{length})"
    assert (found.support.facts, found.support.smallest) == (tuple(range(length)), True)
