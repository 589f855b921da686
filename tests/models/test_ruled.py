"""An EpiGNN beside rules and frequencies: its scores are those of all, and it is trained as an EpiGNN is."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from epignn.errors import BadArgument, BadFile
from epignn.learn.config import load_experiment
from epignn.learn.objectives import OBJECTIVES
from epignn.learn.run import train
from epignn.models.epignn import EpiGNN
from epignn.models.frequency import RelationFrequency
from epignn.models.rule_scorer import Said
from epignn.models.ruled import NO_RULE, EpiGNNRules, RuledConfig
from epignn.models.rules import Rules, RulesConfig
from tests.links import family

pytestmark = pytest.mark.numeric
SMALL = ("model.dim=16", "model.facets=4", "model.rounds=3", "training.epochs=2", "training.batch_size=16")


def trained(kind: str, *settings: str):
    experiment = load_experiment("links", [f'model.kind="{kind}"', *SMALL, *settings])
    side = family(0, people=30)
    objective = OBJECTIVES.get(experiment.objective.kind)(experiment.objective, side)
    return train(experiment, objective, seed=1).trained.model, side.graph


@pytest.mark.parametrize("adapt", [True, False])
def test_scores_are_those_of_the_epignn_the_rules_and_the_frequencies(adapt):
    """Each part is trained, or counted, by itself."""
    settings = ("model.trust=0.7", "model.frequency=0.4", f"model.adapt={str(adapt).lower()}", "model.spread=0.5")
    both, graph = trained("epignn-rules", *settings, "training.epochs=1")
    alone, _ = trained("epignn", "training.epochs=1")
    rules = Rules(6, RulesConfig(adapt=adapt, spread=0.5))
    rules.count([graph.edges], 0)
    relations, other = np.arange(6, dtype=np.int32), family(1, people=20).graph
    shown = rules.scorer(other)(5, relations)
    assert shown.any()
    without = alone.scorer(other)(5, relations) + 0.7 * np.log(shown + NO_RULE)
    expected = without + 0.4 * np.log1p(RelationFrequency(other)(5, relations) / 3)
    found = both.scorer(other)(5, relations)
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    assert not np.allclose(found, alone.scorer(other)(5, relations), atol=0.1)
    assert not np.allclose(found, without, atol=0.1)


def test_rules_that_are_weighed_anew_are_those_of_a_model_that_had_these_settings():
    both, _ = trained("epignn-rules", "model.trust=0.7", "training.epochs=1", "model.adapt=false")
    other, relations = family(1, people=20).graph, np.arange(6, dtype=np.int32)
    before = both.scorer(other)(5, relations)
    settings = ("model.trust=1.5", "model.frequency=0.2", "model.spread=1", "model.adapt=true")
    expected, _ = trained("epignn-rules", *settings, "training.epochs=1")
    both.weigh_rules(expected.config)
    np.testing.assert_array_equal(both.scorer(other)(5, relations), expected.scorer(other)(5, relations))
    assert not np.allclose(before, both.scorer(other)(5, relations), atol=0.1)


def test_pruned_passes_have_the_rules_beside_them():
    """Passes that follow every entity are not pruned."""
    both, graph = trained("epignn-rules", "training.epochs=1")
    relations = np.arange(6, dtype=np.int32)
    whole, pruned = both.scorer(graph)(2, relations), both.pruned_scorer(graph, 1.0)(2, relations)
    np.testing.assert_allclose(pruned, whole, rtol=1e-4, atol=1e-4)


def test_without_trust_and_frequency_it_is_the_epignn():
    both, graph = trained("epignn-rules", "model.trust=0", "model.frequency=0")
    plain = EpiGNN(6, both.config)
    plain.load_state_dict({name: value for name, value in both.state_dict().items() if "rules" not in name})
    relations = np.arange(6, dtype=np.int32)
    np.testing.assert_array_equal(both.scorer(graph)(2, relations), plain.scorer(graph)(2, relations))


def test_weights_are_those_of_a_training_without_rules():
    """Rules do not meet the loss; among few epochs, validation with rules may keep another, so there is one."""
    both, _ = trained("epignn-rules", "training.epochs=1")
    alone, _ = trained("epignn", "training.epochs=1")
    for name, value in alone.named_parameters():
        torch.testing.assert_close(both.get_parameter(name), value, rtol=0, atol=0)


def test_settings_are_kept_between_forms_of_a_model():
    wide = load_experiment("fb237-v1")
    alone = load_experiment("fb237-v1", ['model.kind="epignn"'])
    assert isinstance(wide.model, RuledConfig)
    assert not isinstance(alone.model, RuledConfig)
    assert (alone.model.dim, alone.model.facets, alone.model.rounds) == (wide.model.dim, wide.model.facets, 6)
    assert alone.objective == wide.objective
    assert load_experiment("fb237-v1", ['model.kind="nbfnet"']).objective.kind == "rank-facts"


@pytest.mark.parametrize(
    "wrong",
    [
        "model.trust=-1",
        "model.trust=nan",
        "model.frequency=-1",
        "model.hops=9",
        "model.support=0",
        "model.spread=-1",
    ],
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises((BadArgument, BadFile), match=r"trust|frequency|hops|spread"):
        load_experiment("links", [wrong])


def test_an_average_of_weights_keeps_the_rules():
    both, _ = trained("epignn-rules", "training.average=0.9")
    assert isinstance(both, EpiGNNRules)
    assert len(both.rules.relation) > 0


def test_what_rules_say_is_looked_up_once_for_all_epochs():
    """Until others are counted, loaded or weighed; and where there is no room, each time."""
    both, graph = trained("epignn-rules", "training.epochs=1")
    relations, heads = np.arange(6, dtype=np.int32), range(8)
    looked_up = []

    def scores():
        scorer = both.validating_scorer(graph)
        inner = scorer.rules.rules
        scorer.rules.rules = SimpleNamespace(
            reached=lambda head, asked: (looked_up.append(head), inner.reached(head, asked))[1]
        )
        return np.stack([scorer(head, relations) for head in heads])

    def expected():
        return np.stack([both.scorer(graph)(head, relations) for head in heads])

    np.testing.assert_array_equal(scores(), expected())
    assert looked_up == [*heads]
    with torch.no_grad():
        for parameter in both.parameters():
            parameter.mul_(0.5)
    np.testing.assert_array_equal(scores(), expected())
    assert looked_up == [*heads]
    both.validating_scorer(graph)(3, relations[:2])
    other = family(1, people=20).graph
    for change in (
        lambda: both.weigh_rules(RuledConfig(**{**vars(both.config), "trust": 2.0, "spread": 0.7})),
        lambda: both.count([other.edges], 0),
        lambda: both.load_state_dict(both.state_dict()),
    ):
        looked_up.clear()
        change()
        np.testing.assert_array_equal(scores(), expected())
        assert looked_up == [*heads]
    both.count([graph.edges], 0)
    both._said[graph] = Said(room=0)
    looked_up.clear()
    np.testing.assert_array_equal(scores(), scores())
    assert looked_up == [*heads, *heads]
