"""Scenarios: closed, within the facts, varied by chance and weight, and given up at a deadline."""

import time

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import scenario
from epignn.calculus.realise.scenario import decide, vary
from epignn.calculus.result import Answer
from epignn.calculus.solve.search import solve
from tests.conftest import DECIDED, random_network


@pytest.mark.parametrize("name", DECIDED)
def test_scenarios_are_scenarios(name, rng):
    """One relation for each pair, that the facts allow; closure of it, by other code, finds no contradiction."""
    varied = 0
    for _ in range(10):
        network = random_network(load(name), rng, 6, 0.5, 2.5)
        found = solve(network)
        if not found.consistent:
            continue
        matrices = [vary(found, [1.0] * len(network.calculus), rng, time.perf_counter() + 5) for _ in range(4)]
        for matrix in matrices:
            assert (np.bitwise_count(matrix) == 1).all()
            assert not (matrix & ~network.matrix()).any()
            i, j = np.triu_indices(len(matrix), 1)
            assert solve(Network(network.calculus, network.names, i, j, matrix[i, j])).answer is Answer.CONSISTENT
        varied += len({matrix.tobytes() for matrix in matrices}) > 1
    assert varied >= 3


def test_weights():
    allen = load("allen")
    found = solve(Network.of(allen, [], ["a", "b"]))
    weights = [1e-9 if name != "oi" else 1.0 for name in allen.relations]
    chosen = {int(vary(found, weights, np.random.default_rng(s), np.inf)[0, 1]) for s in range(10)}
    assert chosen == {allen.parse("oi")}


def test_without_time_what_was_found_serves(rng):
    found = solve(Network.of(load("allen"), [("a", "<|o|d", "b")]))
    assert vary(found, [1.0] * 13, rng, 0.0)[0, 1] == found.mask("a", "b")


def test_the_deadline(monkeypatch):
    """A search that has no time is undecided; with time its limit grows until it is decided."""
    monkeypatch.setattr(scenario, "FIRST_NODES", 1)
    network = random_network(load("rcc8"), np.random.default_rng(1), 8, 0.4, 3)
    assert decide(network, 0.0).answer is Answer.UNDECIDED
    assert decide(network, time.perf_counter() + 60).answer is solve(network).answer
