"""Worlds for networks of every calculus, each checked by other code; and what is said where there is none."""

from pathlib import Path

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.network import Network
from epignn.calculus.realise import World, pictured, realise
from epignn.calculus.result import Answer
from epignn.calculus.solve.search import solve
from epignn.calculus.toml import read_calculus, write_calculus
from epignn.errors import BadArgument
from epignn.formats.told import Told
from tests.calculus.realise.made import consistent
from tests.calculus.realise.oracle import all_hold
from tests.conftest import DECIDED, random_network

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


@pytest.mark.parametrize("loose", [0.0, 0.15])
@pytest.mark.parametrize("name", CALCULI)
def test_networks_that_have_a_world_get_one(name, loose, rng):
    for size, density in ((2, 1.0), (5, 1.0), (8, 0.6), (12, 0.3)):
        network = consistent(name, rng, size, density, loose)
        found = realise(network, seed=size)
        assert found.world is not None, found.reason
        assert found.world.calculus == name
        assert found.world.broken(network) == []
        assert all_hold(found.world, network)
        assert (found.reason, found.conflict) == ("", ())
        assert World.from_dict(found.world.to_dict()) == found.world


@pytest.mark.parametrize("name", DECIDED)
def test_there_is_a_world_exactly_if_the_network_is_consistent(name, rng):
    seen = set()
    for _ in range(25):
        network = random_network(load(name), rng, 5, 0.8, 1.3)
        answer = solve(network).answer
        found = realise(network)
        seen.add(answer)
        assert (found.world is not None) == (answer is Answer.CONSISTENT)
        if found.world is None:
            assert "clash" in found.reason
            assert found.conflict == solve(network).conflict != ()
        else:
            assert all_hold(found.world, network)
    assert seen == {Answer.CONSISTENT, Answer.INCONSISTENT}


@pytest.mark.parametrize("name", CALCULI)
def test_every_relation_alone(name):
    calculus = load(name)
    for relation in calculus.relations:
        network = Network.of(calculus, [("a", relation, "b")])
        found = realise(network)
        if calculus.distinct and relation == calculus.relations[calculus.identity]:
            assert [str(fact) for fact in found.conflict] == [f"{relation}(a, b)"]
        else:
            assert all_hold(found.world, network), relation


@pytest.mark.parametrize("name", CALCULI)
def test_seeds(name, rng):
    """The same seed gives the same world, others give others."""
    network = consistent(name, rng, 6, 0.4)
    worlds = [realise(network, seed).world.to_dict() for seed in (0, 0, 1, 2, 10**12)]
    assert worlds[0] == worlds[1]
    assert len({str(world) for world in worlds}) >= 3


def test_scenarios_differ_with_the_seed():
    allen = load("allen")
    network = Network.of(allen, [("a", "d|o|m|<", "b")])
    assert len({realise(network, seed).world.relation("a", "b") for seed in range(20)}) >= 3


@pytest.mark.parametrize("name", CALCULI)
def test_nothing_is_known(name):
    calculus = load(name)
    assert realise(Network.of(calculus, [])).world.to_dict()["calculus"] == name
    apart = Network.of(calculus, [], ["a", "b", "c"])
    assert sorted(realise(apart).world.names) == ["a", "b", "c"]
    loop = Network.of(calculus, [("a", calculus.universal, "a")])
    assert realise(loop).world.broken(loop) == []


def test_a_thing_that_is_not_itself():
    network = Network.of(load("rcc8"), [("a", "ec", "a"), ("a", "po", "b")])
    assert [str(fact) for fact in realise(network).conflict] == ["EC(a, a)"]


@pytest.mark.parametrize("name", ["allen", "point", "cardinal"])
def test_hundreds_of_things_in_order(name, rng):
    network = consistent(name, rng, 200, 0.05)
    found = realise(network)
    assert all_hold(found.world, network)


def test_the_harbour():
    network = Told.read(str(EXAMPLES / "harbour.txt")).network()
    found = network.realise()
    assert found.statistics["drawn_by"] == "discs"
    assert all_hold(found.world, network)


def test_the_clash():
    network = Told.read(str(EXAMPLES / "clash.txt")).network()
    found = network.realise()
    assert (found.world, found.reason) == (None, "the facts clash: no world has them all")
    assert len(found.conflict) == 4
    assert found.to_dict()["conflict"][0] == ["old town", "NTPP", "city"]


def test_a_calculus_of_ones_own():
    """A copy of a known one has its worlds; another has none."""
    text = write_calculus(load("rcc8")).replace('name = "rcc8"', 'name = "mine"')
    network = Network.of(read_calculus(text, "mine.toml"), [("a", "ec", "b")])
    found = realise(network)
    assert found.world.calculus == "rcc8"
    assert all_hold(found.world, network)
    heights = load(str(EXAMPLES / "heights.toml"))
    assert pictured(heights) is None
    none = realise(Network.of(heights, [("ann", "taller", "bob")]))
    assert (none.world, none.conflict) == (None, ())
    assert none.reason.startswith("heights has no pictures")


def test_names_that_are_distinct():
    """In a calculus of one's own, whose names always mean two things, regions are never equal."""
    text = write_calculus(load("rcc8")).replace("associative", "distinct = true\nassociative")
    own = read_calculus(text, "own.toml")
    found = realise(Network.of(own, [("a", "tpp|eq", "b")]))
    assert load("rcc8").names(found.world.relation("a", "b")) == ("TPP",)
    assert realise(Network.of(own, [("a", "eq", "b")])).conflict


def test_the_limit_of_time_is_told():
    """Who is the fortieth cousin is not found in no time."""
    network = consistent("kinship", np.random.default_rng(3), 16, 0.5)
    found = realise(network, seconds=1e-9)
    assert (found.world, found.conflict) == (None, ())
    assert found.reason == "no world was found within 1e-09 seconds; allow more"


@pytest.mark.parametrize(
    ("seed", "seconds"), [(-1, 5.0), (0, 0.0), (0, -1.0), (0, float("nan")), (0, float("inf"))]
)
def test_arguments(seed, seconds):
    with pytest.raises(BadArgument, match=r"seed|seconds"):
        realise(Network.of(load("point"), [("a", "<", "b")]), seed, seconds)
