"""Files of the corpus with bytes changed, cut and spliced; folders likewise; and words that nobody would type.

A few seconds here; `make fuzz` sets EPIGNN_FUZZ_SECONDS and goes on for so long, from another seed each time. What
it finds falls here under its seed; put the file into the corpus (`make_corpus.py`) when it is mended.
"""

import io
import json
import os
import random
import resource
import shutil
import time
import zipfile
from pathlib import Path

import pytest
from typer.main import get_command

from epignn.cli.app import app
from tests.cli.conftest import epignn  # noqa: F401
from tests.fuzz.commands import OPTIONS, RECORDS, RUNS, WHOLE, commands, filled
from tests.fuzz.held import MEMORY, held
from tests.fuzz.make_corpus import CORPUS

SECONDS = float(os.environ.get("EPIGNN_FUZZ_SECONDS", "25"))
SEED = int(os.environ.get("EPIGNN_FUZZ_SEED", "0")) or (
    time.time_ns() if "EPIGNN_FUZZ_SECONDS" in os.environ else 1
)
ODD = [b"\0", b"\xff", b"\xc2\xa0", b"\x1b[31m", b"9" * 400, b"-1", b"nan", b"1e999", b"[", b"]", b'"', b"\\",
       b"\r", b"[/]", b"=", b"null", b"{}", b"\xed\xa0\x80", b"\xe2\x80\xae"]  # fmt: skip
WORDS = ["-1", "0", "1e999", "nan", "9" * 400, "[/]", "\x1b[31mx", "a\u202eb", "../../x", "x" * 5000, "\udcff",
         "", "/", ".", "1e-320", "9" * 20, "/dev/full", "a\nb", "=cmd", "ec(", "/dev/null", "x.toml", "x.py:Y",
         "rcc8:x", "clutrr:", ":", "[" * 999]  # fmt: skip
KINDS = sorted({path.name.partition(".")[2].removesuffix(".gz") for path in CORPUS.iterdir() if path.is_file()})
PARTS = len(KINDS) + 3


def mutated(data: bytes, others: list[bytes], rng: random.Random) -> bytes:
    """Some bytes changed; or, of JSON, some values."""
    if data[:1] in (b"{", b"[") and rng.random() < 0.5:
        return restructured(data, rng)
    if data[:2] == b"PK" and rng.random() < 0.8:
        return repacked(data, rng)
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.choice([0, 1, 4, 40]))
        other = rng.choice(others)
        cut = rng.randrange(len(other) + 1)
        with_what = rng.choice([b"", rng.choice(ODD), data[start:end] * rng.choice([2, 50]), other[cut : cut + 40]])
        data = data[:start] + with_what + data[end:]
    return data[: 1 << 20]


def repacked(data: bytes, rng: random.Random) -> bytes:
    """A zip file, such as one of Excel, with bytes changed in a file that is in it; what is none is as it was."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            files = {name: packed.read(name) for name in packed.namelist()}
    except zipfile.BadZipFile:
        return data
    chosen = rng.choice(sorted(files))
    files[chosen] = mutated(files[chosen], list(files.values()), rng)
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in files.items():
            if name != chosen or rng.random() < 0.95:
                packed.writestr(name, content)
    return target.getvalue()


VALUES = [None, True, -1, 0, 10**400, 1e308, float("nan"), float("inf"), "", "[/]", "\x1b[31m", "\ud800", [], {},
          [[]], "nan", 2**63, {"a": None}]  # fmt: skip


def restructured(data: bytes, rng: random.Random) -> bytes:
    """JSON with a value, somewhere in it, that is another, or gone, or in a list; what is no JSON is as it was."""
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return data
    for _ in range(rng.choice([1, 1, 2])):
        holder, key, place = None, None, document
        while isinstance(place, dict | list) and place and (holder is None or rng.random() < 0.8):
            holder = place
            key = rng.choice(list(holder)) if isinstance(holder, dict) else rng.randrange(len(holder))
            place = holder[key]
        if holder is None:
            return json.dumps(rng.choice(VALUES)).encode()
        if rng.random() < 0.2:
            del holder[key]
        else:
            holder[key] = rng.choice([rng.choice(VALUES), [place], {"a": place}])
    return json.dumps(document).encode()


@pytest.fixture
def tries(epignn, tmp_path, monkeypatch, request):  # noqa: F811
    """Run commands until the time of a part is over: at least a few, however slow the machine is."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EPIGNN_DATA", str(tmp_path / "none"))
    before = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (2 * MEMORY, before[1]))  # more than held, not all
    request.addfinalizer(lambda: resource.setrlimit(resource.RLIMIT_DATA, before))

    def run(make, parts=PARTS):
        rng, end, tried = random.Random(f"{SEED} {request.node.name}"), time.process_time() + SECONDS / parts, 0
        while tried < 3 or time.process_time() < end:
            command, path, odd, told = make(rng)
            words = filled(command, path, tmp_path / "out", CORPUS, odd)
            held(epignn, words, tmp_path / "out", (SEED, told))
            tried += 1

    return run


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in ("shx", "dbf")])
def test_mutated_files(tries, kind, tmp_path):
    seeds = [path for path in sorted(CORPUS.iterdir()) if path.is_file() and path.name.endswith(f".{kind}")]
    contents = [path.read_bytes() for path in seeds]
    path = tmp_path / f"mutated.{kind}"
    chosen = [command for command in commands(path) if command[0] != "train"]

    def make(rng):
        data = mutated(rng.choice(contents), contents, rng)
        path.write_bytes(data)
        if kind == "shp":  # the two files beside it, one of them changed, too
            for suffix in (".shx", ".dbf"):
                beside = (CORPUS / "whole.shp").with_suffix(suffix).read_bytes()
                path.with_suffix(suffix).write_bytes(
                    mutated(beside, [beside], rng) if rng.random() < 0.3 else beside
                )
        return rng.choice(chosen), path, "", data

    tries(make)


def test_mutated_runs(tries, epignn, tmp_path):  # noqa: F811
    """One file of a run folder changed: settings, weights, state, history, calibration, and what was distilled."""
    whole, path = tmp_path / "whole", tmp_path / "run"
    few = ("--set", "data.per_label=2", "--set", "data.k=[2]", "--set", "data.b=[1]", "--set", "training.epochs=1")
    assert epignn("train", "rcc8", *few, "--out", whole).code == 0
    assert epignn("distil", whole).code in (0, 1, 2)

    def make(rng):
        shutil.rmtree(path, ignore_errors=True)
        shutil.copytree(whole, path)
        changed = rng.choice(sorted(one for one in path.iterdir() if one.is_file()))
        data = changed.read_bytes()
        near = data[:2000] if changed.suffix == ".safetensors" else data  # the header, not the numbers
        changed.write_bytes(
            rng.choice([b"", mutated(near, [near], rng) + data[len(near) :], data[: len(data) // 2]])
        )
        return rng.choice(RUNS), path, "", (changed.name, changed.read_bytes()[:3000])

    tries(make, PARTS / 3)


def test_mutated_records(tries, tmp_path):
    records = Path(__file__).parents[2] / "results" / "rcc8"
    contents = (records / "records.jsonl").read_bytes().splitlines(keepends=True)[:3]
    folder = tmp_path / "results" / "rcc8"
    folder.mkdir(parents=True)

    def make(rng):
        data = mutated(rng.choice(contents), contents, rng)
        (folder / "records.jsonl").write_bytes(data)
        return RECORDS[0], tmp_path / "results", "", data[:3000]

    tries(make)


def valued(command: tuple[str, ...]) -> list[tuple[str, ...]]:
    """A command with each of its options that takes a value, whatever that is."""
    found = get_command(app())
    for name in command:
        if not hasattr(found, "commands"):
            break
        found = found.commands[name]
    taken = [one for one in found.params if one.opts[0].startswith("--") and not one.is_flag]
    return [(*command, one.opts[0], *["ODD"] * one.nargs) for one in taken]


def test_every_option_with_words_that_nobody_would_type(tries, tmp_path):
    every = [one for command in WHOLE for one in valued(command)]
    assert len(every) > 150
    tries(lambda rng: (rng.choice(every), tmp_path / "none", word := rng.choice(WORDS), word), PARTS / 3)


def test_words_that_nobody_would_type(tries, tmp_path):
    tries(lambda rng: (rng.choice(OPTIONS), tmp_path / "none", word := rng.choice(WORDS), word), PARTS / 3)
