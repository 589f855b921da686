"""Statements: facts in their own direction, over a vocabulary."""

import pytest

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.prove import networks
from epignn.data.statements import Statements, directed
from epignn.errors import BadArgument, UnknownName

WORDS = ("mother", "son")
FACTS = [("ann", "mother", "bea"), ("bea", "son", "carl"), ("dora", "son", "carl"), ("carl", "mother", "bea")]


def test_facts_in_words_and_as_a_graph():
    facts = Statements.of(WORDS, FACTS)
    assert facts.names == ("ann", "bea", "carl", "dora")
    assert [str(facts.fact(f)) for f in range(len(facts))][2] == "son(dora, carl)"
    graph = facts.graph("dora", "bea")
    assert (graph.query_head.tolist(), graph.query_tail.tolist(), graph.node_count.tolist()) == ([3], [1], [4])
    assert graph.example(0).edges == ((0, "mother", 1), (1, "son", 2), (3, "son", 2), (2, "mother", 1))


def test_what_facts_lead_to_and_from_where():
    facts = Statements.of(WORDS, FACTS)
    assert facts.ahead(0) == {0: 0, 1: 1, 2: 2}
    assert facts.behind(1) == {1: 0, 0: 1, 2: 1, 3: 2}


def test_some_of_them_keep_all_entities():
    part = Statements.of(WORDS, FACTS).select([2])
    assert (len(part), str(part.fact(0)), len(part.names)) == (1, "son(dora, carl)", 4)
    assert part.select([]).graph("ann", "bea").edge_count.tolist() == [0]


def test_unknown_words():
    with pytest.raises(UnknownName, match="Did you mean 'mother'"):
        Statements.of(WORDS, [("a", "mothr", "b")])
    facts = Statements.of(WORDS, FACTS)
    with pytest.raises(UnknownName, match="Unknown entity 'eve'"):
        facts.graph("ann", "eve")
    with pytest.raises(BadArgument, match="about itself"):
        facts.graph("ann", "ann")


RCC8 = load("rcc8")


def test_facts_of_a_calculus_are_turned_away_from_the_head_and_say_the_same(rng):
    """Closure of the graph that a model reads gives what closure of the facts gives, however they are turned."""
    facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c"), ("x", "dc", "y")]
    for _ in range(20):
        turned = [
            (b, RCC8.converse(RCC8.parse(r)), a) if rng.random() < 0.5 else (a, RCC8.parse(r), b)
            for a, r, b in facts
        ]
        network = Network.of(RCC8, [turned[i] for i in rng.permutation(len(turned))])
        read = directed(network, "a")
        assert read.leads("a", "c")
        assert not read.leads("a", "x")
        data = read.graph("a", "c")
        assert (data.edge_source < data.edge_target).all()
        assert data.node_count.tolist() == [4]
        (same,) = networks(data, RCC8)
        found = close(same).mask(str(data.query_head[0]), str(data.query_tail[0]))
        assert RCC8.format(found) == "PO"


def test_statements_are_read_as_they_are():
    facts = Statements.of(WORDS, FACTS)
    assert directed(facts, "carl") is facts
    assert facts.leads("ann", "carl")
    assert not facts.leads("ann", "dora")


def test_a_fact_of_several_relations_cannot_be_read():
    with pytest.raises(BadArgument, match=r"DC\|EC\(a, b\) has several"):
        directed(Network.of(RCC8, [("a", "ec|dc", "b")]), "a")
