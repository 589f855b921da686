"""Run folders that were spoilt: never an answer that is no number, and never a traceback."""

import math
import shutil

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from epignn.errors import BadArgument, BadFile
from epignn.learn.calibrate import softmax
from epignn.learn.checkpoint import SHIPPED, load_model, load_nested, save_nested
from epignn.learn.config import load_experiment
from epignn.learn.evaluate import evaluate_file
from epignn.learn.run import objective_of, train


@pytest.mark.parametrize("kind", [torch.int64, torch.bool])
def test_weights_of_another_type_are_refused(tmp_path, kind):
    shutil.copytree(SHIPPED / "rcc8", tmp_path / "run")
    path = tmp_path / "run" / "weights.safetensors"
    save_file({name: value.to(kind) for name, value in load_file(path).items()}, path)
    with pytest.raises(BadFile, match=f"holds {str(kind).removeprefix('torch.')}, which is no type of weights"):
        load_model(str(tmp_path / "run"))


@pytest.mark.parametrize("temperature", ["0", "1e-320", "NaN", "Infinity", '"x"', "null"])
def test_temperatures_that_give_no_probabilities_are_refused(tmp_path, temperature):
    shutil.copytree(SHIPPED / "rcc8", tmp_path / "run")
    (tmp_path / "run" / "calibration.json").write_text(f'{{"temperature": {temperature}}}')
    with pytest.raises(BadFile, match="calibration"):
        load_model(str(tmp_path / "run"))


def test_a_score_that_is_no_number_is_an_error(tmp_path):
    trained = load_model("rcc8")
    with torch.no_grad():
        for value in trained.model.parameters():
            value.fill_(math.nan)
    path = tmp_path / "a.csv"
    path.write_text(",edges,edge_labels,query_edge,query_label\n" + '0,"[(0, 1)]","[\'EC\']","(0, 1)",EC\n')
    with pytest.raises(BadArgument, match="no numbers"):
        evaluate_file(trained, path)
    with pytest.raises(BadArgument, match="no finite numbers"):
        softmax(np.array([[math.inf, 0.0]]), 1.0)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("history.json", b""),
        ("history.json", b"{}"),
        ("history.json", b'[{"epoch": 1}]'),
        ("history.json", b'[{"epoch": null, "validation": 0.5}]'),
        ("history.json", b"[" * 3000),
        ("state.safetensors", b""),
        ("state.safetensors", None),
        ("config.json", b""),
        ("config.json", b"null"),
    ],
)
def test_run_folders_that_were_cut_or_spoilt(rcc8_run, tmp_path, name, content):
    run = tmp_path / "run"
    shutil.copytree(rcc8_run, run)
    path = run / name
    path.write_bytes(path.read_bytes()[:-20] if content is None else content)
    with pytest.raises(BadFile):
        train_tiny(run, epochs=3)


@pytest.mark.parametrize("missing", ["run", "best", "model", "optimiser"])
def test_a_state_that_lacks_a_part(rcc8_run, tmp_path, missing):
    run = tmp_path / "run"
    shutil.copytree(rcc8_run, run)
    state = load_nested(run / "state.safetensors")
    del state[missing]
    save_nested(run / "state.safetensors", state)
    with pytest.raises(BadFile, match="not the state of this run"):
        train_tiny(run, epochs=3)


def train_tiny(out, epochs):
    experiment = load_experiment(
        "rcc8", ("data.per_label=2", "data.k=[2]", "data.b=[1]", f"training.epochs={epochs}")
    )
    return train(experiment, objective_of(experiment, 0), seed=0, out=out)


@pytest.fixture(scope="module")
def rcc8_run(tmp_path_factory):
    """A run of three epochs that was stopped after the first."""
    run = tmp_path_factory.mktemp("runs") / "run"

    def stop(epoch):
        raise KeyboardInterrupt

    experiment = load_experiment("rcc8", ("data.per_label=2", "data.k=[2]", "data.b=[1]", "training.epochs=3"))
    with pytest.raises(KeyboardInterrupt):
        train(experiment, objective_of(experiment, 0), seed=0, out=run, report=stop)
    return run
