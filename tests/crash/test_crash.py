"""Killed or failing at every file operation: the next run gives the bits of an undisturbed one; nothing is half."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from epignn.files import PART
from epignn.locks import LOCK
from tests.crash.works import WORKS
from tests.tasks.test_fetch import server  # noqa: F401

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        sys.platform != "linux" or shutil.which("cc") is None,
        reason="needs a C compiler, and Linux to load its library",
    ),
]
MOST = 10_000 if os.environ.get("EPIGNN_FUZZ_SECONDS") else 4
"""Operations of each work that are disturbed, spread over all of them: `make fuzz` takes every one."""
SLOW = ("serve", "reproduce")
"""Of works that take seconds, fewer."""
TRIED = [name for name in WORKS if name != "refine" or MOST > 100]
"""`make fuzz` has time for all: of refining, all but the calculus is written as training writes it."""
TIMES = (
    "command",
    "record",
    "seconds",
    "peak",
    "speed",
    "host",
    "commit",
    "started",
    "date",
    "when",
    "versions",
    "memory",
    "cpu",
)
"""Parts of names of what differs from run to run, or with the folder."""
FAULTS = {"kill": 0, "full disk": errno.ENOSPC, "bad disk": errno.EIO}


@pytest.fixture(scope="module")
def disturb(tmp_path_factory):
    """`disturb(work, folder, at, fault, host)` gives the exit code, what was said, and the number of operations."""
    library = tmp_path_factory.mktemp("library") / "operations.so"
    source = Path(__file__).with_name("operations.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, "-m", "tests.crash.works"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        cwd=Path(__file__).parents[2],
    ) as process:  # fmt: skip

        def run(name: str, folder: Path, at: int = 0, fault: int = 0, host: str = "") -> tuple[int, str, int]:
            folder.mkdir(exist_ok=True)
            asked = {"name": name, "folder": str(folder), "at": at, "fault": fault, "host": host}
            process.stdin.write(json.dumps(asked) + "\n")
            process.stdin.flush()
            code, said = json.loads(process.stdout.readline())
            told, ended, count = said.rpartition("\noperations ")  # which a process that is killed does not tell
            return (code, told, int(count)) if ended else (code, said, 0)

        yield run
        process.stdin.close()


def without_times(value: object) -> object:
    """A document without what differs from run to run."""
    if isinstance(value, dict):
        return {key: without_times(one) for key, one in value.items() if not any(part in key for part in TIMES)}
    return [without_times(one) for one in value] if isinstance(value, list) else value


def contents(folder: Path) -> dict[str, object]:
    """What the files of a folder hold; of documents, without the times it took."""
    found: dict[str, object] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = str(path.relative_to(folder))
        if path.suffix == ".json":
            found[name] = without_times(json.loads(path.read_text()))  # which reads it: it is whole
        elif path.suffix == ".jsonl":
            found[name] = [without_times(json.loads(line)) for line in path.read_text().splitlines()]
        elif path.suffix not in (".png", ".log") and "lock" not in path.name:
            found[name] = path.read_bytes()
    return found


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", TRIED)
def test_every_operation(disturb, server, tmp_path, name, fault):  # noqa: F811
    code, said, count = disturb(name, tmp_path / "whole", host=server.host)
    assert code == 0, said
    assert count > 4, said
    whole = contents(tmp_path / "whole")
    assert whole
    most = min(count, MOST if name not in SLOW or MOST > 100 else 2)
    for at in sorted({1 + n * count // most for n in range(most)}):
        folder = tmp_path / str(at)
        code, said, _ = disturb(name, folder, at, FAULTS[fault], server.host)
        allowed = (0, 2) if FAULTS[fault] else (-signal.SIGKILL,)
        assert code in allowed, f"operation {at} of {count}: {code}\n{said}"
        for path, held in contents(folder).items():
            # What is there already is whole; of a run, the state and the settings may be those of an earlier epoch.
            if path in whole and name in ("generate", "distil", "get"):
                assert held == whole[path] or path.endswith(".part"), f"operation {at} leaves a half {path}"
        again, said, _ = disturb(name, folder, host=server.host)
        assert again == 0, f"after operation {at} of {count}: {again}\n{said}"
        assert contents(folder) == whole, f"operation {at} of {count}"
        left = [path for path in folder.rglob("*") if PART.fullmatch(path.name) or path.name in (LOCK,)]
        assert not left, f"operation {at} of {count} leaves {left}"
        shutil.rmtree(folder)


def test_the_library_counts_and_disturbs(disturb, tmp_path):
    """Each operation is hit once: one that is killed at number n has done n - 1 of them."""
    code, said, count = disturb("generate", tmp_path / "whole")
    assert (code, count > 10) == (0, True), said
    assert disturb("generate", tmp_path / "first", 1)[0] == -signal.SIGKILL
    assert not list((tmp_path / "first").iterdir())
    assert disturb("generate", tmp_path / "beyond", count + 1)[0] == 0
