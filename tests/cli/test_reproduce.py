"""`epignn reproduce`: the table and pictures from records, without running anything; and bad input."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from epignn.errors import BadArgument
from epignn.report import record

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.fixture
def results(tmp_path):
    """The committed records of one table."""
    shutil.copytree(RESULTS / "ia", tmp_path / "results" / "ia", ignore=shutil.ignore_patterns("*.png", "*.svg"))
    return tmp_path / "results"


def test_report_runs_nothing(epignn, results, tmp_path):
    ran = epignn("reproduce", "ia", "--report", "--results", results, "--runs", tmp_path / "none", "--json")
    assert ran.code == 0, ran.err
    assert ran.err == ""
    document = json.loads(ran.out)
    assert document["columns"][:4] == ["model", "seeds", "average", "k=9 b=3"]
    seeds = [[row[0], row[1].removesuffix(" +")] for row in document["rows"]]
    assert seeds[:2] == [["ia-paper", "3"], ["ia", "3"]]
    expected = ("holds no model", "not committed", "published files")
    assert all(any(words in note for words in expected) for note in document["notes"])
    assert "60 generated problems of each label" in document["tested_on"]
    assert document["grid"]["columns"][:5] == ["model", "k", "b = 1", "b = 2", "b = 3"]
    recorded = [(row[0], row[1]) for row in document["grid"]["rows"] if row[0] in {"ia-paper", "ia"}]
    assert recorded == [(model, str(k)) for model in ("ia-paper", "ia") for k in range(2, 10)]
    assert [Path(path).name for path in document["pictures"]] == [
        "accuracy.png",
        "parameters.png",
        "training_time.png",
    ]
    assert all(Path(path).exists() for path in document["pictures"])
    assert not (tmp_path / "none").exists()


def test_one_row_of_one_seed(epignn, results, tmp_path):
    asked = ("ia", "--report", "--results", results, "--runs", tmp_path, "--only", "ia", "--seed", 1)
    text = epignn("reproduce", *asked).out
    table, _, rest = text.partition("note: ")
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in table.splitlines() if "│" in line]
    assert ["ia", "1"] in [[row[0], row[1].removesuffix(" +")] for row in rows if len(row) > 1]
    assert "Every cell" in table
    assert not any(row[0].startswith("ia-paper") for row in rows)
    assert "picture: " in rest


@pytest.mark.parametrize("name", ["table.json", "table.csv", "table.md"])
def test_what_is_written_is_told_and_no_table_printed(epignn, results, tmp_path, name):
    asked = ("ia", "--report", "--results", results, "--runs", tmp_path, "--only", "ia", "--out", tmp_path / name)
    assert epignn("reproduce", *asked).out == f"Written: {tmp_path / name}\n"
    text = (tmp_path / name).read_text()
    assert "b = 3" in text
    assert "k=9 b=3" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("rcc9",), "Unknown table 'rcc9'. Did you mean 'rcc8'"),
        (("ia", "--only", "ia2"), "Unknown row 'ia2'. Did you mean 'ia'"),
        (("ia", "--report", "--seed", 7), "holds no record of such a run"),
        (("ia", "--seeds", 0), "--seeds"),
        (("ia", "--report", "--out", "table.txt"), "ends in .json, .csv, .md"),
        (("ia", "--report", "--verify"), "leave out --report"),
        (("ia", "--seed", -1), "--seed"),
    ],
)
def test_bad_input(epignn, results, arguments, message):
    ran = epignn("reproduce", *arguments, "--results", results)
    assert ran.code == 2
    assert message in ran.err


def test_a_model_from_elsewhere_stands_in_the_table(epignn, tmp_path):
    """Once its predictions were scored and recorded."""
    cell = {"k": 0, "b": 0, "n": 10, "accuracy": 0.5}
    told = {"variant": "theirs", "outside": True, "seed": 0, "cells": [cell]}
    record.put_record(tmp_path / "graphlog", "theirs_seed0", told)
    done = epignn("reproduce", "graphlog", "--report", "--results", tmp_path, "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["rows"][0][:3] == ["theirs", "1", "0.500"]


def test_records_are_refused_where_the_source_has_changes(epignn, monkeypatch, tmp_path):
    monkeypatch.setattr(record, "commit", lambda: "0123456789ab+")
    ran = epignn("reproduce", "graphlog", "--results", tmp_path, "--runs", tmp_path)
    assert ran.code == 2
    assert "not committed" in ran.err
    assert "--dirty" in ran.err
    assert not list(tmp_path.iterdir())


def test_a_changed_source_is_seen(tmp_path, monkeypatch):
    """By git itself, in a tree of its own; new records and pictures are no change of the source."""
    source, picture = tmp_path / "src" / "record.py", tmp_path / "results" / "rcc8.png"
    for path in (source, picture):
        path.parent.mkdir()
        path.write_text("")
    git = ["git", "-c", "user.name=x", "-c", "user.email=x@example.org"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "x"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    monkeypatch.setattr(record, "__file__", str(source))
    picture.write_text("drawn anew")
    assert not record.commit().endswith("+")
    record.refuse_uncommitted()
    source.write_text("changed")
    assert record.commit().endswith("+")
    with pytest.raises(BadArgument, match="not committed"):
        record.refuse_uncommitted()
