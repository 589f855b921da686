"""GNTP against all proofs of a walk tried one by one, and on walks longer than it has seen."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.losses import binary
from epignn.models.api import build
from epignn.models.gntp import GNTP, GNTPConfig
from tests.models.composition import chains, products
from tests.models.conftest import random_graphs

pytestmark = pytest.mark.numeric
RELATIONS = 5


@pytest.fixture
def model() -> GNTP:
    return build(GNTP, RELATIONS, GNTPConfig(width=3, rules=6, nearest=2), 0).double().eval()


def match(one: np.ndarray, other: np.ndarray) -> float:
    return float(np.exp(-max(np.linalg.norm(one - other), 1e-3)))


def proofs(model: GNTP, goal: np.ndarray, walk: list[int], depth: int) -> list[float]:
    """How good every proof of a goal is by the rules with the nearest heads."""
    embedding, head, body = (p.detach().numpy() for p in (model.embedding, model.head, model.body))
    if len(walk) == 1:
        return [match(goal, embedding[walk[0]])]
    if depth == 0:
        return []
    fit = [match(goal, h) for h in head]
    return [
        min(fit[rule], one, other)
        for rule in np.argsort(fit)[::-1][: model.config.nearest]
        for split in range(1, len(walk))
        for one in proofs(model, body[rule, 0], walk[:split], depth - 1)
        for other in proofs(model, body[rule, 1], walk[split:], depth - 1)
    ]


def scores(model: GNTP, data: Dataset) -> np.ndarray:
    return model.scores(GNTP.prepare(data, model.config)).detach().numpy()


@pytest.mark.parametrize("nearest", [1, 2, 6])
@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_the_best_of_the_proofs_by_the_nearest_rules_counts(model, nearest, length, rng):
    model.config = replace(model.config, nearest=nearest, deepest=3)
    walks = rng.integers(0, RELATIONS, (3, length)).tolist()
    goals = model.embedding.detach().numpy()
    best = np.array([[max(proofs(model, goal, walk, 3)) for goal in goals] for walk in walks])
    found = scores(model, chains(walks, [0] * 3, RELATIONS))
    np.testing.assert_allclose(found, np.log(best / (1 - best)), rtol=1e-7)


def test_any_graph_is_read(model, rng):
    assert np.isfinite(scores(model, random_graphs(rng, 30, RELATIONS))).all()


def test_it_learns_to_compose_walks_longer_than_it_has_seen(rng):
    config = GNTPConfig(width=20, rules=100)
    train = GNTP.prepare(Dataset.concat([products(n, 200, rng, 3) for n in (2, 3)]), config)
    model = build(GNTP, 3, config, 0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(100):
        optimiser.zero_grad()
        binary(model.scores(train), train.label).backward()
        optimiser.step()
    for length in (4, 5):
        longer = products(length, 200, rng, 3)
        assert (scores(model.eval(), longer).argmax(1) == longer.label).mean() > 0.9, length


def test_settings_are_checked():
    with pytest.raises(BadArgument, match=r"model.nearest must be between 1 and model.rules, 4, not 5"):
        GNTPConfig(rules=4, nearest=5)
