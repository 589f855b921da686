"""A worker process, started by `epignn.workers.processes` alone.

Standard input and output are pipes of the process that started this one; `epignn.workers.messages` is what goes
through them. Where that process is gone, this one ends.
"""

import contextlib
import os
import signal
import sys
import threading
import time
import traceback
from types import FrameType
from typing import IO, NoReturn

from epignn.workers.api import Failure, attempt
from epignn.workers.bounds import bound
from epignn.workers.messages import receive, send

ENDED = 143
GRACE = 5.0
"""Seconds in which work may be put away when it has to end."""


def _end(number: int, frame: FrameType | None) -> NoReturn:
    sys.exit(ENDED)


def _watch(parent: int) -> None:
    """End this process where the one that started it is gone, also in the middle of a job."""
    while os.getppid() == parent:
        time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(ENDED)


def main() -> None:
    """Do jobs until there are no more; the command line tells megabytes, and the process that waits for them."""
    megabytes, parent = int(sys.argv[1]), int(sys.argv[2])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that started this one
    signal.signal(signal.SIGTERM, _end)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()
    target = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    bound(megabytes)
    source = sys.stdin.buffer
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            _do_one(source, target)


def _do_one(source: IO[bytes], target: IO[bytes]) -> None:
    """Do the next job: its package comes first, which tells whose classes are looked up."""
    package = receive(source)
    try:
        job, argument = receive(source, package)
    except EOFError:
        raise
    except Exception as error:  # a module that cannot be had here, or brackets too deep
        _refuse(target, error)
        sys.exit(1)  # the rest of the message is still to come
    outcome = attempt(job, argument, lambda told: send(target, (False, told), package))
    try:
        send(target, (True, outcome), package)
    except (TypeError, ValueError, RecursionError) as error:  # what the job gives cannot be sent
        _refuse(target, error)


def _refuse(target: IO[bytes], error: Exception) -> None:
    """Tell why a job cannot be done; to be called where the error is caught."""
    said = str(error) or type(error).__name__
    send(target, (True, Failure(said, again=False, trace=traceback.format_exc())))
