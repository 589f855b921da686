"""An EpiGNN beside rules: whose scores meet, how much each counts, and that batches are what they are made of."""

import math

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.distil.beside import NO_RULE, TRUSTS, EpiGNNWalks, WalksConfig
from epignn.distil.choose import Derivations
from epignn.distil.rules import Rule, RuleSet
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig

pytestmark = pytest.mark.numeric
NAMES = ("a", "b", "c", "d")
A, B, C, D = range(4)
RULES = RuleSet(NAMES, 4, (Rule(A, B, C, 0.6), Rule(A, A, A, 0.7), Rule(A, C, D, 0.5)))


def diamond(label: int) -> Dataset:
    """Two ways from 0 to 4: a, b; and a, a, b."""
    return Dataset(NAMES, [5], [0, 5], [0, 1, 0, 2, 3], [1, 4, 2, 3, 4], [A, B, A, A, B], [0], [4], [label])


def chain(steps: int) -> Dataset:
    """a, a, …, b."""
    relations = [A] * (steps - 1) + [B]
    return Dataset(
        NAMES, [steps + 1], [0, steps], [*range(steps)], [*range(1, steps + 1)], relations, [0], [steps], [C]
    )


def states() -> EpiGNN:
    model = build(EpiGNN, 4, EpiGNNConfig(dim=8, facets=2), 3)
    assert isinstance(model, EpiGNN)
    return model.eval()


def beside(rules: RuleSet = RULES, trust: float = 1.0) -> EpiGNNWalks:
    return EpiGNNWalks.of(states(), WalksConfig(dim=8, facets=2), rules, trust).eval()


def test_the_strongest_derivation_counts():
    """By hand: c by a, b; d by a, (a, b); and a, a contracted first is weaker."""
    found = Derivations(RULES).strengths(diamond(C))
    assert found == pytest.approx(np.array([[0, 0, 0.6, 0.5 * 0.6]]))
    assert Derivations(RULES).strengths(chain(3)) == pytest.approx(np.array([[0, 0, 0.7 * 0.6, 0.5 * 0.6]]))


def test_of_walks_that_are_not_read_the_weakest_rule_counts():
    assert Derivations(RULES).strengths(chain(40)) == pytest.approx(np.array([[0, 0, 0.6, 0]]))


def test_scores_meet():
    graphs = Dataset.concat([diamond(C), chain(3), chain(40)])
    found = beside(trust=2.0).scores(EpiGNNWalks.prepare(graphs, WalksConfig(dim=8, facets=2)))
    learnt = states().scores(EpiGNN.prepare(graphs, EpiGNNConfig(dim=8, facets=2)))
    derived = torch.from_numpy(Derivations(RULES).strengths(graphs)).float()
    torch.testing.assert_close(found, learnt + 2 * (derived + NO_RULE).log())


def test_parts_of_a_batch_score_as_the_whole():
    model = beside()
    batch = model.prepare(Dataset.concat([diamond(C), chain(3), chain(20), diamond(D)]), model.config)
    whole = model.scores(batch)
    order = torch.tensor([2, 0, 3])
    torch.testing.assert_close(model.scores(batch.select(order)), whole[order])
    torch.testing.assert_close(model.scores(batch.slice(1, 3)), whole[1:3])
    parts = list(batch.to("cpu").chunks(3))
    assert [len(part) for part in parts] == [3, 1]
    torch.testing.assert_close(torch.cat([model.scores(part) for part in parts]), whole)
    assert batch.label.tolist() == [C, C, C, D]


def test_validation_chooses_how_much_rules_count():
    best = states().scores(EpiGNN.prepare(diamond(C), EpiGNNConfig(dim=8, facets=2))).argmax().item()
    other = (best + 1) % 4
    model = beside(RuleSet(NAMES, 4, (Rule(A, B, other, 1.0),)))
    assert model.choose(Dataset.concat([diamond(other)] * 3)) == 1
    assert model.trust == TRUSTS[-1]  # of several that are right, the largest
    assert model.choose(Dataset.concat([diamond(best)] * 3)) == 1
    gap = math.log(1 + 1 / NO_RULE)
    learnt = states().scores(EpiGNN.prepare(diamond(C), EpiGNNConfig(dim=8, facets=2)))[0]
    assert model.trust * gap < learnt[best] - learnt[other]
    assert model.choose(diamond(C).select(slice(0, 0))) == 0
    assert model.trust == TRUSTS[-1]  # nothing was held out
