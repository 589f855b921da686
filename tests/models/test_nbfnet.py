"""NBFNet against a loop in numpy over nodes and edges, a graph worked by hand, and one pass a question."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from epignn.data.dataset import Dataset
from epignn.data.graph import Graph, both_sides
from epignn.errors import BadArgument
from epignn.learn.config import load_experiment
from epignn.learn.losses import cross_entropy
from epignn.learn.objectives.facts import FactSampler, FactsConfig
from epignn.learn.objectives.rank import Sampler
from epignn.learn.protocols import full_ranks
from epignn.learn.ranking import metrics
from epignn.models import memory, nbfnet
from epignn.models.api import build
from epignn.models.cones import cones
from epignn.models.links import Heads, Questions
from epignn.models.nbfnet import NBFNet, NBFNetConfig
from tests.conftest import random_graph
from tests.links import experiment, family, trained_on
from tests.models.conftest import random_graphs

pytestmark = pytest.mark.numeric
Floats = NDArray[np.float64]
EVERY = [(message, aggregate) for message in ("transe", "distmult") for aggregate in ("min", "sum", "pna")]


def model(relations: int = 8, **settings: object) -> NBFNet:
    made = build(NBFNet, relations, NBFNetConfig(**{"width": 5, "rounds": 3, **settings}), 0)
    assert isinstance(made, NBFNet)
    return made.double().eval()


def by_loops(made: NBFNet, nodes: int, edges: list[tuple[int, int, int]], head: int, query: Floats) -> Floats:
    """(V, D): the states of one graph, node by node, as the paper's formulas have it."""
    weights = {name: value.detach().numpy() for name, value in made.state_dict().items()}
    config = made.config
    boundary = np.zeros((nodes, config.width))
    boundary[head] = query
    degree = np.array([1 + sum(target == v for _, _, target in edges) for v in range(nodes)])
    state = boundary
    for number in range(config.rounds):
        own = f"layers.{0 if config.shared else number}"
        if config.dependent:
            mapped = weights[f"{own}.relation.weight"] @ query + weights[f"{own}.relation.bias"]
            vectors = mapped.reshape(-1, config.width)
        else:
            vectors = weights[f"{own}.relation.weight"]
        after = np.zeros_like(state)
        for v in range(nodes):
            received = [boundary[v]]
            for source, label, target in edges:
                if target == v and config.message == "transe":
                    received.append(state[source] + vectors[label])
                elif target == v:
                    received.append(state[source] * vectors[label])
            if config.aggregate == "pna":
                spread = np.sqrt(np.maximum(np.var(received, 0), 1e-6))
                four = [np.mean(received, 0), np.max(received, 0), np.min(received, 0), spread]
                scale = np.log(degree[v]) / np.log(degree).mean()
                joined = np.concatenate([*four, *(scale * f for f in four), *(f / max(scale, 1e-2) for f in four)])
            else:
                joined = np.min(received, 0) if config.aggregate == "min" else np.sum(received, 0)
            raw = weights[f"{own}.linear.weight"] @ np.concatenate([state[v], joined])
            raw = raw + weights[f"{own}.linear.bias"]
            normed = (raw - raw.mean()) / np.sqrt(raw.var() + 1e-5)
            normed = normed * weights[f"{own}.norm.weight"] + weights[f"{own}.norm.bias"]
            after[v] = np.maximum(normed, 0) + state[v]
        state = after
    return state


def output(made: NBFNet, values: Floats) -> Floats:
    weights = {name: value.detach().numpy() for name, value in made.output.state_dict().items()}
    hidden = np.maximum(values @ weights["0.weight"].T + weights["0.bias"], 0)
    return np.asarray(hidden @ weights["2.weight"].T + weights["2.bias"])


def edges_of(data: Dataset, g: int) -> list[tuple[int, int, int]]:
    own = slice(data.edge_offset[g], data.edge_offset[g + 1])
    columns = (data.edge_source[own], data.edge_label[own], data.edge_target[own])
    return list(zip(*(column.tolist() for column in columns), strict=True))


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize(("message", "aggregate"), EVERY)
def test_scores_are_those_of_a_loop_over_nodes(rng, message, aggregate, shared):
    made = model(message=message, aggregate=aggregate, shared=shared)
    data = random_graphs(rng, 12)  # with cycles, loops, parallel edges, and nodes that receive nothing
    found = made.scores(NBFNet.prepare(data, made.config)).detach().numpy()
    query = made.query.weight.detach().numpy()[0]
    for g, line in enumerate(found):
        states = by_loops(made, int(data.node_count[g]), edges_of(data, g), int(data.query_head[g]), query)
        expected = output(made, np.concatenate([states[data.query_tail[g]], query]))
        np.testing.assert_allclose(line, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


def test_a_graph_worked_by_hand():
    """0 -r0-> 1 -r1-> 2, r0 = (1, 2), r1 = (-1, 5), a query (3, 4), sums, one round after another.

    W gives ⊕ alone, and the norm leaves +1 and -1 of two components, the larger and the smaller; ReLU leaves +1.
    """
    made = model(2, width=2, rounds=2, message="transe", aggregate="sum", shared=True)
    layer = made.layers[0]
    with torch.no_grad():
        made.query.weight.copy_(torch.tensor([[3.0, 4.0]]))
        layer.relation.weight.copy_(torch.tensor([[1.0, 2.0], [-1.0, 5.0]]))
        layer.linear.weight.copy_(torch.tensor([[0.0, 0, 1, 0], [0, 0, 0, 1]]))
        layer.linear.bias.zero_()
    data = Dataset(("a", "b"), [3], [0, 2], [0, 1], [1, 2], [0, 1], [0], [2], [0])
    seen = []
    made.output.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    made.scores(NBFNet.prepare(data, made.config))
    # Round 1: node 0 joins its boundary, (3, 4): adds (0, 1). Node 1 hears (3, 4) + (1, 2) = (4, 6): adds (0, 1).
    # Node 2 hears (0, 0) + (-1, 5): adds (0, 1). Round 2: node 2 hears (0, 1) + (-1, 5) = (-1, 6): adds (0, 1).
    expected = torch.tensor([[0.0, 2.0, 3.0, 4.0]], dtype=torch.float64)
    torch.testing.assert_close(seen[0], expected, rtol=0, atol=1e-4)  # the norm divides by a little more than 1


# -- links --


def asked(graph: Graph, rng: np.random.Generator) -> Questions:
    return Sampler(graph, 0.5, 6).ask(rng.permutation(len(graph.entities))[:7].astype(np.int32), rng).questions


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize(("message", "aggregate"), [("distmult", "pna"), ("transe", "min")])
def test_ranks_are_those_of_a_loop_over_nodes(graph, rng, message, aggregate, dependent):
    made = model(6, message=message, aggregate=aggregate, links=True, dependent=dependent)
    heads = [int(head) for head in np.unique(graph.facts[:, 0])[:5]]
    own = [np.flatnonzero((graph.facts[:, 0] == head) | (graph.facts[:, 2] == head)) for head in heads]
    left_out = [graph.edges.of_fact[facts[: len(facts) // 2]].ravel() for facts in own]
    wanted = [rng.integers(0, len(graph.entities), 4).astype(np.int32) for _ in heads]
    relation = rng.integers(0, 6, 2 * len(heads))
    row = np.repeat(np.arange(len(heads)), 2)[:, None] * 4 + rng.integers(0, 4, (2 * len(heads), 3))
    shuffled = rng.permutation(len(row))
    relation, row = relation[shuffled], row[shuffled]
    found = made.rank(Questions(graph.edges, Heads.of(heads, left_out, wanted), relation, row)).detach().numpy()
    target = np.repeat(np.arange(len(graph.entities)), np.diff(graph.edges.offset))
    for q, line in enumerate(found):
        h = row[q, 0] // 4
        stays = np.setdiff1d(np.arange(len(target)), left_out[h])
        columns = (graph.edges.source[stays], graph.edges.label[stays], target[stays])
        edges = list(zip(*(column.tolist() for column in columns), strict=True))
        query = made.query.weight.detach().numpy()[relation[q]]
        states = by_loops(made, len(graph.entities), edges, heads[h], query)
        nodes = [wanted[h][place % 4] for place in row[q]]
        expected = [output(made, np.concatenate([states[node], query]))[0] for node in nodes]
        np.testing.assert_allclose(line, expected, rtol=0, atol=1e-9 * np.abs(expected).max())


@pytest.mark.parametrize("dependent", [False, True])
def test_the_scorer_of_all_entities_gives_the_ranks_of_questions(monkeypatch, graph, dependent):
    made = model(6, message="distmult", aggregate="pna", links=True, dependent=dependent)
    relations, every = np.array([4, 0, 1]), np.arange(len(graph.entities), dtype=np.int32)
    scorer = made.scorer(graph)
    monkeypatch.setattr(NBFNetConfig, "joins", False)  # from here on, passes side by side
    for head in (0, 7):
        passes = Heads.everything([head, 3], len(every))
        row = np.broadcast_to(np.arange(len(every)), (len(relations), len(every)))
        found = made.rank(Questions(graph.edges, passes, relations, row)).detach().numpy()
        np.testing.assert_allclose(scorer(head, relations), found, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("joined", [False, True])
def test_passes_that_do_not_fit_are_made_again_with_the_same_gradients(monkeypatch, graph, rng, joined):
    facts = next(FactSampler(graph, FactsConfig(negatives=4)).epoch(9, np.random.default_rng(0))).questions
    questions, gradients = facts if joined else asked(graph, rng), []
    for kept, together, most in ((2**40, 2**40, 2**24), (0, 1, 2**24), (0, 1, 0)):
        monkeypatch.setattr(nbfnet, "MOST", most)
        monkeypatch.setattr(memory, "KEPT", kept)
        monkeypatch.setattr(memory, "TOGETHER", together)
        made = model(6, message="distmult", aggregate="pna", links=True)
        found = made.rank(questions)
        cross_entropy(found, torch.zeros(len(found), dtype=torch.long)).backward()
        gradients.append([parameter.grad for parameter in made.parameters()])
    for one, *others in zip(*gradients, strict=True):
        for other in others:
            torch.testing.assert_close(one, other)


@pytest.mark.parametrize("room", [0, -1])
def test_rounds_of_passes_are_made_together_where_nodes_and_edges_of_all_fit(monkeypatch, graph, room):
    made = model(6, message="distmult", aggregate="pna", links=True)
    scorer, relations, sizes = made.scorer(graph), np.arange(6), []
    expected = scorer(3, relations)
    monkeypatch.setattr(nbfnet, "MOST", 6 * (len(graph.entities) + len(graph.edges.source)) + room)
    monkeypatch.setattr(memory, "TOGETHER", 1)
    monkeypatch.setattr(
        nbfnet, "cones", lambda whole, heads, *rest: (sizes.append(len(heads)), cones(whole, heads, *rest))[1]
    )
    np.testing.assert_allclose(scorer(3, relations), expected, rtol=1e-5, atol=1e-5)
    assert sizes == ([6] if room == 0 else []) + [1] * 6


@pytest.mark.parametrize("facts", [50, 300])  # of 60 entities: most are not reached; all are
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize("aggregate", ["sum", "pna"])
def test_passes_over_one_graph_are_those_side_by_side(monkeypatch, aggregate, dependent, facts):
    sampler = FactSampler(random_graph(2, entities=60, facts=facts), FactsConfig(negatives=4))
    questions = next(sampler.epoch(9, np.random.default_rng(0))).questions
    made = model(6, message="distmult", aggregate=aggregate, links=True, dependent=dependent)
    found, gradients = [], []
    for together in (True, False):
        monkeypatch.setattr(NBFNetConfig, "joins", together)
        found.append(made.rank(questions))
        gradients.append(torch.autograd.grad(found[-1].sin().sum(), list(made.parameters())))
    torch.testing.assert_close(*found)
    torch.testing.assert_close(*gradients)


def test_large_graphs_are_answered_in_parts(monkeypatch, rng):
    made, data = model(), random_graphs(rng, 12)
    graphs = NBFNet.prepare(data, made.config)
    whole = made.scores(graphs)
    monkeypatch.setattr(memory, "TOGETHER", 1)
    torch.testing.assert_close(made.scores(graphs), whole)


def test_gradients_reach_every_parameter_of_links(graph, rng):
    for dependent in (False, True):
        made = model(6, message="distmult", aggregate="pna", links=True, dependent=dependent)
        made.rank(asked(graph, rng)).sin().sum().backward()  # a cross-entropy would not see the last bias
        for name, parameter in made.named_parameters():
            assert (parameter.grad != 0).any(), name


def test_a_graph_without_edges_has_finite_scores():
    empty = Graph(("a", "b", "c"), ("r",), np.zeros((0, 3), dtype=np.int32))
    made = model(2, message="distmult", aggregate="pna", links=True)
    assert np.isfinite(made.scorer(empty)(0, np.array([0, 1]))).all()


def test_a_rule_learnt_from_one_family_holds_in_another():
    """Grandparents that were held out, in a family of other people; PageRank has a mean reciprocal rank of .14."""
    settings = NBFNetConfig(width=32, rounds=4, message="distmult", aggregate="pna", links=True)
    chosen = replace(experiment(epochs=6, learning_rate=0.005), model=settings)
    other = family(1)
    scorer = trained_on(family(0), chosen).trained.model.scorer(other.graph)
    ranks = full_ranks(both_sides(other.test, len(other.graph.relations)), scorer, other.known())
    assert metrics(ranks)["mrr"] > 0.8


def test_the_recipe_of_links_makes_a_model_that_ranks():
    loaded = load_experiment("links", ['model.kind="nbfnet"'])
    assert loaded.model == NBFNetConfig(width=32, rounds=6, message="distmult", aggregate="pna", links=True)
    assert (loaded.objective.kind, loaded.objective.loss, loaded.objective.negatives) == (
        "rank-facts", "adversarial", 32
    )  # fmt: skip
    made = build(NBFNet, 6, loaded.model, 0)
    assert made.rank(asked(random_graph(1), np.random.default_rng(0))).shape[1] == 7


def test_recipes_are_those_of_the_authors_for_each_family():
    words, films = (load_experiment(name, ['model.kind="nbfnet"']) for name in ("wn18rr-v2", "fb237-v3"))
    assert (words.model.dependent, words.objective.one_hop, words.objective.sharpness) == (False, False, 1.0)
    assert (films.model.dependent, films.objective.one_hop, films.objective.sharpness) == (True, False, 0.5)
    assert (words.training.batch_size, films.training.batch_size) == (32, 64)
    added = load_experiment("fb237-v3", ['model.kind="nbfnet-sum"'])
    assert (added.model.aggregate, added.model.dependent, films.model.aggregate) == ("sum", True, "pna")
    assert added.objective == films.objective


def test_a_model_of_the_other_task_says_so(graph, rng):
    with pytest.raises(BadArgument, match=r"model\.links=true"):
        model(6).rank(asked(graph, rng))
    data = random_graphs(rng, 2)
    with pytest.raises(BadArgument, match=r"model\.links=false"):
        model(links=True).scores(NBFNet.prepare(data, NBFNetConfig()))


@pytest.mark.parametrize("settings", [{"rounds": 0}, {"message": "rotate"}, {"aggregate": "mean"}])
def test_settings_that_make_no_model_are_refused(settings):
    with pytest.raises(BadArgument, match="must be"):
        NBFNetConfig(**settings)


def test_relations_depend_on_a_question_only_where_one_is_asked():
    with pytest.raises(BadArgument, match="asks for links = true"):
        NBFNetConfig(dependent=True)
