"""Trained models distilled: what into, from which examples, and the files that result."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.toml import load_calculus
from epignn.distil.calculus import Distilled
from epignn.distil.induce import DistilledRules
from epignn.distil.learnt import distil, distil_trained, examples, kind_of, save
from epignn.distil.rules import load_rules
from epignn.formats.star_csv import write_csv
from epignn.learn.checkpoint import load_model
from tests.distil.conftest import problems
from tests.graphs import TRAINED


@pytest.fixture(scope="module")
def trained():
    return load_model(str(TRAINED))


def quiet(done, total):
    assert 0 < done <= total


def test_a_model_of_a_calculus_gives_a_calculus(trained, tmp_path):
    assert kind_of(trained.experiment) == "calculus"
    found = distil_trained(trained, None, "calculus", "mine", quiet)
    assert isinstance(found, Distilled)
    save(found, tmp_path / "mine.toml")
    back = load_calculus(tmp_path / "mine.toml")
    assert (back, back.name) == (found.calculus, "mine")
    assert "rcc8, seed 0" in back.source
    assert (tmp_path / "mine.certificate.json").read_text() == found.certificate_text()
    learnt = distil(trained.model, trained.relations, trained.experiment, problems(load("rcc8"), 2))
    assert learnt.composition == found.calculus.composition


def test_any_model_gives_rules(trained, tmp_path):
    found = distil_trained(trained, None, "rules", "", quiet)
    assert isinstance(found, DistilledRules)
    save(found, tmp_path / "mine.toml")
    assert load_rules(tmp_path / "mine.toml") == found.rules


def test_examples_are_files_or_what_the_model_was_trained_on(trained, tmp_path):
    some = problems(load("rcc8"), 1)
    write_csv(tmp_path / "a.csv", [some])
    given = examples(trained, [tmp_path / "a.csv"] * 2, quiet)
    assert len(given) == 2 * len(some)
    assert given.relations == trained.relations
    again = examples(trained, [], quiet)
    assert len(again) == 57600
    assert np.unique(again.label, return_counts=True)[1].tolist() == [7200] * 8
