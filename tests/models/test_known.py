"""The majority label and the training walks by heart, on graphs small enough to be known by sight."""

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.models.api import ModelConfig
from epignn.models.known import Lookup, LookupConfig, Majority, log_shares
from epignn.models.walks import walks
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric


def graphs(paths: list[list[tuple[int, ...]]], labels: list[int]) -> Dataset:
    """Graphs of disjoint paths from head to tail; a path is a row of relations, of which there are three."""
    nodes, offset, source, target, relation = [], [0], [], [], []
    for branches in paths:
        last = 2
        for path in branches:
            inner = list(range(last, last + len(path) - 1))
            last += len(inner)
            stops = [0, *inner, 1]
            source += stops[:-1]
            target += stops[1:]
            relation += path
        nodes.append(last)
        offset.append(len(source))
    ends = np.zeros(len(labels), dtype=int)
    return Dataset(("a", "b", "c"), nodes, offset, source, target, relation, ends, ends + 1, labels)


def taught(kind: type, config: ModelConfig, data: Dataset) -> Majority | Lookup:
    model = kind(len(data.relations), config)
    prepared = kind.prepare(data, config)
    model.count(prepared.chunks(2), 0)
    return model


def shares(model: Majority | Lookup, data: Dataset) -> np.ndarray:
    return model.scores(type(model).prepare(data, model.config)).exp().numpy()


def test_shares_count_every_label_half_a_time_more():
    found = log_shares(torch.tensor([[2, 0, 1], [0, 0, 0]])).exp()
    torch.testing.assert_close(found, torch.tensor([[2.5, 0.5, 1.5], [1.5, 1.5, 1.5]]) / 4.5)


def test_the_majority_is_what_most_graphs_have():
    data = graphs([[(0, 1)], [(1, 1)], [(2, 1)], [(0, 0)]], [1, 1, 0, 1])
    model = taught(Majority, ModelConfig(), data)
    assert model.seen.tolist() == [1, 3, 0]
    np.testing.assert_allclose(shares(model, data), np.tile(np.array([1.5, 3.5, 0.5]) / 5.5, (4, 1)), rtol=1e-6)


class TestLookup:
    data = graphs([[(0, 1)], [(0, 1)], [(0, 1), (2, 2, 0)], [(1, 1)]], [0, 1, 2, 1])

    @pytest.fixture
    def model(self) -> Lookup:
        return taught(Lookup, LookupConfig(), self.data)

    def test_a_known_graph_has_the_labels_it_was_seen_with(self, model):
        found = shares(model, self.data)
        np.testing.assert_allclose(found[0] * 3.5, [1.5, 1.5, 0.5], rtol=1e-6)
        np.testing.assert_allclose(found[2] * 2.5, [0.5, 0.5, 1.5], rtol=1e-6)

    def test_the_order_of_its_walks_does_not_matter(self, model):
        turned = graphs([[(2, 2, 0), (0, 1)]], [0])
        np.testing.assert_allclose(shares(model, turned)[0] * 2.5, [0.5, 0.5, 1.5], rtol=1e-6)

    def test_an_unknown_graph_has_the_labels_of_its_known_walks(self, model):
        # (0, 1) was seen with 0, 1 and 2, (1, 1) with 1, (1, 2) never.
        found = shares(model, graphs([[(0, 1), (1, 1), (1, 2)]], [0]))
        np.testing.assert_allclose(found[0] * 5.5, [1.5, 2.5, 1.5], rtol=1e-6)

    def test_where_nothing_is_known_the_majority_stands(self, model):
        found = shares(model, graphs([[(2, 1)], [(1, 0)], [(0, 1, 0)], [(0,)]], [0, 0, 0, 0]))
        np.testing.assert_allclose(found * 5.5, np.tile([1.5, 2.5, 1.5], (4, 1)), rtol=1e-6)

    def test_counting_again_changes_nothing(self, model):
        before = {name: value.clone() for name, value in model.state_dict().items()}
        model.count(walks(self.data, 64).chunks(3), 1)
        assert all(torch.equal(before[name], value) for name, value in model.state_dict().items())

    def test_all_training_graphs_are_known_and_longer_ones_are_not(self):
        calculus = load("rcc8")
        model = taught(Lookup, LookupConfig(), generated(calculus, 3, 1, 20, 1))
        for k, least, most in ((3, 1.0, 1.0), (6, 0.0, 0.3)):
            data = generated(calculus, k, 1, 20, 1)
            right = (shares(model, data).argmax(1) == data.label).mean()
            assert least <= right <= most
