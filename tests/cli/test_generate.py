"""`generate families` and `generate world`; a calculus is still the default."""

import json

import pytest

from epignn.formats.clutrr import read_clutrr
from epignn.formats.graphlog import read_graphlog


def test_families(epignn, tmp_path):
    arguments = ("generate", "families", "--k", "2-3", "--per-k", 12, "--seed", 4, "--out", tmp_path)
    ran = epignn(*arguments, "--json")
    assert ran.code == 0
    cells = json.loads(ran.out)["cells"]
    assert [(cell["k"], cell["instances"]) for cell in cells] == [(2, 12), (3, 12)]
    assert [len(read_clutrr(tmp_path / cell["file"])) for cell in cells] == [12, 12]
    assert "exists already" in epignn(*arguments).err
    assert "1.2_test.csv.gz" in epignn(*arguments, "--overwrite").out


def test_options_of_families(epignn, tmp_path):
    options = ("--relations", "father,mother, sister,brother", "--revisits", "--split", "train", "--by", "entailed")
    ran = epignn("generate", "families", "--k", 4, "--per-k", 10, "--out", tmp_path, *options, "--json")
    assert json.loads(ran.out)["cells"][0]["ambiguous"] == 0
    data = read_clutrr(tmp_path / "1.4_train.csv.gz")
    assert {data.relations[r] for r in data.edge_label} <= {"father", "mother", "sister", "brother"}


def test_world(epignn, tmp_path):
    sizes = ("--train", 30, "--valid", 10, "--test", 10, "--sequences", 40, "--classes", 12)
    ran = epignn("generate", "world", "--like", 32, *sizes, "--out", tmp_path, "--json")
    assert ran.code == 0
    manifest = json.loads(ran.out)
    assert manifest["shape"]["mean_nodes"] == 16.27
    assert manifest["statistics"]["graphs"] == 50
    assert len(read_graphlog(tmp_path / "train.jsonl.gz")) == 30
    assert "asked for" in epignn("generate", "world", *sizes, "--out", tmp_path, "--overwrite").out


@pytest.mark.parametrize("first", [("rcc8",), ("calculus", "rcc8"), ("--k", 2, "rcc8")])
def test_a_calculus_is_the_default(epignn, tmp_path, first):
    ran = epignn("generate", *first, "--k", 2, "--b", 1, "--per-label", 2, "--out", tmp_path, "--json")
    assert ran.code == 0
    assert json.loads(ran.out)["calculus"] == "rcc8"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("families", "--k", 1), "k must be 2 or more, not 1"),
        (("families", "--by", "rule"), "Did you mean 'rules'"),
        (("families", "--relations", "fahter"), "Did you mean 'father'"),
        (("world", "--like", 33), "Known: 11, 32, 6, 7, 8"),
        (("world", "--classes", 0), "classes must be from 1 to 1,000, not 0"),
        (("rc8",), "Did you mean 'rcc8'"),
    ],
)
def test_errors(epignn, tmp_path, arguments, message):
    ran = epignn("generate", *arguments, "--out", tmp_path / "x")
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "x").exists()


def test_help(epignn):
    shown = epignn("generate", "--help").out
    assert all(word in shown for word in ("calculus", "families", "world"))
    assert "--per-label" in epignn("generate", "rcc8", "--help").out
