"""Statements: facts in their own direction, over a vocabulary."""

import pytest

from epignn.data.statements import Statements
from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.formats.facts import parse_facts

WORDS = ("mother", "son")
FACTS = [("ann", "mother", "bea"), ("bea", "son", "carl"), ("dora", "son", "carl"), ("carl", "mother", "bea")]


def test_facts_in_words_and_as_a_graph():
    facts = Statements.of(WORDS, FACTS)
    assert facts.names == ("ann", "bea", "carl", "dora")
    assert [facts.fact(f) for f in range(len(facts))][2] == "son(dora, carl)"
    graph = facts.graph("dora", "bea")
    assert (graph.query_head.tolist(), graph.query_tail.tolist(), graph.node_count.tolist()) == ([3], [1], [4])
    assert graph.example(0).edges == ((0, "mother", 1), (1, "son", 2), (3, "son", 2), (2, "mother", 1))


def test_what_facts_lead_to_and_from_where():
    facts = Statements.of(WORDS, FACTS)
    assert facts.ahead(0) == {0: 0, 1: 1, 2: 2}
    assert facts.behind(1) == {1: 0, 0: 1, 2: 1, 3: 2}


def test_some_of_them_keep_all_entities():
    part = Statements.of(WORDS, FACTS).select([2])
    assert (len(part), part.fact(0), len(part.names)) == (1, "son(dora, carl)", 4)
    assert part.select([]).graph("ann", "bea").edge_count.tolist() == [0]


def test_unknown_words():
    with pytest.raises(UnknownName, match="Did you mean 'mother'"):
        Statements.of(WORDS, [("a", "mothr", "b")])
    with pytest.raises(BadFile, match=r"x\.txt:2:1: Unknown relation 'sun'"):
        Statements.read(parse_facts("mother(a, b)\nsun(b, c)", "x.txt")[0], WORDS, "x.txt")
    with pytest.raises(BadFile, match=r"son\|mother"):
        Statements.read(parse_facts("son|mother(a, b)", "x.txt")[0], WORDS, "x.txt")
    facts = Statements.of(WORDS, FACTS)
    with pytest.raises(UnknownName, match="Unknown entity 'eve'"):
        facts.graph("ann", "eve")
    with pytest.raises(BadArgument, match="about itself"):
        facts.graph("ann", "ann")
