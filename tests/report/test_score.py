"""Predictions in files: which belongs to which, what names mean, and records that tables show."""

import json

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.calculi.families import TERMS
from epignn.data.dataset import Dataset
from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.formats.star_csv import write_csv
from epignn.report.record import read_records
from epignn.report.score import paired, read, record, score_files
from epignn.report.suites import SUITES
from epignn.report.tables import figures
from epignn.tasks.families import walks
from epignn.tasks.family_files import generate_families
from epignn.tasks.star import generated


@pytest.fixture
def cells(tmp_path) -> dict[str, Dataset]:
    """Two files of problems with files of predictions: all right, and a quarter wrong."""
    found = {}
    for k, b in ((2, 1), (3, 2)):
        data = generated(load("rcc8"), k, b, 4, 7)
        write_csv(tmp_path / f"test_rcc8_k_{k}_b_{b}.csv.gz", [data])
        wrong = np.arange(len(data)) % 4 == 0 if k == 3 else np.zeros(len(data), dtype=bool)
        told = [data.relations[r] for r in (data.label + wrong) % 8]
        (tmp_path / f"told_{k}.csv").write_text("prediction\n" + "\n".join(told) + "\n")
        found[f"told_{k}.csv"] = data
    return found


def names(tmp_path):
    problems = [tmp_path / f"test_rcc8_k_{k}_b_{b}.csv.gz" for k, b in ((2, 1), (3, 2))]
    return problems, [tmp_path / f"told_{k}.csv" for k in (2, 3)]


def test_files_go_together_one_by_one_or_all_of_a_kind_first(cells, tmp_path):
    (a, b), (x, y) = names(tmp_path)
    assert paired([a, x, b, y]) == paired([a, b, x, y]) == paired([x, y, a, b]) == [(a, x), (b, y)]
    with pytest.raises(BadArgument, match="2 files of problems and 1 of predictions"):
        paired([a, b, x])


def test_scores_by_file_and_on_average(cells, tmp_path):
    (a, b), (x, y) = names(tmp_path)
    results, found = score_files([a, b, x, y])
    assert [(r["k"], r["b"], r["n"], r["accuracy"]) for r in results] == [(2, 1, 32, 1.0), (3, 2, 32, 0.75)]
    assert [r["predictions"] for r in results] == [str(x), str(y)]
    assert found.accuracy == 0.875
    assert found.low < 0.875 < found.high


def test_numbers_are_positions_in_the_calculus(cells, tmp_path):
    (a, _), (x, _) = names(tmp_path)
    x.write_text("prediction\n" + "\n".join(map(str, cells["told_2.csv"].label)) + "\n")
    assert score_files([a, x])[1].accuracy == 1.0


def test_a_wrong_label_names_its_file(cells, tmp_path):
    (a, _), (x, _) = names(tmp_path)
    x.write_text(x.read_text().replace("\nDC\n", "\nNTTP\n", 1))
    with pytest.raises(BadFile, match=r"told_2.csv: .*Unknown relation 'NTTP'. Did you mean 'NTPP'"):
        score_files([a, x])


def test_kinship_may_be_answered_by_any_term(tmp_path):
    generate_families([2], 30, 0, tmp_path)
    (path,) = tmp_path.glob("*.csv*")
    assert read(path).relations == TERMS
    write_csv(tmp_path / "star.csv", [walks(2, 30, 0)])
    assert read(tmp_path / "star.csv", "none").relations == TERMS


def test_relations_of_no_calculus_are_those_of_the_file(tmp_path):
    write_csv(tmp_path / "own_k_4_b_2.csv", [Dataset(("red", "blue"), [2], [0, 1], [0], [1], [0], [0], [1], [1])])
    with pytest.raises(BadFile, match="no calculus has the word"):
        read(tmp_path / "own_k_4_b_2.csv")
    found = read(tmp_path / "own_k_4_b_2.csv", "none")
    assert (found.relations, found.k, found.b) == (("blue", "red"), 4, 2)


@pytest.fixture
def told():
    """What is told of every test set of the table, a perfect model's."""
    return [
        {"k": k, "b": b, "n": 800, "distinct": 700, "accuracy": 1.0, "low": 0.99, "high": 1.0, "file": "x"}
        for k, b in SUITES["rcc8"].cells
    ]


def test_a_record_can_be_shown(told, tmp_path):
    path = record(tmp_path / "rcc8", "my model, large", told, seed=3, parameters=7, training_seconds=None)
    assert path == tmp_path / "rcc8" / "records.jsonl"
    (found,) = read_records(tmp_path / "rcc8")
    assert (found["variant"], found["seed"], found["outside"], found["parameters"]) == (
        "my model, large",
        3,
        True,
        7,
    )
    assert "training_seconds" not in found
    assert figures(SUITES["rcc8"], found)["average"] == 1.0
    assert "file" not in found["cells"][0]
    assert {"epignn", "commit", "cpu"} <= set(found)
    assert record(tmp_path / "rcc8", "my model, large", told, seed=3) == path  # the same run, scored again


def test_records_that_would_spoil_a_table_are_refused(told, tmp_path):
    folder = tmp_path / "rcc8"
    with pytest.raises(UnknownName, match=r"Unknown table 'rcc9'\. Did you mean 'rcc8'"):
        record(tmp_path / "rcc9", "mine", told)
    with pytest.raises(BadArgument, match="has a row 'rcc8-paper' of its own"):
        record(folder, "rcc8-paper", told)
    with pytest.raises(BadArgument, match=r"also tests k=9 b=2, k=9 b=3\. .*generate rcc8 --k 2 3 .*--seed 2025"):
        record(folder, "mine", told[:-2])
    with pytest.raises(BadArgument, match="two files are of k=2 b=1"):
        record(folder, "mine", [*told, told[0]])
    for name in ("../mine", "", "a/b"):
        with pytest.raises(BadArgument, match="cannot be the name of a row"):
            record(folder, name, told)
    assert not folder.exists()
    record(folder, "one", told)
    with pytest.raises(BadArgument, match="were tested on other problems"):
        record(folder, "two", [{**cell, "n": 80} for cell in told])
    record(folder, "two", told)


def test_names_of_rows_of_runs_are_kept_for_them(told, tmp_path):
    folder = tmp_path / "rcc8"
    path = record(folder, "theirs", told)
    document = json.loads(path.read_text())
    del document["outside"]
    path.write_text(json.dumps(document))
    with pytest.raises(BadArgument, match="has a row 'theirs' of its own"):
        record(folder, "theirs", told, seed=1)
