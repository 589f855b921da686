"""Locks on files that end with their process: whoever holds one is told by its process and the time it began.

The system keeps the lock, not the file, so that a process that is killed leaves nothing to be cleared away. Where a
system has no such locks (`fcntl`), nothing is locked.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from epignn.errors import BadFile, Busy

try:
    import fcntl
except ImportError:  # not a Unix system
    fcntl = None  # type: ignore[assignment]

LOCK = ".epignn.lock"
"""The file in a folder that is locked; it goes when the work ends, and is of no use by itself."""


def try_lock(handle: int) -> bool:
    """Lock an open file for this process until the file is closed; False if another has it."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system that knows no locks, as some of networks are
        return True
    return True


@contextmanager
def only_one(folder: Path, what: str, name: str = LOCK) -> Iterator[None]:
    """Let one process at a time work in a folder, which has to be there.

    Args:
        folder: where it works.
        what: what it does, for the message to a second one.
        name: of the file that is locked; others may be at work under other names.

    Raises:
        Busy: another process works there; tells which, and since when.
        BadFile: nothing can be written there.
    """
    path = folder / name
    try:
        handle = _locked(path)
    except OSError as error:
        raise BadFile(f"cannot write it: {error.strerror or error}.", str(path)) from error
    try:
        with suppress(OSError):  # what it says is for people; a full disk does not weaken the lock
            os.ftruncate(handle, 0)
            began = time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime())
            os.write(handle, f"process {os.getpid()} ({what}), since {began}".encode())
        yield
    finally:
        with suppress(OSError):
            path.unlink()  # while it is locked: whoever has opened it sees that it has no name left
        os.close(handle)


@contextmanager
def in_turn(folder: Path, name: str = LOCK) -> Iterator[None]:
    """Let one process after the other work in a folder: whoever comes second waits, as this is for short work.

    Raises:
        BadFile: nothing can be written there.
    """
    path = folder / name
    try:
        handle = _awaited(path)
    except OSError as error:
        raise BadFile(f"cannot write it: {error.strerror or error}.", str(path)) from error
    try:
        yield
    finally:
        with suppress(OSError):
            path.unlink()
        os.close(handle)


def _awaited(path: Path) -> int:
    """Open a file, made if need be, and lock it as soon as nobody else has it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        if fcntl is not None:
            with suppress(OSError):  # a file system that knows no locks
                fcntl.flock(handle, fcntl.LOCK_EX)
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # its holder removed it: the next one is new


def _locked(path: Path) -> int:
    """Open a file, made if need be, and lock it."""
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        if not try_lock(handle):
            told = _told(handle)
            os.close(handle)
            raise Busy(
                f"{path.parent} is in use: {told}. Wait until it ends, or choose another folder. "
                "The lock ends with that process."
            )
        if os.fstat(handle).st_nlink:
            return handle
        os.close(handle)  # its holder removed it between the two: the next one is new


def _told(handle: int) -> str:
    """What the holder wrote about itself."""
    text = os.pread(handle, 200, 0).decode("utf-8", "replace")
    return text if text.startswith("process ") and text.isprintable() else "another process"
