"""Searches: the same trials whoever runs them, taken up after a kill, and nothing judged by test data."""

import json
import os
import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from epignn.errors import BadFile
from epignn.learn.config import load_experiment
from epignn.report import swept
from epignn.report.space import Range, Space, read_space
from epignn.report.sweep import _lives, _lock, sweep
from epignn.report.trial import Trial, is_hopeless, run_trial
from epignn.workers import workers_of

ROOT = Path(__file__).parents[2]
SMALL = ("data.per_label=16", "data.k=[2]", "data.b=[2]", "training.epochs=2", "training.starts=1")
SPACE = Space(
    "rcc8-paper",
    SMALL,
    tried={"training.learning_rate": Range(0.0001, 0.3, log=True), "training.batch_size": ("8", "16"),
           "model.rounds": Range(2, 5)},
)  # fmt: skip


def plain(search):
    """Results without the time they took."""
    trials = (search.recipe, *search.trials)
    return [{key: value for key, value in trial.items() if key != "cpu_seconds"} for trial in trials]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    out = tmp_path_factory.mktemp("sweep")
    return out, sweep(SPACE, trials=6, seed=3, out=out)


def test_trials_are_within_the_space(found):
    _, search = found
    assert [trial["number"] for trial in search.trials] == [*range(6)]
    for trial in search.trials:
        values = dict(text.split("=") for text in trial["settings"])
        assert 0.0001 <= float(values["training.learning_rate"]) <= 0.3
        assert values["training.batch_size"] in ("8", "16")
        assert 2 <= int(values["model.rounds"]) <= 5
        load_experiment("rcc8-paper", trial["settings"])
    assert len({tuple(trial["settings"]) for trial in search.trials}) == 6
    assert search.recipe["settings"] == []
    assert search.best["validation"] == max(trial["validation"] for trial in (search.recipe, *search.trials))


def test_processes_try_the_same_and_find_the_same(found, tmp_path):
    with workers_of("2") as workers:
        assert plain(sweep(SPACE, trials=6, seed=3, out=tmp_path, workers=workers)) == plain(found[1])


def test_nothing_is_run_twice_and_more_may_be_asked_for(found, tmp_path, monkeypatch):
    first = sweep(SPACE, trials=4, seed=3, out=tmp_path)
    said = []
    more = sweep(SPACE, trials=6, seed=3, out=tmp_path, say=said.append)
    assert plain(more) == plain(found[1])
    assert plain(more)[:5] == plain(first)
    assert {text.partition(":")[0] for text in said} == {"trial 5", "trial 5 of 6", "trial 6", "trial 6 of 6"}


def test_another_space_is_refused_in_the_same_folder(found):
    with pytest.raises(BadFile, match="the study of another space or seed"):
        sweep(SPACE, trials=6, seed=4, out=found[0])


CODE = """
import sys
from pathlib import Path
from epignn.report.sweep import sweep
from tests.report.test_sweep import SPACE
sweep(SPACE, trials=6, seed=3, out=Path(sys.argv[1]), say=lambda text: print(text, flush=True))
"""


def test_a_search_that_is_killed_goes_on_to_the_same_end(found, tmp_path):
    command = [sys.executable, "-W", "ignore", "-c", CODE, str(tmp_path)]
    first = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    told = iter(first.stdout.readline, "")
    assert any("trial 2 of 6" in line for line in told)
    next(told)  # in the middle of the third
    first.send_signal(signal.SIGKILL)
    first.wait()
    first.stdout.close()
    said = []
    assert plain(sweep(SPACE, trials=6, seed=3, out=tmp_path, say=said.append)) == plain(found[1])
    assert not any(text.startswith(("trial 1:", "trial 2:")) for text in said)


def test_trials_of_a_living_process_are_left_to_it(tmp_path):
    path = tmp_path / _lock("x")
    holder = subprocess.Popen(
        [sys.executable, "-c", "import sys, time; from pathlib import Path; from epignn.locks import only_one\n"
         "with only_one(Path(sys.argv[1]), 'sweep', sys.argv[2]): print('held', flush=True); time.sleep(60)",
         str(tmp_path), path.name], stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert holder.stdout.readline() == "held\n"
    assert _lives(path)
    os.kill(holder.pid, signal.SIGKILL)
    holder.wait()
    holder.stdout.close()
    end = time.monotonic() + 10
    while _lives(path):
        assert time.monotonic() < end
    assert not _lives(tmp_path / "none")


def test_a_trial_that_falls_behind_is_ended():
    assert not is_hopeless([0.1], [[0.5]] * 4)  # too few to tell
    assert not is_hopeless([0.5], [[0.5]] * 9)
    assert is_hopeless([0.4, 0.3], [[0.1, 0.45], [0.2, 0.5], [0.3, 0.5], [0.9, 0.9], [0.0, 0.0]])
    trial = Trial("x", "rcc8-paper", SMALL, others=((2.0, 2.0),) * 5)  # nobody reaches 2
    found = run_trial(trial, lambda text: None)
    assert (found["ended"], len(found["curve"])) == ("pruned", 1)


def test_what_is_written(found, tmp_path):
    _, search = found
    files = swept.write(search, tmp_path)
    assert {path.name for path in files} == {"best.toml", "trials.json", "parallel.png", "importance.png"}
    best = load_experiment(str(tmp_path / "best.toml"))
    assert best == load_experiment("rcc8-paper", (*SMALL, *search.best["settings"]))
    assert len(json.loads((tmp_path / "trials.json").read_text())) == 7
    columns, rows = swept.table(search)
    assert columns[:3] == ["trial", "validation", "epochs"]
    assert [len(row) for row in rows] == [6] * 7
    weights = swept.importance(search)
    assert sum(weights.values()) == pytest.approx(1)
    assert set(weights) == set(SPACE.tried)


GOOD = 'experiment = "rcc8"\nsettings = ["training.epochs=1"]\n[space]\ntraining.batch_size = [8, 16]\n'


def test_a_space_is_data(tmp_path):
    path = tmp_path / "space.toml"
    path.write_text(GOOD + 'model.facets = { low = 1, high = 4 }\n"objective.loss" = ["margin", "cross_entropy"]\n')
    space = read_space(path)
    assert space.tried == {
        "training.batch_size": ("8", "16"), "model.facets": Range(1, 4),
        "objective.loss": ('"margin"', '"cross_entropy"'),
    }  # fmt: skip
    space.check(str(path))
    assert tomllib.loads(path.read_text())["experiment"] == space.experiment


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "nothing to search"),
        ("[space]\nx = [1]\n", "has to name what is trained"),
        (GOOD.replace("[8, 16]", "8"), "must be a list of values"),
        (GOOD.replace("[8, 16]", "{ low = 3, high = 2 }"), "low must be below high"),
        (GOOD.replace("[8, 16]", "{ low = 3 }"), "needs both ends"),
        (GOOD.replace("[8, 16]", "{ low = 'x', high = 2 }"), "low must be int or float"),
        (GOOD.replace("[8, 16]", "{ low = 0, high = 2, log = true }"), "above 0 on a logarithmic scale"),
        (GOOD.replace("batch_size", "batch"), "training.batch = 8: .*Unknown key 'training.batch'"),
        ("epochs = 3\n" + GOOD, "Unknown key 'epochs'"),
    ],
)
def test_bad_spaces(tmp_path, text, message):
    path = tmp_path / "space.toml"
    path.write_text(text)
    with pytest.raises(BadFile, match=message):
        read_space(path).check(str(path))


@pytest.mark.parametrize(
    "journal",
    ["{", "\0\0\n", "[]\n", '{"op_code":99}\n', "[" * 100_000 + "\n"],
    ids=["cut", "nul", "list", "other", "deep"],
)
def test_a_journal_that_is_broken(tmp_path, journal):
    (tmp_path / "study.journal").write_text(journal + '{"op_code"\n{}\n')
    with pytest.raises(BadFile, match=r"study.journal: cannot be read as the journal of a study"):
        sweep(SPACE, trials=1, seed=3, out=tmp_path)


@pytest.mark.parametrize(
    "tried",
    ["[2024-01-01]", "[nan]", "{ low = 0.1, high = inf }", "{ low = 0.1, high = 0.2, step = 0.0 }",
     "{ low = 0.1, high = 0.2, step = 5.0 }", "{ low = 0.1, high = 0.2, step = 0.01, log = true }",
     "{ low = 1, high = 4, step = 0.5 }"],
)  # fmt: skip
def test_what_cannot_be_tried_is_refused(tmp_path, tried):
    path = tmp_path / "space.toml"
    path.write_text(f'experiment = "rcc8"\n[space]\ntraining.learning_rate = {tried}\n')
    with pytest.raises(BadFile, match=r"space.toml: training.learning_rate: "):
        read_space(path)
