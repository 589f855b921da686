"""What has to hold of every command, whatever it is given: an answer, or one of our errors with exit code 2."""

import json
import resource
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.cli.conftest import Ran

ANSWERS = (0, 1, 3)
BAD_INPUT = 2
MEMORY, LONGEST = 2 << 30, 10.0
"""Bytes that the process may have taken, and seconds of its processor for one command."""


def held(epignn: Callable[..., Ran], words: Sequence[str], out: Path, told: object) -> Ran:
    """Run a command and look at all that it gives; `told` is shown where something does not hold."""
    began = time.process_time()
    ran = epignn(*words)
    seconds, peak = time.process_time() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    said = (list(words), told, ran.code, ran.err[-2000:])
    assert ran.code in (*ANSWERS, BAD_INPUT), said
    assert "Traceback" not in ran.err and "out of memory" not in ran.err, said
    assert "\x1b" not in ran.out + ran.err, said
    assert seconds < LONGEST and peak < MEMORY, (*said, seconds, peak)
    if ran.code == BAD_INPUT:
        assert f"\n{ran.err}".count("\nerror: ") == 1 or "Error" in ran.err, said
    elif "--json" in words:
        json.loads(ran.out)
    for path in out.parent.glob(f"{out.name}.*"):
        if path.suffix == ".svg":
            ElementTree.parse(path)
        elif path.suffix == ".json":
            json.loads(path.read_text(encoding="utf-8"))
        path.unlink()
    return ran
