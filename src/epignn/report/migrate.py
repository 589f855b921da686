"""Take records that earlier versions wrote, a file each, into the one file of their folder.

    python -m epignn.report.migrate results

Every folder below is looked at. What a file tells takes the place of a record of its name, and the file is removed
once its record is kept. Files that are no records, such as those of benchmarks, stay.
"""

import sys
from pathlib import Path
from typing import Any

from epignn.errors import BadFile, EpignnError
from epignn.files import load_json, read_text, shown
from epignn.report.record import put_records

APART = "bench_*"
"""Names of records that have files of their own."""


def migrate(folder: Path) -> dict[Path, int]:
    """Migrate the records of a folder and of those below it; how many, by folder.

    Raises:
        BadFile: there is no such folder, a file in it is no JSON, or one cannot be removed; folders after it are as
            before.
    """
    if not folder.is_dir():
        raise BadFile("there is no such folder. Name the one that holds records.", str(folder))
    found = {}
    for one in sorted({path.parent for path in folder.rglob("*.json")}):
        records = {path: record for path in sorted(one.glob("*.json")) if (record := _record(path)) is not None}
        if not records:
            continue
        put_records(one, {path.stem: record for path, record in records.items()})
        for path in records:
            try:
                path.unlink()
            except OSError as error:
                raise BadFile(f"cannot be removed: {error.strerror or error}. Run it again.", str(path)) from error
        found[one] = len(records)
    return found


def _record(path: Path) -> dict[str, Any] | None:
    """What a file tells, if that is a record."""
    value: object = None if path.match(APART) else load_json(read_text(path), str(path))
    return value if isinstance(value, dict) and {"commit", "python"} <= set(value) else None


def main(arguments: list[str]) -> int:
    """Migrate the folders that are named, and tell what was done; gives the exit code."""
    try:
        for name in arguments:
            for folder, count in migrate(Path(name)).items():
                sys.stdout.write(f"{shown(folder)}: {count} records\n")
    except EpignnError as error:
        sys.stderr.write(f"error: {shown(error)}\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or ["results"]))
