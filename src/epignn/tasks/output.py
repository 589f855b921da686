"""Folders of generated files and their manifests; nothing is overwritten unasked."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument
from epignn.files import write_text

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


def write_manifest(out: Path, manifest: dict[str, Any]) -> None:
    """Write what the files of a folder hold."""
    write_text(out / MANIFEST, json.dumps(manifest, indent=2, ensure_ascii=False) + "\n")
