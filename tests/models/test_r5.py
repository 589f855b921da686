"""R5 against a search of one walk in plain Python, by hand, and on walks longer than it has seen."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import build
from epignn.models.r5 import R5, R5Config
from epignn.models.walks import Walks
from tests.models.composition import chains, products
from tests.models.conftest import random_graphs

pytestmark = pytest.mark.numeric
RELATIONS = 4
UNKNOWN = RELATIONS + 3


@pytest.fixture
def model(rng) -> R5:
    """A memory of some rules, two of them with invented relations, and any policy."""
    model = build(R5, RELATIONS, R5Config(invented=3), 0).eval()
    known = torch.from_numpy(rng.random((RELATIONS + 2, RELATIONS + 2)) < 0.7)
    model.evidence[: RELATIONS + 2, : RELATIONS + 2] = known[:, :, None] * torch.from_numpy(
        rng.integers(1, 9, (RELATIONS + 2, RELATIONS + 2, RELATIONS))
    )
    lacking = torch.nonzero(~known)
    model.invention[tuple(lacking[0])], model.invention[tuple(lacking[1])] = RELATIONS, RELATIONS + 1
    model.policy.copy_(torch.from_numpy(rng.normal(size=model.policy.shape)))
    return model


def by_hand(model: R5, walk: list[int]) -> dict[int, float]:
    """How sure the search is of each relation that it comes to."""

    def rule(a, b):
        counts = model.evidence[a, b].tolist()
        if max(counts) > 0:
            return counts.index(max(counts)), max(counts) / (sum(counts) + 1)
        invented = int(model.invention[a, b])
        return (invented, 0.5) if invented >= 0 else (UNKNOWN, 1e-6)

    def prior(state):
        pairs = list(pairwise(state))
        weight = [math.exp(float(model.policy[a, b])) * rule(a, b)[1] for a, b in pairs]
        return [w / sum(weight) for w in weight]

    def merge(state, sure, window):
        head, how = rule(state[window], state[window + 1])
        return [*state[:window], head, *state[window + 2 :]], sure * how

    def playout(state, sure):
        while len(state) > 1:
            likely = prior(state)
            state, sure = merge(state, sure, likely.index(max(likely)))
        return state[0], sure

    found: dict[int, float] = {}
    state, sure = walk, 1.0
    while len(state) > 1:
        ends = [playout(*merge(state, sure, window)) for window in range(len(state) - 1)]
        for end, value in ends:
            found[end] = max(found.get(end, 0), value)
        worth = [value + model.config.explore * p for (_, value), p in zip(ends, prior(state), strict=True)]
        state, sure = merge(state, sure, worth.index(max(worth)))
    found[state[0]] = max(found.get(state[0], 0), sure)
    return found


def scores(model: R5, data: Dataset) -> np.ndarray:
    return model.scores(R5.prepare(data, model.config)).numpy()


def expected(model: R5, walks: list[list[int]]) -> list[float]:
    found = [by_hand(model, walk) for walk in walks]
    share = (model.frequency / model.frequency.sum()).tolist()
    return [math.log(max(f.get(r, 0) for f in found) + 1e-6 * share[r]) for r in range(RELATIONS)]


def test_walks_are_searched_as_one_by_one(model, rng):
    walks = [rng.integers(0, RELATIONS, n).tolist() for n in (1, 2, 3, 4, 5, 6, 4, 5, 6, 7)]
    found = scores(model, chains(walks, [0] * len(walks), RELATIONS))
    np.testing.assert_allclose(found, [expected(model, [walk]) for walk in walks], atol=1e-4)


def test_the_surest_path_of_a_graph_decides(model):
    # 0 -r0-> 1 -r1-> 3 and 0 -r2-> 2 -r3-> 3
    graph = Dataset(tuple("abcd"), [4], [0, 4], [0, 1, 0, 2], [1, 3, 2, 3], [0, 1, 2, 3], [0], [3], [0])
    np.testing.assert_allclose(scores(model, graph)[0], expected(model, [[0, 1], [2, 3]]), atol=1e-4)


def test_any_graph_is_read(model, rng):
    assert np.isfinite(scores(model, random_graphs(rng, 30, RELATIONS))).all()


def learn(model: R5, *walks: tuple[list[int], int]) -> float:
    """Count walks with their labels."""
    return model.count([R5.prepare(chains(*map(list, zip(*walks, strict=True)), model.relations), model.config)], 0)


def test_a_pair_that_no_walk_ends_in_gets_an_invented_relation_until_its_label_is_known():
    model = build(R5, 4, R5Config(keep=1.0), 0)
    assert learn(model, ([0, 1, 2], 3)) == 1
    head, sure = model.rules()
    (window,) = torch.nonzero(model.invention >= 0).tolist()
    assert window in ([0, 1], [1, 2])
    new = int(head[tuple(window)])
    rest = (new, 2) if window == [0, 1] else (0, new)
    assert new >= 4
    assert int(head[rest]) == 3
    assert float(sure[tuple(window)]) == 0.5
    assert float(sure[rest]) == pytest.approx(0.5 / 1.5)  # half a walk: as sure as the merge before it
    assert learn(model, (window, 2)) == 1
    head, _ = model.rules()
    assert int(head[tuple(window)]) == 2
    assert int(head[(2, 2) if window == [0, 1] else (0, 2)]) == 3, (
        "the rule with the invented relation is another's now"
    )
    assert not (model.invention >= 0).any()
    assert not model.evidence[new].any()
    assert learn(model, ([0, 1, 2], 3)) == 0


def test_a_label_takes_the_place_of_an_invented_relation_on_both_sides():
    model = build(R5, 4, R5Config(keep=1.0), 0)
    model.invention[0, 1], model.invention[4, 3], model.invention[3, 4] = 4, 5, 6
    model.evidence[1, 4, 3] = model.evidence[4, 0, 3] = model.evidence[4, 4, 1] = 1
    learn(model, ([0, 1], 2))
    head, _ = model.rules()
    heads = {pair: int(head[pair]) for pair in ((0, 1), (1, 2), (2, 0), (2, 2), (2, 3), (3, 2))}
    assert heads == {(0, 1): 2, (1, 2): 3, (2, 0): 3, (2, 2): 1, (2, 3): 5, (3, 2): 6}
    assert sorted(model.invention[model.invention >= 0].tolist()) == [5, 6]


def test_the_oldest_invented_relation_is_forgotten():
    model = build(R5, 9, R5Config(invented=2, episodes=1), 0)
    learn(model, ([0, 1, 2], 8))
    before = set(map(tuple, torch.nonzero(model.invention >= 0).tolist()))
    learn(model, ([3, 4, 5], 8))
    assert (model.invention >= 0).sum() == 2
    learn(model, ([6, 7, 6], 8))
    after = set(map(tuple, torch.nonzero(model.invention >= 0).tolist()))
    assert len(after) == 2
    assert not before & after


def test_wrong_labels_are_outvoted():
    model = build(R5, 3, R5Config(), 0)
    learn(model, *[([0, 1], 2)] * 3, ([0, 1], 0))
    head, sure = model.rules()
    assert int(head[0, 1]) == 2
    assert float(sure[0, 1]) == pytest.approx(3 / 5)


def test_the_policy_learns_which_pair_to_merge(rng):
    # r0∘r1 = r2, r2∘r1 = r3, but r1∘r1 is r0 on its own and misleads: r0∘r0 = r0
    rows = [([0, 1], 2), ([2, 1], 3), ([1, 1], 0), ([0, 0], 0), ([0, 1, 1], 3)]
    model = build(R5, 4, R5Config(), 0)
    for _ in range(5):
        learn(model, *rows)
    assert model.policy[0, 1] > model.policy[1, 1]
    data = chains(*map(list, zip(*rows, strict=True)), 4)
    assert (scores(model, data).argmax(1) == data.label).all()


@pytest.mark.parametrize("seen", [(2, 3), (3, 4)])
def test_it_learns_to_compose_walks_longer_than_it_has_seen(seen, rng):
    model = build(R5, 5, R5Config(), 0)
    train = R5.prepare(Dataset.concat([products(n, 200, rng) for n in seen]), model.config)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        for epoch in range(3):
            model.count([train], epoch)
    for length in (5, 8):
        longer = products(length, 100, rng)
        assert (scores(model, longer).argmax(1) == longer.label).mean() > 0.95


def test_batches_are_learnt_together(rng):
    one, other = (build(R5, 5, R5Config(), 0) for _ in range(2))
    whole: Walks = R5.prepare(Dataset.concat([products(n, 40, rng) for n in (2, 3)]), one.config)
    for model, graphs in ((one, [whole]), (other, list(whole.chunks(7)))):
        with torch.random.fork_rng():
            torch.manual_seed(0)
            model.count(graphs, 0)
    assert all(torch.equal(a, b) for a, b in zip(one.buffers(), other.buffers(), strict=True))


def test_settings_are_checked():
    with pytest.raises(BadArgument, match="invented, playouts, episodes and walks of R5 must be 1 or more"):
        R5Config(invented=0)
    with pytest.raises(BadArgument, match="keep of R5 must be between 0 and 1"):
        R5Config(keep=2.0)
