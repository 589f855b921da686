"""The Edge Transformer against a loop in numpy over pairs of nodes, and what it does with memory and size."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.losses import cross_entropy
from epignn.models import edge_transformer, memory
from epignn.models.api import build
from epignn.models.edge_transformer import EdgeTransformer, EdgeTransformerConfig, Values
from epignn.tasks.star import generated
from tests.models.conftest import random_graphs

pytestmark = pytest.mark.numeric
SMALL = EdgeTransformerConfig(width=8, heads=2, rounds=3, feed_forward=2)
Floats = NDArray[np.float64]


def model(config: EdgeTransformerConfig = SMALL, relations: int = 8) -> EdgeTransformer:
    made = build(EdgeTransformer, relations, config, 0)
    assert isinstance(made, EdgeTransformer)
    return made.double().eval()


def norm(values: Floats, weights: dict[str, Floats], name: str) -> Floats:
    spread = np.sqrt(values.var(-1, keepdims=True) + 1e-5)
    return (values - values.mean(-1, keepdims=True)) / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def by_loops(made: EdgeTransformer, data: Dataset, g: int) -> Floats:
    """(R): the scores of one graph, pair by pair, head by head, as the paper's formulas have it."""
    weights = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    config, n = made.config, int(data.node_count[g])
    state = np.tile(weights["embedding.weight"][-1], (n, n, 1))
    edges = range(data.edge_offset[g], data.edge_offset[g + 1])
    for e in edges:
        state[data.edge_source[e], data.edge_target[e]] = 0
    for e in edges:
        state[data.edge_source[e], data.edge_target[e]] += weights["embedding.weight"][data.edge_label[e]]
    size = config.width // config.heads
    for _ in range(config.rounds):
        state = norm(state, weights, "layer.norm_attention")
        key_1, value_1 = np.split(state @ weights["layer.left.weight"].T, 2, -1)
        key_2, value_2 = np.split(state @ weights["layer.right.weight"].T, 2, -1)
        attended = np.zeros_like(state)
        for x in range(n):
            for y in range(n):
                for head in range(config.heads):
                    own = slice(head * size, (head + 1) * size)
                    logits = [key_1[x, a, own] @ key_2[a, y, own] / np.sqrt(size) for a in range(n)]
                    chances = np.exp(logits - max(logits))
                    for a in range(n):
                        share = chances[a] / chances.sum()
                        attended[x, y, own] += share * value_1[x, a, own] * value_2[a, y, own]
        state = norm(state + attended @ weights["layer.join.weight"].T, weights, "layer.norm_forward")
        hidden = np.maximum(state @ weights["layer.widen.weight"].T + weights["layer.widen.bias"], 0)
        state = state + hidden @ weights["layer.narrow.weight"].T + weights["layer.narrow.bias"]
    asked = state[data.query_head[g], data.query_tail[g]]
    hidden = np.maximum(asked @ weights["output.0.weight"].T + weights["output.0.bias"], 0)
    return np.asarray(hidden @ weights["output.2.weight"].T + weights["output.2.bias"])


@pytest.mark.parametrize("rounds", [1, 2, 3, 5])
def test_scores_are_those_of_a_loop_over_pairs(rng, rounds):
    made = model(EdgeTransformerConfig(width=8, heads=2, rounds=rounds, feed_forward=2))
    data = random_graphs(rng, 12)  # with cycles, loops and several edges between the same nodes
    found = made.scores(EdgeTransformer.prepare(data, made.config))
    expected = np.stack([by_loops(made, data, g) for g in range(len(data))])
    np.testing.assert_allclose(found.detach().numpy(), expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("block", [1, 60, 2**18])
def test_attention_in_blocks_is_a_sum_of_products(monkeypatch, rng, block):
    monkeypatch.setattr(edge_transformer, "BLOCK", block)
    shapes = (3, 2, 5, 4, 6), (3, 4, 5, 2, 3), (3, 5, 6, 2, 3)  # A (B, H, A, X, Y), V1 (B, X, A, H, D), V2
    inputs = [torch.from_numpy(rng.normal(size=shape)).requires_grad_() for shape in shapes]
    expected, found = torch.einsum("bhaxy,bxahd,bayhd->bxyhd", *inputs), Values.apply(*inputs)
    torch.testing.assert_close(found, expected)
    grad = torch.from_numpy(rng.normal(size=found.shape))
    gradients = (torch.autograd.grad(values, inputs, grad) for values in (found, expected))
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other)


def test_what_is_computed_again_to_save_memory_gives_the_same_gradients(monkeypatch, rng):
    data = random_graphs(rng, 8)
    gradients = []
    for kept, together in ((2**40, 2**40), (0, 2**17), (2**40, 1), (0, 1)):  # all, whole parts, by rounds
        monkeypatch.setattr(memory, "KEPT", kept)
        monkeypatch.setattr(memory, "TOGETHER", together)
        made = model()
        found = made.scores(EdgeTransformer.prepare(data, made.config))
        cross_entropy(found, torch.from_numpy(data.label).long()).backward()
        gradients.append([parameter.grad for parameter in made.parameters()])
    for one, *others in zip(*gradients, strict=True):
        for other in others:
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("together", [1, 2**17])
def test_dropout_is_drawn_once_for_what_is_computed_again(monkeypatch, rng, together):
    """The gradient of a recomputed step is that of the scores that were given: compare with a difference."""
    monkeypatch.setattr(memory, "KEPT", 0)
    monkeypatch.setattr(memory, "TOGETHER", together)
    made = model().train()
    graphs = EdgeTransformer.prepare(random_graphs(rng, 8), made.config)
    weight = made.output[2].weight

    def total() -> torch.Tensor:
        torch.manual_seed(3)
        return (made.scores(graphs) ** 2).sum()

    total().backward()
    step = torch.zeros_like(weight)
    step[0, 0] = 1e-6
    with torch.no_grad():
        before = total()
        weight += step
        after = total()
    assert float(after - before) / 1e-6 == pytest.approx(float(weight.grad[0, 0]), rel=1e-4)
    embedding = made.embedding.weight
    with torch.no_grad():
        weight -= step
        embedding[0, 0] += 1e-6
        after = total()
    assert float(after - before) / 1e-6 == pytest.approx(float(embedding.grad[0, 0]), rel=1e-4)


def test_a_graph_that_is_too_large_is_refused_with_the_limit(monkeypatch):
    data = generated(load("rcc8"), 6, 2, 1, 0)
    largest = int(data.node_count.max())
    monkeypatch.setattr(edge_transformer, "LARGEST", SMALL.least_bytes_of(largest))
    assert len(EdgeTransformer.prepare(data, SMALL)) == len(data)
    monkeypatch.setattr(edge_transformer, "LARGEST", SMALL.least_bytes_of(largest) - 1)
    with pytest.raises(BadArgument, match=f"of up to {largest - 1} nodes, and one here has {largest}"):
        EdgeTransformer.prepare(data, SMALL)


def test_the_largest_published_problems_are_taken():
    assert EdgeTransformerConfig().least_bytes_of(310) < edge_transformer.LARGEST  # some nodes of k = 15, b = 8


@pytest.mark.parametrize("settings", [{"width": 10, "heads": 4}, {"rounds": 0}, {"dropout": 1.0}])
def test_settings_that_make_no_model_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        EdgeTransformerConfig(**settings)
