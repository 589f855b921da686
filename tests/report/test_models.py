"""Tables of models: their rows, what all rows share, and what they say of it."""

import pytest

from epignn.errors import UnknownName
from epignn.learn.config import load_experiment
from epignn.models import LINKS, LINKS_ALONE, MODELS, REFINED
from epignn.models.api import Model
from epignn.report import models
from epignn.report.models import GROUNDS, kinds_of, settings_of, suite_of_models
from epignn.report.plan import experiment_of
from epignn.report.suites import SUITES
from epignn.report.tables import cell_name, notes, paper_figures


def test_all_means_every_model_that_can_answer():
    classes = {name: MODELS.get(name) for name in MODELS.names()}
    assert kinds_of("all") == [name for name in classes if name not in LINKS_ALONE | REFINED]
    assert all(classes[name].scores is not Model.scores for name in kinds_of("all"))
    ranking = {name for name, kind in classes.items() if kind.rank is not Model.rank}
    assert kinds_of("all", links=True) == ["epignn", *LINKS]
    assert set(LINKS) == ranking - {"epignn", "epignn-rules"}
    assert kinds_of("a, b.py:C,") == ["a", "b.py:C"]


@pytest.mark.parametrize("table", GROUNDS)
def test_every_table_has_rows_whose_experiments_load(table):
    suite = suite_of_models(table, ["epignn"])
    for variant in suite.variants:
        experiment = experiment_of(variant, quick=False)
        assert experiment.model.kind == "epignn"
        assert experiment.training.epochs <= GROUNDS[table].epochs
        assert getattr(experiment.data, "augment", 0) == 0
    assert suite.cells == SUITES[table].cells
    paper_figures(suite)  # every published figure names a cell of the table


def test_rows_of_a_table_are_trained_on_the_same_graphs():
    """Whatever the recipe says of the model and its training."""
    for table in GROUNDS:
        suite = suite_of_models(table, kinds_of("all"))
        for before in GROUNDS[table].bases:
            rows = [v for v in suite.variants if v.name.startswith(before)]
            data = {repr(experiment_of(v, quick=False).data) for v in rows if not v.name.endswith("paper's")}
            assert len(data) == 1, (table, data)


def test_runs_of_the_small_tables_are_tested_again_on_larger_graphs():
    small = {v.folder for table in ("rcc8", "ia") for v in suite_of_models(table, ["epignn"]).variants}
    assert {v.folder for v in suite_of_models("expanded", ["epignn"]).variants} == small


def test_settings_that_were_searched_for_give_a_row_more(tmp_path, monkeypatch):
    found = tmp_path / "rcc8" / "Path.toml"
    found.parent.mkdir()
    found.write_text(
        '# found\n[training]\nlearning_rate = 0.003\n[model]\nwidth = 64\n[objective]\nloss = "margin"\n'
    )
    assert settings_of(found) == ("training.learning_rate=0.003", "model.width=64", 'objective.loss="margin"')
    monkeypatch.setattr(models, "TUNED", tmp_path)
    suite = suite_of_models("rcc8", ["examples/model.py:Path"])
    recipe, tuned = suite.variants
    assert (recipe.name, tuned.name, recipe.folder == tuned.folder) == ("Path", "Path, tuned", False)
    experiment = load_experiment(tuned.experiment, tuned.settings)
    assert (experiment.model.width, experiment.training.learning_rate, experiment.objective.loss) == (
        64,
        0.003,
        "margin",
    )


def test_what_is_less_than_elsewhere_is_said():
    said = " ".join(notes(suite_of_models("rcc8", ["epignn"]), []))
    assert "per_label=200" in said
    assert "more than 10 epochs" in said


def test_cells_without_an_answer_are_told():
    cell = {"k": 9, "b": 3, "accuracy": 0.0, "refused": "5 of 9 answers took 1800 s"}
    told = notes(suite_of_models("rcc8", ["epignn"]), [{"variant": "ctp-a", "cells": [cell]}])
    assert told[-1] == f"No answer, counted as wrong: ctp-a at {cell_name(9, 3)}: 5 of 9 answers took 1800 s"


@pytest.mark.parametrize(("table", "kinds"), [("rounds", ["epignn"]), ("rcc8", ["epigmn"])])
def test_mistakes(table, kinds):
    with pytest.raises(UnknownName):
        suite_of_models(table, kinds)


def test_what_is_less_is_told_also_where_runs_are_those_of_other_tables():
    (told,) = suite_of_models("expanded", ["gcn"]).remarks
    assert "training sets are smaller (per_label=200 and per_label=120)" in told
