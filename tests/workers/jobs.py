"""Jobs for tests: functions of a module, as all jobs are."""

import os
import signal
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from epignn.errors import BadArgument
from epignn.workers import Shared, Workers


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


def thing(number, tell):
    """Gives what cannot be sent."""
    return object()


def deep(number, tell):
    """Gives lists in lists, as many as are asked for."""
    found: list[Any] = []
    for _ in range(number):
        found = [found]
    return found


def tell_thing(number, tell):
    """Tells what cannot be sent."""
    tell(object())


class Dies(NamedTuple):
    """A job that is killed in the middle of its first try, if nobody was killed before."""

    mark: Path
    job: Callable[..., Any]
    argument: Any


def dies_once(asked: Dies, tell):
    """Another thread kills this process while it works; the mark tells that it did."""
    if not asked.mark.exists():
        threading.Thread(target=_kill, args=(asked.mark,), daemon=True).start()
    return asked.job(asked.argument, tell)


def _kill(mark: Path) -> None:
    time.sleep(0.01)
    with suppress(FileExistsError):
        mark.touch(exist_ok=False)
        os.kill(os.getpid(), signal.SIGKILL)


class Dying:
    """Workers of whom one is killed in the middle of a job."""

    def __init__(self, workers: Workers, mark: Path) -> None:
        self.workers, self.mark, self.count = workers, mark, workers.count

    def outcomes(self, job, numbered, tell):
        told = [(number, Dies(self.mark, job, argument)) for number, argument in numbered]
        return self.workers.outcomes(dies_once, told, tell)

    def share(self, arrays, folder):
        return self.workers.share(arrays, folder)
