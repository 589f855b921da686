"""Reasoners: one interface, three ways to answer."""

import pytest
import torch

import epignn
from epignn import Exact, Learnt, Network, Neural, load
from epignn.bench.config import Experiment, TrainConfig
from epignn.bench.sources import generated
from epignn.errors import BadArgument
from epignn.models.epignn import ModelConfig

RCC8 = load("rcc8")
FACTS = [
    ("harbour", "ec", "old town"),
    ("old town", "ntpp", "city"),
    ("harbour", "tppi", "pier"),
    ("pier", "po", "city"),
]
SMALL = Experiment(
    name="small",
    model=ModelConfig(dim=16, facets=2, rounds="auto", self_message=False),
    training=TrainConfig(epochs=2, batch_size=32, loss="cross_entropy", schedule="one_cycle"),
)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def network():
    return Network.of(RCC8, FACTS)


@pytest.fixture(params=["exact", "learnt", "neural"])
def reasoner(request):
    return {
        "exact": lambda: Exact("rcc8"),
        "learnt": lambda: Learnt.load("rcc8"),
        "neural": lambda: Neural.load("rcc8"),
    }[request.param]()


def test_all_three_answer_and_explain(reasoner, network):
    assert reasoner.predict([(network, "harbour", "city")]) == ["PO"]
    found = reasoner.explain(network, "harbour", "city")
    assert str(found) == "PO(harbour, city)"
    assert found.status == "determined"


def test_all_three_predict_data_sets(reasoner):
    data = generated(RCC8, 4, 2, 4, 7)
    found = reasoner.predict(data)
    right = sum(answer == RCC8.relations[label] for answer, label in zip(found, data.label, strict=True))
    assert right == len(data) if not isinstance(reasoner, Neural) else right >= 0.9 * len(data)


def test_several_relations_and_clashes():
    open_question = Network.of(RCC8, [("a", "tpp", "b"), ("b", "ec", "c")])
    clash = Network.of(RCC8, [("a", "ec", "c"), ("a", "dc", "c")])
    assert Exact().predict([(open_question, "a", "c"), (clash, "a", "c")]) == ["DC|EC", "∅"]


def test_fit():
    data = generated(RCC8, 2, 1, 20, 1)
    neural = Neural(SMALL, seed=1)
    assert neural.fit(data) is neural
    assert neural.trained_.calibrated is not None
    assert len(neural.predict(data)) == len(data)
    assert neural.calculus_.relations == RCC8.relations
    again = Neural(SMALL, seed=1).fit(data)
    assert torch.equal(again.trained_.model.relation_RFK, neural.trained_.model.relation_RFK)
    learnt = Learnt(SMALL).fit(data)
    assert learnt.calculus_.relations == RCC8.relations
    exact = Exact("rcc8")
    assert exact.fit(data) is exact


def test_what_is_not_fitted_or_does_not_fit(network):
    for reasoner in (Learnt("rcc8"), Neural("rcc8")):
        with pytest.raises(BadArgument, match="call fit first"):
            reasoner.predict([(network, "harbour", "city")])
    with pytest.raises(BadArgument, match="rcc5 speaks of"):
        Exact("rcc5").explain(network, "harbour", "city")
    with pytest.raises(BadArgument, match="allen speaks of"):
        Exact("allen").fit(generated(RCC8, 2, 1, 1, 0))


def test_exports_are_loaded_when_used():
    assert epignn.Reasoner is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = epignn.Nothing
