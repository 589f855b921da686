"""Where graphs come from: generated, published, given; and what is held out."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.data.dataset import Dataset
from epignn.data.families import TERMS
from epignn.data.stream import digests
from epignn.errors import BadArgument, UnknownName
from epignn.learn.config import DataConfig, load_experiment
from epignn.learn.sources import augmented, evidence, families, files_by_hops, split, training_data, world
from epignn.models.epignn import EpiGNN, ModelConfig
from epignn.report.reproduce import cell_problems, measure

MODEL = ModelConfig(rounds="auto", self_message=False)


@pytest.fixture
def published(data, monkeypatch):
    monkeypatch.setenv("EPIGNN_DATA", str(data))


def test_a_version_is_named_after_a_colon():
    assert load_experiment("clutrr:089907f8").data.source == "clutrr-089907f8"
    assert load_experiment("clutrr-paper:089907f8").data.source == "clutrr-089907f8"
    assert load_experiment("graphlog:re_0").data.source == "graphlog-re_0"
    assert load_experiment("clutrr").data.source == "clutrr-db9b8f04"


def test_published_training_files(published):
    data, valid = training_data(load_experiment("clutrr:089907f8").data)
    assert (len(data), valid) == (10094, None)
    assert data.relations == TERMS
    data, valid = training_data(load_experiment("graphlog").data)
    assert (len(data), len(valid)) == (5000, 1000)
    assert data.relations == valid.relations


def test_published_test_files(published):
    assert sorted(files_by_hops("clutrr-db9b8f04")) == list(range(2, 11))
    config = load_experiment("clutrr").data
    problems = cell_problems(config, TERMS, 10, 0, 0)
    assert (len(problems), problems.relations) == (122, TERMS)
    assert list(files_by_hops("graphlog-world_32")) == [0]


def test_ambiguous_rows_are_counted_apart(published):
    config = load_experiment("clutrr").data
    model = EpiGNN(len(TERMS), MODEL)
    found = measure(model, cell_problems(config, TERMS, 4, 0, 0), config)
    assert found["n"] == 77
    assert found["ambiguous"]["n"] == 12
    assert "closure" not in found


def test_a_set_without_training_files_is_refused(published):
    with pytest.raises(BadArgument, match="has no training file"):
        training_data(DataConfig(calculus="", source="clutrr-9b2173cf"))
    with pytest.raises(UnknownName, match="clutrr-db9b8f04"):
        training_data(DataConfig(calculus="", source="clutrr-db9b8f05"))


def test_generated_families_and_worlds():
    config = DataConfig(calculus="", source="families", k=(2, 3), per_label=30)
    data, _ = training_data(config)
    assert np.bincount(data.edge_count).tolist() == [0, 0, 30, 30]
    assert len(families(5, 10, 0)) == 10
    with pytest.raises(UnknownName, match="world-32"):
        world("world-33", 0)


@pytest.mark.parametrize("holdout", ["graphs", "longest"])
def test_what_is_held_out(holdout):
    once = families(3, 200, 0)
    once = once.select(np.unique(digests(once), return_index=True)[1])
    data = Dataset.concat([once, once, families(2, 50, 0)])
    config = DataConfig(calculus="", validation=0.25, holdout=holdout)
    train, valid = split((data, None), config, MODEL, 0)
    assert len(train) + len(valid) == len(data)
    again, _ = split((data, None), config, MODEL, 0)
    assert np.array_equal(train.label, again.label)
    other, _ = split((data, None), config, MODEL, 1)
    assert not np.array_equal(train.label, other.label)
    if holdout == "longest":
        # Both copies of a problem are on the same side; short ones are never held out.
        assert len(valid) == 2 * int(0.25 * len(once))
        assert np.diff(valid.edge_offset).min() == 3


def test_walks_longer_than_any_to_learn_from_are_made_for_validation():
    data = Dataset.concat([families(2, 300, 0), families(3, 100, 0)])
    config = DataConfig(calculus="", validation=0.25, holdout="longer", augment=70, longest=5)
    train, valid = split((data, None), config, MODEL, 0)
    assert len(train) == len(data) + 70
    assert np.diff(train.edge_offset).max() == 5
    assert len(valid) == 100
    assert set(np.diff(valid.edge_offset)) == {6, 7, 8, 9, 10}
    with pytest.raises(BadArgument, match="choose another holdout"):
        split((families(3, 100, 0), None), config, MODEL, 0)


def test_augmentation_adds_to_training_alone():
    data = Dataset.concat([families(2, 300, 0), families(3, 100, 0)])
    plain = DataConfig(calculus="", validation=0.25)
    train, valid = split((data, None), plain, MODEL, 0)
    more, same = split((data, None), replace(plain, augment=70, longest=5), MODEL, 0)
    assert len(more) == len(train) + 70
    assert np.array_equal(valid.label, same.label)
    assert np.diff(more.edge_offset).max() == 5
    apart, same = split((data, data.select(slice(20))), replace(plain, augment=70), MODEL, 0)
    assert (len(apart), len(same)) == (len(data) + 70, 20)


def test_rules_have_added_walks_for_evidence_where_these_say_more():
    data = families(3, 100, 0)
    pairs = DataConfig(calculus="", augment=70)
    assert evidence(data, pairs, 0) is data
    longer = replace(pairs, equals=3)
    assert len(evidence(data, longer, 0)) == len(data) + 70
    assert np.array_equal(evidence(data, longer, 0).label, augmented(data, longer, 0).label)
    assert evidence(data, replace(longer, augment=0), 0) is data
