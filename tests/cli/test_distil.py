"""`epignn distil`, and `evaluate` on what it writes."""

import json
import subprocess
import sys

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.calculus.toml import load_calculus
from epignn.distil.rules import load_rules
from epignn.explain.rule_checker import check_rules
from epignn.learn.run import train_on
from tests.distil.test_induce import circle
from tests.graphs import own, small


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def cell(epignn, tmp_path):
    out = tmp_path / "cells"
    epignn("generate", "rcc8", "--k", 6, "--b", 2, "--per-label", 3, "--seed", 9, "--out", out)
    return out / "test_rcc8_k_6_b_2.csv.gz"


def test_a_calculus_from_the_shipped_model(epignn, cell, tmp_path):
    files = tmp_path / "train"
    epignn("generate", "rcc8", "--k", "2-3", "--b", "1", "--per-label", 40, "--seed", 3, "--out", files)
    names = sorted(files.glob("*.csv.gz"))
    out = tmp_path / "mine.toml"
    ran = epignn("distil", "rcc8", "--data", *names, "--out", out)
    assert ran.code == 0, ran.err
    assert "laws: all 6 hold" in ran.out
    assert "entails 640 of 640 labels, leaves 0 open and contradicts 0" in ran.out
    assert load_calculus(out).composition == load("rcc8").composition
    certificate = json.loads((tmp_path / "mine.certificate.json").read_text())
    assert certificate["laws"] == dict.fromkeys(certificate["laws"], 0)
    document = json.loads(epignn("evaluate", out, cell, "--json").out)
    (result,) = document["results"]
    assert (result["n"], result["accuracy"], result["entailed"]) == (24, 1.0, 24)
    shown = epignn("evaluate", out, cell).out
    assert "entailed" in shown


def test_by_the_weights_alone(epignn, tmp_path):
    ran = epignn("distil", "allen", "--weights-only", "--out", tmp_path / "ia.toml", "--json")
    assert ran.code == 0, ran.err
    document = json.loads(ran.out)
    assert document["lawful"]
    assert document["table"] is None
    assert load_calculus(tmp_path / "ia.toml").composition == load("allen").composition


@pytest.fixture
def walker(tmp_path):
    """A model of steps around a circle, which are no calculus that the project knows."""
    data = circle(np.random.default_rng(0), 600, (2, 3))
    path = tmp_path / "circle.jsonl"
    lines = []
    for g in range(len(data)):
        example = data.example(g)
        edges = [[s, t, r] for s, r, t in example.edges]
        lines.append(json.dumps({"edges": edges, "query": [*example.query, example.label]}))
    path.write_text("\n".join(lines) + "\n")
    train_on(data, small(own([path]), epochs=1, batch_size=128), out=tmp_path / "run")
    return tmp_path / "run", path


def test_rules(epignn, walker, tmp_path):
    run, path = walker
    out = tmp_path / "rules.toml"
    ran = epignn("distil", run, "--out", out)
    assert ran.code == 0, ran.err
    assert "invented relations: none" in ran.out
    assert "by1(X, Y), by1(Y, Z) -> by2(X, Z)" in {load_rules(out).describe(rule) for rule in load_rules(out).rules}
    (result,) = json.loads(epignn("evaluate", out, path, "--json").out)["results"]
    assert (result["accuracy"], result["ambiguous"]) == (1.0, 0)
    document = json.loads(epignn("distil", run, "--data", path, "--out", out, "--json").out)
    assert document["shown"] >= 25


CHAIN = "by1(a, b). by1(b, c). by2(c, d). by1(x, a)"


def test_models_and_rules_of_any_vocabulary_are_explained(epignn, walker, tmp_path):
    run, _ = walker
    alone = epignn("explain", run, CHAIN, "a", "d")
    assert alone.code == 0, alone.err
    assert "Not proved: no rules are beside the model" in alone.out
    assert "round 2" in alone.out
    assert epignn("distil", run, "--out", run / "rules.toml").code == 0
    document = json.loads(epignn("explain", run, CHAIN, "a", "d", "--json", "--svg", tmp_path / "why.svg").out)
    assert document["kind"] == "neural"
    assert sum(document["probabilities"].values()) == pytest.approx(1, abs=1e-4)
    rules = load_rules(run / "rules.toml")
    (proof,) = document["table"]["proofs"]
    given = [("a", "by1", "b"), ("b", "by1", "c"), ("c", "by2", "d")]
    assert check_rules(proof, rules, given)[0] == ("a", "by4", "d")
    assert document["table"]["support"] == {"facts": [list(fact) for fact in given], "smallest": True}
    assert "by the model" in (tmp_path / "why.svg").read_text()
    exact = epignn("explain", run / "rules.toml", CHAIN, "a", "d", "--svg", tmp_path / "rules.svg")
    assert exact.out.startswith("by4(a, d): follows by rules of weight ")
    assert "Proof (5 steps, checked against the rules)" in exact.out
    assert "by rules of weight" in (tmp_path / "rules.svg").read_text()
    assert json.loads(epignn("explain", run / "rules.toml", CHAIN, "a", "d", "--json").out)["kind"] == "rules"
    back = epignn("explain", run, CHAIN, "d", "a")
    assert back.code == 0
    assert back.out.startswith("not determined: no facts lead to an answer")
    assert "derive nothing of the two" in back.out


@pytest.mark.parametrize(
    ("facts", "pair", "message"),
    [
        ("by9(a, b)", ("a", "b"), "the facts:1:1: Unknown relation 'by9'"),
        ("by1|by2(a, b)", ("a", "b"), "Unknown relation"),
        ("by1(a, b)", ("a", "z"), "Unknown entity 'z'"),
        ("by1(a, b)", ("a", "a"), "about itself"),
        ("nothing", ("a", "b"), "neither a file nor facts"),
    ],
)
def test_bad_questions_to_rules(epignn, tmp_path, facts, pair, message):
    path = tmp_path / "rules.toml"
    path.write_text('relations = ["by1", "by2"]\nrules = [{left = "by1", right = "by1", head = "by2", weight = 1}]')
    ran = epignn("explain", path, facts, *pair)
    assert ran.code == 2
    assert message in ran.err


def test_the_file_has_a_name_by_its_kind(epignn, walker, tmp_path, monkeypatch):
    run, _ = walker
    monkeypatch.chdir(tmp_path)
    assert epignn("distil", run).code == 0
    assert epignn("distil", "rcc8", "--weights-only").code == 0
    names = {"rules.toml", "calculus.toml", "calculus.certificate.json"}
    assert names <= {path.name for path in tmp_path.iterdir()}


def test_training_files_may_follow_one_another(epignn, walker, tmp_path):
    run, path = walker
    once, twice = tmp_path / "once.toml", tmp_path / "twice.toml"
    assert epignn("distil", run, "--data", path, "--out", once).code == 0
    assert epignn("distil", run, "--data", path, path, "--out", twice).code == 0
    assert load_rules(twice).rules[0].support == 2 * load_rules(once).rules[0].support
    assert "[more]" not in epignn("distil", "--help").out


def test_exact_evaluation_does_not_load_torch(epignn, cell, tmp_path):
    out = tmp_path / "mine.toml"
    assert epignn("distil", "rcc8", "--weights-only", "--out", out).code == 0
    code = (
        "import sys; sys.argv = ['epignn', 'evaluate', sys.argv[1], sys.argv[2]]\n"
        "from epignn.cli import main\n"
        "try:\n    main()\nexcept SystemExit as stopped:\n    assert not stopped.code\n"
        "assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(out), str(cell)], check=True, capture_output=True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("distil", "rcc9"), "Unknown model 'rcc9'"),
        (("distil", "rcc8", "--kind", "tables"), "--kind must be"),
        (("distil", "rcc8", "--weights-only", "--data", "x.csv"), "leave out that, or --data"),
        (("distil", "rcc8", "--out", "nowhere/x.toml"), "a folder that is there"),
        (("distil", "rcc8", "--data", "none.csv"), "cannot read it"),
        (("evaluate", "none.toml", "x.csv"), "cannot read it"),
    ],
)
def test_bad_input(epignn, arguments, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ran = epignn(*arguments)
    assert ran.code == 2
    assert message in ran.err
    assert not list(tmp_path.iterdir())
