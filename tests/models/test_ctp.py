"""CTP against all proofs of a walk tried one by one, on graphs of several paths, and on longer walks than seen."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.losses import binary
from epignn.models import MODELS, prover
from epignn.models.api import build
from epignn.models.ctp import CTP
from tests.models.composition import chains, products
from tests.models.conftest import random_graphs

pytestmark = pytest.mark.numeric
RELATIONS = 5
SETTINGS = {"width": 3, "rules": 2}


@pytest.fixture(params=["ctp-l", "ctp-a", "ctp-m"])
def kind(request) -> type[CTP]:
    return MODELS.get(request.param)


@pytest.fixture
def model(kind) -> CTP:
    return build(kind, RELATIONS, kind.Config(**SETTINGS), 0).double().eval()


def rules(model: CTP, goal: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """The pairs of subgoals of one goal, by the text of the paper."""
    p = {name: value.detach().numpy() for name, value in model.named_parameters()}
    width, found = model.config.width, []
    for rule in range(model.config.rules):
        if "maps.weight" in p:  # f(goal) = W goal + b, one W for each atom of each rule
            rows = [slice((2 * rule + atom) * width, (2 * rule + atom + 1) * width) for atom in (0, 1)]
            found.append(tuple(p["maps.weight"][r] @ goal + p["maps.bias"][r] for r in rows))
        elif "memory" in p:  # one attention for both atoms of a rule
            size = model.config.memory
            row = slice(rule * size, (rule + 1) * size)
            share = np.exp(p["shares.weight"][row] @ goal + p["shares.bias"][row])
            found.append(tuple(share @ p["memory"][:, atom] / share.sum() for atom in (0, 1)))
        else:
            atoms = []
            for atom in (0, 1):
                row = slice((2 * rule + atom) * RELATIONS, (2 * rule + atom + 1) * RELATIONS)
                share = np.exp(p["shares.weight"][row] @ goal + p["shares.bias"][row])
                atoms.append(share @ p["embedding"] / share.sum())
            found.append(tuple(atoms))
    return found


def proofs(model: CTP, goal: np.ndarray, walk: list[int], depth: int) -> list[float]:
    """How good every proof of a goal is, one after the other."""
    embedding = model.embedding.detach().numpy()
    if len(walk) == 1:
        return [np.exp(-max(np.linalg.norm(goal - embedding[walk[0]]), 1e-3))]
    if depth == 0:
        return []
    return [
        min(one, other)
        for first, second in rules(model, goal)
        for split in range(1, len(walk))
        for one in proofs(model, first, walk[:split], depth - 1)
        for other in proofs(model, second, walk[split:], depth - 1)
    ]


def odds(model: CTP, walks: list[list[int]], depth: int) -> list[float]:
    """The log-odds of the best proof of every relation by any of some walks."""
    found = []
    for goal in model.embedding.detach().numpy():
        best = max(score for walk in walks for score in proofs(model, goal, walk, depth))
        found.append(np.log(best / (1 - best)))
    return found


def scores(model: CTP, data: Dataset) -> np.ndarray:
    return model.scores(type(model).prepare(data, model.config)).detach().numpy()


def test_the_best_of_all_proofs_counts(model, rng):
    walks = [rng.integers(0, RELATIONS, n).tolist() for n in (1, 2, 3, 4, 2, 3, 4)]
    expected = [odds(model, [walk], model.config.deepest) for walk in walks]
    np.testing.assert_allclose(scores(model, chains(walks, [0] * 7, RELATIONS)), expected, rtol=1e-7)


def test_proofs_in_training_are_as_deep_as_they_are_meant_to_be(model, rng):
    walks = rng.integers(0, RELATIONS, (6, 4)).tolist()
    data = chains(walks, [0] * 6, RELATIONS)
    for depth in (2, 3):
        model.config = replace(model.config, depth=depth)
        shallow = [odds(model, [walk], depth) for walk in walks]
        np.testing.assert_allclose(scores(model.train(), data), shallow, rtol=1e-7)
    model.config = replace(model.config, depth=1)
    needed = [odds(model, [walk], 2) for walk in walks]
    np.testing.assert_allclose(scores(model, data), needed, rtol=1e-7)
    assert not np.allclose(shallow, needed), "all depths prove the same; the test says nothing"


@pytest.mark.parametrize(("limit", "value"), [("ENTRIES", 1), ("TOGETHER", 7)])
def test_some_goals_or_walks_after_the_other_are_as_all_at_once(limit, value, model, rng, monkeypatch):
    lengths = [2, 3, 6, 1, 5] * 4
    data = chains([rng.integers(0, RELATIONS, n).tolist() for n in lengths], [0] * 20, RELATIONS)
    together = scores(model, data)
    monkeypatch.setattr(prover, limit, value)
    np.testing.assert_allclose(scores(model, data), together, rtol=1e-10)


def test_the_best_path_of_a_graph_counts(model):
    # 0 -r0-> 1 -r1-> 3 and 0 -r2-> 2 -r3-> 3, and one edge r4 from head to tail
    ends = [0, 1, 0, 2, 0], [1, 3, 2, 3, 3]
    graph = Dataset(tuple("abcde"), [4], [0, 5], *ends, [0, 1, 2, 3, 4], [0], [3], [0])
    np.testing.assert_allclose(scores(model, graph)[0], odds(model, [[4], [0, 1], [2, 3]], 4), rtol=1e-7)
    model.config = replace(model.config, walks=1)
    np.testing.assert_allclose(scores(model, graph)[0], odds(model, [[4]], 4), rtol=1e-7)


def test_any_graph_is_read(model, rng):
    assert np.isfinite(scores(model, random_graphs(rng, 30, RELATIONS))).all()


def test_walks_without_a_proof_are_left_out_or_refused(kind):
    config = kind.Config(deepest=2)
    # an edge and a walk of five
    walk = np.arange(5)
    graph = Dataset(("a", "b"), [6], [0, 6], [*walk, 0], [*(walk + 1), 5], [0, 0, 0, 0, 0, 1], [0], [5], [0])
    assert kind.prepare(graph, replace(config, deepest=3)).relation.tolist() == [[1, -1, -1, -1, -1], [0] * 5]
    kept = kind.prepare(graph, config)
    assert (kept.offset.tolist(), kept.relation[:, 0].tolist(), kept.length.tolist()) == ([0, 1], [1], [1])
    with pytest.raises(BadArgument, match=r"has 5 edges; proofs of depth 2 reach 4. Set model.deepest to 3: every"):
        kind.prepare(chains([[0] * 4, [1] * 5], [0, 0], 2), config)


def test_it_learns_to_compose_walks_longer_than_it_has_seen(kind, rng):
    config = kind.Config(width=20)
    train = kind.prepare(Dataset.concat([products(n, 200, rng, 3) for n in (2, 3)]), config)
    model = build(kind, 3, config, 0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.03)
    for _ in range(100):
        optimiser.zero_grad()
        binary(model.scores(train), train.label).backward()
        optimiser.step()
    for length in (4, 5):
        longer = products(length, 200, rng, 3)
        right = scores(model.eval(), longer).argmax(1) == longer.label
        assert right.mean() > 0.9, length


def test_settings_are_checked(kind):
    with pytest.raises(BadArgument, match="width, rules, depth, deepest and walks of a prover must be 1 or more"):
        kind.Config(rules=0)
