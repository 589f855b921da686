"""Discs, rectangles and strips: which draws what, and that each is right, by shapely and by distances."""

from itertools import combinations

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.realise import mapped, realise
from epignn.calculus.realise.mapped import WAYS
from tests.calculus.realise.made import consistent
from tests.calculus.realise.oracle import all_hold

RCC8 = load("rcc8")


def mutually(relation, count):
    return Network.of(RCC8, [(f"r{i}", relation, f"r{j}") for i, j in combinations(range(count), 2)])


@pytest.fixture
def only(monkeypatch):
    """Leave one way to draw regions."""
    return lambda way: monkeypatch.setattr(mapped, "WAYS", {way: WAYS[way]})


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("relation", RCC8.relations)
def test_every_relation_by_every_way(way, relation, only):
    only(way)
    network = Network.of(RCC8, [("a", relation, "b")])
    found = realise(network)
    assert found.statistics["drawn_by"] == way
    assert all_hold(found.world, network)


@pytest.mark.parametrize("name", ["rcc8", "rcc5"])
@pytest.mark.parametrize(
    ("size", "density", "loose"), [(6, 1.0, 0.0), (12, 1.0, 0.0), (12, 0.5, 0.2), (30, 1.0, 0.0)]
)
def test_strips_realise_everything(name, size, density, loose, only, rng):
    only("strips")
    for _ in range(5 if size < 30 else 1):
        network = consistent(name, rng, size, density, loose)
        assert all_hold(realise(network).world, network)


@pytest.mark.parametrize(("size", "density", "loose"), [(6, 1.0, 0.0), (12, 0.6, 0.1), (30, 0.2, 0.0)])
def test_rectangles(size, density, loose, only, rng):
    only("rectangles")
    network = consistent("rcc8", rng, size, density, loose)
    assert all_hold(realise(network).world, network)


@pytest.mark.parametrize(("count", "way"), [(4, "discs"), (5, "strips")])
def test_of_five_discs_not_all_touch_each_other(count, way):
    """Nor do five rectangles: five faces of a map that all touch would be a complete graph of five in the plane."""
    network = mutually("ec", count)
    found = realise(network, seconds=2)
    assert found.statistics["drawn_by"] == way
    assert all_hold(found.world, network)


def test_nests(only):
    """Twelve regions, each strictly inside the next, beside one that touches them all but the last."""
    chain = [(f"r{i}", "ntpp", f"r{i + 1}") for i in range(11)]
    for network in (Network.of(RCC8, chain), Network.of(RCC8, [*chain, ("x", "ec", "r0"), ("x", "po", "r1")])):
        assert all_hold(realise(network).world, network)
    only("strips")
    assert all_hold(realise(network).world, network)


def test_equal_regions_coincide():
    network = Network.of(RCC8, [("a", "eq", "b"), ("b", "eq", "c"), ("c", "ec", "d"), ("d", "dc|eq", "e")])
    world = realise(network).world
    assert world.discs["a"] == world.discs["b"] == world.discs["c"]
    assert all_hold(world, network)


def test_equality_that_only_a_choice_brings():
    """No pair has to be equal by closure, but in every scenario some are; discs and rectangles leave that out."""
    network = Network.of(RCC8, [("a", "ec|eq", "b"), ("a", "ec|ntppi|eq", "c"), ("b", "ntppi|eq", "c")])
    found = realise(network, seconds=1)
    assert found.statistics["drawn_by"] == "strips"
    assert all_hold(found.world, network)


def test_thirty_regions(rng):
    for density in (1.0, 0.3):
        network = consistent("rcc8", rng, 30, density)
        found = realise(network)
        assert found.statistics["drawn_by"] in ("rectangles", "strips")
        assert all_hold(found.world, network)
        assert found.statistics["seconds"] < 8  # of 5, on a machine that does other things too


def test_discs_touch_exactly():
    """Chains and rings of discs that touch, within a disc that all of them touch from inside."""
    for count in (3, 6, 9):
        facts = [(f"r{i}", "tpp", "all") for i in range(count)]
        facts += [(f"r{i}", "ec", f"r{(i + 1) % count}") for i in range(count)]
        network = Network.of(RCC8, facts)
        found = realise(network, seed=count)
        assert found.statistics["drawn_by"] == "discs"
        assert all_hold(found.world, network)


def test_networks_of_discs_are_drawn_by_discs():
    drawn = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        discs = {f"r{n}": {"discs": [[*rng.uniform(0, 6, 2).tolist(), rng.uniform(0.5, 2.5)]]} for n in range(10)}
        world = mapped.Discs("rcc8", {name: tuple(each["discs"][0]) for name, each in discs.items()})
        network = Network.of(RCC8, [(a, world.relation(a, b), b) for a, b in combinations(discs, 2)])
        found = realise(network)
        drawn += found.statistics["drawn_by"] == "discs"
        assert all_hold(found.world, network)
    assert drawn >= 5
