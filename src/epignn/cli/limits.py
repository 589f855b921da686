"""Limits that a person sets: after so many seconds or megabytes a question is given up, with `undecided`."""

import math
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from epignn.cli.output import emit_json, say
from epignn.errors import BadArgument
from epignn.files import MEGABYTE

if TYPE_CHECKING:
    from types import FrameType

UNDECIDED = 3
"""The exit code of a question that was given up."""
AGAIN = 0.1
"""Seconds between two alarms: one that comes while an object is cleared away is lost."""
Seconds = Annotated[
    float | None, typer.Option(help="Give up after so many seconds: the answer is then undecided, exit code 3.")
]
Memory = Annotated[
    int | None, typer.Option(help="Give up above so many megabytes: the answer is then undecided, exit code 3.")
]


def check_finite(**options: float | None) -> None:
    """Refuse options that are no finite numbers; the bounds of the command line let `nan` through.

    Raises:
        BadArgument: tells which.
    """
    for name, value in options.items():
        if value is not None and not math.isfinite(value):
            raise BadArgument(f"--{name.replace('_', '-')} takes a number, not {value}.")


class _Reached(BaseException):
    """The time is over; no handler of errors on the way may take it for one of its own."""


@contextmanager
def limited(seconds: float | None, memory: int | None, as_json: bool) -> Iterator[None]:
    """Do something within limits; where one is reached, say so and leave with `UNDECIDED`.

    Raises:
        BadArgument: a limit is no number above 0, or this system cannot keep it.
    """
    clock = _Clock()
    try:
        try:
            clock.start(seconds)
            with _within_memory(memory):
                yield
        finally:
            clock.stop()
    except _Reached:
        clock.stop()  # once more: an alarm may have come just before it was stopped
        give_up(f"{seconds:g} seconds were not enough; --seconds allows more", as_json)
    except MemoryError:
        if memory is None:
            raise
        give_up(f"{memory:,} MB were not enough; --memory allows more", as_json)


def give_up(reason: str, as_json: bool) -> NoReturn:
    """Say why a question was given up, and leave."""
    if as_json:
        emit_json({"answer": "undecided", "reason": reason})
    else:
        say(f"undecided: {reason}.")
    raise typer.Exit(UNDECIDED)


class _Clock:
    """Raises `_Reached` when the time is over, and again and again until it is stopped."""

    def __init__(self) -> None:
        self._runs = False

    def start(self, seconds: float | None) -> None:
        """Begin to count; without a number there is nothing to count to."""
        if seconds is None:
            return
        if not (math.isfinite(seconds) and 0 < seconds < 1e8):
            raise BadArgument(f"--seconds takes a number above 0, not {seconds:g}.")
        if not hasattr(signal, "setitimer"):
            raise BadArgument("--seconds needs a clock that this system has not; leave it out.")
        self._before = signal.signal(signal.SIGALRM, self._end)  # kernels, too, listen to signals
        self._runs = True
        signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)

    def stop(self) -> None:
        """No alarm is raised from here on."""
        if self._runs:
            self._runs = False
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, self._before)

    def _end(self, number: int, frame: "FrameType | None") -> None:
        if self._runs:
            raise _Reached


@contextmanager
def _within_memory(memory: int | None) -> Iterator[None]:
    if memory is None:
        yield
        return
    if not 0 < memory < 1 << 32:
        raise BadArgument(f"--memory takes a number of megabytes above 0, not {memory}.")
    try:
        import resource
    except ImportError as error:
        raise BadArgument("--memory needs a system that counts memory; leave it out.") from error
    before = resource.getrlimit(resource.RLIMIT_DATA)
    most = memory * MEGABYTE if before[1] == resource.RLIM_INFINITY else min(memory * MEGABYTE, before[1])
    resource.setrlimit(resource.RLIMIT_DATA, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, before)
