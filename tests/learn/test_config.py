"""Experiments: every shipped file loads, overrides work, and mistakes name the key."""

import pytest

from epignn.errors import BadArgument, BadFile, UnknownName
from epignn.learn.config import experiment_for, from_dict, load_experiment, recorded, shipped


@pytest.mark.parametrize("name", shipped())
def test_every_shipped_experiment_loads_and_reads_back(name):
    experiment = load_experiment(name)
    assert experiment.name == name
    assert from_dict(experiment.to_dict(), "x") == experiment


def test_overrides():
    settings = [
        "model.facets=2",
        "model.rounds=auto",
        "training.learning_rate=1",
        "data.k=[2, 3]",
        "objective.loss=margin",
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
        assert experiment.objective.loss == "margin"
        assert experiment.data.k == (2, 3, 4)
        assert experiment.data.b == (1, 2, 3)


@pytest.mark.parametrize(
    ("setting", "error", "message"),
    [
        ("model.facet=8", BadFile, "Did you mean 'model.facets'"),
        ("model.facets=eight", BadFile, "model.facets must be int, not 'eight'"),
        ("model.facets=7", BadFile, "dim must be a multiple of facets"),
        ("modl.facets=8", BadFile, "Did you mean 'model'"),
        ("objective.loss=hinge", BadFile, "loss must be margin, cross_entropy or binary"),
        ("training.loss=margin", BadFile, "write objective.loss"),
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


@pytest.mark.parametrize(
    ("what", "name", "task"),
    [
        ("rcc8", "rcc8", "rcc8"),
        ("interval", "ia", "allen"),
        ("clutrr:089907f8", "clutrr", "clutrr:089907f8"),
        ("wn18rr:v3", "wn18rr-v3", "wn18rr:v3"),
        ("fb15k-237:v2", "fb237-v2", "fb15k-237:v2"),
        ("somewhere/own.tsv", "links", "somewhere/own.tsv"),
    ],
)
def test_what_a_word_means(what, name, task):
    experiment = experiment_for(what)
    assert (experiment.name, experiment.data.task) == (name, task)


def test_the_papers_preset_is_not_silently_another():
    assert experiment_for("wn18rr:v3", preset="paper").name == "wn18rr-v3-paper"
    own = experiment_for("own.tsv", preset="paper")
    assert (own.name, own.data.task) == ("links-paper", "own.tsv")
    assert (own.model, own.training) == (
        load_experiment("fb237-v1-paper").model,
        load_experiment("fb237-v1-paper").training,
    )
    with pytest.raises(BadArgument, match="--preset takes best or paper"):
        experiment_for("own.tsv", preset="papr")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("training.lr=0.1", r"training\.lr is called training\.learning_rate here"),
        ("model.embedding_dim=8", r"model\.embedding_dim is called model\.dim here"),
        ("objective.num_negs_per_pos=8", r"called objective\.negatives here"),
    ],
)
def test_what_other_libraries_call_a_setting(text, says):
    with pytest.raises(BadFile, match=says):
        load_experiment("links", [text])


def test_a_folder_of_files_speaks_of_a_calculus_or_of_its_own(tmp_path):
    assert experiment_for(str(tmp_path)).calculus == "rcc8"
    assert experiment_for(str(tmp_path), calculus="none").calculus == ""
    assert experiment_for(str(tmp_path), calculus="allen").model == load_experiment("ia").model


EARLIER = {
    "name": "x",
    "data": {"calculus": "", "source": "clutrr-089907f8", "k": [2], "per_label": 9, "holdout": "longer"},
    "model": {"dim": 16, "facets": 2},
    "training": {"epochs": 3, "loss": "cross_entropy", "temperature": 2.0, "random_path": False},
}


def test_experiments_of_earlier_versions():
    """As config.json and records had them: the source of data by name, the loss in the training section."""
    found = recorded(EARLIER, "x")
    assert (found.data.task, found.data.holdout, found.calculus) == ("clutrr:089907f8", "longer", "")
    assert (found.objective.loss, found.objective.temperature, found.training.epochs) == ("cross_entropy", 2.0, 3)
    cases = {
        ("", "rcc8"): ("rcc8", (2,)),
        ("families", ""): ("families", (2,)),
        ("world-32", ""): ("world:32", None),
    }
    for (source, calculus), (task, k) in cases.items():
        data = {**EARLIER["data"], "source": source, "calculus": calculus, "holdout": "graphs"}
        found = recorded({**EARLIER, "data": data}, "x")
        assert (found.data.task, getattr(found.data, "k", None)) == (task, k)
    files = recorded({**EARLIER, "data": {"calculus": "allen", "files": ["a.csv"], "seed": 3}}, "x")
    assert (files.data.files, files.calculus) == (("a.csv",), "allen")
    links = recorded({"name": "kgc", "model": {"rounds": 6}, "training": {"negatives": 7, "epochs": 2}}, "x")
    assert (links.objective.kind, links.objective.negatives) == ("rank", 7)


def test_a_model_is_loaded_when_its_data_are_gone(tmp_path):
    """What a run was trained on may be moved or removed; its config still says which kind of task it was."""
    data = tmp_path / "data"
    data.mkdir()
    experiment = experiment_for(str(data))
    data.rmdir()
    assert from_dict(experiment.to_dict(), "x") == experiment
    with pytest.raises(UnknownName, match="Unknown task"):
        experiment_for(str(data))
