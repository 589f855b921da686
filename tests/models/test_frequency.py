"""How often an entity is an answer, against the edges of a networkx graph."""

import networkx as nx
import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.learn.objectives.rank import Sampler
from epignn.models.frequency import RelationFrequency, frequencies
from tests.links import family

pytestmark = pytest.mark.numeric


def network(graph: Graph) -> nx.MultiDiGraph:
    """The facts of a graph and their inverses, by relation."""
    net, relations = nx.MultiDiGraph(), len(graph.relations)
    net.add_nodes_from(range(len(graph.entities)))
    for head, relation, tail in graph.facts.tolist():
        net.add_edge(head, tail, key=relation)
        net.add_edge(tail, head, key=relation + relations)
    return net


def expected(net: nx.MultiDiGraph, relation: int, entity: int) -> int:
    """The facts of a relation that lead to an entity."""
    return sum(key == relation for _, _, key in net.in_edges(entity, keys=True))


def test_counts_are_of_the_facts_that_lead_to_an_entity():
    graph = family(0, people=30).graph
    lonely = Graph((*graph.entities, "nobody"), (*graph.relations, "never"), graph.facts)
    net, scorer = network(lonely), RelationFrequency(lonely)
    asked = np.array([7, 0, 4, 3], dtype=np.int32)
    found = scorer(2, asked)
    answers = [[expected(net, relation, entity) for entity in net] for relation in asked.tolist()]
    np.testing.assert_array_equal(found, answers)
    assert found[1].any()
    assert not found[3].any()
    assert not found[:, -1].any()


def test_what_a_pass_leaves_out_is_not_counted():
    graph = family(0, people=30).graph
    sampler = Sampler(graph, 0.5, 8, thin=0.3)
    questions = sampler.ask(sampler.heads[:8], np.random.default_rng(0)).questions
    edges, relations = questions.edges, len(graph.relations)
    found, whole = frequencies(questions, 2 * relations), 0
    target = np.repeat(np.arange(len(graph.entities)), np.diff(edges.offset))
    for number, (relation, candidates) in enumerate(
        zip(questions.relation.tolist(), questions.candidate.tolist(), strict=True)
    ):
        left = set(questions.heads.left_out_by(int(questions.of_head[number])).tolist())
        net = nx.MultiDiGraph()
        net.add_nodes_from(range(len(graph.entities)))
        for edge, (source, end, label) in enumerate(
            zip(edges.source.tolist(), target.tolist(), edges.label.tolist(), strict=True)
        ):
            if edge not in left:
                net.add_edge(source, end, key=label)
        answers = [expected(net, relation, candidate) for candidate in candidates]
        np.testing.assert_array_equal(found[number], answers)
        whole += sum(answers)
    assert whole > 0
