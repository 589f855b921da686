"""What a request is refused for, beside the errors of the library; each has the HTTP status that says so.

EpignnError
└── Refused
    ├── NotThere    404: a run, a model, a calculus or a table that is not there
    ├── TooLong     408: the work took longer than its limit
    ├── Conflict    409: the state of a run does not allow it
    ├── TooMuch     413: more bytes, entities or facts than a request may have
    └── Busy        503: too many others are waiting, or training
"""

from typing import Any

from epignn.errors import BadFile, EpignnError

INSIDE = "something went wrong inside the server; its log tells what."


class Refused(EpignnError):
    """A request that is refused."""

    status = 400


class NotThere(Refused):
    """What is asked for is not there."""

    status = 404


class TooLong(Refused):
    """The work took longer than its limit."""

    status = 408


class Conflict(Refused):
    """The state of a run does not allow it."""

    status = 409


class TooMuch(Refused):
    """More than a request may have."""

    status = 413


class Busy(Refused):
    """Too many others are at work."""

    status = 503


def told(error: EpignnError) -> tuple[int, dict[str, Any]]:
    """The status and the body of the answer to an error: the words of the command line, and the place if known."""
    body: dict[str, Any] = {"error": str(error)}
    if isinstance(error, BadFile):
        places = {"line": error.line, "column": error.column}
        body |= {name: place for name, place in places.items() if place}
    return (error.status if isinstance(error, Refused) else 400), body
