"""Neural LP and DRUM against products of dense matrices, and a chain worked by hand."""

import numpy as np
import pytest
import torch

from epignn.data.graph import Graph
from epignn.errors import BadArgument
from epignn.models.api import build
from epignn.models.drum import DRUM, DRUMConfig
from epignn.models.neural_lp import NeuralLP, NeuralLPConfig
from tests.conftest import random_graph

pytestmark = pytest.mark.numeric


def matrices(graph: Graph) -> np.ndarray:
    """(R, V, V): how many facts of each relation, inverses after them, lead from the column to the row."""
    nodes, relations = len(graph.entities), len(graph.relations)
    found = np.zeros((2 * relations, nodes, nodes))
    for head, relation, tail in graph.facts.tolist():
        found[relation, tail, head] += 1
        found[relation + relations, head, tail] += 1
    return found


def softmax(values: np.ndarray) -> np.ndarray:
    raised = np.exp(values - values.max())
    return raised / raised.sum()


def share(weight: np.ndarray) -> np.ndarray:
    return weight / max(weight.sum(), 1e-20)


def test_neural_lp_is_a_product_of_matrices_with_memories():
    graph = random_graph(2)
    every = matrices(graph)
    made = build(NeuralLP, len(every), NeuralLPConfig(width=6, hops=3), 0).eval()
    weight, bias = (value.detach().double().numpy() for value in (made.attention.weight, made.attention.bias))
    for head, asked in ((0, 1), (7, 4)):
        words = torch.tensor([[asked]] * 3 + [[len(every)]])
        states = made.recurrent(made.query(words))[0][:, 0].detach().double().numpy()
        memories = [np.eye(len(graph.entities))[head]]
        for step in range(3):
            read = softmax(states[: step + 1] @ states[step]) @ np.array(memories)
            moved = np.tensordot(softmax(weight @ states[step] + bias), every, 1) @ read
            memories.append(share(moved))
        expected = softmax(states @ states[3]) @ np.array(memories)
        found = made.scorer(graph)(head, np.array([asked]))[0]
        np.testing.assert_allclose(found, np.log(np.maximum(expected, 1e-20)), rtol=1e-4, atol=1e-4)


def test_drum_is_a_sum_of_products_of_matrices():
    graph = random_graph(2)
    every = matrices(graph)
    made = build(DRUM, len(every), DRUMConfig(width=6, hops=3, ranks=2), 0).eval()
    weight, bias = (value.detach().double().numpy() for value in (made.attention.weight, made.attention.bias))
    still = np.eye(len(graph.entities))[None]
    for head, asked in ((0, 1), (7, 4)):
        expected = 0
        for recurrent in made.recurrent:
            states = recurrent(made.query(torch.tensor([[asked]] * 3)))[0][:, 0].detach().double().numpy()
            at = np.eye(len(graph.entities))[head]
            for state in states:
                moves = np.concatenate([every, still])
                at = share(np.tensordot(softmax(weight @ state + bias), moves, 1) @ at)
            expected = expected + at
        found = made.scorer(graph)(head, np.array([asked]))[0]
        np.testing.assert_allclose(found, np.log(np.maximum(expected, 1e-20)), rtol=1e-4, atol=1e-4)


def test_a_chain_worked_by_hand():
    """a -r-> b -s-> c, and all attention is given to r, then to s: all weight is at c."""
    graph = Graph(("a", "b", "c"), ("r", "s"), np.array([[0, 0, 1], [1, 1, 2]], dtype=np.int32))
    made = build(DRUM, 4, DRUMConfig(width=4, hops=2, ranks=1), 0)
    with torch.no_grad():
        made.attention.weight.zero_()
        made.attention.bias.copy_(torch.tensor([30.0, 30.0, -30.0, -30.0, -30.0]))
    np.testing.assert_allclose(np.exp(made.scorer(graph)(0, np.array([0]))[0]), [0, 0, 1], atol=1e-6)


@pytest.mark.parametrize(
    ("kind", "settings"), [(NeuralLPConfig, {"hops": 0}), (DRUMConfig, {"ranks": 0}), (DRUMConfig, {"width": 0})]
)
def test_settings_that_make_no_model_are_refused(kind, settings):
    with pytest.raises(BadArgument, match="1 or more"):
        kind(**settings)
