"""Jobs for tests: functions of a module, as all jobs are."""

import os
import signal
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from epignn.errors import BadArgument
from epignn.workers import Shared


class Once(NamedTuple):
    """A job that dies in its first try, and leaves a mark."""

    mark: Path
    number: int


def square(number, tell):
    tell(f"square {number}")
    return number * number


def refuse(number, tell):
    if number == 2:
        raise BadArgument("two is refused.")
    return number


def fault(number, tell):
    return 1 // number


def die_once(asked, tell):
    """Killed at the first try of number 1; the second try ends."""
    if asked.number == 1 and not asked.mark.exists():
        asked.mark.write_text("died")
        os.kill(os.getpid(), signal.SIGKILL)
    return asked.number


def die(number, tell):
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def much(megabytes, tell):
    return int(np.ones(megabytes << 17).sum())


def threads(number, tell):
    import torch

    return torch.get_num_threads()


def total(asked: tuple[Shared, int], tell):
    shared, row = asked
    array = shared.open()["rows"]
    assert not array.flags.writeable or type(shared).__name__ == "InMemory"
    return float(array[row].sum())


def where(number, tell):
    time.sleep(0.5)
    return os.getpid()


def slow(asked: tuple[Path, int, float], tell):
    """Tells its process, and waits for some seconds."""
    folder, number, seconds = asked
    (folder / f"begun_{number}").write_text(str(os.getpid()))
    time.sleep(seconds)
    return number
