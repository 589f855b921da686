"""Locks: one process at a time in a folder, and nothing to clear away after a kill."""

import os
import re
import subprocess
import sys

import pytest

from epignn.errors import BadFile, Busy
from epignn.locks import LOCK, only_one

HOLD = (
    "import sys, time; from pathlib import Path; from epignn.locks import only_one\n"
    "with only_one(Path(sys.argv[1]), 'train'):\n"
    "    print('held', flush=True); time.sleep(60)\n"
)


def test_another_process_is_told_who_works_there_and_a_kill_frees_it(tmp_path):
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(Busy) as raised, only_one(tmp_path, "train"):
            pass
        told = rf"is in use: process {other.pid} \(train\), since \d{{4}}-\d\d-\d\d \d\d:\d\d:\d\d UTC\. Wait until"
        assert re.search(told, str(raised.value))
        other.kill()
    with only_one(tmp_path, "train"):
        assert (tmp_path / LOCK).read_text().startswith(f"process {os.getpid()} (train)")
    with only_one(tmp_path, "train"):
        pass


def test_a_folder_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(BadFile, match="cannot write it"), only_one(tmp_path / "file", "train"):
        pass
    (tmp_path / LOCK).symlink_to("file")
    with pytest.raises(BadFile, match="cannot write it"), only_one(tmp_path, "train"):
        pass
    assert (tmp_path / "file").read_text() == ""


def test_the_lock_goes_with_the_work(tmp_path):
    with only_one(tmp_path, "train"):
        assert [path.name for path in tmp_path.iterdir()] == [LOCK]
        with only_one(tmp_path, "distil", "another.lock"):
            pass
    assert list(tmp_path.iterdir()) == []
