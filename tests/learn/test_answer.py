"""Questions to a model: facts in any direction, and errors that say what is wrong."""

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.data.prove import networks
from epignn.errors import BadArgument, UnknownName
from epignn.learn.answer import ask, graph_of, predict, probabilities
from epignn.learn.checkpoint import Trained
from epignn.learn.config import Experiment
from epignn.learn.sources import generated
from epignn.models.epignn import EpiGNN

RCC8 = load("rcc8")


@pytest.fixture
def trained() -> Trained:
    experiment = Experiment()
    model = EpiGNN(8, experiment.model, torch.Generator().manual_seed(0))
    return Trained("test", model, experiment, RCC8.relations, 0, {})


def test_a_graph_leads_away_from_the_head_and_says_the_same(trained, rng):
    """Closure of the graph that the model reads gives what closure of the facts gives, however they are turned."""
    facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c"), ("x", "dc", "y")]
    for _ in range(20):
        turned = [
            (b, RCC8.converse(RCC8.parse(r)), a) if rng.random() < 0.5 else (a, RCC8.parse(r), b)
            for a, r, b in facts
        ]
        network = Network.of(RCC8, [turned[i] for i in rng.permutation(len(turned))])
        data = graph_of(trained, network, "a", "c")
        assert (data.edge_source < data.edge_target).all()
        assert data.node_count.tolist() == [4]
        (read,) = networks(data, RCC8)
        result = close(read)
        assert RCC8.format(result.relations(str(data.query_head[0]), str(data.query_tail[0]))) == "PO"


def test_answers_are_the_likeliest_two(trained):
    data = generated(RCC8, 3, 2, 3, 0)
    chances = probabilities(trained, data)
    np.testing.assert_allclose(chances.sum(1), 1)
    for row, answer in zip(chances, predict(trained, data), strict=True):
        first, second = np.sort(row)[::-1][:2]
        assert answer.probability == pytest.approx(first)
        assert answer.runner_up_probability == pytest.approx(second)
        assert row[RCC8.relations.index(answer.relation)] == pytest.approx(first)


@pytest.mark.parametrize(
    ("facts", "pair", "error", "message"),
    [
        ([("a", "ec", "b"), ("c", "ec", "d")], ("a", "d"), BadArgument, "no facts connect 'a' with 'd'"),
        ([("a", "ec|dc", "b")], ("a", "b"), BadArgument, r"DC\|EC\(a, b\) has several"),
        ([("a", "ec", "b")], ("a", "a"), BadArgument, "asked about itself"),
        ([("alpha", "ec", "b")], ("alpa", "b"), UnknownName, "Did you mean 'alpha'"),
    ],
)
def test_bad_questions(trained, facts, pair, error, message):
    with pytest.raises(error, match=message):
        ask(trained, Network.of(RCC8, facts), *pair)


def test_another_calculus_is_refused(trained):
    with pytest.raises(BadArgument, match="the facts of allen"):
        ask(trained, Network.of(load("allen"), [("a", "<", "b")]), "a", "b")
