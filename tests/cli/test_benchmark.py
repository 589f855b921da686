"""`generate` and `check`: what is written is proved, published files are right, wrong labels are found."""

import csv
import gzip
import json

import pytest

from epignn.calculus import load
from epignn.cli import spread
from tests.conftest import made_here
from tests.samples import PER_LABEL


def test_generate_then_check(epignn, tmp_path):
    out = tmp_path / "bench"
    ran = epignn("generate", "rcc8", "--k", "2", "3", "--b", "1-2", "--per-label", 5, "--seed", 3, "--out", out)
    assert ran.code == 0
    files = sorted(out.glob("*.csv.gz"))
    assert [file.name for file in files] == [f"test_rcc8_k_{k}_b_{b}.csv.gz" for k in (2, 3) for b in (1, 2)]
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["seed"] == 3
    checked = json.loads(epignn("check", *files, "--json").out)
    assert [result["entailed"] for result in checked["files"]] == [40] * 4
    again = epignn("generate", "rcc8", "--k", 2, "--b", 1, "--per-label", 5, "--out", out)
    assert again.code == 2
    assert "exists already" in again.err


def test_files_made_and_checked_by_processes(epignn, tmp_path):
    arguments = ("--k", 3, "--b", 1, "--per-label", 6, "--shards", 3, "--workers", 2)
    assert epignn("generate", "rcc8", *arguments, "--out", tmp_path / "bench").code == 0
    runs = [epignn("check", tmp_path / "bench", "--json", "--workers", n) for n in (1, 2)]
    assert runs[0] == runs[1]
    parts = json.loads(runs[0].out)["files"]
    assert [(part["k"], part["b"], part["calculus"], part["entailed"]) for part in parts] == [
        (3, 1, "rcc8", 16)
    ] * 3
    assert "not 'many'" in epignn("check", tmp_path / "bench", "--workers", "many").err


@pytest.mark.parametrize("algorithm", ["closure", "dpc", "directional"])
def test_check_finds_a_wrong_label(epignn, tmp_path, algorithm):
    out = tmp_path / "bench"
    epignn("generate", "allen", "--k", 3, "--b", 2, "--per-label", 2, "--out", out)
    (file,) = out.glob("*.csv.gz")
    with gzip.open(file, "rt", newline="") as stream:
        rows = list(csv.reader(stream))
    rows[1][4] = "<" if rows[1][4] != "<" else ">"
    with gzip.open(file, "wt", newline="") as stream:
        csv.writer(stream).writerows(rows)
    ran = epignn("check", file, "--algorithm", algorithm, "--json")
    assert ran.code == 1
    (result,) = json.loads(ran.out)["files"]
    assert (result["entailed"], result["wrong"]) == (25, 1)
    assert "row 0: label" in epignn("check", file).out


def test_files_of_the_benchmark(epignn, files):
    """Of the published files the numbers of instances and of distinct ones; the sample repeats nothing."""
    paths = [files / "rcc8_ia" / f"test_{name}_k_2_b_2.csv.gz" for name in ("rcc8", "interval")]
    ran = epignn("check", *paths, "--json")
    assert ran.code == 0
    expected = [(6400, 1229, "rcc8"), (10400, 4461, "allen")]
    if made_here(files):
        expected = [(len(load(name)) * PER_LABEL, len(load(name)) * PER_LABEL, name) for name in ("rcc8", "allen")]
    results = json.loads(ran.out)["files"]
    assert [(r["instances"], r["distinct"], r["calculus"]) for r in results] == expected


def test_errors(epignn, tmp_path):
    assert "Did you mean 'rcc8'" in epignn("generate", "rc8", "--out", tmp_path / "x").err
    assert epignn("generate", "rcc8", "--k", 1, "--out", tmp_path / "x").code == 2
    assert "'two' is not a valid" in epignn("generate", "rcc8", "--k", "two", "--out", tmp_path / "x").err
    assert epignn("check", tmp_path / "none.csv").code == 2
    assert "Did you mean 'closure'" in epignn("check", tmp_path / "none.csv", "--algorithm", "closur").err
    assert not (tmp_path / "x").exists()


def test_spread_leaves_other_words_alone():
    assert spread(["rcc8", "--seed", "3", "--k", "2", "4", "--out", "7"]) == [
        "rcc8", "--seed", "3", "--k", "2", "--k", "4", "--out", "7",
    ]  # fmt: skip
    assert spread(["--k", "x"]) == ["--k", "x"]
    assert spread(["--k=x", "2"]) == ["--k", "x", "2"]
    assert spread(["a", "--b"]) == ["a", "--b"]
