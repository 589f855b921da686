"""A real browser and a real server for the tests of the page."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]


def chromium() -> str:
    """The browser of the system; a test that needs one is skipped where there is none, unless one is demanded."""
    for name in BROWSERS:
        if (path := shutil.which(name)) is not None:
            return path
    if os.environ.get("EPIGNN_BROWSER"):
        pytest.fail(f"EPIGNN_BROWSER is set, but none of {', '.join(BROWSERS)} is installed")
    pytest.skip("no Chromium is installed")


def free_port() -> int:
    """A port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def serving(root: Path, *options: str) -> Iterator[str]:
    """The address of `epignn serve`, which keeps its runs below `root`."""
    port = free_port()
    command = [sys.executable, "-m", "epignn", "serve", "--port", str(port), "--root", str(root), *options]
    with (root.parent / "serve.log").open("w") as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, cwd=root.parent)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(300):
            assert process.poll() is None, (root.parent / "serve.log").read_text()
            try:
                urllib.request.urlopen(f"{address}/api/info", timeout=5).close()
                break
            except OSError:
                time.sleep(0.1)
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def text_of(found: str) -> str:
    """Text with its white space folded."""
    return re.sub(r"\s+", " ", found).strip()
