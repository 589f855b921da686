"""Training: the rule is learnt and holds in a graph never seen; a killed run resumes to the same bits."""

import numpy as np
import pytest
import torch

from epignn.data.graph import both_sides
from epignn.errors import BadArgument, BadFile
from epignn.kgc.config import KgcModel, KgcTraining, load_experiment, shipped
from epignn.kgc.evaluate import ModelScorer, full_ranks, matrices
from epignn.kgc.measure import measure
from epignn.kgc.sample import Sampler
from epignn.kgc.store import is_run, load_model
from epignn.kgc.suite import experiment_for
from epignn.kgc.train import fit, read_history, step_loss
from epignn.learn.checkpoint import STATE
from epignn.learn.fit import Diverged
from epignn.models.epignn import EpiGNN

from .families import experiment, family


def test_the_rule_holds_in_another_graph(trained):
    other = family(9, people=80, prefix="q")
    found = measure(ModelScorer(trained.model, other.graph), other)
    assert found["mrr"] > 0.7
    assert found["grail_hits@10"] > 0.95


def test_scores_do_not_depend_on_names_or_on_other_heads(trained):
    """Relabelling the entities permutes the scores; a chunk of one head gives what a chunk of many gives."""
    side = family(3)
    graph, count = side.graph, len(side.graph.entities)
    order = np.random.default_rng(1).permutation(count).astype(np.int32)
    facts = np.stack([order[graph.facts[:, 0]], graph.facts[:, 1], order[graph.facts[:, 2]]], 1)
    renamed = type(graph)(graph.entities, graph.relations, facts)
    asked = np.arange(6, dtype=np.int32)
    plain = ModelScorer(trained.model, graph)(5, asked)
    assert np.allclose(plain, ModelScorer(trained.model, renamed)(int(order[5]), asked)[:, order], atol=1e-5)
    questions = both_sides(side.test, 3)
    many, one = (ModelScorer(trained.model, graph, memory=memory) for memory in (2**28, 1))
    assert (many.chunk > 1, one.chunk) == (True, 1)
    assert np.array_equal(
        full_ranks(questions, many, side.known()).better, full_ranks(questions, one, side.known()).better
    )


def test_what_is_asked_is_left_out():
    side = family(0)
    graph = side.graph
    sampler = Sampler(graph, 0.4, 8)
    asked = sampler.ask(sampler.heads, np.random.default_rng(0))
    tails = asked.batch.wanted[asked.row[:, 0]]
    sources = np.repeat(np.arange(len(graph.entities)), np.diff(graph.edges.offset))
    questions_of = {int(h): [] for h in asked.batch.head}
    position = np.searchsorted(asked.batch.wanted_offset, asked.row[:, 0], side="right") - 1
    for head, relation, tail in zip(asked.batch.head[position], asked.relation, tails, strict=True):
        questions_of[int(head)].append((int(relation), int(tail)))
        assert sampler.known.holds(*(np.array([x]) for x in (head, relation, tail)))[0]
    for number, head in enumerate(asked.batch.head.tolist()):
        left = asked.batch.left_out[asked.batch.left_out_offset[number] : asked.batch.left_out_offset[number + 1]]
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
        edges = asked.edges
        counts.append(len(edges.source))
        kept = edges.of_fact[:, 0] >= 0
        again = type(graph)(graph.entities, graph.relations, graph.facts[kept]).edges
        for name in ("offset", "source", "label"):
            assert np.array_equal(getattr(edges, name), getattr(again, name))
        assert np.array_equal(edges.of_fact[kept], again.of_fact)
        assert asked.batch.left_out.max() < len(edges.source)
    whole = len(graph.edges.source)
    assert min(counts) < 0.4 * whole < 0.8 * whole < max(counts)


def test_known_answers_are_no_negatives():
    side = family(0)
    sampler = Sampler(side.graph, 0.3, 64)
    asked = sampler.ask(sampler.heads, np.random.default_rng(0))
    position = np.searchsorted(asked.batch.wanted_offset, asked.row[:, 0], side="right") - 1
    head = asked.batch.head[position][:, None]
    candidate = asked.batch.wanted[asked.row]
    known = sampler.known.holds(head, asked.relation[:, None], candidate)
    assert known[:, 0].all()
    assert np.array_equal(asked.allowed[:, 1:], ~known[:, 1:])


@pytest.mark.parametrize("loss", ["margin", "cross_entropy"])
def test_loss_by_hand(loss):
    side, config = family(1), KgcTraining(loss=loss, margin=0.7, temperature=2.0, negatives=5)
    model = EpiGNN(6, KgcModel(dim=8, facets=2, rounds=2), torch.Generator().manual_seed(0))
    sampler = Sampler(side.graph, 0.3, 5)
    asked = sampler.ask(sampler.heads[:4], np.random.default_rng(0))
    found = float(step_loss(model, asked, config).detach())
    same = float(step_loss(model, asked, config, backend="plain").detach())
    assert found == pytest.approx(same, rel=1e-4)
    from epignn.kgc.heads import head_states

    with torch.no_grad():
        states = head_states(side.graph.edges, matrices(model), asked.batch, model.config.passing)
        scores = model.scores(states)
    values, pairs = [], []
    for row, relation, allowed in zip(asked.row, asked.relation, asked.allowed, strict=True):
        own = [float(scores[r, relation]) for r, ok in zip(row, allowed, strict=True) if ok]
        pairs += [max(0.0, own[0] - other + 0.7) for other in own[1:]]
        values.append(own[0] / 2 + np.log(sum(np.exp(-s / 2) for s in own)))
    assert found == pytest.approx(np.mean(pairs if loss == "margin" else values), rel=1e-4)


def test_a_killed_run_resumes_to_the_same_bits(tmp_path):
    side, whole = family(0), experiment()
    straight = fit(whole, side, 1, tmp_path / "a")

    class Killed(Exception):
        pass

    def kill(epoch):
        if epoch.number == 3:
            raise Killed

    with pytest.raises(Killed):
        fit(whole, side, 1, tmp_path / "b", kill)
    seen = []
    resumed = fit(whole, side, 1, tmp_path / "b", lambda e: seen.append(e.number))
    assert seen == [4, 5, 6]
    for name, value in straight.state_dict().items():
        assert torch.equal(value, resumed.state_dict()[name])
    histories = [[{**e, "seconds": 0, "cpu_seconds": 0} for e in read_history(tmp_path / run)] for run in "ab"]
    assert histories[0] == histories[1]
    assert is_run(str(tmp_path / "a"))
    loaded = load_model(str(tmp_path / "a"))
    assert torch.equal(loaded.model.relation_RFK, straight.relation_RFK)
    with pytest.raises(BadArgument, match="another run"):
        fit(whole, side, 2, tmp_path / "a")
    with pytest.raises(BadArgument, match="another run"):
        fit(whole, family(1), 1, tmp_path / "a")
    (tmp_path / "b" / STATE).write_bytes(b"cut")
    with pytest.raises(BadFile, match="safetensors"):
        fit(whole, side, 1, tmp_path / "b")


def test_the_best_epoch_is_kept_and_patience_ends_a_run(tmp_path):
    fit(experiment(epochs=40, patience=2, learning_rate=0.1), family(0), 0, tmp_path)
    history = read_history(tmp_path)
    values = [epoch["validation"] for epoch in history]
    assert len(history) < 40
    assert len(values) - 1 - values.index(max(values)) == 2
    side, model = family(0), load_model(str(tmp_path)).model
    questions = both_sides(side.valid, 3)
    from epignn.kgc.rank import analytic_hits

    again = analytic_hits(full_ranks(questions, ModelScorer(model, side.graph), side.known()))
    assert again == pytest.approx(max(values))


def test_divergence_is_said():
    with pytest.raises(Diverged, match=r"smaller training\.learning_rate"):
        fit(experiment(learning_rate=1e30), family(0), 0)


def test_presets_load():
    for name in shipped():
        assert load_experiment(name).name == name
    assert load_experiment(experiment_for("wn18rr:v3", "paper")).model.dim == 64
    assert experiment_for("somewhere/own.tsv") == "kgc"
    with pytest.raises(BadFile, match="forward_only"):
        load_experiment("wn18rr-v1-paper", ["model.forward_only=false"])
    with pytest.raises(BadFile, match=r"Unknown key 'training\.epoch'"):
        load_experiment("wn18rr-v1-paper", ["training.epoch=3"])
