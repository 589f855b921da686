"""Files of the corpus with bytes changed, cut and spliced: an answer, or one of our errors with exit code 2.

A few seconds here; `make fuzz` sets EPIGNN_FUZZ_SECONDS and goes on for so long, from another seed each time. What
it finds falls here under its seed; put the file into the corpus (`make_corpus.py`) when it is mended.
"""

import os
import random
import resource
import time

import pytest

from tests.cli.conftest import epignn  # noqa: F401
from tests.fuzz.commands import TRIPLES, commands, filled
from tests.fuzz.make_corpus import CORPUS

SECONDS = float(os.environ.get("EPIGNN_FUZZ_SECONDS", "20"))
SEED = int(os.environ.get("EPIGNN_FUZZ_SEED", "0")) or (
    time.time_ns() if "EPIGNN_FUZZ_SECONDS" in os.environ else 1
)
ODD = [
    b"\0",
    b"\xff",
    b"\xc2\xa0",
    b"\x1b[31m",
    b"9" * 400,
    b"-1",
    b"nan",
    b"1e999",
    b"[",
    b"]",
    b'"',
    b"\\",
    b"\r",
    b"[/]",
    b"=",
]
KINDS = sorted({path.name.partition(".")[2].removesuffix(".gz") for path in CORPUS.iterdir() if path.is_file()})
MEMORY, LONGEST = 2 << 30, 10.0
"""Bytes that the process may have taken, and seconds for one command."""


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Some bytes changed."""
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([0, 1, 4, 40]))
        other = rng.choice(others)
        cut = rng.randrange(len(other) + 1)
        with_what = rng.choice([b"", rng.choice(ODD), data[start:end] * rng.choice([2, 50]), other[cut : cut + 40]])
        data = data[:start] + with_what + data[end:]
    return data[: 1 << 20]


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_files(epignn, kind, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    rng = random.Random(f"{SEED} {kind}")
    seeds = [path for path in sorted(CORPUS.iterdir()) if path.is_file() and path.name.endswith(kind)]
    contents = [path.read_bytes() for path in seeds]
    path, end = tmp_path / f"mutated.{kind}", time.monotonic() + SECONDS / len(KINDS)
    chosen = [command for command in commands(path) if command not in TRIPLES and command[0] != "train"] or TRIPLES
    while time.monotonic() < end:
        data = mutated(rng.choice(contents), contents, rng)
        path.write_bytes(data)
        command = rng.choice(chosen)
        began = time.monotonic()
        ran = epignn(*filled(command, path, tmp_path / "out", CORPUS))
        seconds, peak = time.monotonic() - began, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
        assert ran.code in (0, 1, 2), (SEED, command, data, ran.err)
        assert "\x1b" not in ran.out + ran.err, (SEED, command, data)
        assert seconds < LONGEST and peak < MEMORY, (SEED, command, data, seconds, peak)
