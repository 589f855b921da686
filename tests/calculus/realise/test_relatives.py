"""Families by search: every way a term comes about, clashes that closure does not see, and unnamed people."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.calculi.families import KINDS
from epignn.calculus.network import Network
from epignn.calculus.realise import realise
from epignn.calculus.realise.relatives import TERMS, TURNED, WAYS
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.formats.told import Told
from tests.calculus.realise.made import consistent
from tests.calculus.realise.oracle import Tree, all_hold

KINSHIP = load("kinship")


def of(text):
    return Told.read(text).network(KINSHIP)


def test_every_relation_has_ways():
    assert set(TERMS) >= set(KINSHIP.relations) - {"self"}
    assert {term.kind for term in TERMS.values()} == {*WAYS, *TURNED}
    assert len(KINDS) < len({term.rank for term in TERMS.values()})


@pytest.mark.parametrize("seed", range(6))
def test_families_that_grew(seed):
    rng = np.random.default_rng(seed)
    for size, density, loose in ((6, 1.0, 0.0), (14, 0.4, 0.05), (20, 0.2, 0.0)):
        network = consistent("kinship", rng, size, density, loose)
        assert all_hold(realise(network, seed).world, network)


def test_both_ways_come_up():
    """An uncle is the father's brother, or the mother's."""
    network = of("uncle(ann, bob)")
    through = set()
    for seed in range(12):
        people = realise(network, seed).world.to_dict()["people"]
        tree = Tree(people)
        (parent,) = tree.siblings(tree.at["bob"]) & tree.parents(tree.at["ann"])
        through.add(people[parent]["female"])
    assert through == {True, False}


def test_people_merge_where_they_must():
    """Two brothers have the same parents, so that the father of one is that of the other, and needs no second."""
    network = of("brother(ann, bob). father(ann, tom). grandfather(bob, old). father(tom, old)")
    people = realise(network).world.to_dict()["people"]
    assert len(people) == 6  # and two wives


def test_as_few_people_as_need_be():
    assert len(realise(of("husband(ann, bob)")).world.people) == 2
    assert len(realise(of("father(ann, bob)")).world.people) == 3
    assert len(realise(Network.of(KINSHIP, [], ["ann", "bob"])).world.people) == 2


def test_facts_that_are_sets():
    network = of("father|uncle(ann, bob). aunt|mother(ann, eve). wife(bob, eve). brother|uncle(eve, tom)")
    for seed in range(5):
        assert all_hold(realise(network, seed).world, network)


@pytest.mark.parametrize(
    "text",
    [
        "father(ann, bob). father(ann, tom)",
        "wife(bob, ann). sister(bob, ann)",
        "husband(ann, bob). husband(eve, bob)",
        "father(ann, bob). father(bob, ann)",
        "father(ann, bob). mother(bob, eve). father(eve, ann)",
        "husband(ann, bob). grandfather(ann, tom). grandfather(bob, tom)",
    ],
)
def test_what_nobody_can_be(text):
    network = of(text)
    found = realise(network)
    assert (found.world, found.reason) == (None, "the facts clash: no world has them all")
    assert found.conflict
    without = [f for f in range(len(network)) if network.fact(f) not in found.conflict]
    assert realise(network.select(without)).world is not None
    for f in range(len(network)):  # a smallest clash: without any one of its facts there is a family
        if len(found.conflict) == len(network):
            rest = network.select([g for g in range(len(network)) if g != f])
            assert realise(rest).world is not None


def test_a_thousand_facts():
    """More than a recursive search could take."""
    network = Network.of(KINSHIP, [("ann", "sister", f"s{n}") for n in range(20)] * 60)
    assert all_hold(realise(network).world, network)
    pairs = [(f"p{n}", "his-other-man", f"p{m}") for n in range(50) for m in range(n)]
    network = Network.of(KINSHIP, pairs)
    assert len(network) > 1200
    found = realise(network, seconds=120)
    assert all_hold(found.world, network)


def test_a_clash_that_closure_does_not_see():
    """Four people cannot all be a grandfather of one: she has two."""
    network = of("grandfather(ann, a). grandfather(ann, b). grandfather(ann, c). grandmother(ann, d)")
    assert close(network).answer is Answer.CLOSED
    found = realise(network)
    assert (found.world, found.reason) == (None, "the facts clash: no world has them all")
    assert [str(fact) for fact in found.conflict] == [
        "grandfather(ann, a)",
        "grandfather(ann, b)",
        "grandfather(ann, c)",
    ]
