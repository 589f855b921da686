"""The records that figures of pages come from."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epignn.report.record import read_records

ROOT = Path(__file__).resolve().parent.parent.parent


class CannotRender(Exception):
    """A block lacks its records, its function or one of its marks."""


@dataclass(frozen=True)
class Results:
    """The records that figures come from."""

    folder: Path

    def bench(self, name: str) -> dict[str, Any]:
        """The record of a benchmark."""
        path = self.folder / f"bench_{name}.json"
        if not path.exists():
            raise CannotRender(f"there is no record {path}")
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def runs(self, name: str, pattern: str = "*") -> list[dict[str, Any]]:
        """The records of a folder; none at all is an error."""
        records = read_records(self.folder / name, pattern)
        if not records:
            raise CannotRender(f"there is no record {pattern} in {self.folder / name}")
        return records


def machine(record: dict[str, Any]) -> str:
    """Where a record was made, and by what."""
    return f"{record['cpu']}, {record['cores']} cores, Python {record['python']}, commit {record['commit']}."


def busy(record: dict[str, Any]) -> str:
    """What a reader has to know of a machine that did other work besides."""
    load = max(row.get("load", 0.0) for row in record["figures"].values())
    if load <= record["cores"]:
        return ""
    return (
        f" Other work ran beside it (load up to {load:.0f} on {record['cores']} cores), so that times are too long."
    )
