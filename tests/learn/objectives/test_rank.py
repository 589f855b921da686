"""Ranking: the rule is learnt and holds in a graph never seen; what a step asks; its loss."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.data.graph import Graph, both_sides
from epignn.errors import BadArgument, BadFile
from epignn.learn.config import load_experiment
from epignn.learn.objectives.rank import Rank, RankConfig, Sampler
from epignn.learn.protocols import full_ranks, measure
from epignn.learn.ranking import METRICS, together
from epignn.learn.run import objective_of
from epignn.models.api import build
from epignn.models.epignn import EpiGNN, EpiGNNConfig, PassScorer
from epignn.models.links import Questions
from tests.links import experiment, family, lines, trained_on
from tests.rounding import close, in_passing

pytestmark = pytest.mark.numeric


def roundings(model: EpiGNN, graph: Graph) -> int:
    """On the way to a score: rounds of message passing, and a sum over all components."""
    messages = int(np.diff(graph.edges.offset).max()) + 1
    return in_passing(int(model.config.rounds), model.config.size, messages) + model.config.dim


@pytest.fixture(scope="module")
def model():
    """A model that has learnt what a grandparent is."""
    return trained_on(family(0), experiment(epochs=50, batch_size=4, schedule="one_cycle")).trained.model


def test_the_rule_holds_in_another_graph(model):
    other = family(9, people=80, prefix="q")
    found = measure(model.scorer(other.graph), other)
    assert found["mrr"] > 0.7
    assert found["grail_hits@10"] > 0.95


def test_scores_do_not_depend_on_names_or_on_other_heads(model, monkeypatch):
    """Relabelling the entities permutes the scores; a chunk of one head gives what a chunk of many gives."""
    side = family(3)
    graph, count = side.graph, len(side.graph.entities)
    order = np.random.default_rng(1).permutation(count).astype(np.int32)
    facts = np.stack([order[graph.facts[:, 0]], graph.facts[:, 1], order[graph.facts[:, 2]]], 1)
    renamed = type(graph)(graph.entities, graph.relations, facts)
    asked = np.arange(6, dtype=np.int32)
    plain = model.scorer(graph)(5, asked)
    close(plain, model.scorer(renamed)(int(order[5]), asked)[:, order], roundings(model, graph))
    questions = both_sides(side.test, 3)
    many = model.scorer(graph)
    monkeypatch.setattr(PassScorer, "MEMORY", 1)
    one = model.scorer(graph)
    assert (many.chunk > 1, one.chunk) == (True, 1)
    assert np.array_equal(
        full_ranks(questions, many, side.known()).better, full_ranks(questions, one, side.known()).better
    )


def test_what_is_asked_is_left_out():
    side = family(0)
    graph = side.graph
    sampler = Sampler(graph, 0.4, 8)
    asked = sampler.ask(sampler.heads, np.random.default_rng(0)).questions
    tails = asked.candidate[:, 0]
    sources = np.repeat(np.arange(len(graph.entities)), np.diff(graph.edges.offset))
    questions_of = {int(h): [] for h in asked.heads.head}
    for head, relation, tail in zip(asked.heads.head[asked.of_head], asked.relation, tails, strict=True):
        questions_of[int(head)].append((int(relation), int(tail)))
        assert sampler.known.holds(*(np.array([x]) for x in (head, relation, tail)))[0]
    for number, head in enumerate(asked.heads.head.tolist()):
        left = asked.heads.left_out_by(number)
        removed = {(int(graph.edges.source[e]), int(graph.edges.label[e]), int(sources[e])) for e in left}
        expected = set()
        for relation, tail in questions_of[head]:
            expected |= {(head, relation, tail), (tail, (relation + 3) % 6, head)}
        assert removed == expected
        degree = graph.edges.offset[head + 1] - graph.edges.offset[head]
        assert len(questions_of[head]) == max(1, round(0.4 * degree))


def test_a_thinned_step_has_a_part_of_the_facts():
    graph = family(0).graph
    sampler = Sampler(graph, 0.4, 8, thin=0.9)
    rng = np.random.default_rng(0)
    counts = []
    for _ in range(20):
        asked = sampler.ask(sampler.heads, rng)
        edges = asked.questions.edges
        counts.append(len(edges.source))
        kept = edges.of_fact[:, 0] >= 0
        again = type(graph)(graph.entities, graph.relations, graph.facts[kept]).edges
        for name in ("offset", "source", "label"):
            assert np.array_equal(getattr(edges, name), getattr(again, name))
        assert np.array_equal(edges.of_fact[kept], again.of_fact)
        assert asked.questions.heads.left_out.max() < len(edges.source)
    whole = len(graph.edges.source)
    assert min(counts) < 0.4 * whole < 0.8 * whole < max(counts)


def test_known_answers_are_no_negatives():
    side = family(0)
    sampler = Sampler(side.graph, 0.3, 64)
    asked = sampler.ask(sampler.heads, np.random.default_rng(0))
    position = np.searchsorted(asked.questions.heads.wanted_offset, asked.questions.row[:, 0], side="right") - 1
    head = asked.questions.heads.head[position][:, None]
    candidate = asked.questions.heads.wanted[asked.questions.row]
    known = sampler.known.holds(head, asked.questions.relation[:, None], candidate)
    assert known[:, 0].all()
    assert np.array_equal(asked.allowed[:, 1:].numpy(), ~known[:, 1:])


@pytest.mark.parametrize("loss", ["margin", "cross_entropy"])
def test_loss_by_hand(loss):
    config = RankConfig(loss=loss, margin=0.7, temperature=2.0, negatives=5)
    objective = Rank(config, family(1))
    model = build(EpiGNN, 6, EpiGNNConfig(dim=8, facets=2, rounds=2, forward_only=True), 0)
    step = objective.sampler.ask(objective.sampler.heads[:4], np.random.default_rng(0))
    found = float(objective.loss(model, step).detach())
    model.backend = "plain"
    same = float(objective.loss(model, step).detach())
    values, pairs = [], []
    questions = step.questions
    for q, (relation, allowed) in enumerate(zip(questions.relation, step.allowed, strict=True)):
        with torch.no_grad():
            own = model.rank(replace(questions, relation=relation[None], row=questions.row[q : q + 1]))
        scores = [float(score) for score, ok in zip(own[0], allowed, strict=True) if ok]
        pairs += [max(0.0, other - scores[0] + 0.7) for other in scores[1:]]
        values.append(np.log(sum(np.exp(s / 2) for s in scores)) - scores[0] / 2)
    with torch.no_grad():
        size = float(model.rank(questions).abs().max())
    for other in (same, np.mean(pairs if loss == "margin" else values)):
        close(found, other, roundings(model, objective.side.graph), size=size, dtype=np.float32)


def test_validation_is_the_metric_in_full_ranking(model):
    side = family(0)
    objective = Rank(RankConfig(metric="mrr"), side)
    ranks = full_ranks(both_sides(side.valid, 3), model.scorer(side.graph), side.known())
    assert objective.validate(model) == pytest.approx(
        float(np.mean(1 / (1 + ranks.better + ranks.ties / 2))), rel=0.05
    )
    found = objective.calibrate(model)
    assert found.questions == 2 * len(side.valid)
    assert found.trained == 1.0
    assert 0 < found.temperature < 10


def test_a_model_may_be_judged_on_other_graphs(model):
    side, others = family(0), (family(1), family(2))
    objective = Rank(RankConfig(metric="mrr"), side, judged=others)
    parts = [full_ranks(both_sides(o.valid, 3), model.scorer(o.graph), o.known()) for o in others]
    assert objective.validate(model) == METRICS["mrr"](together(parts))
    assert objective.digest() != Rank(RankConfig(metric="mrr"), side).digest() == side.digest()
    assert objective.calibrate(model).questions == 2 * len(others[0].valid)


def test_entities_are_held_out_where_the_settings_ask_for_it(tmp_path):
    side = family(0, people=200)
    path = tmp_path / "family.tsv"
    path.write_text(lines(side.graph.facts, side.graph))
    settings = [f'data.task="{path}"', 'data.holdout="entities"', "data.turns=2"]
    objective = objective_of(load_experiment("links", settings), 0)
    assert len(objective.judged) == 2
    assert not set(objective.side.graph.entities) & set(objective.judged[0].graph.entities)
    assert any("judged by" in note for note in objective.notes())
    with pytest.raises(BadFile, match="holdout must be"):
        load_experiment("links", [f'data.task="{path}"', 'data.holdout="people"'])


@pytest.mark.parametrize("loss", ["margin", "cross_entropy"])
def test_groups_learn_as_models_of_their_own(loss):
    """The gradient of a model of two groups is half of what its halves have as models by themselves."""
    objective = Rank(RankConfig(loss=loss, negatives=5), family(1))
    step = objective.sampler.ask(objective.sampler.heads[:4], np.random.default_rng(0))
    config = EpiGNNConfig(dim=16, facets=4, rounds=2, forward_only=True, groups=2)
    whole = build(EpiGNN, 6, config, 0).double()
    objective.loss(whole, step).backward()
    for group in range(2):
        half = build(EpiGNN, 6, replace(config, dim=8, facets=2, groups=1), 0).double()
        own = slice(2 * group, 2 * group + 2)
        with torch.no_grad():
            half.relation_RFK.copy_(whole.relation_RFK[:, own])
            half.composition_FIJK.copy_(whole.composition_FIJK[own])
        objective.loss(half, step).backward()
        torch.testing.assert_close(half.relation_RFK.grad, 2 * whole.relation_RFK.grad[:, own])
        torch.testing.assert_close(half.composition_FIJK.grad, 2 * whole.composition_FIJK.grad[own])


def test_weights_of_facets_count_in_every_score():
    side = family(0)
    config = EpiGNNConfig(dim=8, facets=2, rounds=2, forward_only=True)
    plain = build(EpiGNN, 6, config, 0)
    weighted = build(EpiGNN, 6, replace(config, weighted=True), 0)
    weighted.load_state_dict(plain.state_dict(), strict=False)
    asked = np.arange(6, dtype=np.int32)
    alike = plain.scorer(side.graph)(3, asked)
    assert np.array_equal(weighted.scorer(side.graph)(3, asked), alike)  # they begin at one
    with torch.no_grad():
        weighted.weight_RF[0] = torch.tensor([30.0, -30.0])  # relation 0 asks the first facet alone
        first = weighted.rank(Questions.everything(side.graph, 3, asked)).numpy()
    found = weighted.scorer(side.graph)(3, asked)
    np.testing.assert_allclose(found, first, rtol=1e-4)
    assert np.array_equal(found[1:], alike[1:])
    assert not np.allclose(found[0], alike[0])


def test_settings_for_graphs_and_data_without_validation_are_refused(tmp_path):
    side = family(0)
    with pytest.raises(BadArgument, match="no validation triples"):
        Rank(RankConfig(), type(side)(side.graph, side.valid[:0], side.test))
    path = tmp_path / "family.tsv"
    path.write_text(lines(side.graph.facts, side.graph))
    chosen = load_experiment("links", [f'data.task="{path}"', "model.forward_only=false"])
    with pytest.raises(BadArgument, match="forward_only = true"):
        objective = objective_of(chosen, 0)
        objective.validate(build(EpiGNN, 6, chosen.model, 0))
    with pytest.raises(BadArgument, match="holds labelled graphs, not links"):
        objective_of(load_experiment("rcc8", ['objective.kind="rank"']), 0)
    with pytest.raises(BadFile, match="share must be above 0"):
        load_experiment("links", ["objective.share=0"])
