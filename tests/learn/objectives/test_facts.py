"""Ranking, fact by fact: what a step asks, what its graph lacks, and its losses."""

import numpy as np
import pytest
import torch

from epignn.errors import BadArgument
from epignn.learn.losses import adversarial
from epignn.learn.objectives.facts import FactSampler, FactsConfig, RankFacts
from epignn.models.api import build
from epignn.models.redgnn import REDGNN, REDGNNConfig
from tests.links import family

pytestmark = pytest.mark.numeric


def triples(edges) -> set[tuple[int, int, int]]:
    """All edges as (source, label, target)."""
    target = np.repeat(np.arange(len(edges.offset) - 1), np.diff(edges.offset))
    return set(zip(edges.source.tolist(), edges.label.tolist(), target.tolist(), strict=True))


def asked_by(step) -> list[tuple[int, int, int]]:
    """Head, relation and answer of every question."""
    questions = step.questions
    heads = questions.heads.head[questions.of_head]
    return list(zip(heads.tolist(), questions.relation.tolist(), questions.candidate[:, 0].tolist(), strict=True))


def turned(triple: tuple[int, int, int], relations: int) -> tuple[int, int, int]:
    head, relation, tail = triple
    return tail, (relation + relations) % (2 * relations), head


def test_an_epoch_asks_every_fact_once_over_a_graph_without_those_of_its_step():
    graph = family(0).graph
    whole, seen, relations = triples(graph.edges), [], len(graph.relations)
    sampler = FactSampler(graph, FactsConfig(negatives=3))
    for step in sampler.epoch(7, np.random.default_rng(0)):
        asked = asked_by(step)
        seen += asked
        assert triples(step.questions.edges) == whole - set(asked) - {turned(one, relations) for one in asked}
        assert not len(step.questions.heads.left_out)
    as_facts = [one if one[1] < relations else turned(one, relations) for one in seen]
    assert sorted(as_facts) == sorted(map(tuple, graph.facts.tolist()))
    inverse = np.mean([relation >= relations for _, relation, _ in seen])
    assert 0.4 < inverse < 0.6
    assert len(sampler) == len(seen)


def test_a_share_is_asked_from_both_ends_over_the_graph_of_the_others():
    graph = family(0).graph
    sampler = FactSampler(graph, FactsConfig(negatives=3, asked=0.25))
    steps = list(sampler.epoch(9, np.random.default_rng(0)))
    asked = [one for step in steps for one in asked_by(step)]
    assert len(asked) == len(set(asked)) == len(sampler) == 2 * -(-len(graph.facts) // 4)
    assert {turned(one, len(graph.relations)) for one in asked} == set(asked)
    for step in steps:
        assert triples(step.questions.edges) == triples(graph.edges) - set(asked)
    other = list(sampler.epoch(9, np.random.default_rng(1)))
    assert asked_by(other[0]) != asked_by(steps[0])


def test_one_hop_leaves_out_all_facts_between_a_head_and_its_candidates():
    """Were those of wrong answers left, a model would learn that a fact with the head makes an answer wrong."""
    graph = family(0).graph
    sampler = FactSampler(graph, FactsConfig(negatives=3, one_hop=True))
    beside = 0
    for step in sampler.epoch(7, np.random.default_rng(0)):
        asked = asked_by(step)
        pairs = {frozenset((head, tail)) for head, _, tail in asked}
        candidates = {
            frozenset((head, one))
            for (head, *_), line in zip(asked, step.questions.candidate.tolist(), strict=True)
            for one in line
        }
        expected = {one for one in triples(graph.edges) if frozenset((one[0], one[2])) not in candidates}
        assert triples(step.questions.edges) == expected
        beside += sum(frozenset((one[0], one[2])) in candidates - pairs for one in triples(graph.edges))
    assert beside


def test_known_answers_are_no_negatives_and_all_entities_are_candidates_where_asked():
    graph = family(0).graph
    few, every = (FactSampler(graph, FactsConfig(negatives=count)) for count in (5, 0))
    for sampler in (few, every):
        step = next(sampler.epoch(64, np.random.default_rng(0)))
        asked, candidate = asked_by(step), step.questions.candidate
        for (head, relation, tail), line, allowed in zip(asked, candidate, step.allowed, strict=True):
            known = {int(t) for t in sampler.known.answers(head, relation)}
            assert (line[0], bool(allowed[0])) == (tail, True)
            assert [node not in known for node in line[1:].tolist()] == allowed[1:].tolist()
        if sampler is every:
            assert (candidate[:, 1:] == np.arange(len(graph.entities))).all()
        else:
            assert step.allowed.float().mean() > 0.99


def test_the_adversarial_loss_by_hand():
    answer, others = torch.tensor([0.3, -1.0]), torch.tensor([[1.0, 2.0, 50.0], [0.0, 0.5, 1.0]])
    allowed = torch.tensor([[True, True, False], [True, True, True]])
    expected = 0.0
    for a, line, mask in zip(answer.tolist(), others.tolist(), allowed.tolist(), strict=True):
        rest = [x for x, ok in zip(line, mask, strict=True) if ok]
        weight = np.exp(np.array(rest) / 0.5)
        weight /= weight.sum()
        expected += np.log1p(np.exp(-a)) + float((weight * np.log1p(np.exp(rest))).sum())
    assert float(adversarial(answer, others, 0.5, allowed)) == pytest.approx(expected / 4, rel=1e-5)


@pytest.mark.parametrize("loss", ["cross_entropy", "margin", "adversarial"])
def test_every_loss_falls(loss):
    objective = RankFacts(FactsConfig(loss=loss, negatives=8, asked=0.3), family(0))
    model = build(REDGNN, objective.outputs, REDGNNConfig(width=8, layers=2, dropout=0.0), 0)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    found = []
    for epoch in range(6):
        for batch in objective.batches(64, 0, epoch):
            value = objective.loss(model, batch)
            optimiser.zero_grad()
            value.backward()
            optimiser.step()
            found.append(float(value.detach()))
    assert np.mean(found[-4:]) < np.mean(found[:4])
    assert 0 <= objective.validate(model) <= 1


@pytest.mark.parametrize(
    "settings", [{"loss": "hinge"}, {"metric": "accuracy"}, {"negatives": -1}, {"asked": 1.0}, {"sharpness": 0.0}]
)
def test_settings_that_make_no_sense_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        FactsConfig(**settings)
