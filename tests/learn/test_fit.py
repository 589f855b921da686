"""Training: resumes to the same bits, keeps the best weights, stops when it diverges, never half-writes."""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from epignn.calculus import load
from epignn.errors import BadArgument, BadFile
from epignn.learn.checkpoint import STATE, WEIGHTS, load_model
from epignn.learn.config import DataConfig, Experiment, TrainConfig
from epignn.learn.evaluate import accuracy
from epignn.learn.fit import Diverged, _Adam, fit, rate_at, read_history
from epignn.learn.sources import generated, split
from epignn.models.epignn import ModelConfig
from epignn.report.figures import wilson


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def graphs():
    return split((generated(load("rcc8"), 3, 2, 30, 1), None), DataConfig(), EXPERIMENT.model, 0)


EXPERIMENT = Experiment(
    name="small",
    model=ModelConfig(dim=16, facets=2, rounds="auto", self_message=False),
    training=TrainConfig(epochs=6, batch_size=32, loss="cross_entropy", schedule="one_cycle", decay=0.01),
)


class Killed(Exception):
    pass


def kill_after(epochs):
    def report(epoch):
        if epoch.number == epochs:
            raise Killed

    return report


@pytest.mark.parametrize(("epochs", "starts"), [(6, 1), (2, 3)])
@pytest.mark.parametrize("average", [0.0, 0.9])
@pytest.mark.parametrize("loss", ["cross_entropy", "margin"])
@pytest.mark.parametrize("killed", [1, 4])
def test_a_killed_run_resumes_to_the_same_bits(killed, loss, average, epochs, starts, graphs, tmp_path):
    changed = {"loss": loss, "average": average, "epochs": epochs, "starts": starts}
    experiment = replace(EXPERIMENT, training=replace(EXPERIMENT.training, **changed))
    fit(experiment, *graphs, seed=3, out=tmp_path / "whole")
    with pytest.raises(Killed):
        fit(experiment, *graphs, seed=3, out=tmp_path / "killed", report=kill_after(killed))
    seen = []
    fit(experiment, *graphs, seed=3, out=tmp_path / "killed", report=lambda e: seen.append(e.number))
    assert seen == list(range(killed + 1, 7))
    assert [entry["epoch"] for entry in read_history(tmp_path / "killed")] == list(range(1, 7))
    for name in (WEIGHTS, STATE):
        whole, resumed = load_file(tmp_path / "whole" / name), load_file(tmp_path / "killed" / name)
        assert whole.keys() == resumed.keys()
        assert all(torch.equal(whole[key], resumed[key]) for key in whole)


def test_seeds_differ(graphs, tmp_path):
    first, second = (fit(EXPERIMENT, *graphs, seed=seed).relation_RFK for seed in (1, 2))
    assert not torch.equal(first, second)


def test_of_several_starts_the_best_is_kept(graphs, tmp_path):
    once = replace(EXPERIMENT, training=replace(EXPERIMENT.training, epochs=2))
    thrice = replace(once, training=replace(once.training, starts=3))
    fit(once, *graphs, seed=0, out=tmp_path / "once")
    model = fit(thrice, *graphs, seed=0, out=tmp_path / "thrice")
    told = [[(e["loss"], e["validation"]) for e in read_history(tmp_path / name)] for name in ("once", "thrice")]
    assert told[1][:2] == told[0]
    assert len(told[1]) == 6
    # Each start begins from scratch, with other values.
    assert len({told[1][epoch][0] for epoch in (0, 2, 4)}) == 3
    assert all(told[1][epoch][0] > told[1][epoch + 1][0] for epoch in (0, 2, 4))
    assert accuracy(model, graphs[1]) == pytest.approx(max(validation for _, validation in told[1]))


def test_the_best_epoch_is_kept(graphs, tmp_path):
    epochs = []
    model = fit(EXPERIMENT, *graphs, seed=0, out=tmp_path, report=epochs.append)
    best = max(epoch.validation for epoch in epochs)
    assert accuracy(model, graphs[1]) == pytest.approx(best)
    assert accuracy(load_model(str(tmp_path)).model, graphs[1]) == pytest.approx(best)
    assert accuracy(load_model(str(tmp_path / WEIGHTS)).model, graphs[1]) == pytest.approx(best)


def test_divergence_stops_with_the_last_good_weights(graphs, tmp_path):
    wild = replace(EXPERIMENT, training=replace(EXPERIMENT.training, learning_rate=1e38, schedule="constant"))
    fit(
        replace(EXPERIMENT, training=replace(EXPERIMENT.training, epochs=1)), *graphs, seed=0, out=tmp_path / "good"
    )
    with pytest.raises(Diverged, match=r"smaller training.learning_rate"):
        fit(wild, *graphs, seed=0, out=tmp_path / "wild")
    assert not (tmp_path / "wild" / WEIGHTS).exists()
    assert torch.isfinite(load_file(tmp_path / "good" / WEIGHTS)["relation_RFK"]).all()


def test_another_run_in_the_folder_is_not_overwritten(graphs, tmp_path):
    fit(EXPERIMENT, *graphs, seed=0, out=tmp_path)
    with pytest.raises(BadArgument, match="holds another run"):
        fit(EXPERIMENT, *graphs, seed=1, out=tmp_path)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda p: (p / WEIGHTS).write_bytes(b"not weights"), "not a whole safetensors file"),
        (lambda p: (p / WEIGHTS).write_bytes((p / WEIGHTS).read_bytes()[:200]), "not a whole safetensors file"),
        (lambda p: (p / WEIGHTS).unlink(), "cannot read it"),
        (lambda p: (p / "config.json").write_text("{"), "not a JSON file"),
        (lambda p: (p / "config.json").write_text("{}"), "not the config of a model"),
        (lambda p: _facets(p, 4), "weights of another model"),
    ],
)
def test_corrupt_and_foreign_models(spoil, message, graphs, tmp_path):
    fit(replace(EXPERIMENT, training=replace(EXPERIMENT.training, epochs=1)), *graphs, seed=0, out=tmp_path)
    spoil(tmp_path)
    with pytest.raises(BadFile, match=message):
        load_model(str(tmp_path))


def _facets(folder, facets):
    path = folder / "config.json"
    document = json.loads(path.read_text())
    document["experiment"]["model"]["facets"] = facets
    path.write_text(json.dumps(document))


def test_our_adam_is_torchs(rng):
    weights = [torch.tensor(rng.normal(size=shape)) for shape in ((3, 4), (5,))]
    ours = [torch.nn.Parameter(w.float()) for w in weights]
    theirs = [torch.nn.Parameter(w.float()) for w in weights]
    config = TrainConfig(decay=0.1)
    mine, reference = _Adam(ours, config), torch.optim.AdamW(theirs, lr=0.01, weight_decay=0.1)
    for _ in range(20):
        for a, b in zip(ours, theirs, strict=True):
            a.grad = torch.tensor(rng.normal(size=a.shape)).float()
            b.grad = a.grad.clone()
        mine.step(0.01)
        reference.step()
    for a, b in zip(ours, theirs, strict=True):
        torch.testing.assert_close(a, b)


def test_one_cycle_rises_and_falls():
    config = TrainConfig(schedule="one_cycle", learning_rate=0.5)
    rates = [rate_at(config, step, 100) for step in range(100)]
    assert int(np.argmax(rates)) == 30
    assert rates[30] == pytest.approx(0.5)
    assert rates[0] < 0.03
    assert rates[-1] < 0.01
    assert rate_at(TrainConfig(), 70, 100) == 0.01


def test_wilson():
    low, high = wilson(0, 10)
    assert low == pytest.approx(0.0, abs=1e-9)
    assert high == pytest.approx(0.2775, abs=1e-3)
