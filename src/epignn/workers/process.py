"""A worker process, started by `epignn.workers.processes` alone.

Messages are pickled, with their length before them. Both ends are ours: standard input and output are pipes of the
process that started this one, and nothing else can write to them. Where that process is gone, this one ends.
"""

import contextlib
import os
import pickle
import signal
import struct
import sys
import threading
import time
from types import FrameType
from typing import IO, Any, NoReturn

from epignn.workers.api import attempt
from epignn.workers.bounds import bound

LENGTH = struct.Struct("<Q")
ENDED = 143
GRACE = 5.0
"""Seconds in which work may be put away when it has to end."""


def send(target: IO[bytes], message: object) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    target.write(LENGTH.pack(len(data)))
    target.write(data)
    target.flush()


def receive(source: IO[bytes]) -> Any:
    """Read a message.

    Raises:
        EOFError: the other end is gone.
    """
    head = source.read(LENGTH.size)
    if len(head) < LENGTH.size:
        raise EOFError
    (length,) = LENGTH.unpack(head)
    data = source.read(length)
    if len(data) < length:
        raise EOFError
    return pickle.loads(data)


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
            job, argument = receive(source)
            send(target, (True, attempt(job, argument, lambda text: send(target, (False, text)))))
