"""Runs once more against their records, and published test files beside generated problems."""

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.data.stream import Problems
from epignn.errors import BadArgument
from epignn.formats.star_csv import write_csv
from epignn.learn.config import load_experiment
from epignn.report.record import named_records, put_record
from epignn.report.reproduce import reproduce
from epignn.report.suites import SUITES, Suite, Variant
from epignn.report.tables import FILES, grid, notes, rows
from epignn.report.verify import verify
from epignn.workers import Here

SETTINGS = ("data.per_label=10", "training.epochs=1", "data.k=[2]", "data.b=[1]")
SMALL = Suite(
    "small",
    (Variant("one", "rcc8-paper", SETTINGS), Variant("two", "rcc8-paper", (*SETTINGS, "model.forward_only=true"))),
    ((2, 1), (3, 1), (3, 2)),
    4,
    MappingProxyType({}),
)


@pytest.fixture(autouse=True)
def one_thread(monkeypatch, tmp_path):
    torch.set_num_threads(1)
    monkeypatch.setenv("EPIGNN_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("EPIGNN_CACHE", str(tmp_path / "cache"))


def run(tmp_path, suite=SMALL):
    return reproduce("small", suite, [0], tmp_path / "results", tmp_path / "runs", False, lambda text: None)


def checked(tmp_path, suite=SMALL):
    told = tmp_path / "results", tmp_path / "runs", "cpu", Here(), lambda text: None
    return verify("small", suite, None, *told)


def test_the_same_run_agrees_to_the_bit_and_a_changed_record_does_not(tmp_path):
    records = run(tmp_path)
    found = checked(tmp_path)
    assert [(one.row, one.seed, one.equal, one.cells, one.agrees) for one in found] == [
        ("one", 0, 3, 3, True),
        ("two", 0, 3, 3, True),
    ]
    assert named_records(tmp_path / "results" / "verified")["small_one_seed0"]["of"] == records[0]["commit"]
    assert named_records(tmp_path / "results" / "small")["one_seed0"] == records[0]  # untouched
    cells = [{**cell, "accuracy": cell["accuracy"] + 0.125} for cell in records[0]["cells"]]
    put_record(tmp_path / "results" / "small", "one_seed0", {**records[0], "cells": cells})
    first, second = checked(tmp_path)
    assert (first.agrees, first.equal, first.text("agrees")) == (False, 0, "no")
    assert first.largest == pytest.approx(0.125)
    assert second.text("agrees") == "to the bit"


def test_what_is_not_recorded_cannot_be_verified(tmp_path):
    with pytest.raises(BadArgument, match="no record of such a run"):
        checked(tmp_path)
    with pytest.raises(BadArgument, match="of links"):
        checked(tmp_path, SUITES["kgc"])


def test_published_files_that_are_at_hand_are_tested_beside(tmp_path):
    one = replace(SMALL, variants=SMALL.variants[:1])
    (before,) = run(tmp_path, one)
    assert not any("published" in cell for cell in before["cells"])
    folder = tmp_path / "data" / "rcc8_ia"
    folder.mkdir(parents=True)
    problems = list(Problems(load("rcc8"), 2, 1, 3, np.random.default_rng(5)))
    write_csv(folder / "test_rcc8_k_2_b_1.csv", problems)
    (record,) = run(tmp_path, one)  # not trained again: the model is there
    assert record["training_seconds"] == before["training_seconds"]
    told = {(cell["k"], cell["b"]): cell.get("published") for cell in record["cells"]}
    assert (told[2, 1]["n"], told[2, 1]["file"], told[3, 1]) == (24, "test_rcc8_k_2_b_1.csv", None)
    columns, lines = rows(one, [record])
    assert lines[0][columns.index(FILES)] == f"{told[2, 1]['accuracy']:.3f}"
    columns, lines = grid(one, [record])
    assert columns == ["model", "k", "b = 1", "b = 2", "b = 1, published"]
    accuracy = {(cell["k"], cell["b"]): f"{cell['accuracy']:.3f}" for cell in record["cells"]}
    assert lines == [
        ["one", "2", accuracy[2, 1], "", f"{told[2, 1]['accuracy']:.3f}"],
        ["one", "3", accuracy[3, 1], accuracy[3, 2], ""],
    ]
    assert any("k=2 b=1" in note and FILES in note for note in notes(one, [record]))
    task = load_experiment("rcc8-paper").data
    assert task.tested_on(one.cells, 4) == (
        "4 generated problems of each label in every cell (seed 2025), and the published test files of 1 cells "
        "beside them"
    )


def test_records_of_uncommitted_source_are_marked():
    record = {"variant": "one", "seed": 0, "commit": "0123456789ab+", "cells": [{"k": 0, "b": 0, "accuracy": 1.0}]}
    suite = replace(SMALL, cells=((0, 0),))
    clean = {**record, "seed": 1, "commit": "0123456789ab"}
    assert rows(suite, [record, clean])[1][0][1] == "2 +"
    assert any("not committed" in note for note in notes(suite, [record]))
    assert rows(suite, [clean])[1][0][1] == "1"
    assert not notes(suite, [clean])
