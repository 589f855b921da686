"""RED-GNN against a loop over all paths' entities and edges, in numpy."""

import numpy as np
import pytest

from epignn.errors import BadArgument
from epignn.learn.config import load_experiment
from epignn.models.api import build
from epignn.models.redgnn import REDGNN, REDGNNConfig
from epignn.models.walked import walk
from tests.conftest import random_graph

pytestmark = pytest.mark.numeric


def sigmoid(value):
    return 1 / (1 + np.exp(-value))


def by_loops(made: REDGNN, edges: list[tuple[int, int, int]], nodes: int, head: int, asked: int) -> np.ndarray:
    """(V): scores of one pass; states are kept in a dictionary of the entities that are reached."""
    weights = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    width, loop = made.config.width, made.relations
    state = {head: np.zeros(width)}
    for number in range(made.config.layers):
        own = {key.removeprefix(f"layers.{number}."): value for key, value in weights.items()}
        vectors, received = own["relation.weight"], {}
        walked = [edge for edge in edges if edge[0] in state] + [(v, loop, v) for v in state]
        for source, label, target in walked:
            hidden = own["by_relation.weight"] @ vectors[label]
            hidden = hidden + own["by_question.weight"] @ vectors[asked] + own["by_question.bias"]
            if number:
                hidden = hidden + own["by_state.weight"] @ state[source]
            alpha = sigmoid(own["weight.weight"] @ np.maximum(hidden, 0) + own["weight.bias"])
            received.setdefault(target, np.zeros(width))
            received[target] += alpha * (state[source] + vectors[label])
        after = {}
        for target, total in received.items():
            value, memory = np.tanh(own["linear.weight"] @ total), state.get(target, np.zeros(width))
            inputs = weights["gate.weight_ih"] @ value + weights["gate.bias_ih"]
            hidden = weights["gate.weight_hh"] @ memory + weights["gate.bias_hh"]
            (r_i, z_i, n_i), (r_h, z_h, n_h) = np.split(inputs, 3), np.split(hidden, 3)
            z = sigmoid(z_i + z_h)
            after[target] = (1 - z) * np.tanh(n_i + sigmoid(r_i + r_h) * n_h) + z * memory
        state = after
    scores = np.zeros(nodes)
    for target, value in state.items():
        scores[target] = weights["output.weight"][0] @ value
    return scores


def test_scores_are_those_of_a_loop_over_entities_that_are_reached():
    graph = random_graph(2)
    relations, nodes = len(graph.relations), len(graph.entities)
    made = build(REDGNN, 2 * relations, REDGNNConfig(width=5, layers=3, activation="tanh"), 0).double().eval()
    edges = [(h, r, t) for h, r, t in graph.facts.tolist()]
    edges += [(t, r + relations, h) for h, r, t in graph.facts.tolist()]
    reached = set()
    for head in (0, 3, 11):
        asked = np.array([0, 2 * relations - 1])
        for line, relation in zip(made.scorer(graph)(head, asked), asked.tolist(), strict=True):
            expected = by_loops(made, edges, nodes, head, relation)
            np.testing.assert_allclose(line, expected, rtol=1e-5, atol=1e-7)
            reached.add(int((expected != 0).sum()))
    assert min(reached) < nodes


def test_a_walk_reaches_what_is_within_its_steps():
    graph = random_graph(4)
    import networkx as nx

    net = nx.Graph([(h, t) for h, _, t in graph.facts.tolist()])
    heads = np.array(sorted(net)[:4], dtype=np.int32)
    stays = np.ones((len(heads), len(graph.edges.source)), dtype=bool)
    for number, step in enumerate(walk(graph.edges, heads, stays, 3, 2 * len(graph.relations)), 1):
        for p, head in enumerate(heads.tolist()):
            found = {key % len(graph.entities) for key in step.reached.tolist() if key // len(graph.entities) == p}
            assert found == set(nx.single_source_shortest_path_length(net, head, number))


def test_recipes_are_those_of_each_split():
    first, second = (load_experiment(name, ['model.kind="red-gnn"']) for name in ("wn18rr-v1", "fb237-v4"))
    assert first.model == REDGNNConfig(width=64, attention=5, layers=5, activation="none", dropout=0.21)
    assert (first.training.batch_size, first.training.learning_rate) == (100, 0.005)
    assert second.model == REDGNNConfig(width=48, attention=5, layers=5, activation="none", dropout=0.07)
    assert (second.training.batch_size, second.training.learning_rate) == (20, 0.0052)
    assert first.objective.negatives == 0


@pytest.mark.parametrize("settings", [{"width": 0}, {"dropout": 1.0}, {"activation": "idd"}])
def test_settings_that_make_no_model_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        REDGNNConfig(**settings)
