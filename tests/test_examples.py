"""A stranger's model, task and calculus, each one file: they train, are tested, and appear in tables."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest
import torch

from epignn.calculus.toml import load_calculus
from epignn.cli import main
from epignn.learn.checkpoint import load_model
from epignn.report.reproduce import measure_cells

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
MODEL, TASK, CALCULUS, LOOP = (EXAMPLES / name for name in ("model.py", "task.py", "heights.toml", "own_loop.py"))
SMALL = ("--set", "data.per_label=20", "--set", "training.epochs=2")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture
def epignn(capsys, monkeypatch):
    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["epignn", *map(str, arguments)])
        with pytest.raises(SystemExit) as stopped:
            main()
        told = capsys.readouterr()
        return stopped.value.code or 0, told.out, told.err

    return run


@pytest.fixture
def cell(epignn, tmp_path):
    epignn("generate", "rcc8", "--k", 3, "--b", 1, "--per-label", 4, "--seed", 9, "--out", tmp_path / "cells")
    return tmp_path / "cells" / "test_rcc8_k_3_b_1.csv.gz"


def test_a_model_of_ones_own(epignn, cell, tmp_path):
    run = tmp_path / "run"
    named = ("--set", f'model.kind="{MODEL}:Path"', "--set", "model.width=16")
    code, out, err = epignn("train", "rcc8", *named, *SMALL, "--out", run)
    assert (code, "on validation" in out) == (0, True), err
    code, _, err = epignn("evaluate", run, cell)
    assert (code, f"--code {MODEL}" in err) == (2, True)
    code, out, _ = epignn("evaluate", run, cell, "--code", MODEL, "--json")
    assert json.loads(out)["results"][0]["n"] == 32
    code, out, _ = epignn("predict", run, cell, "--code", MODEL, "--json")
    assert len(json.loads(out)["predictions"]) == 32
    code, out, err = epignn("train", "rcc8", *named, *SMALL, "--out", run)
    assert "had ended already" in out
    assert load_model(str(run), code=[MODEL]).model.config.width == 16


def test_it_appears_in_a_table(epignn, tmp_path):
    where = ("--results", tmp_path / "results", "--runs", tmp_path / "runs")
    row = ("--models", f"{MODEL}:Path", "--seed", 0, "--quick", *where, "--json")
    code, out, err = epignn("reproduce", "rcc8", *row)
    assert code == 0, err
    assert [line[0] for line in json.loads(out)["rows"]] == ["Path", "exact closure"]
    _, _, err = epignn("reproduce", "rcc8", *row)
    assert "Path, seed 0: recorded already" in err


def test_a_run_folder_cannot_make_code_run(epignn, cell, tmp_path):
    """Whatever its config names."""
    run, evil = tmp_path / "run", tmp_path / "evil.py"
    evil.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n")
    assert epignn("train", "rcc8", *SMALL, "--out", run)[0] == 0
    for section, key in (("model", "kind"), ("data", "task"), ("objective", "kind")):
        config = json.loads((run / "config.json").read_text())
        config["experiment"][section][key] = f"{evil}:Evil"
        (run / "config.json").write_text(json.dumps(config))
        commands = (
            ("evaluate", run, cell),
            ("predict", run, cell),
            ("distil", run),
            ("train", "rcc8", "--out", run),
        )
        for command in commands:
            code, _, err = epignn(*command)
            assert code == 2, (command, err)
        assert not (tmp_path / "ran").exists()


def test_a_task_of_ones_own(epignn, tmp_path):
    settings = ("--set", "data.hours=4", "--set", "data.walks=400", "--set", "training.batch_size=16")
    code, out, err = epignn("train", f"{TASK}:Clock", *settings, "--out", tmp_path / "run", "--json")
    assert code == 0, err
    assert json.loads(out)["validation"] > 0.9
    trained = load_model(str(tmp_path / "run"), code=[TASK])
    assert trained.relations == ("+0", "+1", "+2", "+3")
    longer, *_ = measure_cells(trained, [(6, 0)], 20, lambda text: None)
    assert longer["n"] == 80
    assert longer["accuracy"] > 0.8


def test_a_loop_of_ones_own():
    pytest.importorskip("torch_geometric")
    spec = importlib.util.spec_from_file_location("own_loop", LOOP)
    own_loop = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(own_loop)
    found = own_loop.main(per_label=60, epochs=4, longest=3)
    assert [(cell["k"], cell["b"], cell["n"]) for cell in found.cells] == [
        (2, 1, 400), (2, 2, 400), (3, 1, 400), (3, 2, 400)
    ]  # fmt: skip
    assert found.cells[0]["accuracy"] > 0.8
    assert found.low > 0.4  # chance is an eighth


def test_a_calculus_of_ones_own(epignn, tmp_path):
    assert load_calculus(CALCULUS).relations == ("as-tall", "taller", "shorter")
    code, out, _ = epignn("explain", CALCULUS, "taller(ann, bob). as-tall(bob, eve)", "ann", "eve")
    assert (code, out.startswith("taller(ann, eve)")) == (0, True)
    code, out, err = epignn("train", CALCULUS, *SMALL, "--out", tmp_path / "run")
    assert code == 0, err
    assert epignn("generate", CALCULUS, "--k", 3, "--per-label", 4, "--out", tmp_path / "cells")[0] == 0
