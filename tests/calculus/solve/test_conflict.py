"""Minimal conflicts: inconsistent together, consistent without any one, also inside large networks."""

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epignn.calculus import load
from epignn.calculus.network import Network, arrays
from epignn.calculus.solve.closure import close, contradiction_test
from epignn.calculus.solve.conflict import _trees_agree, minimal_conflict, minimal_subset
from epignn.calculus.solve.search import solve
from epignn.calculus.solve.sparse import partial
from tests.calculus.solve.test_closure import model_network
from tests.conftest import random_network


@given(st.sets(st.integers(0, 60), min_size=1), st.integers(0, 60))
def test_minimal_subset_finds_a_unique_core(core, extra):
    items = sorted(core | set(range(extra)))
    assert set(minimal_subset(items, lambda chosen: core <= set(chosen))) == core


def test_minimal_subset_of_nothing_needed():
    assert minimal_subset([], lambda chosen: True) == []


def assert_minimal(network, conflict, inconsistent):
    facts = [(fact.head, fact.relations, fact.tail) for fact in conflict]
    assert facts
    assert inconsistent(Network.of(network.calculus, facts))
    for left_out in range(len(facts)):
        assert not inconsistent(Network.of(network.calculus, facts[:left_out] + facts[left_out + 1 :]))


@pytest.mark.parametrize("method", [close, solve])
def test_conflicts_are_minimal(method, calculus, rng):
    found = 0
    for _ in range(15):
        network = random_network(calculus, rng, 8, 0.7, 1.5)
        result = method(network)
        if not result.consistent:
            found += 1
            assert_minimal(network, result.conflict, lambda part: not method(part).consistent)
        else:
            assert result.conflict == ()
    assert found >= 3


@pytest.mark.parametrize("method", [close, partial])
def test_a_contradiction_in_a_large_network_is_found(method, rng):
    network = model_network(load("rcc8"), rng, 400, facts=1500)
    wrong = [("10", "ntpp", "x"), ("x", "ntpp", "y"), ("y", "tpp", "z"), ("z", "dc|ec", "10")]
    facts = [network.fact(f) for f in range(len(network))]
    triples = [(fact.head, fact.relations, fact.tail) for fact in facts]
    spoiled = Network.of(network.calculus, triples + wrong)
    result = method(spoiled)
    assert {str(fact) for fact in result.conflict} == {
        "NTPP(10, x)",
        "NTPP(x, y)",
        "TPP(y, z)",
        "DC|EC(z, 10)",
    }


@pytest.mark.parametrize("method", [close, solve])
def test_a_wrong_fact_among_two_thousand_entities_is_found_within_seconds(method, rng):
    place, ends = rng.permutation(2000), rng.integers(0, 2000, size=(2, 60_000))
    ends = ends[:, ends[0] != ends[1]]
    masks = np.where(place[ends[0]] < place[ends[1]], 1, 4)
    masks[1000] = 5 - masks[1000]  # < for > or > for <
    network = Network(load("point"), tuple(map(str, range(2000))), *arrays(*ends, masks))
    start = time.process_time()
    conflict = method(network).conflict
    assert time.process_time() - start < 8  # about one second of the processor
    assert network.fact(1000) in conflict
    assert_minimal(network, conflict, lambda part: not close(part).consistent)


@pytest.mark.parametrize("method", [close, partial, solve])
def test_a_long_way_round_is_found_within_seconds(method):
    """A ring of 300, all of which is needed, beside twice as many facts that are not."""
    ring = [(f"r{i}", "<", f"r{(i + 1) % 300}") for i in range(300)]
    others = [(f"x{i}", "<", f"x{i + 1}") for i in range(300)] + [(f"r{i}", "<=", f"x{i}") for i in range(300)]
    start = time.process_time()
    conflict = method(Network.of(load("point"), others + ring)).conflict
    assert time.process_time() - start < 5  # half a second of the processor
    assert [(fact.head, fact.relations, fact.tail) for fact in conflict] == ring


def test_two_facts_that_contradict_each_other():
    network = Network.of(load("rcc8"), [("a", "dc", "b"), ("b", "po", "c"), ("b", "ec", "a")])
    assert [str(fact) for fact in close(network).conflict] == ["DC(a, b)", "EC(b, a)"]


def test_a_thing_that_differs_from_itself():
    network = Network.of(load("rcc8"), [("a", "dc", "b"), ("b", "po|ec", "b")])
    assert [str(fact) for fact in close(network).conflict] == ["EC|PO(b, b)"]
    assert close(Network.of(load("rcc8"), [("b", "eq|ec", "b")])).consistent
    assert len(np.unique(close(network).network.heads)) == 2


def chain(calculus, length):
    """Each entity inside the next, and the first outside the last: all facts are needed for the clash."""
    facts = [(f"n{i}", "ntpp", f"n{i + 1}") for i in range(length)]
    return Network.of(calculus, [*facts, ("n0", "dc", f"n{length}"), ("n3", "po", "x"), ("x", "po", "y")])


@pytest.mark.parametrize("algorithm", [close, partial])
def test_a_long_circle_is_known_by_its_shape(algorithm):
    """By tests alone it would take two for each of its facts, and each test as long as the network."""
    result = algorithm(chain(load("rcc8"), 300))
    assert len(result.conflict) == 301
    assert result.conflict_is_minimal


def test_the_circle_of_a_hundred_thousand_facts():
    result = partial(chain(load("rcc8"), 100_000))
    assert (len(result.conflict), result.conflict_is_minimal) == (100_001, True)


def test_where_time_runs_out_what_is_left_still_clashes_and_is_said_to_be_more():
    facts = [(f"n{i}", "ntpp", f"n{i + j}") for i in range(60) for j in (1, 2)]
    network = Network.of(load("rcc8"), [*facts, ("n0", "dc", "n60")])
    test = contradiction_test(network, "auto")
    hasty = minimal_conflict(network, test, (0, 1), seconds=0)
    patient = minimal_conflict(network, test, (0, 1))
    assert not hasty.minimal
    assert test(network.select(hasty.facts))
    assert patient.minimal
    assert len(patient.facts) < len(hasty.facts)
    assert not any(test(network.select([f for f in patient.facts if f != left])) for left in patient.facts)


def test_facts_that_form_a_tree_may_clash_where_names_are_distinct():
    kinship = load("kinship")
    assert not _trees_agree(Network.of(kinship, [("a", kinship.relations[0], "b")]))
