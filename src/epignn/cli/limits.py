"""Limits that a person sets: after so many seconds or megabytes a question is given up, with `undecided`."""

import math
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from epignn.cli.output import emit_json, say
from epignn.errors import BadArgument
from epignn.files import MEGABYTE

if TYPE_CHECKING:
    from types import FrameType, TracebackType

UNDECIDED = 3
"""The exit code of a question that was given up."""
AGAIN = 0.01
"""Seconds between two alarms: one that comes at a bad moment is let pass."""
PATIENT = 100
"""So many alarms are let pass while other people's code runs: it may hold a lock, and has to give it back."""
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


class limited:  # noqa: N801 (read as a verb in a `with`, like those of contextlib)
    """Do something within limits; where one is reached, say so and leave with `UNDECIDED`.

    The alarm is raised inside the `with` block and nowhere else, so none is raised where nobody waits for it, and
    not at once in code that is not ours. One that is let pass, and not followed by another, counts when it ends.

    Raises:
        BadArgument: a limit is no number above 0, or this system cannot keep it.
    """

    def __init__(self, seconds: float | None, memory: int | None, as_json: bool) -> None:
        self._seconds, self._memory, self._as_json = seconds, memory, as_json
        self._within, self._alarms = ExitStack(), 0

    def __enter__(self) -> None:
        self._within.enter_context(_within_memory(self._memory))
        try:
            self._within.enter_context(_within_time(self._seconds, self._raise))
        except BaseException:
            self._within.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: "TracebackType | None"
    ) -> None:
        self._within.close()
        if isinstance(error, _Reached) or (error is None and self._alarms):
            give_up(f"{self._seconds:g} seconds were not enough; --seconds allows more", self._as_json)
        if isinstance(error, MemoryError) and self._memory is not None:
            give_up(f"{self._memory:,} MB were not enough; --memory allows more", self._as_json)

    def _raise(self, number: int, frame: "FrameType | None") -> None:
        ours = frame is not None and frame.f_globals.get("__name__", "").startswith("epignn")
        while frame is not None and frame.f_code not in (limited.__enter__.__code__, limited.__exit__.__code__):
            frame = frame.f_back
        if frame is None or frame.f_code is limited.__enter__.__code__:
            self._alarms += 1  # at the exit it would come too late
        if frame is None and (ours or self._alarms > PATIENT):
            raise _Reached


def give_up(reason: str, as_json: bool) -> NoReturn:
    """Say why a question was given up, and leave."""
    if as_json:
        emit_json({"answer": "undecided", "reason": reason})
    else:
        say(f"undecided: {reason}.")
    raise typer.Exit(UNDECIDED)


@contextmanager
def _within_time(seconds: float | None, alarm: "Callable[[int, FrameType | None], None]") -> Iterator[None]:
    """Call a function when the time is over, and again and again until the end."""
    if seconds is None:
        yield
        return
    if not (math.isfinite(seconds) and 0 < seconds < 1e8):
        raise BadArgument(f"--seconds takes a number above 0, not {seconds:g}.")
    if not hasattr(signal, "setitimer"):
        raise BadArgument("--seconds needs a clock that this system has not; leave it out.")
    before = signal.signal(signal.SIGALRM, alarm)  # kernels, too, listen to signals
    others = signal.setitimer(signal.ITIMER_REAL, seconds, AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, *others)  # somebody else's clock goes on


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
