"""Run folders that are broken, or made to harm: what can be read is told, the rest is said to be broken."""

import json
import shutil

import pytest

pytest.importorskip("fastapi")

from epignn.errors import BadFile, EpignnError
from epignn.reason.folders import SHIPPED
from epignn.web.experiments import read_request
from epignn.web.limits import Context
from epignn.web.worker import answer

BROKEN = {
    "empty": "",
    "cut": '{"a"',
    "null": "null",
    "list": "[]",
    "numbers": "[5]",
    "text": '"x"',
    "deep": "[" * 100_000,
    "digits": '[{"epoch": %s}]' % ("9" * 5000),
    "not finite": '[{"epoch": 1, "loss": NaN, "validation": Infinity, "seconds": 1}]',
    "words": '[{"epoch": 1, "loss": "a", "validation": "b", "seconds": "c"}]',
    "bytes": "\udcff\udcfe",
}
FILES = ("config.json", "history.json", "request.json", "weights.safetensors", "error.txt")


@pytest.fixture
def root(tmp_path):
    """A folder of two runs, one of which is to be broken."""
    for name in ("good", "bad"):
        shutil.copytree(SHIPPED / "rcc8", tmp_path / name)
        history = [{"epoch": 1, "loss": 0.5, "validation": 0.5, "seconds": 1}]
        (tmp_path / name / "history.json").write_text(json.dumps(history))
    return tmp_path


def asked(job, root, **request):
    status, body = answer(job, json.dumps(request).encode(), Context(root=root))
    return status, json.loads(body)


def told_of_both(root):
    """What is told of the folder, which holds a run that is whole."""
    status, listed = asked("runs", root)
    assert status == 200
    lines = {line["name"]: line for line in listed["runs"]}
    assert lines["good"] | {"error": None, "state": "ended"} == lines["good"]
    status, found = asked("models", root)
    assert status == 200
    assert "good" in [model["name"] for model in found["models"]]
    status, run = asked("run", root, name="bad", previous=[[0.0, 1.0]] * 8)
    assert status == 200
    return lines["bad"], run


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("file", FILES)
def test_a_broken_file_harms_nothing_else(root, file, what):
    (root / "bad" / file).write_bytes(BROKEN[what].encode(errors="surrogateescape"))
    line, _ = told_of_both(root)
    if file == "config.json":
        assert (line["state"], "config.json cannot be read" in line["error"]) == ("failed", True)


@pytest.mark.parametrize("value", [None, [], {}, "x", 5, -1, 1e308, float("nan"), ["a", 1], "/tmp/evil.py:X"])
@pytest.mark.parametrize(
    "key", ["experiment", "record", "relations", "experiment.model", "experiment.data", "experiment.training",
            "experiment.data.task", "experiment.data.kind", "experiment.training.epochs", "record.command"],
)  # fmt: skip
def test_a_setting_that_is_something_else(root, key, value):
    path = root / "bad" / "config.json"
    config = json.loads(path.read_text())
    *way, last = key.split(".")
    part = config
    for step in way:
        part = part[step]
    part[last] = value
    path.write_text(json.dumps(config))
    told_of_both(root)
    status, found = asked("graph", root, model="bad", triples="a\tEC\tb\n")
    assert status in (200, 400), found


def test_an_answer_that_json_cannot_hold_does_not_end_the_worker(root, monkeypatch):
    monkeypatch.setattr("epignn.web.worker.job", lambda name: lambda request, context: {"x": float("nan")})
    assert answer("x", b"{}", Context(root=root))[0] == 500


BEGUN = {"experiment": "demo", "settings": ["training.epochs=5"], "seed": 0, "upload": None, "calculus": None}


@pytest.mark.parametrize(
    "changed",
    [
        {"settings": ["model.kind=/tmp/evil.py:X"]},
        {"settings": ["data.task=/tmp/evil.py:X"]},
        {"settings": "training.epochs=5"},
        {"settings": None},
        {"calculus": "/tmp/evil.py:X"},
        {"calculus": ["rcc8"]},
        {"experiment": "--code"},
        {"experiment": ["demo"]},
        {"seed": "0 --code /tmp/evil.py"},
        {"seed": True},
        {"seed": -1},
    ],
)
def test_a_folder_cannot_say_more_than_the_page_may(changed):
    """What is resumed becomes a command line, on which a file that is named would be run."""
    assert read_request(BEGUN, "request.json") == BEGUN
    with pytest.raises(BadFile, match="not how a run is begun here"):
        read_request(BEGUN | changed, "request.json")


@pytest.mark.parametrize("found", [None, [], "x", 5, {}])
def test_what_is_no_request(found):
    with pytest.raises(EpignnError, match="not how a run is begun here"):
        read_request(found, "request.json")
