"""Graph convolutions against PyG's layers where the mathematics agrees, and against loops in numpy."""

import importlib
import warnings
from types import ModuleType

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.config import load_experiment
from epignn.models import MODELS
from epignn.models.api import build
from epignn.models.convolutions import (
    GAT,
    RGCN,
    Edges,
    EGATConfig,
    GATConfig,
    GCNConfig,
    GraphAttention,
    GraphConvolution,
    RelationalConvolution,
    RGCNConfig,
    by_relation,
    edges_of,
)
from epignn.models.prepare import prepare
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric
NODES, RELATIONS, WIDTH, EDGE_WIDTH, HEADS = 12, 3, 5, 4, 3
NAMES = ("gcn", "gat", "egat", "rgcn")
ROUNDED = 1e-5
"""Sums over other groups of edges round otherwise; what another message changes is a hundred times as much."""


@pytest.fixture(scope="module")
def pyg() -> ModuleType:
    pytest.importorskip("torch_geometric", reason="PyG is not installed", exc_type=ModuleNotFoundError)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
        return importlib.import_module("torch_geometric.nn")


@pytest.fixture
def edges(rng) -> Edges:
    """Twenty edges, none from a node to itself; some nodes receive none, and some two of one relation."""
    source, target = rng.choice(NODES, 20), rng.choice(NODES - 3, 20)
    target = np.where(source == target, (target + 1) % (NODES - 3), target)
    label = rng.choice(RELATIONS, 20)
    twice = np.array([[10, 11], [0, 0], [1, 1]])
    source, target, label = np.hstack([[source, target, label], twice])
    return Edges(*map(torch.from_numpy, (source, target, label)), NODES)


@pytest.fixture
def nodes(rng) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=(NODES, WIDTH)))


@pytest.fixture
def vectors(rng) -> torch.Tensor:
    return torch.from_numpy(rng.normal(size=(RELATIONS, EDGE_WIDTH)))


def randomised(layer: torch.nn.Module) -> torch.nn.Module:
    """A layer in double precision in which no parameter is zero."""
    generator = torch.Generator().manual_seed(7)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, generator=generator)
    return layer.double()


def index(edges: Edges) -> torch.Tensor:
    return torch.stack([edges.source, edges.target])


def agree(found: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(found.detach(), expected.detach(), rtol=1e-9, atol=1e-9)


def test_gcn_is_pygs_where_relations_say_nothing(pyg, nodes, edges, vectors):
    ours, theirs = randomised(GraphConvolution(WIDTH, EDGE_WIDTH)), randomised(pyg.GCNConv(WIDTH, WIDTH))
    theirs.lin.weight.data = (ours.weight_DD @ ours.update[:WIDTH]).T
    theirs.bias.data = ours.bias_D.data
    agree(ours(nodes, edges, 0 * vectors), theirs(nodes, index(edges)))
    assert (ours(nodes, edges, vectors) - theirs(nodes, index(edges))).abs().max() > 0.1


def test_gcn_is_its_formula(nodes, edges, vectors):
    layer = randomised(GraphConvolution(WIDTH, EDGE_WIDTH))
    weight, update, bias = (p.detach().numpy() for p in (layer.weight_DD, layer.update, layer.bias_D))
    into = [[(u, e) for e, (u, t) in enumerate(index(edges).T.tolist()) if t == v] for v in range(NODES)]
    degree = [len(some) + 1 for some in into]
    expected = np.zeros((NODES, WIDTH))
    for v in range(NODES):
        neighbours = [(u, vectors[edges.label[e]].numpy()) for u, e in into[v]] + [(v, np.zeros(EDGE_WIDTH))]
        for u, vector in neighbours:
            message = np.concatenate([nodes[u].numpy() @ weight, vector]) @ update
            expected[v] += message / np.sqrt(degree[u] * degree[v])
    agree(layer(nodes, edges, vectors), torch.from_numpy(expected + bias))


def test_attention_is_pygs(pyg, nodes, edges, vectors):
    """PyG's messages leave the edge out, and nothing follows them: ours do so with U = [1 ; 0]."""
    ours = randomised(GraphAttention(WIDTH, EDGE_WIDTH, HEADS))
    theirs = pyg.GATConv(WIDTH, WIDTH, HEADS, concat=False, edge_dim=EDGE_WIDTH, fill_value=0.0)
    theirs = randomised(theirs)
    ours.update.data = torch.cat([torch.eye(WIDTH), torch.zeros(EDGE_WIDTH, WIDTH)]).double()
    ours.weight_DHD.data = theirs.lin.weight.data.T.reshape(WIDTH, HEADS, WIDTH)
    ours.bias_D.data = theirs.bias.data
    ours.to_HD.data, ours.from_HD.data = theirs.att_dst.data[0], theirs.att_src.data[0]
    lift = theirs.lin_edge.weight.view(HEADS, WIDTH, EDGE_WIDTH)
    ours.edge_HC.data = torch.einsum("hd,hdc->hc", theirs.att_edge[0], lift).detach()
    agree(ours(nodes, edges, vectors), theirs(nodes, index(edges), vectors[edges.label]))
    assert (ours(nodes, edges, 0 * vectors) - theirs(nodes, index(edges), vectors[edges.label])).abs().max() > 0.1


def test_attention_is_its_formula(nodes, edges, vectors):
    layer = randomised(GraphAttention(WIDTH, EDGE_WIDTH, HEADS))
    expected = np.zeros((NODES, WIDTH))
    update = layer.update.detach().numpy()
    for head in range(HEADS):
        weight = layer.weight_DHD.detach().numpy()[:, head]
        a = np.concatenate([part[head].detach().numpy() for part in (layer.to_HD, layer.from_HD, layer.edge_HC)])
        x = nodes.numpy() @ weight
        for v in range(NODES):
            into = [
                (u, vectors[edges.label[e]].numpy()) for e, (u, t) in enumerate(index(edges).T.tolist()) if t == v
            ]
            into.append((v, np.zeros(EDGE_WIDTH)))
            logit = np.array([a @ np.concatenate([x[v], x[u], vector]) for u, vector in into])
            share = np.exp(np.where(logit > 0, logit, 0.2 * logit))
            for alpha, (u, vector) in zip(share / share.sum(), into, strict=True):
                expected[v] += alpha * np.concatenate([x[u], vector]) @ update / HEADS
    agree(layer(nodes, edges, vectors), torch.from_numpy(expected) + layer.bias_D)


def test_attention_bears_large_numbers(nodes, edges, vectors):
    layer = randomised(GraphAttention(WIDTH, EDGE_WIDTH, HEADS))
    assert torch.isfinite(layer(1e4 * nodes, edges, vectors)).all()


def test_rgcn_is_pygs(pyg, nodes, edges):
    ours = randomised(RelationalConvolution(WIDTH, RELATIONS, 2))
    theirs = randomised(pyg.RGCNConv(WIDTH, WIDTH, RELATIONS, num_bases=2))
    ours.bases_NDD.data, ours.mixture_RN.data = theirs.weight.data, theirs.comp.data
    ours.own_DD.data, ours.bias_D.data = theirs.root.data, theirs.bias.data
    arranged = by_relation(edges, RELATIONS, torch.float64)
    assert (arranged.weight < 1).any()
    agree(ours(nodes, arranged, ours.matrices()), theirs(nodes, index(edges), edges.label))


def test_rgcn_is_its_formula(nodes, edges):
    layer = randomised(RelationalConvolution(WIDTH, RELATIONS, 2))
    bases, mixture, own, bias = (
        p.detach().numpy() for p in (layer.bases_NDD, layer.mixture_RN, layer.own_DD, layer.bias_D)
    )
    expected = nodes.numpy() @ own + bias
    triples = list(zip(*(part.tolist() for part in edges[:3]), strict=True))
    for v in range(NODES):
        for r in range(RELATIONS):
            sent = [nodes[u].numpy() for u, t, label in triples if t == v and label == r]
            if sent:
                expected[v] += np.mean(sent, 0) @ (mixture[r, 0] * bases[0] + mixture[r, 1] * bases[1])
    arranged = by_relation(edges, RELATIONS, torch.float64)
    agree(layer(nodes, arranged, layer.matrices()), torch.from_numpy(expected))


def chain() -> Dataset:
    """0 -r0-> 1 -r2-> 2, and a node 3 that the tail points at: 2 -r1-> 3; from 0 to 2."""
    ints = [
        np.array(values, dtype=np.int32) for values in ([4], [0, 3], [0, 1, 2], [1, 2, 3], [0, 2, 1], [0], [2], [0])
    ]
    return Dataset(("a", "b", "c"), *ints)


def test_inverse_edges_have_labels_of_their_own():
    batch = prepare(chain())
    one = edges_of(batch, 3, inverse=False)
    assert sorted(zip(*(part.tolist() for part in one[:3]), strict=True)) == [(0, 1, 0), (1, 2, 2), (2, 3, 1)]
    both = edges_of(batch, 3, inverse=True)
    triples = sorted(zip(*(part.tolist() for part in both[:3]), strict=True))
    assert triples == [(0, 1, 0), (1, 0, 3), (1, 2, 2), (2, 1, 5), (2, 3, 1), (3, 2, 4)]


@pytest.mark.parametrize("name", NAMES)
def test_a_message_goes_back_only_where_edges_have_inverses(name):
    """What the tail points at says nothing about it without inverse edges; the mean over all nodes is left out."""
    kind = MODELS.get(name)
    other = chain()
    other.edge_label[2] = 0
    for inverse in (False, True):
        model = build(kind, 3, kind.Config(inverse=inverse), 0).eval()
        states = []
        for data in (chain(), other):
            batch = prepare(data)
            states.append(model.states(model.role(torch.tensor([1, 0, 2, 0])), edges_of(batch, 3, inverse)))
        far = (states[0] - states[1])[:3].abs().max() / states[0].abs().max()
        assert (far.item() < ROUNDED) is not inverse
        assert not torch.equal(states[0][3], states[1][3])


@pytest.mark.parametrize("name", NAMES)
def test_dropout_is_drawn_from_torchs_generator(name):
    kind = MODELS.get(name)
    model = build(kind, 8, kind.Config(dropout=0.5), 0)
    batch = kind.prepare(generated(load("rcc8"), 3, 2, 2, 5), model.config)

    def drawn(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return model.scores(batch)

    with torch.random.fork_rng(devices=[]):
        assert torch.equal(drawn(1), drawn(1))
        assert not torch.equal(drawn(1), drawn(2))
        model.eval()
        assert torch.equal(drawn(1), drawn(2))


def test_attention_is_dropped_in_egat_and_heads_are_as_told():
    egat = build(MODELS.get("egat"), 8, EGATConfig(layers=2, heads=4, dropout=0.3), 0)
    assert [(len(layer.to_HD), layer.dropout.p) for layer in egat.layers] == [(4, 0.3)] * 2
    gat = build(GAT, 8, GATConfig(), 0)
    assert [(len(layer.to_HD), layer.dropout.p) for layer in (gat.first, gat.second)] == [(3, 0.0), (1, 0.0)]


@pytest.mark.parametrize("name", NAMES)
def test_larger_graphs_than_in_training_are_answered(name):
    kind = MODELS.get(name)
    model = build(kind, 8, kind.Config(), 0).eval()
    data = generated(load("rcc8"), 12, 6, 1, 5)
    assert torch.isfinite(model.scores(kind.prepare(data, model.config))).all()


def test_recipes():
    def recipe(name: str) -> tuple[object, ...]:
        found = load_experiment("rcc8", [f"model.kind={name}"])
        training = found.training
        return type(found.model), training.learning_rate, training.batch_size, training.schedule, training.epochs

    assert recipe("gcn") == (GCNConfig, 0.001, 100, "constant", 100)
    assert recipe("gat") == (GATConfig, 0.001, 100, "constant", 100)
    assert recipe("egat") == (EGATConfig, 0.0001, 256, "constant", 100)
    assert recipe("rgcn") == (RGCNConfig, 0.001, 128, "one_cycle", 100)


def test_settings_that_make_no_sense_are_refused():
    with pytest.raises(BadArgument, match="heads must be 1 or more, not 0"):
        GATConfig(heads=0)
    with pytest.raises(BadArgument, match="bases must be 1 or more, not -1"):
        RGCNConfig(bases=-1)
    with pytest.raises(BadArgument, match=r"dropout must be at least 0 and below 1, not 1\.0"):
        GCNConfig(dropout=1.0)


def test_matrices_of_relations_are_mixtures():
    model = build(RGCN, 8, RGCNConfig(bases=3), 0)
    assert model.layer.matrices().shape == (16, 64, 64)
    assert torch.linalg.matrix_rank(model.layer.matrices().flatten(1)) == 3
