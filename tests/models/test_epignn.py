"""The model: its algebra, its invariants, and that it learns."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn import losses
from epignn.models.api import build
from epignn.models.batch import GraphBatch
from epignn.models.epignn import EpiGNN, EpiGNNConfig
from epignn.models.prepare import prepare
from tests.models.conftest import problems
from tests.rounding import close, in_passing

pytestmark = pytest.mark.numeric
ABLATIONS = [
    {"facets": facets, "constrained": constrained, "composition": composition, "forward_only": forward_only}
    for facets in (1, 4)
    for constrained in (True, False)
    for composition in ("bilinear", "mlp")
    for forward_only in (True, False)
]
VARIANTS = [
    {},
    {"pooling": "mul"},
    {"rounds": "auto", "self_message": False},
    {"rounds": "auto", "self_message": False, "pooling": "mul", "a_ij": "coupled"},
    {"a_ij": "coupled", "right_identity": True},
    {"forward_only": True, "right_identity": True},
    {"dim": 20, "facets": 4},
]


def make(seed: int = 0, **options: object) -> EpiGNN:
    return build(EpiGNN, 8, EpiGNNConfig(**options), seed)


def roundings(model: EpiGNN, batch: GraphBatch) -> int:
    """On the way to a score: rounds of message passing, their aggregation, and a sum over all components."""
    steps = int(batch.depth.max()) if model.config.rounds == "auto" else int(model.config.rounds)
    messages = max(int(offset.diff().max()) for offset in (batch.in_offset, batch.out_offset, batch.path_offset))
    return in_passing(steps + 1, model.config.size, messages + 2) + model.config.dim


def simplex(count: int, model: EpiGNN) -> torch.Tensor:
    generator = torch.Generator().manual_seed(1)
    return torch.rand((count, model.config.facets, model.config.size), generator=generator).softmax(-1)


@pytest.mark.parametrize("a_ij", ["free", "coupled"])
def test_identity_is_neutral(a_ij):
    model = make(a_ij=a_ij, right_identity=True)
    states = simplex(5, model)
    identity = torch.zeros_like(states)
    identity[..., 0] = 1
    products = model.config.size**2
    close(model.compose(identity, states), states, roundings=products + 1)
    close(model.compose(states, identity), states, roundings=products + 1)
    left_only = make(a_ij=a_ij)
    close(left_only.compose(identity, states), states, roundings=products + 1)
    assert not torch.allclose(left_only.compose(states, identity), states)


@pytest.mark.parametrize("options", VARIANTS)
def test_states_stay_on_the_simplex(options, batch):
    model = make(**options)
    for states in (*model.states(batch), model.predictions(batch), model.composition_table()):
        if states is not None:
            assert (states >= 0).all()
            close(states.sum(-1), torch.ones(states.shape[:-1]), roundings=in_passing(1, model.config.size))


@pytest.mark.parametrize("options", VARIANTS)
def test_parameter_count_is_the_papers_less_what_the_identity_fixes(options):
    model = make(**options)
    n, m = model.config.dim, model.config.facets
    fixed = n * n // m  # a_1j
    if model.config.right_identity:
        fixed += (n // m) * (n - m)  # a_i1 for i > 1
    assert sum(p.numel() for p in model.parameters()) == 8 * n + n**3 // m**2 - fixed


@pytest.mark.parametrize("options", VARIANTS + [a for a in ABLATIONS if not a["forward_only"]])
def test_no_parameter_is_dead(options, ordered):
    model = make(**options).double()
    losses.cross_entropy(model(ordered), ordered.label).backward()
    for name, parameter in model.named_parameters():
        share = (parameter.grad != 0).double().mean()
        assert share > (0.2 if name.startswith("mlp") else 0.99), (name, share)


@pytest.mark.parametrize("options", VARIANTS)
def test_a_batch_equals_its_parts(options, ordered):
    model = make(**{"rounds": 6, **options})
    whole = model(ordered)
    parts = torch.cat([model(ordered.slice(g, g + 1)) for g in range(len(ordered))])
    close(whole, parts, roundings(model, ordered))


@pytest.mark.parametrize("options", ABLATIONS)
def test_a_batch_equals_its_parts_without_constraints(options, ordered):
    """In double precision: where numbers are negative, a few roundings may become many by what cancels."""
    model = make(**options, rounds=6).double()
    whole = model(ordered)
    parts = torch.cat([model(ordered.slice(g, g + 1)) for g in range(len(ordered))])
    torch.testing.assert_close(whole, parts)


@pytest.mark.parametrize("pooling", ["min", "mul"])
def test_what_lies_not_between_head_and_tail_says_nothing_to_a_silent_model(pooling, rng):
    """Edges are added from and to new nodes: into the graph from nowhere, out of it to nowhere, and in a circle."""
    data = problems()
    names = ("node_count", "edge_source", "edge_target", "edge_label")
    parts = []
    for g in range(len(data)):
        one = data.select([g])
        n = int(one.node_count[0])
        inside = rng.integers(0, n, 4)
        source, target = (
            [n, n, inside[0], inside[1], n + 1, n + 2],
            [inside[2], inside[3], n + 1, n + 1, n + 2, n + 1],
        )
        more = (n + 3, np.append(one.edge_source, source), np.append(one.edge_target, target))
        edges = dict(zip(names, (*more, np.append(one.edge_label, rng.integers(0, 8, 6))), strict=True))
        offset = [0, len(edges["edge_source"])]
        parts.append(replace(one, **{**edges, "node_count": [n + 3]}, edge_offset=offset))
    noisy = Dataset.concat([replace(part, k=0, b=0) for part in parts])
    silent = make(rounds="auto", self_message=False, pooling=pooling, silent=True)
    plain = silent(EpiGNN.prepare(data, silent.config))
    batch = EpiGNN.prepare(noisy, silent.config)
    close(silent(batch), plain, roundings(silent, batch))
    heard = make(rounds="auto", self_message=False, pooling=pooling)
    assert not torch.allclose(heard(EpiGNN.prepare(noisy, heard.config)), plain, atol=1e-3)


@pytest.mark.parametrize("options", ABLATIONS)
def test_a_path_of_one_edge_has_no_node_inside(options):
    direct = Dataset(tuple("abcdefgh"), [2], [0, 1], [0], [1], [3], [0], [1], [3])
    assert torch.isfinite(make(**options)(prepare(direct))).all()


@pytest.mark.parametrize("options", ABLATIONS)
def test_gradient_of_a_whole_model_equals_finite_differences(options, ordered):
    # A direction through all parameters; repeated graphs, so that the ablation that encodes repeats once has some.
    model = make(**options, rounds="auto", self_message=False).double()
    repeated = ordered.select(torch.arange(20, 32).repeat(2))
    wanted = repeated.label
    generator = torch.Generator().manual_seed(3)
    direction = [torch.randn(p.shape, generator=generator, dtype=p.dtype) for p in model.parameters()]
    losses.cross_entropy(model(repeated), wanted).backward()
    slope = sum(float((p.grad * d).sum()) for p, d in zip(model.parameters(), direction, strict=True))
    step, values = 1e-7, []
    for sign in (1, -1):
        with torch.no_grad():
            for p, d in zip(model.parameters(), direction, strict=True):
                p += sign * step * d
            values.append(float(losses.cross_entropy(model(repeated), wanted)))
            for p, d in zip(model.parameters(), direction, strict=True):
                p -= sign * step * d
    assert slope == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("options", VARIANTS)
def test_renaming_nodes_and_reordering_edges_changes_nothing(options, rng):
    data = problems()
    source, target, label = data.edge_source.copy(), data.edge_target.copy(), data.edge_label.copy()
    head, tail = data.query_head.copy(), data.query_tail.copy()
    for g in range(len(data)):
        edges = slice(data.edge_offset[g], data.edge_offset[g + 1])
        names = rng.permutation(data.node_count[g]).astype(np.int32)
        order = rng.permutation(data.edge_count[g])
        source[edges] = names[source[edges]][order]
        target[edges] = names[target[edges]][order]
        label[edges] = label[edges][order]
        head[g], tail[g] = names[head[g]], names[tail[g]]
    shuffled = Dataset(
        data.relations, data.node_count, data.edge_offset, source, target, label, head, tail, data.label
    )
    # Of several shortest paths the first is taken, which depends on the order; chains have one.
    single = np.flatnonzero([data.edge_count[g] == data.node_count[g] - 1 for g in range(len(data))])
    model = make(**options)
    before = model(prepare(data.select(single)))
    after = model(prepare(shuffled.select(single)))
    batch = prepare(data)
    close(before, after, roundings(model, batch))
    forward_only = make(**{**options, "forward_only": True})
    close(forward_only(batch), forward_only(prepare(shuffled)), roundings(forward_only, batch))


@pytest.mark.parametrize("pooling", ["min", "mul"])
@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_rounds_beyond_the_longest_path_change_nothing_without_self_messages(pooling, backend, batch):
    options = {"pooling": pooling, "self_message": False}

    def scores(rounds):
        model = make(**options, rounds=rounds)
        model.backend = backend
        return model(batch)

    needed, depth = scores("auto"), int(batch.depth.max())
    for rounds in (depth, depth + 5):
        close(scores(rounds), needed, roundings(make(**options, rounds=rounds), batch))
    fewer = scores(2)
    assert not torch.allclose(fewer, needed)


def test_scores_are_minus_cross_entropies_summed_over_facets(batch):
    model = make()
    states, vectors = model.predictions(batch), model.relation_vectors()
    expected = torch.stack([(vector * states.log()).sum((1, 2)) for vector in vectors], 1)
    close(model(batch), expected, roundings=model.config.dim + 1)


def test_free_states_are_compared_by_absolute_values_as_in_the_published_code():
    """By loops over components; a component far below zero counts as likely."""
    model = make(constrained=False, unconstrained="absolute", dim=8, facets=2)
    states = torch.randn(5, 2, 4)
    vectors = torch.softmax(model.relation_RFK, -1).detach().numpy()
    expected = np.zeros((5, len(vectors)))
    for n, state in enumerate(states.numpy()):
        for r, vector in enumerate(vectors):
            for f in range(2):
                shares = np.abs(state[f]) / np.abs(state[f]).sum()
                expected[n, r] += sum(v * np.log(t) for v, t in zip(vector[f], shares, strict=True))
    assert np.allclose(model.state_scores(states).detach().numpy(), expected, atol=1e-5)
    assert torch.equal(model.state_scores(states), model.state_scores(-states))
    assert float(model.composition_FIJK.detach().abs().max()) < 0.6  # a_ij begin near zero


@pytest.mark.parametrize("options", [{}, {"pooling": "mul", "rounds": "auto", "self_message": False}])
def test_a_small_problem_is_learnt(options):
    graphs = prepare(problems(per_label=6))
    model = make(**options)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(150):
        optimiser.zero_grad()
        losses.cross_entropy(model(graphs), graphs.label).backward()
        optimiser.step()
    assert (model(graphs).argmax(1) == graphs.label).double().mean() > 0.97


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dim": 10, "facets": 4}, "dim must be a multiple of facets"),
        ({"dim": 4, "facets": 4}, "at least 2 components"),
        ({"pooling": "max"}, "pooling must be min or mul"),
        ({"rounds": 0}, "rounds must be a positive number or 'auto'"),
        ({"a_ij": "tied"}, "a_ij must be free or coupled"),
    ],
)
def test_bad_options(options, message):
    with pytest.raises(BadArgument, match=message):
        EpiGNNConfig(**options)
