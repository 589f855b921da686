"""Files that a client brings to train on: kept in the run folder, and read once before training begins.

One file of triples is `triples.tsv` of the run folder; other files are a folder in it, as `epignn train` takes one.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument, EpignnError
from epignn.files import make_folder, write_text
from epignn.formats.star_csv import read_problems
from epignn.tasks.links import Triples, holds_triples
from epignn.tasks.own import Files, folder_files
from epignn.web.folders import DATA, TRIPLES, brought, run_folder
from epignn.web.limits import Context
from epignn.web.networks import shipped

NONE = "none"
"""What `epignn train --calculus` calls the lack of one."""


def digest(files: Sequence[dict[str, str]]) -> str:
    """What tells one upload from another, whatever the order of its files."""
    told = sorted((file["name"], file["text"]) for file in files)
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def keep(files: Sequence[dict[str, str]], folder: Path) -> None:
    """Write files below a run folder.

    Raises:
        BadArgument: two of them have the same name.
    """
    names = [file["name"].casefold() for file in files]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise BadArgument(f"two files are called {twice}.")
    if len(files) == 1 and holds_triples(Path(names[0])):
        write_text(folder / TRIPLES, files[0]["text"])
        return
    make_folder(folder / DATA)
    for file in files:
        write_text(folder / DATA / file["name"], file["text"])


def check(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """Read the files of a run as training will; for labelled graphs, the calculus that they speak of.

    Raises:
        BadFile: they cannot be read.
        BadArgument: they are of the other kind.
        UnknownName: there is no such calculus.
    """
    path = brought(run_folder(context.root, request["run"]))
    if holds_triples(path) != request["links"]:
        needs = ("a folder of .csv or .jsonl files", "triples: one .tsv file, or a folder with train.txt")
        raise BadArgument(f"this needs {needs[request['links']]}.")
    if request["links"]:
        Triples(kind="triples", task=str(path)).links(0)
        return {"calculus": None}
    calculus = request["calculus"] or _spoken(path)
    if calculus != NONE:
        shipped(calculus)
    Files(kind="files", task=str(path), speaks="" if calculus == NONE else calculus).examples()
    return {"calculus": calculus}


def _spoken(folder: Path) -> str:
    """The calculus that knows the words of a folder's first file; none, where no calculus does."""
    try:
        return read_problems(Path(folder_files(folder)[0]))[0].name
    except EpignnError:
        return NONE
