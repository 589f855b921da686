"""The command line: parse, call one library function, print.

Exit codes: 0 answered, 1 inconsistent or not entailed, 2 bad input.
"""

import os
import re
import sys
import warnings

from epignn.errors import EpignnError

SEVERAL = ("--k", "--b")
"""Options that take several numbers."""


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
        found = re.fullmatch(r"(\d+)(?:-(\d+))?", argument)
        if option and found:
            numbers = range(int(found[1]), int(found[2] or found[1]) + 1)
            result += [word for number in numbers or [argument] for word in (option, str(number))]
            first = False
            continue
        result += [option, argument] if first else [argument]  # not a number: the parser says so
        option, first = "", False
    return [*result, option] if first else result


def main() -> None:
    """Run `epignn`; an error of ours becomes one line and exit code 2, never a traceback."""
    from epignn.cli.app import app

    warnings.formatwarning = lambda message, *_, **__: f"note: {message}\n"
    try:
        arguments = spread(sys.argv[1:])
        app(arguments)(args=arguments)
    except EpignnError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(2)
    except (MemoryError, RuntimeError) as error:
        if not _out_of_memory(error):
            raise
        sys.stderr.write(
            "error: out of memory. A smaller batch (--set training.batch_size=32), a narrower model or smaller "
            f"graphs need less. {str(error).splitlines()[0] if str(error) else ''}\n"
        )
        sys.exit(2)
    except BrokenPipeError:  # the reader of our output has gone, as in `epignn … | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)


def _out_of_memory(error: Exception) -> bool:
    """Whether Python, or torch on any device, could not get memory."""
    return isinstance(error, MemoryError) or "out of memory" in str(error) or "allocate memory" in str(error)
