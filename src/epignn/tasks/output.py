"""Folders of generated files: nothing is overwritten unasked, every file appears whole or not at all."""

import gzip
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument

MANIFEST = "manifest.json"


def prepare_folder(out: Path, names: Iterable[str], overwrite: bool) -> Path:
    """Make the folder if it is not there.

    Raises:
        BadArgument: one of the files is there already and may not be replaced, or the folder cannot be made.
    """
    out = Path(out)
    there = [] if overwrite else [name for name in names if (out / name).exists()]
    if there:
        more = f" and {len(there) - 1} more" if len(there) > 1 else ""
        raise BadArgument(f"{out / there[0]}{more} exists already: choose another folder, or overwrite.")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadArgument(f"cannot make the folder {out}: {error.strerror}.") from error
    return out


def write_whole(path: Path, text: str) -> None:
    """Write a text file; packed if its name ends in `.gz`. The same text gives the same bytes.

    Raises:
        BadArgument: it cannot be written.
    """
    data = text.encode()
    if path.suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise BadArgument(f"cannot write {path}: {error.strerror}.") from error
    finally:
        part.unlink(missing_ok=True)


def write_manifest(out: Path, manifest: dict[str, Any]) -> None:
    """Write what the files of a folder hold."""
    write_whole(out / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")


def sha256(path: Path) -> str:
    """The digest of a file as it lies there."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
