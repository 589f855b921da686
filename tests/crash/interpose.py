"""Stop a child process at one of its file operations, or let that one fail: each in turn, none by luck.

Python tells of every file that is opened for writing, renamed, removed or made a folder (audit events); flushing to
the disk is watched by a wrapper. The child is a fork, so that what it needs is loaded once.
"""

import os
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

from epignn.errors import EpignnError

WATCHED = {"open", "os.rename", "os.remove", "os.mkdir", "os.truncate", "fsync"}
DONE, REFUSED, FELL = 0, 2, 70
KILLED = -signal.SIGKILL


def child(work: Callable[[], object], folder: Path, at: int, fault: int = 0) -> tuple[int, str]:
    """Run `work` in a child that ends at its operation number `at` below a folder.

    With a fault, such as ENOSPC, that operation fails instead; with 0 none does. Returns how it ended, and what it
    said: the number of its operations, or its error.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid:
        os.close(write)
        with os.fdopen(read, "rb") as pipe:
            said = pipe.read().decode()
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said
    code = FELL
    try:
        os.close(read)
        counted = _interpose(str(folder), at, fault)
        work()
        os.write(write, str(counted()).encode())
        code = DONE
    except EpignnError as error:
        os.write(write, str(error).encode())
        code = REFUSED
    except BaseException:
        os.write(write, traceback.format_exc().encode())
    finally:
        os._exit(code)


def _interpose(folder: str, at: int, fault: int) -> Callable[[], int]:
    seen = 0

    def count() -> None:
        nonlocal seen
        seen += 1
        if seen == at:
            if not fault:
                os.kill(os.getpid(), signal.SIGKILL)
            raise OSError(fault, os.strerror(fault))

    def hook(event: str, arguments: tuple[object, ...]) -> None:
        if event in WATCHED and str(arguments[0]).startswith(folder):
            if event == "open" and not int(arguments[2]) & (os.O_WRONLY | os.O_RDWR):  # type: ignore[call-overload]
                return
            count()

    flush = os.fsync

    def fsync(handle: int) -> None:
        count()
        flush(handle)

    os.fsync = fsync
    sys.addaudithook(hook)
    return lambda: seen
