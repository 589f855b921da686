"""`profile`: tables, JSON, picture and record of shipped models and of one's own; bad input gets exit code 2."""

import json
from pathlib import Path

import pytest
import torch

EXAMPLE = Path(__file__).parents[2] / "examples" / "model.py"
SMALL = ("--longest", 3, "--widest", 2, "--problems", 16)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def test_a_shipped_model_beside_the_calculus(epignn, tmp_path):
    picture, record = tmp_path / "profile.png", tmp_path / "profile.json"
    ran = epignn("profile", "rcc8", "--exact", *SMALL, "--out", picture, "--record", record)
    assert ran.code == 0, ran.err
    assert "b = 3" in ran.out
    assert "k = 4" in ran.out
    assert "0.95 holds up to k" in ran.out
    assert f"picture: {picture}" in ran.out
    assert picture.read_bytes()[:4] == b"\x89PNG"
    document = json.loads(epignn("profile", "rcc8", "--exact", *SMALL, "--json").out)
    model, exact = document["models"]
    assert (model["name"], exact["name"]) == ("rcc8", "exact")
    assert [cell["k"] for cell in model["by_k"]] == [2, 3]
    assert [cell["b"] for cell in model["by_b"]] == [1, 2]
    assert exact["holds"]["k"] == 3
    recorded = json.loads(record.read_text())
    assert recorded["models"][0]["by_k"] == model["by_k"]
    assert recorded["plan"] == document["plan"]
    assert "commit" in recorded


def test_several_models_one_of_them_ones_own(epignn, tmp_path):
    settings = ("--set", "data.per_label=12", "--set", "training.epochs=1")
    run = tmp_path / "own"
    assert epignn("train", "rcc8", "--model", f"{EXAMPLE}:Path", *settings, "--out", run).code == 0
    ran = epignn("profile", "rcc8", run, "--calculus", "rcc8", *SMALL, "--code", EXAMPLE, "--floor", 0.9, "--json")
    assert ran.code == 0, ran.err
    models = {one["name"]: one for one in json.loads(ran.out)["models"]}
    assert set(models) == {"rcc8", "own"}
    assert len(models["own"]["by_k"]) == 1 < len(models["rcc8"]["by_k"])  # after one epoch it is below the floor


def test_kinship_by_hops(epignn):
    ran = epignn("profile", "kinship", "--longest", 3, "--problems", 20)
    assert ran.code == 0, ran.err
    assert ran.out.startswith("hops")
    assert "several right answers are left out" in ran.out


def test_a_calculus_alone(epignn):
    ran = epignn("profile", "--calculus", "point", "--exact", *SMALL, "--json")
    assert [one["name"] for one in json.loads(ran.out)["models"]] == ["exact"]


def test_what_takes_long_is_told_on_standard_error(epignn, monkeypatch):
    monkeypatch.setattr("epignn.cli.profile.SILENCE", 0.0)
    ran = epignn("profile", "--calculus", "point", "--exact", *SMALL, "--json")
    assert ran.err.splitlines()[0] == "k=2 b=3: exact 1.0000"
    assert len(ran.err.splitlines()) == 4
    json.loads(ran.out)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name a model"),
        (("--calculus", "rcc8"), "name a model"),
        (("rcc9",), "Did you mean 'rcc8'"),
        (("rcc8", "--calculus", "rcc9"), "Did you mean 'rcc8'"),
        (("allen", "--calculus", "rcc8"), "allen is a model of"),
        (("rcc8", "--calculus", "clutrr"), "no problems of growing size can be made of clutrr"),
        (("kinship", "--exact"), "leave --exact out"),
        (("rcc8", "--out", "picture.txt"), "ends with .png, .svg, .pdf"),
        (("rcc8", "--length", 1), "--length"),
        (("rcc8", "--floor", 2), "--floor"),
    ],
)
def test_bad_input(epignn, arguments, message):
    ran = epignn("profile", *arguments)
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


@pytest.mark.parametrize("option", ["--least", "--floor", "--seconds"])
def test_options_that_are_no_number(epignn, option):
    ran = epignn("profile", "--calculus", "rcc8", "--exact", option, "nan")
    assert (ran.code, ran.err) == (2, f"error: {option} takes a number, not nan.\n")
