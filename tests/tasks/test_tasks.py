"""Where graphs come from: generated, published, given; and what is held out."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus.calculi.families import TERMS
from epignn.data.dataset import Dataset
from epignn.data.stream import digests
from epignn.errors import BadArgument, UnknownName
from epignn.learn.config import load_experiment
from epignn.tasks import task_of
from epignn.tasks.families import Families, walks
from epignn.tasks.published import Published
from epignn.tasks.worlds import World


@pytest.fixture
def published(data, monkeypatch):
    monkeypatch.setenv("EPIGNN_DATA", str(data))


def test_a_version_is_named_after_a_colon():
    assert load_experiment("clutrr:089907f8").data.task == "clutrr:089907f8"
    assert load_experiment("clutrr-paper:089907f8").data.source == "clutrr-089907f8"
    assert load_experiment("graphlog:re_0").data.version == "re_0"
    assert load_experiment("clutrr").data.source == "clutrr-db9b8f04"


def test_published_training_files(published):
    data, valid = load_experiment("clutrr:089907f8").data.examples()
    assert (len(data), valid) == (10094, None)
    assert data.relations == TERMS
    data, valid = load_experiment("graphlog").data.examples()
    assert (len(data), len(valid)) == (5000, 1000)
    assert data.relations == valid.relations


def test_published_test_files(published):
    task = load_experiment("clutrr").data
    problems = task.cell(10, 0, 0, TERMS)
    assert (len(problems), problems.relations) == (122, TERMS)
    with pytest.raises(UnknownName, match="test file of clutrr:db9b8f04, by hops"):
        task.cell(11, 0, 0, TERMS)
    world = load_experiment("graphlog").data
    assert len(world.cell(0, 0, 0, world.examples()[0].relations)) == 1000


def test_a_set_without_training_files_is_refused(published):
    with pytest.raises(BadArgument, match="has no training file"):
        Published(task="clutrr:9b2173cf").examples()
    with pytest.raises(UnknownName, match="clutrr-db9b8f04"):
        Published(task="clutrr:db9b8f05").examples()


def test_generated_families_and_worlds():
    data, _ = Families(k=(2, 3), per_label=30).examples()
    assert np.bincount(data.edge_count).tolist() == [0, 0, 30, 30]
    assert len(walks(5, 10, 0)) == 10
    with pytest.raises(UnknownName, match="Known: 11, 32"):
        World(task="world:33").examples()


def test_tasks_by_name(tmp_path):
    for name, kind in (("allen", "Star"), ("clutrr:x", "Published"), ("world:6", "World"), ("x.tsv", "Triples")):
        assert type(task_of(name)).__name__ == kind
    assert type(task_of(str(tmp_path))).__name__ == "Files"
    (tmp_path / "train.txt").write_text("a r b\n")
    assert type(task_of(str(tmp_path))).__name__ == "Triples"
    with pytest.raises(UnknownName, match="Did you mean 'clutrr'"):
        task_of("clutr:db9b8f04")


@pytest.mark.parametrize("holdout", ["graphs", "longest"])
def test_what_is_held_out(holdout):
    once = walks(3, 200, 0)
    once = once.select(np.unique(digests(once), return_index=True)[1])
    data = Dataset.concat([once, once, walks(2, 50, 0)])
    config = Families(validation=0.25, holdout=holdout)
    train, valid = config.divided((data, None), 0)
    assert len(train) + len(valid) == len(data)
    again, _ = config.divided((data, None), 0)
    assert np.array_equal(train.label, again.label)
    other, _ = config.divided((data, None), 1)
    assert not np.array_equal(train.label, other.label)
    if holdout == "longest":
        # Both copies of a problem are on the same side; short ones are never held out.
        assert len(valid) == 2 * int(0.25 * len(once))
        assert np.diff(valid.edge_offset).min() == 3


def test_walks_longer_than_any_to_learn_from_are_made_for_validation():
    data = Dataset.concat([walks(2, 300, 0), walks(3, 100, 0)])
    config = Families(validation=0.25, holdout="longer", augment=70, longest=5)
    train, valid = config.divided((data, None), 0)
    assert len(train) == len(data) + 70
    assert np.diff(train.edge_offset).max() == 5
    assert len(valid) == 100
    assert set(np.diff(valid.edge_offset)) == {6, 7, 8, 9, 10}
    with pytest.raises(BadArgument, match="choose another holdout"):
        config.divided((walks(3, 100, 0), None), 0)


def test_augmentation_adds_to_training_alone():
    data = Dataset.concat([walks(2, 300, 0), walks(3, 100, 0)])
    plain = Families(validation=0.25)
    train, valid = plain.divided((data, None), 0)
    more, same = replace(plain, augment=70, longest=5).divided((data, None), 0)
    assert len(more) == len(train) + 70
    assert np.array_equal(valid.label, same.label)
    assert np.diff(more.edge_offset).max() == 5
    apart, same = replace(plain, augment=70).divided((data, data.select(slice(20))), 0)
    assert (len(apart), len(same)) == (len(data) + 70, 20)
