"""GraIL: subgraphs and distances against networkx, scores against a loop over nodes and edges."""

import networkx as nx
import numpy as np
import pytest

from epignn.data.graph import Graph
from epignn.errors import BadArgument, TooLarge
from epignn.learn.config import load_experiment
from epignn.learn.objectives.facts import RankFacts
from epignn.models.api import build
from epignn.models.grail import GraIL, GraILConfig, Pairs, enclosing
from tests.links import family

pytestmark = pytest.mark.numeric


def labelled(graph: Graph, first: int, second: int, hops: int) -> dict[int, tuple[int, int]]:
    """The entities of the subgraph that encloses two, and their distances from both, by networkx."""
    net = nx.Graph([(h, t) for h, _, t in graph.facts.tolist()])
    net.add_nodes_from((first, second))
    around = [set(nx.single_source_shortest_path_length(net, end, hops)) for end in (first, second)]
    own = net.subgraph((around[0] & around[1]) | {first, second})
    near = [
        nx.single_source_shortest_path_length(own.subgraph(set(own) - {other}), end, hops)
        for end, other in ((first, second), (second, first))
    ]
    found = {node: (near[0][node], near[1][node]) for node in own if node in near[0] and node in near[1]}
    return {**found, first: (0, 1), second: (1, 0)}


def sparse(seed: int) -> Graph:
    """A graph in which some pairs have much in common, and some nothing."""
    rng = np.random.default_rng(seed)
    facts = np.unique(
        np.stack([rng.integers(0, 14, 16), rng.integers(0, 3, 16), rng.integers(0, 14, 16)], 1), axis=0
    )
    return Graph(tuple("abcdefghijklmn"), ("r", "s", "t"), facts[facts[:, 0] != facts[:, 2]].astype(np.int32))


PAIRS = [(0, 1), (3, 8), (5, 2), (9, 10), (4, 7)]


def test_subgraphs_and_distances_are_those_of_networkx():
    graph = sparse(6)
    first, second = np.array(PAIRS).T
    pairs = Pairs(first, second, np.zeros(len(PAIRS), dtype=np.int64), None)
    near, inside, edge, pair = enclosing(graph.edges, pairs, 2, 2 * len(graph.relations))
    target = np.repeat(np.arange(len(graph.entities)), np.diff(graph.edges.offset))
    sizes = set()
    for n, ends in enumerate(PAIRS):
        expected = labelled(graph, *ends, 2)
        found = {v: tuple(near[:, v, n].tolist()) for v in np.flatnonzero(inside[:, n]).tolist()}
        assert found == expected
        own = edge[pair == n]
        arrays = (graph.edges.source[own], graph.edges.label[own], target[own])
        kept = sorted(zip(*(array.tolist() for array in arrays), strict=True))
        assert kept == sorted((h, r, t) for h, r, t in graph.facts.tolist() if {h, t} <= set(expected))
        sizes.add(len(expected))
    assert len(sizes) > 1


def by_loops(made: GraIL, graph: Graph, first: int, second: int, asked: int) -> float:
    """The score of one pair."""
    weights = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    labels = labelled(graph, first, second, made.config.hops)
    one_hot = np.eye(made.config.hops + 1)
    state = {node: np.concatenate([one_hot[a], one_hot[b]]) for node, (a, b) in labels.items()}
    vectors, states = weights["vectors.weight"], []
    for number in range(made.config.layers):
        own = {key.removeprefix(f"layers.{number}."): value for key, value in weights.items()}
        after = {node: value @ own["own"] for node, value in state.items()}
        for source, label, target in graph.facts.tolist():
            if source in state and target in state:
                hidden = own["sender.weight"] @ state[source] + own["sender.bias"]
                hidden = hidden + own["receiver.weight"] @ state[target]
                hidden = hidden + own["edge.weight"] @ vectors[label] + own["question.weight"] @ vectors[asked]
                score = own["weight.weight"] @ np.maximum(hidden, 0) + own["weight.bias"]
                matrix = np.tensordot(own["mix"][label], own["basis"], 1)
                after[target] = after[target] + state[source] @ matrix / (1 + np.exp(-score))
        state = {node: np.maximum(value, 0) for node, value in after.items()}
        states.append(state)
    every = {node: np.concatenate([state[node] for state in states]) for node in labels}
    parts = [np.mean(list(every.values()), 0), every[first], every[second]]
    return float(weights["output.weight"][0] @ np.concatenate(parts))


def test_scores_are_those_of_a_loop_over_nodes_and_edges():
    graph = sparse(6)
    relations = len(graph.relations)
    settings = GraILConfig(width=4, layers=2, bases=2, hops=2)
    made = build(GraIL, 2 * relations, settings, 0).double().eval()
    for head in (0, 3):
        forth, back = made.scorer(graph)(head, np.array([1, 1 + relations]))
        others = [node for node in range(len(graph.entities)) if node != head]
        for node in others:
            assert forth[node] == pytest.approx(by_loops(made, graph, head, node, 1), rel=1e-5, abs=1e-7)
            assert back[node] == pytest.approx(by_loops(made, graph, node, head, 1), rel=1e-5, abs=1e-7)
        assert len(set(np.round(forth[others], 9))) > 3


def test_large_graphs_are_refused_before_training():
    objective = RankFacts(load_experiment("links", ['model.kind="grail"']).objective, family(0))
    GraIL.admit(objective, GraILConfig())
    with pytest.raises(TooLarge, match=r"a subgraph for every candidate.*up to model\.facts = 20"):
        GraIL.admit(objective, GraILConfig(facts=20))


@pytest.mark.parametrize("settings", [{"hops": 0}, {"dropout": 1.0}, {"bases": 0}])
def test_settings_that_make_no_model_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        GraILConfig(**settings)
