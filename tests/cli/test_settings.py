"""`epignn settings`: every setting is there, and says what it means."""

import json
from dataclasses import fields

from epignn.learn.config import load_experiment, shipped
from epignn.learn.settings import all_settings, meanings_of
from epignn.models.epignn import EpiGNNConfig


def test_every_setting_has_a_meaning():
    for what, entries in all_settings().items():
        for setting in entries:
            assert setting.meaning, f"{what}: {setting.key} is not told in the docstring of its class"


def test_meanings_are_read_off_docstrings():
    told = meanings_of(EpiGNNConfig)
    assert told["facets"] == "m, into how many parts these are divided."
    assert {field.name for field in fields(EpiGNNConfig)} <= set(told)


def test_what_experiments_set_is_listed():
    known = {setting.key for entries in all_settings().values() for setting in entries}
    for name in shipped():
        document = load_experiment(name).to_dict()
        for section in ("data", "model", "objective", "training"):
            assert {f"{section}.{key}" for key in document[section]} - {f"{section}.kind"} <= known, name


def test_words_choose(epignn):
    ran = epignn("settings", "training")
    assert ran.code == 0
    assert "training.learning_rate" in ran.out
    assert "model." not in ran.out
    document = json.loads(epignn("settings", "model", "epignn", "--json").out)
    assert [entry["key"] for entry in document["model epignn"]][:2] == ["model.dim", "model.facets"]


def test_an_unknown_word_is_an_error(epignn):
    ran = epignn("settings", "training.lerning_rate")
    assert ran.code == 2
    assert "training.learning_rate" in ran.err
