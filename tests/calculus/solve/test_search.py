"""Search: against brute force over all scenarios, concrete models, and the published networks."""

import itertools
from itertools import product

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import members
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve import search
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.search import entails, minimal_labels, solve
from tests.conftest import DECIDED, random_network

pytestmark = pytest.mark.numeric

BACKENDS = ("compiled", "plain")
HARD = {"rcc8": 0.75, "rcc5": 0.9, "allen": 0.75, "point": 0.9, "cardinal": 0.75}


def scenarios(network: Network):
    """All closed choices of one relation a pair, by trying every choice."""
    calculus, matrix = network.calculus, network.matrix()
    size = len(matrix)
    pairs = [(i, j) for i in range(size) for j in range(i + 1, size)]
    for choice in product(*[[1 << r for r in members(int(matrix[i, j]))] for i, j in pairs]):
        chosen = dict(zip(pairs, choice, strict=True))
        chosen |= {(j, i): calculus.converse(mask) for (i, j), mask in chosen.items()}
        triples = ((i, j, k) for i, j in pairs for k in range(size) if k not in (i, j))
        if all(calculus.compose(chosen[i, k], chosen[k, j]) & chosen[i, j] for i, j, k in triples):
            yield chosen


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CALCULI)
def test_equals_brute_force(name, backend, rng):
    answers = set()
    yes = Answer.CONSISTENT if load(name).decides else Answer.CLOSED
    for _ in range(14):
        network = random_network(load(name), rng, 4, 1.0, 1.6)
        models = list(scenarios(network))
        result = solve(network, backend=backend)
        answers.add(bool(models))
        assert result.answer is (yes if models else Answer.INCONSISTENT)
        minimal = minimal_labels(network, backend=backend)
        assert minimal.consistent == bool(models)
        if models:
            found = {(i, j): result.mask(str(i), str(j)) for i, j in models[0]}
            assert found in models
            for i, j in models[0]:
                expected = 0
                for model in models:
                    expected |= model[i, j]
                assert minimal.mask(str(i), str(j)) == expected
    assert answers == {True, False}


@pytest.mark.parametrize("name", DECIDED)
def test_tractable_classes_are_decided_by_closure(name, rng):
    """The claim behind the splits: over a tractable class, closed means consistent, by splitting to the atoms."""
    calculus = load(name)
    sets = sorted(calculus.tractable - {calculus.universal})
    small = [mask for mask in sets if mask.bit_count() <= len(calculus) // 2]
    answers = set()
    for _ in range(60):
        names = [str(i) for i in range(6)]
        facts = [
            (a, small[rng.integers(len(small))], b)
            for a, b in product(names, repeat=2)
            if a < b and rng.random() < HARD[name]
        ]
        network = Network.of(calculus, facts, names)
        closed = close(network).answer
        assert closed is not Answer.CLOSED
        without_class = Network(without_tractable(name), network.names, network.heads, network.tails, network.masks)
        assert solve(without_class).answer is closed
        answers.add(closed)
    assert answers == {Answer.CONSISTENT, Answer.INCONSISTENT}


@pytest.mark.parametrize("name", DECIDED)
def test_splits_lose_nothing(name, rng):
    """Cut into parts of a tractable class or into single relations: the same answers."""
    calculus = load(name)
    answers = set()
    for _ in range(300):
        network = random_network(calculus, rng, 8, 1.0, rng.uniform(0.4, 0.5) * len(calculus))
        single = Network(without_tractable(name), network.names, network.heads, network.tails, network.masks)
        answer = solve(network).answer
        assert answer is solve(single).answer
        answers.add(answer)
    assert answers == {Answer.CONSISTENT, Answer.INCONSISTENT}


def without_tractable(name):
    from dataclasses import replace

    return replace(load(name), tractable=frozenset())


@pytest.mark.parametrize("backend", BACKENDS)
def test_finds_what_closure_misses(backend):
    """Allen 1983, figure 5: closed, yet no scenario exists."""
    facts = [
        ("A", "f|fi", "C"),
        ("D", "s|m", "A"),
        ("D", "s|m", "C"),
        ("A", "d|di", "B"),
        ("B", "d|di", "C"),
        ("D", "o", "B"),
    ]
    network = Network.of(load("allen"), facts)
    assert close(network, backend=backend).answer is Answer.CLOSED
    result = solve(network, backend=backend)
    assert result.answer is Answer.INCONSISTENT
    assert len(result.conflict) == 6
    assert entails(network, "A", "<", "B", backend=backend).entailed


def test_kernels_agree_on_larger_networks(rng):
    answers = set()
    for _ in range(12):
        network = random_network(load("rcc8"), rng, 8, 0.8, 3)
        native, plain = (solve(network, backend=backend) for backend in BACKENDS)
        assert native.answer is plain.answer
        answers.add(native.answer)
    assert answers == {Answer.CONSISTENT, Answer.INCONSISTENT}


def test_a_scenario_refines_the_network_and_is_closed(rng):
    for name in CALCULI:
        network = random_network(load(name), rng, 9, 0.3, 3)
        result = solve(network)
        if not result.consistent:
            continue
        scenario = result.closed.matrix()
        assert (np.bitwise_count(scenario) == 1).all()
        assert not (scenario & ~network.matrix()).any()
        assert close(result.closed).answer is result.answer


@pytest.mark.parametrize("backend", BACKENDS)
def test_entailment(backend):
    allen = load("allen")
    network = Network.of(allen, [("a", "<|m", "b"), ("b", "d|s", "c")])
    assert entails(network, "a", "<|m|o|d|s", "c", backend=backend).entailed
    refuted = entails(network, "a", "<|m|o|d", "c", backend=backend)
    assert refuted.entailed is False
    assert refuted.counterexample is not None
    shown = close(refuted.counterexample)
    assert shown.consistent
    assert allen.format(shown.mask("a", "c")) == "s"
    assert entails(network, "a", "=", "a", backend=backend).entailed
    assert entails(network, "a", "*", "c", backend=backend).entailed


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_limit_leaves_it_undecided(backend):
    facts = [(str(i), "tpp|ntppi|dc", str(j)) for i in range(6) for j in range(i + 1, 6)]
    network = Network.of(load("rcc8"), facts)
    assert solve(network, max_nodes=0, backend=backend).answer is Answer.UNDECIDED
    assert entails(network, "0", "dc", "1", max_nodes=0, backend=backend).entailed is None
    assert solve(network, backend=backend).answer is Answer.CONSISTENT


@pytest.mark.parametrize("backend", BACKENDS)
def test_what_was_tried_in_vain_leaves_no_trace(backend, rng):
    """A search that fails or gives up goes back to the closed network, however deep it was."""
    kinds = set()
    for _ in range(40):
        network = random_network(load("allen"), rng, 7, 1.0, 5)
        complete = close(network, backend=backend)
        for max_nodes in (None, 0, 3):
            result = solve(network, max_nodes, backend)
            if complete.consistent and result.answer is not Answer.CONSISTENT:
                kinds.add(result.answer)
                np.testing.assert_array_equal(result.masks, complete.masks)
    assert kinds == {Answer.INCONSISTENT, Answer.UNDECIDED}


@pytest.mark.parametrize(("backend", "entities"), [("compiled", 200), ("plain", 48)])
def test_deep_searches(backend, entities):
    """A choice for each of many pairs: more than a stack of calls holds, or memory a copy for each."""
    import resource

    ring = [(str(i), "dc|ntpp|ec", str((i + 1) % entities)) for i in range(entities)]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    result = solve(Network.of(load("rcc8"), ring), backend=backend)
    assert result.answer is Answer.CONSISTENT
    assert result.statistics["nodes"] > 1000
    assert (np.bitwise_count(result.masks) == 1).all()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # kB


def test_without_knowing_that_closure_decides_a_scenario_is_called_closed():
    from dataclasses import replace

    mine = replace(load("point"), decides=False)
    assert solve(Network.of(mine, [("a", "<|=", "b")])).answer is Answer.CLOSED


def test_the_search_for_a_conflict_is_bounded(rng, monkeypatch):
    """A part whose search takes too long counts as one that agrees, and the conflict is not said to be minimal."""
    hidden = (random_network(load("allen"), rng, 5, 1.0, 2.2) for _ in itertools.count())
    network = next(one for one in hidden if close(one).consistent and not solve(one).consistent)
    found = solve(network)
    assert found.conflict_is_minimal
    monkeypatch.setattr(search, "MOST_NODES", 0)
    bounded = solve(network)
    assert not bounded.conflict_is_minimal
    assert set(found.conflict_facts) <= set(bounded.conflict_facts)
    assert not solve(network.select(list(bounded.conflict_facts))).consistent
