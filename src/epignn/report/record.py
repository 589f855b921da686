"""Records: every figure that is shown comes from one, and each tells config, seed, versions and commit."""

import json
import os
import platform
import re
import subprocess
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument, BadFile
from epignn.files import load_json, make_folder, read_text, write_text
from epignn.kernels import instruction_set
from epignn.version import __version__

RECORDS = "*.json"
"""How the files of records are called."""


CHANGED = "+"
"""What stands behind a commit where the source has changes besides."""


def circumstances() -> dict[str, Any]:
    """Versions, machine and commit, as they are now."""
    return {
        "epignn": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        "torch": _version("torch"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "simd": instruction_set(),
    }


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def refuse_uncommitted() -> None:
    """Refuse to record where the source has changes that are not committed.

    Raises:
        BadArgument: it has; outside of a source tree there are none.
    """
    if commit().endswith(CHANGED):
        raise BadArgument(
            "the source has changes that are not committed, so that no commit tells what was run. Commit them, "
            "or record all the same with --dirty: tables mark such figures with a +."
        )


def commit() -> str:
    """The commit of the source tree; `+` where it has changes, `unknown` outside one."""
    command = ["git", "describe", "--always", f"--dirty={CHANGED}", "--abbrev=12"]
    try:
        run = subprocess.run(command, cwd=Path(__file__).parent, capture_output=True, text=True, check=False)
    except OSError:
        return "unknown"
    return run.stdout.strip() or "unknown"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")


def forget_peak() -> None:
    """Begin to measure the most memory anew, where the system can: several runs of a process are told apart."""
    with suppress(OSError):  # Linux alone has it; elsewhere the peak is that of the process
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def peak_mb() -> int | None:
    """The most memory that this process has had, since it was last forgotten; not every system tells."""
    status = Path("/proc/self/status")
    told = re.search(r"VmHWM:\s+(\d+) kB", status.read_text(encoding="ascii")) if status.exists() else None
    if told:
        return round(int(told[1]) / 1024)
    try:
        import resource
    except ImportError:
        return None
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def write_record(path: Path, record: dict[str, Any]) -> None:
    """Write a record, whole."""
    make_folder(path.parent)
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def read_records(folder: Path, pattern: str = RECORDS) -> list[dict[str, Any]]:
    """All records of a folder, by name."""
    return [_read(path) for path in sorted(folder.glob(pattern))]


def _read(path: Path) -> dict[str, Any]:
    record: object = load_json(read_text(path), str(path))
    if not isinstance(record, dict):
        raise BadFile("not a record. Remove it and run again.", str(path))
    return record
