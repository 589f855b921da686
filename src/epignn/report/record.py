"""Records: every figure that is shown comes from one, and each tells config, seed, versions and commit."""

import json
import os
import platform
import re
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument, BadFile
from epignn.files import load_json, make_folder, read_text, write_text
from epignn.kernels import instruction_set
from epignn.locks import in_turn
from epignn.report.shape import misfit
from epignn.version import __version__

RECORDS = "records.jsonl"
"""The file of a folder that holds its records, a line each, in the order of their names."""
NAME = "record"
"""The key of a record's name, by which it is found again."""
RESULTS = "results"
"""Where the project keeps its records and their pictures: they are made by the source, and no part of it."""
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
    """The commit of the source tree; `+` where it has changes besides new records, `unknown` outside one."""
    found = _git("describe", "--always", "--abbrev=12")
    if not found:
        return "unknown"
    return found + (CHANGED if _git("diff", "--name-only", "HEAD", "--", ":/", f":(top,exclude){RESULTS}") else "")


def _git(*words: str) -> str:
    """What git says of the source tree; nothing where there is no git, or no such tree."""
    try:
        run = subprocess.run(
            ["git", *words], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return run.stdout.strip()


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


def write_document(path: Path, record: dict[str, Any]) -> None:
    """Write a record that has a file of its own, whole."""
    make_folder(path.parent)
    write_text(path, json.dumps(record, indent=1, ensure_ascii=False) + "\n")


def put_record(folder: Path, name: str, record: dict[str, Any]) -> Path:
    """Keep a record among those of a folder, in the place of an earlier one of its name; gives their file."""
    return put_records(folder, {name: record})


def put_records(folder: Path, records: Mapping[str, dict[str, Any]]) -> Path:
    """Keep several records by their names.

    The file is replaced as a whole, by one process at a time: several may put records at once.
    """
    make_folder(folder)
    path = folder / RECORDS
    with in_turn(folder):
        kept = _lines(path) | {name: {NAME: name, **record} | {NAME: name} for name, record in records.items()}
        write_text(path, "".join(json.dumps(kept[name], ensure_ascii=False) + "\n" for name in sorted(kept)))
    return path


def read_records(folder: Path, pattern: str = "*") -> list[dict[str, Any]]:
    """The records of a folder whose names fit a pattern, by name."""
    return [record for name, record in named_records(folder).items() if fnmatchcase(name, pattern)]


def run_records(folder: Path) -> list[dict[str, Any]]:
    """The records of a folder that holds those of a table: all of them are of runs.

    Raises:
        BadFile: one is not.
    """
    found = named_records(folder)
    for name, record in found.items():
        if wrong := misfit(record):
            told = f"{name!r} is not a record of a run: {wrong}. Remove the line, and run again."
            raise BadFile(told, str(folder / RECORDS))
    return list(found.values())


def named_records(folder: Path) -> dict[str, dict[str, Any]]:
    """The records of a folder by their names, in the order of these.

    Raises:
        BadFile: a line is no record, or records of an earlier form lie there.
    """
    if earlier := sorted(folder.glob("*.json")):
        raise BadFile(
            "a record in a file of its own, as earlier versions wrote them. "
            f"`python -m epignn.report.migrate {folder}` takes all that lie there into {RECORDS}.",
            str(earlier[0]),
        )
    found = _lines(folder / RECORDS)
    return {name: found[name] for name in sorted(found)}


def _lines(path: Path) -> dict[str, dict[str, Any]]:
    """The records of a file by their names; of two of one name, which a merge may leave, the later."""
    found = {}
    text = read_text(path) if path.exists() else ""
    for number, line in enumerate(text.removesuffix("\n").split("\n") if text else (), start=1):
        try:
            record: object = load_json(line, str(path))
        except BadFile as error:
            told = "not a record in JSON. Mend the line, or remove it and run again."
            raise BadFile(told, str(path), number, error.column) from error
        if not isinstance(record, dict) or not isinstance(record.get(NAME), str):
            raise BadFile(f"not a record: it has no name ({NAME!r}). Remove the line.", str(path), number)
        found[record[NAME]] = record
    return found
