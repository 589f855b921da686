"""`train`, `evaluate`, `predict`, `ask`, `demo`: from data to answers, and what bad input gets."""

import csv
import json

import pytest
import torch

from epignn.learn.checkpoint import WEIGHTS

SMALL = ("--set", "data.per_label=12", "--set", "training.epochs=2", "--set", "model.dim=16")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def run(epignn, tmp_path):
    """A small trained model."""
    folder = tmp_path / "run"
    ran = epignn("train", "rcc8", "--out", folder, *SMALL)
    assert ran.code == 0, ran.err
    assert "on validation in epoch" in ran.out
    assert "epoch 2/2" in ran.err
    return folder


@pytest.fixture
def cell(epignn, tmp_path):
    out = tmp_path / "cells"
    epignn("generate", "rcc8", "--k", 3, "--b", 2, "--per-label", 4, "--seed", 9, "--out", out)
    return out / "test_rcc8_k_3_b_2.csv.gz"


def test_processes_evaluate_alike(epignn, run, cell, tmp_path):
    other = tmp_path / "copy_k_2_b_1.csv.gz"
    other.write_bytes(cell.read_bytes())
    for command in (("evaluate", run, cell, other), ("predict", run, cell)):
        runs = [epignn(*command, "--json", "--workers", n) for n in (1, 2)]
        assert (runs[0].code, runs[0].out) == (0, runs[1].out)


def test_evaluate(epignn, run, cell):
    document = json.loads(epignn("evaluate", run, cell, "--json").out)
    assert document["model"] == str(run)
    (result,) = document["results"]
    assert set(result) == {"file", "k", "b", "n", "distinct", "accuracy", "low", "high"}
    assert (result["k"], result["b"], result["n"]) == (3, 2, 32)
    assert result["low"] <= result["accuracy"] <= result["high"]
    assert "95 % interval" in epignn("evaluate", run / WEIGHTS, cell).out


def test_predict(epignn, run, cell, facts, tmp_path):
    out = tmp_path / "answers.csv"
    assert epignn("predict", run, cell, "--out", out).code == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    assert len(rows) == 32
    assert all(float(r["probability"]) >= float(r["runner_up_probability"]) > 0 for r in rows)
    path = facts("ec(b, a). ntpp(b, c)")
    one = epignn("predict", run, path, "--query", "a", "c", "--out", tmp_path / "one.json")
    assert one.code == 0
    assert json.loads((tmp_path / "one.json").read_text())[0]["head"] == "a"
    document = json.loads(epignn("predict", run, path, "--query", "a", "c", "--json").out)
    assert document["predictions"][0]["tail"] == "c"
    assert "Give --query A B" in epignn("predict", run, path).err
    nowhere = epignn("predict", run, cell, "--out", tmp_path / "no" / "folder.csv")
    assert nowhere.code == 2
    assert "cannot write it" in nowhere.err


def test_ask_shows_the_model_beside_exact_closure(epignn, run):
    question = ("ec(a,b). ntpp(b,c). tppi(a,d). po(d,c)", "a", "c")
    text = epignn("ask", *question, "--model", run).out
    assert [line[:8] for line in text.splitlines()[:3]] == ["neural  ", "learnt  ", "exact   "]
    assert text.splitlines()[2] == "exact   PO(a, c)"
    document = json.loads(epignn("ask", *question, "--model", run, "--json").out)
    assert document["exact"] == ["PO"]
    assert document["agree"] == (document["learnt"] == ["PO"] and document["neural"]["relation"] == "PO")
    assert document["neural"]["relation"] in ("DC", "EC", "PO", "TPP", "NTPP", "TPPI", "NTPPI", "EQ")
    shipped = epignn("ask", *question).out.splitlines()
    assert shipped[1:] == ["learnt  PO(a, c)", "exact   PO(a, c)"]
    assert epignn("ask", "ec(a,b). ec(b,c)", "a", "c").out.endswith(
        "The model's answer is one of those possible.\n"
    )
    clash = epignn("ask", "ec(a,b). dc(a,b)", "a", "b", "--model", run)
    assert clash.code == 1
    assert "contradict each other: ec(a, b), dc(a, b)" in clash.out


def test_a_second_run_in_a_folder_says_so(epignn, run):
    again = epignn("train", "rcc8", "--out", run, *SMALL)
    assert "had ended already" in again.out
    other = epignn("train", "rcc8", "--out", run, "--seed", 5, *SMALL)
    assert other.code == 2
    assert "holds another run" in other.err


def test_train_on_a_folder_of_files(epignn, cell, tmp_path):
    settings = ("--set", "training.epochs=1", "--set", "training.starts=2")
    command = ("train", cell.parent, "--out", tmp_path / "own", *settings, "--json")
    ran = epignn(*command)
    assert ran.code == 0, ran.err
    told = json.loads(ran.out)
    assert told["epochs"] == 2
    again = json.loads(epignn(*command).out)
    assert (again["epochs"], again["validation"]) == (2, told["validation"])
    config = json.loads((tmp_path / "own" / "config.json").read_text())
    assert str(cell) in config["record"]["files"]
    assert config["experiment"]["data"]["task"] == str(cell.parent)
    assert not {"k", "b", "per_label", "seed"} & set(config["experiment"]["data"])  # of a generator


def test_demo_refuses_a_picture_it_cannot_draw_before_the_work(epignn, tmp_path):
    ran = epignn("demo", "--quick", "--out", tmp_path / "demo.txt")
    assert ran.code == 2
    assert "ends with .png, .svg, .pdf" in ran.err
    assert "Training" not in ran.err


def test_demo(epignn, tmp_path):
    ran = epignn("demo", "--quick", "--out", tmp_path / "demo.png", "--json")
    assert ran.code == 0, ran.err
    assert json.loads(ran.out)["exact"] == "PO"
    assert (tmp_path / "demo.png").read_bytes()[:4] == b"\x89PNG"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("train", "rcc9", "--out", "OUT"), "Did you mean 'rcc8'"),
        (("train", "rcc8", "--out", "OUT", "--set", "model.facet=2"), "Did you mean 'model.facets'"),
        (("evaluate", "rcc9", "FILE"), "Unknown model 'rcc9'"),
        (("ask", "ec(a,b)", "a", "z", "--model", "RUN"), "Unknown entity 'z'"),
        (("ask", "ec(a,b", "a", "b", "--model", "RUN"), "the facts:1"),
        (("ask", "", "a", "b", "--model", "RUN"), "there are none; a fact looks like"),
        (("predict", "RUN", "none.txt", "--query", "a", "b"), "cannot read it"),
    ],
)
def test_bad_input(epignn, run, cell, tmp_path, arguments, message):
    names = {"RUN": run, "FILE": cell, "OUT": tmp_path / "x"}
    ran = epignn(*(names.get(a, a) for a in arguments))
    assert ran.code == 2
    assert message in ran.err
    assert not (tmp_path / "x").exists()


def test_a_peer_answers_and_cannot_be_distilled(epignn, tmp_path):
    """It has no states; the exact calculus still stands beside its answer."""
    out = tmp_path / "run"
    settings = ("--set", "data.per_label=10", "--set", "training.epochs=1", "--out", out)
    assert epignn("train", "rcc8", "--model", "rnn", *settings).code == 0
    done = epignn("ask", "ec(a,b). ntpp(b,c)", "a", "c", "--model", out)
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines() if line][:2] == ["neural", "exact"]
    done = epignn("distil", out)
    assert done.code == 2
    assert "RNN has no epistemic states to read a calculus or rules off" in done.err
