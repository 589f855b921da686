"""Full closure made differentiable: kernels against plain torch, the model's invariants, exact closure."""

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.dataset import Dataset, offsets
from epignn.errors import BadArgument
from epignn.learn import losses
from epignn.models.api import build
from epignn.models.epignn import Algebra, EpiGNN, EpiGNNConfig
from epignn.models.pairs import prepare_pairs
from epignn.tasks.star import generated
from tests.models.conftest import problems, random_graphs

pytestmark = pytest.mark.numeric
OPTIONS = [
    {},
    {"pooling": "mul"},
    {"rounds": 2, "a_ij": "coupled", "right_identity": True},
    {"dim": 20, "facets": 4, "rounds": 5, "pooling": "mul"},
]


def make(**options: object) -> EpiGNN:
    config = EpiGNNConfig(**{"rounds": "auto", "closure": "full", **options})
    return build(EpiGNN, 8, config, 0).double()


def pair_states(batch, vectors: torch.Tensor, table: torch.Tensor, pooling: str, backend: str) -> torch.Tensor:
    """The states of all pairs with given vectors and compositions."""
    model = make(pooling=pooling)
    model.backend = backend
    return model.pair_states(batch, Algebra(vectors, table))


def graphs() -> Dataset:
    data = random_graphs(np.random.default_rng(7), 25)
    return data.select(np.flatnonzero(data.query_head != data.query_tail))


@pytest.mark.parametrize("options", OPTIONS)
def test_kernel_equals_plain_torch(options):
    model = make(**options)
    batch = EpiGNN.prepare(graphs(), model.config)
    results = []
    for backend in ("compiled", "plain"):
        model.zero_grad()
        model.backend = backend
        scores = model(batch)
        scores.square().sum().backward()
        results.append([scores.detach(), *(p.grad.clone() for p in model.parameters())])
    for native, plain in zip(*results, strict=True):
        torch.testing.assert_close(native, plain)


@pytest.mark.parametrize("pooling", ["min", "mul"])
def test_gradient_equals_finite_differences(pooling):
    batch = prepare_pairs(graphs().select([0, 1, 2]))
    generator = torch.Generator().manual_seed(0)
    vectors = torch.rand((8, 2, 3), generator=generator, dtype=torch.float64).softmax(-1).requires_grad_()
    table = torch.rand((2, 3, 3, 3), generator=generator, dtype=torch.float64).softmax(-1).requires_grad_()

    def states(vectors: torch.Tensor, table: torch.Tensor) -> torch.Tensor:
        return pair_states(batch, vectors, table, pooling, "compiled")

    assert torch.autograd.gradcheck(states, (vectors, table), eps=1e-7, atol=1e-5)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_batch_equals_its_parts_and_states_stay_on_the_simplex(options):
    model = make(**options)
    prepared = EpiGNN.prepare(graphs(), model.config)
    whole = model(prepared)
    parts = torch.cat([model(prepared.slice(g, g + 1)) for g in range(len(prepared))])
    torch.testing.assert_close(whole, parts)
    states = model.predictions(prepared)
    torch.testing.assert_close(states.sum(-1), torch.ones_like(states[..., 0]))


def test_on_two_facts_full_and_directional_models_agree():
    """One composition can be made in one order only; both modes have the same parameters."""
    data = generated(load("rcc8"), 2, 1, 4, 3)
    options = {"self_message": False, "right_identity": True}
    full, directional = make(**options), make(**options, closure="directional")
    assert full.state_dict().keys() == directional.state_dict().keys()
    scores = [model(EpiGNN.prepare(data, model.config)) for model in (full, directional)]
    torch.testing.assert_close(*scores)
    longer = generated(load("rcc8"), 4, 1, 4, 3)
    other = [model(EpiGNN.prepare(longer, model.config)) for model in (full, directional)]
    assert not torch.allclose(*other)


def with_converses(data: Dataset, converses: tuple[int, ...]) -> Dataset:
    """Every fact stated from both ends."""
    count = data.edge_count
    order = np.argsort(np.concatenate([np.repeat(np.arange(len(data)), count)] * 2), kind="stable")
    return Dataset(
        data.relations,
        data.node_count,
        offsets(2 * count),
        np.concatenate([data.edge_source, data.edge_target])[order],
        np.concatenate([data.edge_target, data.edge_source])[order],
        np.concatenate([data.edge_label, np.array(converses)[data.edge_label]])[order],
        data.query_head,
        data.query_tail,
        data.label,
    )


@pytest.mark.parametrize("name", ["rcc8", "allen", "point"])
@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_with_the_tables_of_a_calculus_the_support_is_full_closure(name, backend):
    calculus = load(name)
    size = len(calculus) + 1  # the identity of the model comes first, apart from the calculus's own
    table = torch.zeros((1, size, size, size), dtype=torch.float64)
    table[0, 0] = torch.eye(size)
    for i, row in enumerate(calculus.composition):
        table[0, i + 1, 0, i + 1] = 1
        for j, mask in enumerate(row):
            members = [r + 1 for r in range(len(calculus)) if mask >> r & 1]
            table[0, i + 1, j + 1, members] = 1 / len(members)
    vectors = torch.eye(size, dtype=torch.float64)[1:].unsqueeze(1)
    data = generated(calculus, 4, 2, 3, 4)
    refined = 0
    for g in range(len(data)):
        one = data.select([g])
        masks = np.uint64(1) << one.edge_label.astype(np.uint64)
        names = tuple(map(str, range(one.node_count[0])))
        closed = close(Network(calculus, names, one.edge_source, one.edge_target, masks))
        batch = prepare_pairs(with_converses(one, calculus.converses), rounds=8)
        states = pair_states(batch, vectors, table, "min", backend)[:, 0, 1:]
        found = [sum(1 << r for r in row.nonzero().flatten().tolist()) for row in states > 0]
        expected = [closed.mask(a, b) for a in names for b in names if a != b]
        assert found == expected
        refined += sum(mask != calculus.universal for mask in expected) - 2 * len(masks)
    assert refined > 0


def test_a_small_problem_is_learnt():
    model = make(dim=32, facets=4).float()
    prepared = EpiGNN.prepare(problems(per_label=6), model.config)
    optimiser = torch.optim.Adam(model.parameters(), lr=0.05)
    for _ in range(100):
        optimiser.zero_grad()
        losses.cross_entropy(model(prepared), prepared.label).backward()
        optimiser.step()
    assert (model(prepared).argmax(1) == prepared.label).double().mean() > 0.97


def test_ablations_have_no_full_closure():
    with pytest.raises(BadArgument, match="full closure has no ablations"):
        EpiGNNConfig(closure="full", composition="mlp")
