"""Rules from walks and weights: worlds whose rules are known, and the published kinship data."""

import numpy as np
import pytest

from epignn.data.dataset import Dataset, offsets
from epignn.distil.evaluate import rule_figures
from epignn.distil.induce import distil_rules, probabilities
from epignn.distil.rules import RuleSet
from epignn.errors import BadArgument
from epignn.formats.readers import read_graphs
from epignn.learn.run import train_on
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from tests.conftest import made_here
from tests.graphs import own, small

ORDER = 5
NAMES = tuple(f"by{r}" for r in range(ORDER))


def circle(rng: np.random.Generator, count: int, lengths: tuple[int, ...]) -> Dataset:
    """Walks around a circle; the label is the sum of the steps."""
    hops = rng.choice(lengths, count)
    within = np.concatenate([np.arange(n) for n in hops])
    steps = rng.integers(0, ORDER, len(within))
    first = offsets(hops)
    label = np.add.reduceat(steps, first[:-1]) % ORDER
    zeros = np.zeros(count)
    return Dataset(NAMES, hops + 1, first, within, within + 1, steps, zeros, hops, label)


def untrained(relations: int, **options: int) -> EpiGNN:
    return build(EpiGNN, relations, EpiGNNConfig(dim=16, facets=2, **options), 0)


def strongest(rules: RuleSet, left: int, right: int) -> tuple[int, float]:
    """The head of the strongest rule of a body, and its weight."""
    rule = next(rule for rule in rules.rules if (rule.left, rule.right) == (left, right))
    return rule.head, rule.weight


def test_two_steps_give_every_rule_of_the_circle(rng):
    rules = distil_rules(untrained(ORDER), NAMES, circle(rng, 2000, (2, 3))).rules
    assert rules.relations == NAMES  # longer walks need nothing more
    for a in range(ORDER):
        for b in range(ORDER):
            head, weight = strongest(rules, a, b)
            assert head == (a + b) % ORDER
            assert weight > 0.9


def test_longer_walks_show_rules_that_shorter_ones_do_not(rng):
    data = circle(rng, 3000, (2, 3))
    short = data.edge_count == 2
    by4 = np.array(
        [4 in data.edge_label[s:e] for s, e in zip(data.edge_offset, data.edge_offset[1:], strict=False)]
    )
    found = distil_rules(untrained(ORDER), NAMES, data.select(~(short & by4)))  # by4 is in no body of two steps
    assert found.steps[2] == ORDER**2
    for other in (0, 1, 2, 3):
        head, weight = strongest(found.rules, 4, other)
        assert head == (4 + other) % ORDER
        assert weight > 0.8


def test_the_models_word_alone_has_a_fifth_of_the_weight():
    triple = np.full((2, 2, 2), 50.0)
    triple[0, 0, 1] = 0
    assert probabilities(triple)[0, 0, 1] == pytest.approx(1)
    model = untrained(3)
    found = distil_rules(model, ("a", "b", "c"), None)
    assert found.steps == {0: 9}
    assert all(rule.weight == pytest.approx(rule.model / 5, abs=1e-4) for rule in found.rules.rules)


def test_a_relation_is_invented_where_no_named_one_will_do(rng):
    """By 1 and by 1 gives by 2, which has no name; by 2 and by 2 gives by 4."""
    names = ("by1", "by4")
    data = Dataset(
        names, [5] * 3, [0, 4, 8, 12], [0, 1, 2, 3] * 3, [1, 2, 3, 4] * 3, [0] * 12, [0] * 3, [4] * 3, [1] * 3
    )
    three = Dataset(
        names, [4] * 9, range(0, 28, 3), [0, 1, 2] * 9, [1, 2, 3] * 9, [0] * 27, [0] * 9, [3] * 9, [0] * 9
    )
    found = distil_rules(untrained(2), names, Dataset.concat([data, three]))
    assert found.rules.relations[:3] == ("by1", "by4", "by1∘by1")
    assert any((r.left, r.right, r.head) == (0, 0, 2) and r.weight == 1 for r in found.rules.rules)
    assert found.steps[3] == 1
    assert rule_figures(found.rules, data)["accuracy"] == 1.0
    assert "by1∘by1" not in distil_rules(untrained(2), names, None).rules.relations


def test_a_trained_model_and_longer_walks(rng):
    data = circle(rng, 3000, (2, 3))
    settings = EpiGNNConfig(dim=32, facets=4, rounds="auto", self_message=False, a_ij="coupled")
    model = train_on(data, small(own(), settings, epochs=4, batch_size=128)).trained.model
    rules = distil_rules(model, NAMES, data).rules
    far = circle(rng, 200, (8, 9))
    figures = rule_figures(rules, far)
    assert (figures["accuracy"], figures["entailed"], figures["contradicted"]) == (1.0, 200, 0)


def test_other_relations_are_refused(rng):
    with pytest.raises(BadArgument, match="the data of"):
        distil_rules(untrained(2), ("a", "b"), circle(rng, 5, (2,)))


def test_kinship_rules_from_the_walks_of_files(files):
    """Even an untrained model's rules answer all clear rows: the two-step walks show what is needed."""
    folder = files / "clutrr" / "data_089907f8"
    train = read_graphs(folder / "1.2,1.3_train.csv.gz")
    found = distil_rules(untrained(20), train.relations, train)
    assert found.steps[2] > 100
    assert not found.rules.relations[20:]
    for hops in (4, 10):
        figures = rule_figures(found.rules, read_graphs(folder / f"1.{hops}_test.csv.gz", train.relations))
        assert figures["unambiguous"] == 1.0
        assert figures["among"] == figures["ambiguous"] <= (10 if made_here(files) else 2)
