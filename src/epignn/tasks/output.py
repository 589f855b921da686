"""Folders of generated files and their manifests; nothing is overwritten unasked."""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument
from epignn.files import make_folder, write_text
from epignn.locks import only_one

MANIFEST = "manifest.json"
LONGEST, MOST_PROBLEMS, MOST_SEED = 1000, 100_000_000, 2**63 - 1
"""The largest k and b, the most problems of a file, and the largest seed that are generated."""


@contextmanager
def prepare_folder(out: Path, names: Iterable[str], overwrite: bool) -> Iterator[Path]:
    """Make the folder if it is not there, and let nobody else generate into it meanwhile.

    Raises:
        BadArgument: one of the files is there already and may not be replaced.
        BadFile: the folder cannot be made or written.
        Busy: another process generates into it.
    """
    out = Path(out)
    make_folder(out)
    with only_one(out, "generate"):
        there = [] if overwrite else [name for name in names if (out / name).exists()]
        if there:
            more = f" and {len(there) - 1} more" if len(there) > 1 else ""
            raise BadArgument(f"{out / there[0]}{more} exists already: choose another folder, or overwrite.")
        yield out


def write_manifest(out: Path, manifest: dict[str, Any]) -> None:
    """Write what the files of a folder hold."""
    write_text(out / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def within(name: str, value: int, least: int, most: int) -> None:
    """Refuse a number of what is generated that no machine could make, before anything is made.

    Raises:
        BadArgument: it is outside its bounds.
    """
    if value < least:
        raise BadArgument(f"{name} must be {least} or more, not {str(value)[:40]}.")
    if value > most:
        raise BadArgument(f"{name} must be at most {most:,}, not {str(value)[:40]}.")
