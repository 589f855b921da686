"""The command line: parse, call one library function, print.

Exit codes: 0 answered, 1 inconsistent or not entailed, 2 bad input, 3 undecided within the limits that were set,
70 a fault of epignn itself, 130 stopped by Ctrl-C, 141 nobody reads the answer (SIGPIPE), 143 ended from outside
(SIGTERM).
"""

import os
import re
import signal
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from epignn.errors import EpignnError

if TYPE_CHECKING:
    from types import FrameType

SEVERAL = ("--k", "--b")
"""Options that take several numbers."""
SYMBOLIC = frozenset({"calculus", "check", "close", "entails", "explain", "export", "info", "realise", "relate"})
"""Commands that multiply no matrices."""
BAD_INPUT, FAULT, INTERRUPTED, UNREAD, ENDED = 2, 70, 130, 141, 143
"""Exit codes, the last four as shells and `sysexits.h` have them."""


def spread(arguments: list[str]) -> list[str]:
    """Write options of several numbers as the parser wants them, one number each.

    >>> spread(["--k", "2", "3", "--b=1-3", "x"])
    ['--k', '2', '--k', '3', '--b', '1', '--b', '2', '--b', '3', 'x']
    """
    result: list[str] = []
    option, first = "", False  # the option whose values are read, and whether it still wants its first
    for argument in arguments:
        name, equals, value = argument.partition("=")
        if name in SEVERAL:
            option, first = name, True
            if not equals:
                continue
            argument = value
        found = re.fullmatch(r"([0-9]{1,6})(?:-([0-9]{1,6}))?", argument)
        if option and found:
            numbers = range(int(found[1]), int(found[2] or found[1]) + 1)
            result += [word for number in numbers or [argument] for word in (option, str(number))]
            first = False
            continue
        result += [option, argument] if first else [argument]  # not a number: the parser says so
        option, first = "", False
    return [*result, option] if first else result


def main() -> None:
    """Run `epignn`; what goes wrong becomes one line and an exit code, never a traceback."""
    with suppress(ValueError):  # in a thread, where nobody can be told of signals
        signal.signal(signal.SIGTERM, _end)
    if sys.argv[1:2] and sys.argv[1] in SYMBOLIC:
        # numpy would start a thread for every core, which takes longer than a small question.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        sys.exit(_run())
    except KeyboardInterrupt:
        _leave("stopped", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone, as in `epignn … | head`
        _leave("", UNREAD)
    except EpignnError as error:
        _leave(f"error: {error}", BAD_INPUT)
    except ModuleNotFoundError as error:  # a library that only some commands need
        from epignn.extras import EXTRA_OF, missing

        if error.name is None or error.name not in EXTRA_OF:
            _fault(error)
        _leave(f"error: {missing('this', error.name)}", BAD_INPUT)
    except OSError as error:  # of files `epignn.files` tells; what names none is standard output
        what = error.filename or "cannot write the answer"
        _leave(f"error: {what}: {error.strerror or error}.", BAD_INPUT)
    except Exception as error:
        if _out_of_memory(error):
            reason = str(error).splitlines()[0] if str(error) else ""
            _leave(
                "error: out of memory. A smaller batch (--set training.batch_size=32), a narrower model or smaller "
                f"graphs need less. {reason}",
                BAD_INPUT,
            )
        _fault(error)


def _run() -> int:
    """Parse and run the command; gives its exit code."""
    import typer

    from epignn.cli.app import app
    from epignn.files import shown

    warnings.formatwarning = lambda message, *_, **__: f"note: {shown(message)}\n"
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="backslashreplace")  # a terminal may lack a sign that a name has
    try:
        arguments = spread(sys.argv[1:])
        code = app(arguments)(args=arguments, standalone_mode=False)
        sys.stdout.flush()
    except typer.Abort as error:
        raise KeyboardInterrupt from error
    except SystemExit as ended:  # the parser's own way to end when nobody reads; commands return their codes
        if ended.code == 1:
            raise BrokenPipeError from ended
        raise
    except Exception as error:
        # What the parser refuses; typer has no public name for it, and has moved it from version to version.
        if not hasattr(error, "format_message") or not hasattr(error, "message"):
            raise
        from typer.rich_utils import rich_format_error

        error.message = shown(error.message)
        rich_format_error(error)  # type: ignore[arg-type]
        return BAD_INPUT
    return code if isinstance(code, int) else 0


def _end(number: int, frame: "FrameType | None") -> NoReturn:
    """Leave on SIGTERM as on Ctrl-C, so that files half-written are removed on the way."""
    sys.exit(ENDED)


def _leave(message: str, code: int) -> NoReturn:
    """Say one line, and end without a second try to write what could not be written."""
    from epignn.cli.output import say

    if message:
        with suppress(OSError):
            say(message, err=True)
    if not _flushes():
        with suppress(OSError, ValueError):  # a stream that is none, as in tests
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _flushes() -> bool:
    """Whether standard output takes what was written to it."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return False
    return True


def _fault(error: Exception) -> NoReturn:
    """Tell of a fault of our own: what it is, and where the details are for a report."""
    from epignn.cli.fault import report

    _leave(report(error), FAULT)


def _out_of_memory(error: Exception) -> bool:
    """Whether Python, or torch on any device, could not get memory."""
    return isinstance(error, MemoryError) or "out of memory" in str(error) or "allocate memory" in str(error)
