"""Every command on every file of the corpus: an answer, or one of our errors with exit code 2."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import epignn  # noqa: F401
from tests.fuzz.commands import commands, filled
from tests.fuzz.make_corpus import BYTES, CONFIGS, CORPUS, TEXTS

FILES = sorted(CORPUS.iterdir())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_answer_or_an_error_of_ours(epignn, path, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    for command in commands(path):
        ran = epignn(*filled(command, path, tmp_path / "out", CORPUS))
        assert ran.code in (0, 1, 2), (command, ran.err)
        assert "Traceback" not in ran.err
        if ran.code == 2:
            assert ran.err.count("error: ") == 1 or "Error" in ran.err, (command, ran.err)
        elif "--json" in command:
            json.loads(ran.out)


def test_the_corpus_is_what_the_script_writes():
    for name, text in TEXTS.items():
        assert (CORPUS / name).read_bytes() == text.encode()
    assert {path.name for path in FILES} == {*TEXTS, *BYTES, *(f"run-{name}" for name in CONFIGS)}


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("name.x=1", "name is a value, not a section"),
        ("data.seed=-1", "data.seed must be 0 or more, not -1"),
        (f"training.epochs={'9' * 5000}", "the value cannot be read"),
        (f"training.epochs={'[' * 3000}", "the value cannot be read"),
        ("training.learning_rate=nan", "must be a finite number, not nan"),
        ("training.epochs=99999999999999999999", "must be a number of fewer digits"),
        ("objective.temperature=0", "temperature must be between"),
        ("objective.temperature=1e-320", "temperature must be between"),
    ],
)
def test_settings(epignn, tmp_path, setting, message):  # noqa: F811
    ran = epignn("train", "rcc8", "--set", setting, "--out", tmp_path / "run")
    assert ran.code == 2
    assert message in ran.err
    assert not Path(tmp_path / "run").exists()
