"""Directional closure against the recursion of the paper's appendix, and against complete closure."""

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.directional import directional
from tests.conftest import random_network


def rounds_by_hand(network: Network, head: str, rounds: int) -> list[list[int]]:
    """X_e^(i) = X_e^(i-1) ∩ ⋂ {X_f^(i-1) ∘ s | s(f, e)}, fact by fact."""
    calculus = network.calculus
    sets = [calculus.anything] * len(network.names)
    sets[network.position(head)] = calculus.identity_mask
    history = [list(sets)]
    for _ in range(rounds):
        before = history[-1]
        now = list(before)
        for f, e, s in zip(network.heads, network.tails, network.masks, strict=True):
            now[e] &= calculus.compose(before[f], int(s))
        history.append(now)
    return history


@pytest.mark.parametrize("name", CALCULI)
def test_rounds_follow_the_definition(name, rng):
    for _ in range(20):
        network = random_network(load(name), rng, 7, 0.4, 1.5)
        result = directional(network, "2", max_rounds=6)
        assert result.rounds.tolist() == rounds_by_hand(network, "2", 6)
        stable = directional(network, "2")
        assert stable.rounds[-1].tolist() == rounds_by_hand(network, "2", 60)[-1]
        assert stable.consistent == bool(stable.rounds[-1].all())


def test_sound_and_weaker_than_complete_closure(rng):
    weaker = 0
    for _ in range(60):
        network = random_network(load("rcc8"), rng, 7, 0.35, 1.5)
        complete, one_way = close(network), directional(network, "0")
        if not one_way.consistent:
            assert not complete.consistent
        elif complete.consistent:
            for other in network.names:
                assert complete.mask("0", other) & ~one_way.mask("0", other) == 0
                weaker += complete.mask("0", other) != one_way.mask("0", other)
    assert weaker > 0


def test_the_example_of_the_paper():
    rcc8 = load("rcc8")
    facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c")]
    result = directional(Network.of(rcc8, facts), "a")
    history = [rcc8.format(int(row[2])) for row in result.rounds]
    assert history == ["*", "*", "PO"]
    assert result.answer is Answer.CLOSED


def test_inconsistency_is_an_answer_with_its_conflict():
    network = Network.of(load("point"), [("a", "<", "b"), ("b", "<", "c"), ("a", ">", "c"), ("x", "<", "y")])
    result = directional(network, "a")
    assert result.answer is Answer.INCONSISTENT
    assert [str(fact) for fact in result.conflict] == ["<(a, b)", "<(b, c)", ">(a, c)"]


def test_without_facts():
    result = directional(Network.of(load("point"), [], ["a", "b"]), "a")
    assert result.rounds.shape == (1, 2)
    np.testing.assert_array_equal(result.rounds[0], [2, 7])
