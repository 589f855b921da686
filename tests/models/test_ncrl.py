"""NCRL against a loop in numpy over one walk, on graphs with several paths, and on walks longer than seen."""

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.losses import cross_entropy
from epignn.models import ncrl
from epignn.models.api import build
from epignn.models.ncrl import NCRL, NCRLConfig
from tests.models.composition import chains, products
from tests.models.conftest import random_graphs

pytestmark = pytest.mark.numeric
RELATIONS = 8


@pytest.fixture
def model() -> NCRL:
    model = build(NCRL, RELATIONS, NCRLConfig(width=6), 0).double().eval()
    for parameter in model.parameters():  # far from zero, so that choices differ from walk to walk
        torch.nn.init.normal_(parameter, generator=torch.Generator().manual_seed(parameter.numel()))
    return model


def softmax(x: np.ndarray) -> np.ndarray:
    return np.exp(x) / np.exp(x).sum()


def by_hand(model: NCRL, walk: list[int]) -> tuple[np.ndarray, list[int]]:
    """The log-probabilities of one walk, and the windows that were composed."""
    p = {name: value.detach().numpy() for name, value in model.named_parameters()}
    width = model.config.width

    def encoded(pair):
        hidden, cell = np.zeros(width), np.zeros(width)
        for x in pair:
            gates = p["lstm.weight_ih_l0"] @ x + p["lstm.bias_ih_l0"]
            gates += p["lstm.weight_hh_l0"] @ hidden + p["lstm.bias_hh_l0"]
            i, f, g, o = np.split(gates, 4)
            cell = cell / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
            hidden = np.tanh(cell) / (1 + np.exp(-o))
        return hidden

    def attention(x):
        keys = np.array([p["key.weight"] @ e + p["key.bias"] for e in [*p["embedding.weight"], x]])
        return keys @ (p["query.weight"] @ x + p["query.bias"]) / np.sqrt(width)

    state, chosen = [p["embedding.weight"][r] for r in walk], []
    while len(state) > 2:
        windows = [encoded(state[i : i + 2]) for i in range(len(state) - 1)]
        best = int(np.argmax([(p["likely.weight"] @ w + p["likely.bias"])[0] for w in windows]))
        weight = softmax(attention(windows[best]))
        state[best : best + 2] = [weight @ np.array([*p["embedding.weight"], windows[best]])]
        chosen.append(best)
    last = encoded(state) if len(state) == 2 else state[0]
    return np.log(softmax(attention(last)[:-1])), chosen


def found(model: NCRL, data: Dataset) -> np.ndarray:
    return model.scores(NCRL.prepare(data, model.config)).detach().numpy()


def test_walks_of_all_lengths_are_reduced_as_one_by_one(model, rng, monkeypatch):
    walks = [rng.integers(0, RELATIONS, n).tolist() for n in (1, 2, 3, 3, 5, 2, 7, 6, 1, 5)]
    expected, chosen = zip(*(by_hand(model, walk) for walk in walks), strict=True)
    assert {0, 1, 2} <= {window for choice in chosen for window in choice}, "the choice of windows is not tested"
    data = chains(walks, [0] * len(walks), RELATIONS)
    np.testing.assert_allclose(found(model, data), expected, rtol=1e-7)
    monkeypatch.setattr(ncrl, "TOGETHER", 3)
    np.testing.assert_allclose(found(model, data), expected, rtol=1e-7)


def test_the_paths_of_a_graph_are_averaged(model):
    # 0 -r0-> 1 -r1-> 3 and 0 -r2-> 2 -r3-> 3, and one edge r4 from head to tail
    graph = Dataset(
        tuple("abcdefgh"), [4], [0, 5], [0, 1, 0, 2, 0], [1, 3, 2, 3, 3], [0, 1, 2, 3, 4], [0], [3], [0]
    )
    paths = [by_hand(model, walk)[0] for walk in ([4], [0, 1], [2, 3])]
    np.testing.assert_allclose(found(model, graph)[0], np.mean(paths, axis=0), rtol=1e-7)
    model.config = NCRLConfig(width=6, walks=1)
    np.testing.assert_allclose(found(model, graph)[0], paths[0], rtol=1e-7)


def test_any_graph_is_read(model, rng):
    assert np.isfinite(found(model, random_graphs(rng, 30, RELATIONS))).all()


def test_equally_likely_windows_are_taken_from_the_left(model):
    torch.nn.init.zeros_(model.likely.weight)
    scores = found(model, chains([[1, 2, 3]], [0], RELATIONS))
    np.testing.assert_allclose(scores[0], by_hand(model, [1, 2, 3])[0], rtol=1e-7)


def test_it_learns_to_compose_walks_longer_than_it_has_seen(rng):
    config = NCRLConfig(width=32)
    train = NCRL.prepare(Dataset.concat([products(n, 200, rng) for n in (2, 3)]), config)
    model = build(NCRL, 5, config, 0)
    optimiser = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for _ in range(200):
            optimiser.zero_grad()
            cross_entropy(model.scores(train), train.label).backward()
            optimiser.step()
    for length in (4, 5):
        longer = products(length, 200, rng)
        right = model.eval().scores(NCRL.prepare(longer, config)).argmax(1).numpy() == longer.label
        assert right.mean() > 0.9, length


def test_graphs_whose_head_is_their_tail_are_refused():
    graph = Dataset(("a", "b"), [2, 2], [0, 1, 2], [0, 0], [1, 1], [0, 1], [0, 1], [1, 1], [0, 0])
    with pytest.raises(BadArgument, match="head and tail are one node in 1 of 2 graphs, first in number 1"):
        NCRL.prepare(graph, NCRLConfig())


def test_settings_are_checked():
    with pytest.raises(BadArgument, match=r"model.width and model.walks must be 1 or more"):
        NCRLConfig(walks=0)
