"""Files of generated kinship problems: read back equal, the same for the same seed, and marked where open."""

import ast
import csv
import gzip
import json

import numpy as np
import pytest

from epignn.calculus.calculi.families import TERMS
from epignn.data.family_walks import as_dataset, family_walks
from epignn.data.kin_rules import derivable_labels
from epignn.data.kinship import possible_labels
from epignn.errors import BadArgument
from epignn.formats.clutrr import read_clutrr
from epignn.tasks.family_files import generate_families
from epignn.tasks.registry import find


def rows_of(path):
    with gzip.open(path, "rt", newline="") as stream:
        return list(csv.DictReader(stream))


def test_files_read_back_equal(tmp_path, same):
    manifest = generate_families([3, 5], 20, 7, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "1.3_test.csv.gz",
        "1.5_test.csv.gz",
        "manifest.json",
    ]
    for k in (3, 5):
        made = as_dataset(list(family_walks(k, 20, np.random.default_rng([7, k]))), k)
        assert same(read_clutrr(tmp_path / f"1.{k}_test.csv.gz", TERMS), made)
    assert json.loads((tmp_path / "manifest.json").read_text()) == manifest
    assert [cell["instances"] for cell in manifest["cells"]] == [20, 20]


KINDS = {
    "query": tuple,
    "proof_state": list,
    "story_edges": list,
    "edge_types": list,
    "query_edge": tuple,
    "node_mapping": dict,
    "text_target": list,
}


def test_columns_of_the_files(files):
    row = rows_of(files / "clutrr" / "data_db9b8f04" / "1.3_test.csv.gz")[0]
    assert tuple(row) == find("clutrr-db9b8f04").columns
    assert {column: type(ast.literal_eval(row[column])) for column in KINDS} == KINDS


def test_columns_are_the_published_ones_and_two_more(tmp_path):
    generate_families([3], 5, 0, tmp_path)
    row = rows_of(tmp_path / "1.3_test.csv.gz")[0]
    assert tuple(row) == (*find("clutrr-db9b8f04").columns, "labels", "derived")
    assert {column: type(ast.literal_eval(row[column])) for column in KINDS} == KINDS
    people = dict(person.split(":") for person in row["genders"].split(","))
    head, tail = ast.literal_eval(row["query"])
    first = ast.literal_eval(row["proof_state"])[0]
    assert next(iter(first)) == (head, row["target"], tail)
    assert set(people.values()) <= {"male", "female"}
    assert len(people) == 4


def test_what_follows_is_marked(tmp_path):
    manifest = generate_families([4], 60, 1, tmp_path, replace="true")
    data = read_clutrr(tmp_path / "1.4_test.csv.gz", TERMS)
    rows = rows_of(tmp_path / "1.4_test.csv.gz")
    for column, masks in [("labels", possible_labels(data)), ("derived", derivable_labels(data))]:
        for row, mask in zip(rows, masks.tolist(), strict=True):
            assert ast.literal_eval(row[column]) == [term for t, term in enumerate(TERMS) if mask >> t & 1]
    assert all(row["target"] in ast.literal_eval(row["labels"]) for row in rows)
    several = sum(len(ast.literal_eval(row["labels"])) > 1 for row in rows)
    assert manifest["cells"][0]["ambiguous"] == several > 0


def test_the_seed_decides(tmp_path):
    digests = [
        generate_families([3], 10, seed, tmp_path / str(n), split=split)["cells"][0]["sha256"]
        for n, (seed, split) in enumerate([(1, "test"), (1, "test"), (2, "test")])
    ]
    assert digests[0] == digests[1] != digests[2]


def test_bad_values(tmp_path):
    for wrong in [([], 5, 0), ([1], 5, 0), ([2], 0, 0), ([2], 5, -1)]:
        with pytest.raises(BadArgument, match=r"give at least one k|(k|per_k|seed) must be \d or more"):
            generate_families(*wrong, tmp_path / "none")
    with pytest.raises(BadArgument, match="cannot end a file name"):
        generate_families([2], 5, 0, tmp_path / "none", split="../x")
    assert not (tmp_path / "none").exists()
    generate_families([2], 5, 0, tmp_path)
    with pytest.raises(BadArgument, match="exists already"):
        generate_families([2], 5, 0, tmp_path)
    generate_families([2], 5, 0, tmp_path, overwrite=True)
