"""A graph cut out of another: what is shared, what is dropped, what is asked."""

import numpy as np
import pytest

from epignn.data.cut import ASKED, SHARE, cut_out, own_facts
from epignn.data.graph import Side
from epignn.errors import BadArgument
from tests.conftest import random_graph


def named(graph, triples):
    """Triples by names, so that graphs of different numbering compare."""
    return {(graph.entities[h], graph.relations[r], graph.entities[t]) for h, r, t in triples.tolist()}


@pytest.fixture
def side() -> Side:
    graph = random_graph(3, entities=120, relations=4, facts=400)
    facts, valid = graph.facts[:360], graph.facts[360:]
    return Side(type(graph)(graph.entities, graph.relations, facts), valid, valid[:0])


def test_parts_share_relations_and_no_entity(side):
    train, turns = cut_out(side, 0)
    assert not set(train.graph.entities) & {name for turn in turns for name in turn.graph.entities}
    assert train.graph.relations == turns[0].graph.relations == side.graph.relations
    whole = named(side.graph, np.concatenate([side.graph.facts, side.valid]))
    learnt = named(train.graph, train.graph.facts)
    assert learnt < whole
    inside = set(train.graph.entities)
    assert learnt == {t for t in whole if t[0] in inside and t[2] in inside}  # all that lies among what is left
    assert len(turns[0].graph.entities) <= round(SHARE * 120) + 1
    assert len(train.valid) == len(train.test) == 0


def test_every_triple_cut_out_is_asked_once(side):
    train, turns = cut_out(side, 0)
    assert len(turns) == ASKED
    asked = [triple for turn in turns for triple in named(turn.graph, turn.valid)]
    assert len(asked) == len(set(asked))
    known = {relation for _, relation, _ in named(train.graph, train.graph.facts)}
    for turn in turns:
        facts, held = named(turn.graph, turn.graph.facts), named(turn.graph, turn.valid)
        assert not facts & held
        assert facts | held == set(asked)
        assert {relation for _, relation, _ in held} <= known


def test_the_seed_chooses_and_small_graphs_are_refused(side):
    one, other = cut_out(side, 0), cut_out(side, 1)
    assert one[0].digest() == cut_out(side, 0)[0].digest() != other[0].digest()
    assert len(cut_out(side, 0, turns=2)[1]) == 2
    with pytest.raises(BadArgument, match="too few to cut"):
        cut_out(Side(random_graph(0, entities=10, facts=12), side.valid[:0], side.valid[:0]), 0)


def test_own_facts_are_asked_over_all_others_and_leave_no_entity_alone(side):
    graph = side.graph
    turns, every = own_facts(graph, 0), named(graph, graph.facts)
    assert len(turns) == ASKED
    assert len(own_facts(graph, 0, turns=3)) == 3
    asked = [triple for turn in turns for triple in named(turn.graph, turn.valid)]
    assert len(asked) == len(set(asked)) < len(every)  # some fact is the only one of an entity
    for turn in turns:
        facts, held = named(turn.graph, turn.graph.facts), named(turn.graph, turn.valid)
        assert held and not facts & held and facts | held == every
        assert {end for head, _, tail in held for end in (head, tail)} <= {x for h, _, t in facts for x in (h, t)}
    alone = {x for h, _, t in every for x in (h, t) if sum(x in (a, b) for a, _, b in every) == 1}
    assert alone and not alone & {x for h, _, t in asked for x in (h, t)}
