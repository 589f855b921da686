"""The search of settings: the recipe first, larger graphs as judges, and nothing run twice."""

import tomllib
from pathlib import Path

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.models.epignn import EpiGNNConfig
from epignn.report.record import named_records
from epignn.report.tune import choices, tune
from epignn.tasks.own import Files
from epignn.tasks.star import LARGER, Star, generated

MODEL = f"{Path(__file__).parents[2] / 'examples' / 'model.py'}:Path"
SMALL = {"trials": 3, "share": 0.02, "epochs": 1, "seed": 0, "code": [MODEL.rpartition(":")[0]]}


def test_only_settings_that_a_model_has_are_tried():
    tried = choices(EpiGNNConfig)
    assert {"model.dim", "model.facets", "training.learning_rate"} <= set(tried)
    assert "model.width" not in tried


def test_judges_are_larger_than_anything_trained_on():
    """Of graphs that are given; generated ones are of other cells."""
    data = Dataset.concat([generated(load("rcc8"), k, 1, 3, 1) for k in (2, 3, 4)])
    train, valid = Files("files", "own", holdout="larger").divided((data, None), 0)
    assert (set(train.edge_count), set(valid.edge_count)) == ({2, 3}, {4})
    star = Star("star", "rcc8", holdout="larger", per_label=4, validation=0.5)
    train, valid = star.split(0)
    assert len(train) == 4 * 8 * 9
    assert valid.edge_count.min() > 9
    assert len(valid) > 100


def test_judges_of_generated_problems_are_of_cells_that_no_table_tests():
    from epignn.report.suites import EXPANDED, MAIN

    assert not set(LARGER) & {*MAIN, *EXPANDED}


def test_a_search_keeps_the_best_and_is_not_run_twice(tmp_path):
    said: list[str] = []
    record = tune("rcc8", MODEL, out=tmp_path, say=said.append, **SMALL)
    assert record["trials"][0]["settings"] == []  # the recipe
    assert record["best"]["validation"] == max(trial["validation"] for trial in record["trials"])
    kept = tomllib.loads((tmp_path / "Path.toml").read_text())
    wanted = [f"{section}.{key}" for section, entries in kept.items() for key in entries]
    assert sorted(wanted) == sorted(text.partition("=")[0] for text in record["best"]["settings"])
    before = named_records(tmp_path)["Path"]["trials"]
    assert tune("rcc8", MODEL, out=tmp_path, say=said.append, **SMALL)["trials"] == before
    assert len([line for line in said if "epoch" not in line]) == 3  # nothing is run twice
    assert len(said) == 3 + 3  # every epoch of a trial that is run is told
    other = tune("rcc8", MODEL, out=tmp_path, say=said.append, **{**SMALL, "share": 0.03})
    assert other["trials"][0]["graphs"] > before[0]["graphs"]  # trials on other data say nothing here
