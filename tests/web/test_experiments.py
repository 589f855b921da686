"""What may be trained from the page: known settings within their bounds, never a file, never code."""

from itertools import pairwise
from pathlib import Path

import pytest

from epignn.errors import BadArgument, UnknownName
from epignn.learn.config import experiment_for
from epignn.web.experiments import NUMBERS, OFFERS, WORDS, checked, command


@pytest.mark.parametrize(
    "setting",
    [
        "data.task=rcc8",
        "data.files=['/etc/passwd']",
        "name=x",
        "model.kind.x=1",
        "",
        "=1",
        "objective.kind=classify",
    ],
)
def test_other_settings_are_refused(setting):
    with pytest.raises(UnknownName, match="Unknown setting"):
        checked(setting)


@pytest.mark.parametrize(
    "setting",
    [
        "model.kind=mine.py:Mine",
        'model.kind="/x/mine.py:Mine"',
        "model.kind=",
        "training.epochs",
        "training.epochs=0",
        "training.epochs=1e9",
        "training.epochs=nan",
        "training.epochs=5\nmodel.dim=4",
        "model.dim=[3]",
        "model.dim=-3",
        "training.epochs=١",
    ],
)
def test_other_values_are_refused(setting):
    with pytest.raises(BadArgument, match="takes"):
        checked(setting)


@pytest.mark.parametrize("setting", ["model.kind=lstm", "model.kind='lstm'", "model.rounds=auto", "model.rounds=7"])
def test_words_and_numbers_are_taken(setting):
    assert checked(setting) == setting.replace("'", "")


@pytest.mark.parametrize("name", [name for name, offer in OFFERS.items() if offer.what])
def test_every_offer_is_an_experiment(name):
    words = command({"experiment": name, "settings": ["training.epochs=3"], "seed": 5}, Path("runs/x"))
    assert words[:2] == ["train", OFFERS[name].what]
    assert words[2:6] == ["--out", "runs/x", "--seed", "5"]
    settings = [word for before, word in pairwise(words) if before == "--set"]
    assert [checked(setting) for setting in settings] == settings
    assert experiment_for(words[1], settings).training.epochs == 3


def test_every_setting_is_one_of_some_model_or_of_training():
    for key, (least, most) in NUMBERS.items():
        assert least < most, key
    assert set(WORDS) - set(NUMBERS) == {"model.kind", "model.pooling", "model.inverse", "training.schedule"}
