"""Supporting facts: as small as brute force finds them, and none of them can be left out."""

from itertools import combinations

import pytest

from epignn.calculus.solve.closure import close
from epignn.explain import smallest
from epignn.explain.smallest import Goal, hitting_set, support
from tests.conftest import random_network
from tests.explain.conftest import network_of


def passes(network, goal, facts):
    result = close(network.select(list(facts)))
    if goal.pair is None or not result.consistent:
        return not result.consistent
    return not result.mask(*goal.pair) & ~goal.need


def brute_force(network, goal):
    """The size of a smallest set, by trying all."""
    sizes = range(len(network) + 1)
    return next(n for n in sizes if any(passes(network, goal, f) for f in combinations(range(len(network)), n)))


def random_goal(calculus, rng):
    network = random_network(calculus, rng, int(rng.integers(3, 7)), 0.6, rng.choice([1, 2, len(calculus) / 2]))
    result = close(network)
    if not result.consistent:
        return network, Goal()
    pair = tuple(rng.choice(network.names, 2, replace=False).tolist())
    return network, Goal(pair, result.mask(*pair))


def test_against_brute_force(calculus, rng):
    for _ in range(25):
        network, goal = random_goal(calculus, rng)
        if goal.pair is None and not len(network):
            continue
        found = support(network, goal)
        assert found.smallest
        assert passes(network, goal, found.facts)
        assert len(found.facts) == brute_force(network, goal)


def test_without_the_search_none_can_be_left_out(calculus, rng, monkeypatch):
    monkeypatch.setattr(smallest, "MOST_FACTS", 0)
    for _ in range(10):
        network, goal = random_goal(calculus, rng)
        found = support(network, goal)
        assert passes(network, goal, found.facts)
        assert not found.smallest or len(found.facts) == brute_force(network, goal)
        for fact in found.facts:
            assert not passes(network, goal, set(found.facts) - {fact})


@pytest.mark.parametrize("limit", ["MOST_CORRECTIONS", "MOST_BRANCHES"])
def test_a_search_that_gives_up_says_so(limit, calculus, rng, monkeypatch):
    monkeypatch.setattr(smallest, limit, -1)
    found = [support(*random_goal(calculus, rng)) for _ in range(20)]
    assert any(not each.smallest for each in found)
    assert all(each.smallest for each in found if len(each.facts) < 2)


def test_hitting_sets_against_brute_force(rng):
    for _ in range(60):
        sets = [int(s) for s in rng.integers(1, 128, size=rng.integers(1, 7))]
        least = min(m.bit_count() for m in range(128) if all(m & s for s in sets))
        assert hitting_set(sets, least - 1) is None
        found = hitting_set(sets, least)
        assert found.bit_count() == least
        assert all(found & s for s in sets)


def test_a_shorter_way_than_the_one_known_is_found():
    network = network_of("ntpp(a, b) ntpp(b, c) ntpp(a, c) ec(c, d)")
    goal = Goal(("a", "c"), network.calculus.parse("ntpp"))
    assert support(network, goal, known=[0, 1]).facts == (2,)
    assert support(network, Goal(("a", "d"), network.calculus.parse("dc")), [0, 1, 3]).facts == (2, 3)
