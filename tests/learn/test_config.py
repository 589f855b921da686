"""Experiments: every shipped file loads, overrides work, and mistakes name the key."""

import pytest

from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.learn.config import Experiment, from_dict, load_experiment, shipped, to_dict


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_experiment_loads_and_reads_back(name):
    experiment = load_experiment(name)
    assert experiment.name == name
    assert from_dict(Experiment, to_dict(experiment), "x") == experiment


def test_overrides():
    settings = [
        "model.facets=2",
        "model.rounds=auto",
        "training.learning_rate=1",
        "data.k=[2, 3]",
        "training.loss=margin",
    ]
    experiment = load_experiment("rcc8-paper", settings)
    assert experiment.model.facets == 2
    assert experiment.model.rounds == "auto"
    assert experiment.training.learning_rate == 1.0
    assert experiment.data.k == (2, 3)


def test_the_papers_hyperparameters():
    for name, dim, facets in (("rcc8-paper", 32, 4), ("rcc8-code", 32, 8), ("ia-paper", 64, 8)):
        experiment = load_experiment(name)
        assert (experiment.model.dim, experiment.model.facets) == (dim, facets)
        training = experiment.training
        assert (training.epochs, training.batch_size, training.learning_rate) == (40, 128, 0.01)
        assert training.loss == "margin"
        assert experiment.data.k == (2, 3, 4)
        assert experiment.data.b == (1, 2, 3)


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ("model.facet=8", BadFile, "Did you mean 'model.facets'"),
        ("model.facets=eight", BadFile, "model.facets must be int, not 'eight'"),
        ("model.facets=7", BadFile, "dim must be a multiple of facets"),
        ("modl.facets=8", BadFile, "Did you mean 'model'"),
        ("training.loss=hinge", BadFile, "loss must be margin or cross_entropy"),
        ("training.epochs=0", BadFile, "epochs, batch_size and starts must be 1 or more"),
        ("model.facets", BadArgument, "--set takes key=value"),
        ("model=3", BadFile, "model must be a table"),
    ],
)
def test_mistakes(setting, error, message):
    with pytest.raises(error, match=message):
        load_experiment("rcc8-paper", [setting])


def test_unknown_experiment():
    with pytest.raises(UnknownName, match="Did you mean"):
        load_experiment("rcc8-papr")
