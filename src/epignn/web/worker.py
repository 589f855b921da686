"""A process that does the work of requests, one after the other: `python -m epignn.web.worker SETTINGS`.

A request is a line, `job seconds length`, and as many bytes of JSON; an answer is `status length` and as many
bytes. Nothing is ever unpickled. Where the server is gone, standard input ends, and the worker with it; work
that takes longer than its limit ends by the clock of the system, whoever is watching.
"""

import importlib
import json
import logging
import os
import resource
import signal
import sys
from collections.abc import Callable
from functools import cache
from types import MappingProxyType
from typing import Any, BinaryIO

from epignn.errors import EpignnError, lookup
from epignn.web.errors import INSIDE, TooMuch, told
from epignn.web.limits import Context

Job = Callable[[dict[str, Any], Context], dict[str, Any]]
JOBS = MappingProxyType(
    {
        "calculi": "epignn.web.calculi:calculi",
        "calculus": "epignn.web.calculi:calculus",
        "own": "epignn.web.calculi:own",
        "parse": "epignn.web.networks:parse",
        "file": "epignn.web.networks:parse_file",
        "export": "epignn.web.networks:export",
        "close": "epignn.web.networks:close",
        "ask_exact": "epignn.web.networks:ask_exact",
        "explain_exact": "epignn.web.networks:explain",
        "entails": "epignn.web.networks:entails",
        "realise": "epignn.web.networks:realise",
        "broken": "epignn.web.networks:broken",
        "models": "epignn.web.folders:models",
        "upload": "epignn.web.uploads:check",
        "runs": "epignn.web.folders:runs",
        "run": "epignn.web.folders:run",
        "ask": "epignn.web.models:ask",
        "explain": "epignn.web.models:explain",
        "links": "epignn.web.models:links",
        "graph": "epignn.web.graphs:graph",
        "distil": "epignn.web.models:distil",
        "results": "epignn.web.results:results",
        "table": "epignn.web.results:table",
    }
)
"""What a worker can do; a module is loaded when it is first needed, and torch with `models` alone."""
AT_ONCE = ("parse", "calculi")
"""Whose modules are loaded before the first request."""
MEMORY = 4 << 30
"""Bytes that a worker without torch may have."""
GRACE = 5.0
"""Seconds after which work ends by itself, when the server should have ended it."""


@cache
def job(name: str) -> Job:
    """What does a piece of work."""
    module, _, function = lookup("job", name, JOBS).partition(":")
    found: Job = getattr(importlib.import_module(module), function)
    return found


def answer(name: str, body: bytes, context: Context) -> tuple[int, bytes]:
    """Do a piece of work; what goes wrong is an answer, too."""
    try:
        return 200, _body(job(name)(json.loads(body), context))
    except EpignnError as error:
        status, found = told(error)
    except MemoryError:
        status, found = told(TooMuch("this needs more memory than a request may have; ask for less."))
    except Exception:
        logging.exception("the job %s failed", name)
        status, found = 500, {"error": INSIDE}
    return status, _body(found)


def _body(found: dict[str, Any]) -> bytes:
    return json.dumps(found, allow_nan=False, separators=(",", ":")).encode()


def serve(source: BinaryIO, target: BinaryIO, context: Context) -> None:
    """Answer requests until there are no more."""
    while head := source.readline():
        name, seconds, length = head.decode().split()
        body = source.read(int(length))
        signal.setitimer(
            signal.ITIMER_REAL, float(seconds) + GRACE
        )  # nobody handles the alarm: it ends the process
        status, found = answer(name, body, context)
        signal.setitimer(signal.ITIMER_REAL, 0)
        target.write(b"%d %d\n" % (status, len(found)) + found)
        target.flush()


def main() -> None:
    """Be a worker, with the settings that the command line has as JSON."""
    settings = json.loads(sys.argv[1])
    logging.basicConfig(format="epignn serve, worker %(process)d: %(message)s")
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C at the terminal is for the server, which ends its workers
    os.nice(settings["nice"])
    if settings["bounded"]:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    target = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a library prints is no answer
    for name in AT_ONCE:
        job(name)
    serve(sys.stdin.buffer, target, Context.from_dict(settings["context"]))


if __name__ == "__main__":
    main()
