"""Killed or failing at every file operation: the next run gives the bits of an undisturbed one; nothing is half."""

import errno
import json
import os
from pathlib import Path

import pytest
import torch

from epignn.calculus import load
from epignn.files import PART
from epignn.learn.config import load_experiment
from epignn.learn.run import objective_of
from epignn.learn.run import train as train_run
from epignn.locks import LOCK
from epignn.tasks.fetch import get
from epignn.tasks.generate import generate as generate_files
from tests.crash.interpose import DONE, KILLED, REFUSED, child
from tests.tasks.test_fetch import entry_of, server  # noqa: F401

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forks")
THOROUGH = bool(os.environ.get("EPIGNN_FUZZ_SECONDS"))
"""`make fuzz` takes every operation, `make test` every fifth of training."""
SETTINGS = ("data.per_label=2", "data.k=[2]", "data.b=[1]", "training.epochs=2")


@pytest.fixture(scope="module")
def works(tmp_path_factory):
    """What is disturbed, by name: each a function of a folder."""
    torch.set_num_threads(1)
    experiment = load_experiment("rcc8", SETTINGS)
    objective, rcc8 = objective_of(experiment, 0), load("rcc8")
    train_run(experiment, objective, seed=0)  # what it loads is loaded before the forks
    return {
        "train": lambda folder: train_run(experiment, objective, seed=0, out=folder / "run"),
        "generate": lambda folder: generate_files(rcc8, [2], [1, 2], 1, 0, folder / "made", overwrite=True),
    }


def contents(folder: Path) -> dict[str, object]:
    """What the files of a folder hold; of a history, without the times it took."""
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        if path.name == "history.json":
            entries = json.loads(path.read_text())
            found[path.name] = [{k: v for k, v in one.items() if "seconds" not in k} for one in entries]
        else:
            found[path.name] = path.read_bytes()
    return found


@pytest.mark.parametrize("fault", [0, errno.ENOSPC, errno.EIO], ids=["kill", "full disk", "bad disk"])
@pytest.mark.parametrize("name", ["train", "generate"])
def test_every_operation(works, tmp_path, name, fault):
    work = works[name]
    (tmp_path / "whole").mkdir()
    code, count = child(lambda: work(tmp_path / "whole"), tmp_path / "whole", 0)
    assert code == DONE, count
    assert int(count) > 10
    whole = contents(tmp_path / "whole")
    for at in range(1, int(count) + 1, 1 if THOROUGH or name == "generate" else 5):
        folder = tmp_path / str(at)
        folder.mkdir()
        code, said = child(lambda folder=folder: work(folder), folder, at, fault)
        assert code in ((DONE, REFUSED) if fault else (KILLED,)), f"operation {at}: {code}\n{said}"
        left = contents(folder)
        if name == "generate":
            half = [path for path, data in left.items() if path in whole and data != whole[path]]
            assert not half, f"operation {at} leaves {half}"
        assert child(lambda folder=folder: work(folder), folder, 0)[0] == DONE
        assert contents(folder) == whole, f"operation {at}"
        assert not [path for path in folder.rglob("*") if PART.fullmatch(path.name) or path.name == LOCK]


@pytest.mark.parametrize("fault", [0, errno.ENOSPC, errno.EIO], ids=["kill", "full disk", "bad disk"])
def test_a_download(server, tmp_path, fault):  # noqa: F811
    entry, tried = entry_of(), 0
    for at in range(1, 20):
        folder = tmp_path / str(at)
        folder.mkdir()
        code, said = child(lambda folder=folder: get(entry, folder, server.host, wait=0), folder, at, fault)
        assert code in ((DONE, REFUSED) if fault else (DONE, KILLED)), f"operation {at}: {code}\n{said}"
        if code == DONE and not fault:
            break
        get(entry, folder, server.host, wait=0)
        assert {path.name for path in (folder / "f").iterdir()} == {"a b,c.bin"}
        tried += 1
    assert tried > 4
