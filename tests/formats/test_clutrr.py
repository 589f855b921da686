"""CLUTRR's files: what their rows say, read by name of column, and refused with file and line."""

import ast
import csv
import gzip

import numpy as np
import pytest

from epignn.errors import BadFile
from epignn.formats.clutrr import read_clutrr
from epignn.formats.readers import vocabulary
from tests.conftest import known_files, made_here
from tests.samples import WALKS

HEADER = "id,target,story_edges,edge_types,query_edge\n"
ROW = """x,son,"[(0, 1), (1, 2)]","['daughter', 'brother']","(0, 2)"\n"""

TRAIN = {"data_db9b8f04": "1.2,1.3,1.4_train.csv.gz", "data_089907f8": "1.2,1.3_train.csv.gz"}


def written(folder, text, name="rows.csv"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize("version", ["db9b8f04", "089907f8", "9b2173cf"])
def test_every_row_of_the_files_is_what_a_plain_reading_finds(files, version):
    for file in known_files(files, f"clutrr-{version}", ".csv"):
        data = read_clutrr(file)
        with gzip.open(file, "rt", newline="") as stream:
            rows = list(csv.DictReader(stream))
        assert len(data) == len(rows)
        for g in range(0, len(rows), 7):
            example, row = data.example(g), rows[g]
            edges = [(a, b) for a, _, b in example.edges]
            assert edges == ast.literal_eval(row["story_edges"])
            assert [r for _, r, _ in example.edges] == ast.literal_eval(row["edge_types"])
            assert (example.query, example.label) == (ast.literal_eval(row["query_edge"]), row["target"])


@pytest.mark.parametrize("version", TRAIN)
def test_training_and_test_files(files, version):
    folder = files / "clutrr" / version
    train = read_clutrr(folder / TRAIN[version])
    counts = {"data_db9b8f04": [5063, 4996, 5024], "data_089907f8": [5096, 4998]}[version]
    if made_here(files):
        counts = list(WALKS.values())[: len(counts)]
    assert np.bincount(train.edge_count)[2:].tolist() == counts
    assert (train.k, len(train.relations)) == (0, 20)
    tests = [folder / f"1.{k}_test.csv.gz" for k in range(2, 11)]
    assert vocabulary([folder / TRAIN[version], *tests]) == train.relations
    for k, path in enumerate(tests, start=2):
        test = read_clutrr(path, train.relations)
        assert (test.k, test.b, test.relations) == (k, 0, train.relations)
        assert set(test.edge_count.tolist()) == {k}


def test_walks_that_return_and_other_columns(tmp_path):
    text = (
        "extra,query_edge,edge_types,story_edges,target,story\n"
        """1,"(7, 3)","['son', 'mother-in-law', 'son', 'son']","[(7, 9), (9, 7), (7, 9), (9, 3)]",son,"a\nb"\n"""
    )
    data = read_clutrr(written(tmp_path, text, "1.4_test.csv.gz"))
    assert (data.k, data.node_count.tolist()) == (4, [3])
    assert data.example(0).edges == ((1, "son", 2), (2, "mother-in-law", 1), (1, "son", 2), (2, "son", 0))
    assert data.example(0).query == (1, 0)


@pytest.mark.parametrize(
    ("name", "k"),
    [("1.7_test.csv", 7), ("1.12_valid.csv.gz", 12), ("1.2,1.3_train.csv", 0), ("x.csv", 0), ("a1.2_x.csv", 0)],
)
def test_the_name_tells_the_hops(tmp_path, name, k):
    assert read_clutrr(written(tmp_path, HEADER + ROW, name)).k == k


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (HEADER + ROW.replace("daughter", "dauther"), 2, "Did you mean 'daughter'"),
        (HEADER + ROW + ROW.replace(", 'brother'", ""), 3, "2 edges but 1 edge_types"),
        (HEADER + ROW.replace("(0, 1), ", ""), 2, "1 edges but 2 edge_types"),
        (HEADER + ROW.replace("['daughter', 'brother']", "daughter"), 2, "edge_types must be a list of names"),
        (HEADER.replace("target", "label") + ROW, 1, "no column 'target'"),
        (HEADER + ROW.replace("(0, 2)", "0"), 2, "query_edge must be one pair"),
        ("", 1, "no column 'story_edges'"),
    ],
)
def test_a_wrong_row_is_named(tmp_path, text, line, message):
    with pytest.raises(BadFile, match=r"rows\.csv") as caught:
        read_clutrr(written(tmp_path, text), ("brother", "daughter", "son"))
    assert caught.value.line == line
    assert message in str(caught.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(BadFile, match="cannot read it"):
        read_clutrr(tmp_path / "none.csv")
