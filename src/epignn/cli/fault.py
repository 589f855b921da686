"""Faults of epignn itself: the details go to a file, so that a person sees one sentence. It never fails itself."""

import os
import sys
import tempfile
import time
import traceback
from contextlib import suppress
from pathlib import Path

from epignn.version import __version__


def report(error: BaseException) -> str:
    """Write down what happened, and say in a sentence what it was, in which version, and where the details are."""
    kind = f"{type(error).__name__}: {error}".split("\n", maxsplit=1)[0][:200]
    said = f"error: a fault of epignn {__version__} itself, not of your input ({kind})."
    details = "".join(traceback.format_exception(error))
    command = " ".join(map(repr, sys.argv[1:]))
    text = f"epignn {__version__}, Python {sys.version}, {sys.platform}\ncommand: {command}\n\n{details}"
    for folder in _folders():
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            name = time.strftime(f"epignn-fault-%Y%m%d-%H%M%S-{os.getpid()}-", time.gmtime())
            handle, path = tempfile.mkstemp(prefix=name, suffix=".txt", dir=folder)
            with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text)
        except OSError:  # no such folder, or it is full: the next one may do
            continue
        return f"{said} The details are in {path}; please report it with that file."
    return f"{said} The details could not be written anywhere. {details.strip()}"


def _folders() -> list[Path]:
    """Where details may go, best first."""
    state, folders = os.environ.get("XDG_STATE_HOME", ""), []
    if Path(state).is_absolute():
        folders.append(Path(state) / "epignn")
    with suppress(OSError):  # there is none that can be written to
        folders.append(Path(tempfile.gettempdir()))
    return folders
