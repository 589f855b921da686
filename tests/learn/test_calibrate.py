"""Calibration: finds the temperature that made the labels, and its figures are those of their definitions."""

import json
import math

import numpy as np
import pytest
import torch

from epignn.calculus import load
from epignn.errors import BadFile
from epignn.learn.calibrate import calibration, quality, softmax, temperature
from epignn.learn.checkpoint import (
    CALIBRATION,
    WEIGHTS,
    RunConfig,
    load_model,
    save_calibration,
    save_config,
    save_tensors,
)
from epignn.learn.config import load_experiment
from epignn.learn.evaluate import scores as scores_of
from epignn.models.api import build
from epignn.models.epignn import EpiGNN
from epignn.reason.neural import Neural
from epignn.tasks.star import generated

pytestmark = pytest.mark.numeric

RCC8 = load("rcc8")


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def sampled(rng, scores, heat):
    """Labels drawn from the probabilities at a temperature."""
    return (softmax(scores, heat).cumsum(1) > rng.random((len(scores), 1))).argmax(1)


@pytest.mark.parametrize("heat", [0.3, 1.0, 7.0])
def test_it_finds_the_temperature_that_made_the_labels(heat, rng):
    scores = rng.normal(size=(20_000, 8)) * 5
    label = sampled(rng, scores, heat)
    found = temperature(scores, label)
    assert found == pytest.approx(heat, rel=0.05)
    assert quality(softmax(scores, found), label).calibration_error < 0.012


def test_it_is_the_least_log_loss(rng):
    scores = rng.normal(size=(500, 5)) * 3
    label = sampled(rng, scores, 2.0)
    losses = {heat: quality(softmax(scores, heat), label).log_loss for heat in np.geomspace(0.2, 20, 400)}
    assert temperature(scores, label) == pytest.approx(min(losses, key=losses.get), rel=0.03)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_model_that_is_always_right_or_wrong_gets_a_finite_temperature(sign, rng):
    scores = np.where(np.eye(4)[rng.integers(4, size=100)] > 0, 3.0, -3.0) * sign
    label = scores.argmax(1) if sign > 0 else scores.argmin(1)
    found = temperature(scores, label)
    assert 0 < found < math.inf
    if sign > 0:
        assert softmax(scores, found).max() == pytest.approx(1 - 1 / 102, abs=1e-3)
    else:
        assert softmax(scores, found).max() == pytest.approx(1 / 3, abs=0.1)


def test_figures_by_hand():
    chances = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.3, 0.7]])
    found = quality(chances, np.array([0, 1, 0, 1]))
    # Bins of confidence: two at 0.9, half right; one at 0.6, right; one at 0.7, right.
    assert found.calibration_error == pytest.approx((2 * 0.4 + 0.4 + 0.3) / 4)
    assert found.brier == pytest.approx((0.02 + 1.62 + 0.32 + 0.18) / 4)
    assert found.log_loss == pytest.approx(-np.log([0.9, 0.1, 0.6, 0.7]).mean())


@pytest.fixture
def folder(tmp_path):
    experiment = load_experiment("rcc8-paper")
    save_tensors(tmp_path / WEIGHTS, build(EpiGNN, 8, experiment.model, 0).state_dict())
    save_config(tmp_path, RunConfig(experiment, RCC8.relations, 0))
    return tmp_path


def test_a_run_folder_keeps_it_and_answers_use_it(folder):
    data = generated(RCC8, 3, 2, 20, 0)
    trained = load_model(str(folder))
    assert trained.temperature == 1.0
    graphs = EpiGNN.prepare(data, trained.model.config)
    found = calibration(scores_of(trained.model, graphs).astype(float), data.label, trained.temperature)
    assert found.after.log_loss < found.before.log_loss
    assert (found.questions, found.trained) == (160, 1.0)
    save_calibration(folder, found)
    again = load_model(str(folder))
    assert again.temperature == found.temperature != 1.0
    assert json.loads((folder / CALIBRATION).read_text())["after"]["log_loss"] == found.after.log_loss
    after = quality(Neural.of(again).probabilities(data), data.label)
    assert after.log_loss == pytest.approx(found.after.log_loss)


@pytest.mark.parametrize(
    ("text", "message"),
    [("{", "not JSON"), ("{}", "not a calibration"), ('{"temperature": 0}', "must be between")],
)
def test_bad_files(text, message, folder):
    (folder / CALIBRATION).write_text(text)
    with pytest.raises(BadFile, match=message):
        load_model(str(folder))


def test_what_is_no_candidate_counts_for_nothing(rng):
    """Candidates of score minus infinity change neither the temperature nor the figures."""
    scores = rng.normal(size=(300, 5)) * 4
    label = sampled(rng, scores, 2.0)
    padded = np.concatenate([scores, np.full((300, 3), -np.inf)], 1)
    assert temperature(padded, label) == pytest.approx(temperature(scores, label))
    one, other = quality(softmax(padded, 2.0), label), quality(softmax(scores, 2.0), label)
    assert (one.brier, one.log_loss) == pytest.approx((other.brier, other.log_loss))


def test_link_models_of_earlier_versions_keep_it_in_their_record(folder):
    document = json.loads((folder / "config.json").read_text())
    document["record"] = {"calibration": {"temperature": 0.25}}
    (folder / "config.json").write_text(json.dumps(document))
    assert load_model(str(folder)).temperature == 0.25
