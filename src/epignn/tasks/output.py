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
