"""Recurrent peers: against torch's cells in a loop, empty and padded sequences, and tokens drawn in training."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import nn

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.learn.config import load_experiment
from epignn.models import MODELS
from epignn.models.api import Model, build
from epignn.models.recurrent import STEPS, PathConfig, TriplesConfig, last_states, turned_round
from tests.models.conftest import problems, random_graphs
from tests.models.test_triples import by_loop

pytestmark = pytest.mark.numeric
CELLS = {"rnn": (nn.RNN, nn.RNNCell), "lstm": (nn.LSTM, nn.LSTMCell), "gru": (nn.GRU, nn.GRUCell)}
PATHS, TRIPLES = list(CELLS), [f"{name}-triples" for name in CELLS]


def make(name: str, **options: int) -> Model:
    kind = MODELS.get(name)
    return build(kind, 8, kind.Config(width=5, **options), 0).double().eval()


def read(name: str, network: nn.RNNBase, tokens: list[torch.Tensor]) -> torch.Tensor:
    """The last state by a loop over torch's cell."""
    cell = CELLS[name][1](network.input_size, network.hidden_size).double()
    cell.load_state_dict({key: getattr(network, f"{key}_l0") for key in cell.state_dict()})
    state = torch.zeros(1, network.hidden_size, dtype=torch.float64)
    memory = torch.zeros_like(state)
    for token in tokens:
        if name == "lstm":
            state, memory = cell(token[None], (state, memory))
        else:
            state = cell(token[None], state)
    return state[0]


def with_query_tail(data: Dataset, tails: np.ndarray) -> Dataset:
    return replace(data, query_tail=tails)


@pytest.fixture
def graphs(rng) -> Dataset:
    """Random graphs, and one whose head is its tail."""
    data = random_graphs(rng, 12)
    return with_query_tail(data, np.where(np.arange(12) == 4, data.query_head, data.query_tail))


@pytest.mark.parametrize("name", PATHS)
def test_over_a_path_equals_a_loop_over_the_cell(name, graphs):
    model = make(name)
    batch = type(model).prepare(graphs, model.config)
    found = model.scores(batch)
    for g in range(len(graphs)):
        relations = [r for r in batch.relation[g].tolist() if r >= 0]
        state = read(name, model.encoder, [model.embedding.weight[r] for r in relations])
        torch.testing.assert_close(found[g], model.output(state))


@pytest.mark.parametrize("name", TRIPLES)
def test_over_triples_equals_loops_over_the_cell_both_ways(name, graphs):
    model = make(name, entities=20)
    found = model.scores(type(model).prepare(graphs, model.config))
    for g in range(len(graphs)):
        facts, query = by_loop(graphs, g)
        story = [token for s, r, t in facts for token in (s, 20 + r, t)]
        codes = []
        for tokens in (story, query):
            vectors = [model.embedding.weight[token] for token in tokens]
            codes.append(read(name.partition("-")[0], model.ahead, vectors))
            codes.append(read(name.partition("-")[0], model.back, vectors[::-1]))
        torch.testing.assert_close(found[g], model.output(torch.cat(codes)))


NETWORKS = [network for network, _ in CELLS.values()]


def last_state(found: torch.Tensor | tuple[torch.Tensor, torch.Tensor]) -> torch.Tensor:
    """The state that torch's network returns; of an LSTM the first of two."""
    return found[0] if isinstance(found, tuple) else found


@pytest.mark.parametrize("kind", NETWORKS)
def test_what_stands_behind_the_end_changes_nothing(kind, rng):
    network, embedding = kind(3, 4, batch_first=True), nn.Embedding(9, 3)
    length = torch.tensor([2, 0, 5, 1])
    one, other = torch.from_numpy(rng.integers(0, 9, (2, 4, 5)))
    changed = torch.where(torch.arange(5) >= length[:, None], other, one)
    state = last_states(network, embedding, one, length)
    assert torch.equal(state, last_states(network, embedding, changed, length))
    assert not torch.equal(state, last_states(network, embedding, other, length))


@pytest.mark.parametrize("kind", NETWORKS)
def test_long_and_short_sequences_are_read_as_each_alone_from_both_ends(kind, rng):
    """By torch's own network in both directions; sequences of up to four calls, and empty ones."""
    both, embedding = kind(3, 4, batch_first=True, bidirectional=True).double(), nn.Embedding(9, 3).double()
    ahead, back = (kind(3, 4, batch_first=True).double() for _ in range(2))
    ahead.load_state_dict({name: value for name, value in both.state_dict().items() if "reverse" not in name})
    back.load_state_dict({name: both.state_dict()[f"{name}_reverse"] for name in back.state_dict()})
    length = torch.from_numpy(rng.integers(0, 4 * STEPS, 30))
    length[:3] = torch.tensor([0, STEPS, STEPS + 1])
    token = torch.from_numpy(rng.integers(0, 9, (30, 4 * STEPS)))
    state = torch.cat(
        [
            last_states(ahead, embedding, token, length),
            last_states(back, embedding, turned_round(token, length), length),
        ],
        1,
    )
    assert not state[0].any()
    for g in length.nonzero().flatten().tolist():
        alone = both(embedding(token[g : g + 1, : int(length[g])]))[1]
        torch.testing.assert_close(state[g], last_state(alone).flatten())
        embedding.zero_grad()
        state[g].sum().backward(retain_graph=True)
        gradient = embedding.weight.grad.clone()
        embedding.zero_grad()
        last_state(alone).sum().backward()
        torch.testing.assert_close(gradient, embedding.weight.grad)


def test_nothing_to_read():
    for kind in NETWORKS:
        network, embedding = kind(3, 4, batch_first=True), nn.Embedding(9, 3)
        for graphs in (0, 2):
            empty = torch.zeros((graphs, 0), dtype=torch.int64)
            state = last_states(network, embedding, empty, torch.zeros(graphs, dtype=torch.int64))
            assert torch.equal(state, torch.zeros(graphs, 4))


@pytest.mark.parametrize("name", PATHS + TRIPLES)
def test_a_head_that_is_its_own_tail(name):
    model = make(name)
    data = problems()
    same = with_query_tail(data, data.query_head)
    alone = Dataset(data.relations, [1], [0, 0], [], [], [], [0], [0], [0])
    for graphs in (same, alone, Dataset.concat([alone, data, same])):
        assert torch.isfinite(model.scores(type(model).prepare(graphs, model.config))).all()


@pytest.mark.parametrize("name", TRIPLES)
def test_in_training_every_graph_draws_its_own_tokens(name):
    model = make(name, entities=30)
    batch = type(model).prepare(problems(), model.config)
    before = torch.random.get_rng_state()
    story, query = model.tokens(batch)
    assert torch.equal(torch.random.get_rng_state(), before)
    assert (query[:, 0] == 0).all()
    model.train()
    met = set()
    for _ in range(20):
        drawn, asked = model.tokens(batch)
        met |= set(drawn[drawn < 30].tolist())
        for one, other, length in zip(story, drawn, batch.length.tolist(), strict=True):
            pairs = set(zip(one[: 3 * length].tolist(), other[: 3 * length].tolist(), strict=True))
            entities = {(a, b) for a, b in pairs if a < 30}
            assert len({a for a, _ in entities}) == len({b for _, b in entities}) == len(entities)
            assert all(a == b for a, b in pairs - entities)
        assert len(set(asked[:, 0].tolist())) > 5
    assert met == set(range(30))
    torch.manual_seed(3)
    first = model.scores(batch)
    assert not torch.equal(model.scores(batch), first)
    torch.manual_seed(3)
    assert torch.equal(model.scores(batch), first)


@pytest.mark.parametrize("name", TRIPLES)
def test_more_entities_than_tokens_are_refused(name):
    kind = MODELS.get(name)
    with pytest.raises(BadArgument, match="graphs have more than 6 entities"):
        kind.prepare(problems(), TriplesConfig(entities=6))


def test_settings():
    for config, options in (
        (PathConfig, {"width": 0}),
        (TriplesConfig, {"width": 0}),
        (TriplesConfig, {"entities": 1}),
    ):
        with pytest.raises(BadArgument, match="or more, not"):
            config(**options)


@pytest.mark.parametrize("name", PATHS + TRIPLES)
def test_the_recipe_is_that_of_the_authors(name):
    experiment = load_experiment("clutrr", [f'model.kind="{name}"'])
    training, model = experiment.training, experiment.model
    assert (training.learning_rate, training.epochs, training.batch_size) == (0.001, 100, 100)
    assert (training.schedule, experiment.objective.loss, model.width) == ("constant", "cross_entropy", 100)
