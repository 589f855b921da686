"""Training on a cluster by Ray Train: the bits of torchrun with as many processes, also after a kill."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from epignn.learn.checkpoint import WEIGHTS
from tests.workers.conftest import ROOT, kill, until

pytestmark = [pytest.mark.cluster, pytest.mark.filterwarnings("ignore")]
SETTINGS = [
    f"--set={text}" for text in ("data.per_label=30", "data.k=[2, 3]", "training.epochs=40", "model.dim=16")
]


def train(out: Path, *more: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-W", "ignore", "-m", "epignn", "train", "rcc8", "--out", str(out), *SETTINGS, *more]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=ROOT, env=environment
    )


@pytest.mark.timeout(600)
def test_a_cluster_trains_as_processes_do_and_goes_on_after_a_kill(cluster, tmp_path):
    here, there = tmp_path / "here", tmp_path / "there"
    second = train(there, "--workers", "ray", "--ray-address", cluster.address)
    until(lambda: (there / "history.json").exists() or second.poll() is not None, 300)
    assert second.poll() is None, second.communicate()
    kill(_member())
    told = second.communicate()
    assert second.returncode == 0, told
    assert "epoch 40" in told[1]
    assert "accuracy" in told[0]
    first = train(here, "--workers", "2")
    assert first.wait() == 0, first.communicate()
    assert (here / WEIGHTS).read_bytes() == (there / WEIGHTS).read_bytes()
    assert not [*there.glob(".epignn-ray*")]


def _member() -> int:
    """A process that Ray Train has started to train."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().decode()
        except OSError:
            continue
        if words.startswith("ray::") and "Train" in words and "Controller" not in words:
            return int(folder.name)
    raise AssertionError("nobody trains")
