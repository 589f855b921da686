"""The data sets that epignn knows (`registry.toml`), where they lie on this machine, and whether they are whole.

A file is looked for below the folder that `EPIGNN_DATA` names, then below the cache, in the layout that the
registry gives; `NAME` and `NAME.gz` are the same to all who ask. Digests are of the content, packed or not.
"""

import csv
import hashlib
import io
import os
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from epignn.errors import BadFile, lookup
from epignn.files import read_bytes, readable

HOST = "https://raw.githubusercontent.com"
REGISTRY = Path(__file__).with_name("registry.toml")
PUBLISHED_NAMES = MappingProxyType({"allen": "interval"})
"""What the paper's authors call a calculus in the names of their files, where it is something else."""


@dataclass(frozen=True)
class DataFile:
    """A file of a data set.

    Attributes:
        name: within the set.
        size, sha256: of its content; 0 and empty where they are not known.
        source: its path in the repository; `None` where that has no such file.
        md5: of its content, where others have published that and no more is known.
    """

    name: str
    size: int
    sha256: str
    source: str | None
    md5: str = ""

    @property
    def checkable(self) -> bool:
        """Whether a digest is known."""
        return bool(self.sha256 or self.md5)


@dataclass(frozen=True)
class Entry:
    """A published data set.

    Attributes:
        name, version, task: what it is.
        repository, commit, path: the public repository on GitHub, a commit or branch, and a folder in it.
        folder: where its files lie below the data folder.
        licence, citation, note: what a user should know.
        columns: the columns of CSV files that are kept; all of them if empty.
        files: by name.
    """

    name: str
    version: str
    task: str
    repository: str
    commit: str
    path: str
    folder: str
    licence: str
    citation: str
    files: MappingProxyType[str, DataFile]
    note: str = ""
    columns: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """Bytes of all files whose size is known, unpacked."""
        return sum(file.size for file in self.files.values())

    @property
    def page(self) -> str:
        """Where a person finds it."""
        return f"https://github.com/{self.repository}/tree/{self.commit}/{quote(self.path)}"

    def url(self, file: DataFile, host: str = HOST) -> str | None:
        """Where a file is published; `None` if what lies there is something else."""
        if file.source is None:
            return None
        return f"{host.rstrip('/')}/{self.repository}/{self.commit}/{quote(file.source)}"

    def file(self, name: str) -> DataFile:
        """A file by its name, with or without `.gz`."""
        return lookup(f"file of {self.name}", name.removesuffix(".gz"), self.files)


@cache
def datasets() -> tuple[Entry, ...]:
    """All data sets, in the order of the registry."""
    with REGISTRY.open("rb") as file:
        return tuple(_entry(table) for table in tomllib.load(file)["dataset"])


def _entry(table: dict[str, Any]) -> Entry:
    files = {}
    for name, facts in table.pop("files").items():
        source = facts.get("source", f"{table['path']}/{name}")
        size, digest = facts.get("size", 0), facts.get("sha256", "")
        files[name] = DataFile(name, size, digest, source or None, facts.get("md5", ""))
    columns = tuple(table.pop("columns", ()))
    return Entry(**table, files=MappingProxyType(files), columns=columns)


def find(name: str) -> Entry:
    """A data set by its name, or an `UnknownName` error with the near misses."""
    return lookup("data set", name, {entry.name: entry for entry in datasets()})


def cache_folder() -> Path:
    """Where `epignn data get` puts files: `EPIGNN_CACHE`, or `epignn` in the user's cache folder."""
    if named := os.environ.get("EPIGNN_CACHE"):
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "epignn"
    base = os.environ.get("LOCALAPPDATA" if sys.platform == "win32" else "XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "epignn"


def folders() -> list[Path]:
    """The folders in which files are looked for, in order."""
    named = os.environ.get("EPIGNN_DATA")
    return [Path(named), cache_folder()] if named else [cache_folder()]


def locate(name: str, file: str) -> Path:
    """Where a file of a data set lies.

    Raises:
        UnknownName: there is no such data set, or no such file in it.
        BadFile: it is not on this machine; tells how to get it.
    """
    entry = find(name)
    wanted = entry.file(file)
    for folder in folders():
        if (path := present(entry, wanted, folder)) is not None:
            return path
    searched = " or ".join(map(str, folders()))
    hint = f"Run `epignn data get {name}`" if wanted.source else f"See `epignn data info {name}`"
    raise BadFile(
        f"not below {searched}. {hint}, or let EPIGNN_DATA name a folder that has it.", _place(entry, wanted)
    )


def at_hand(name: str, file: str) -> bool:
    """Whether a file of a data set is on this machine."""
    entry = find(name)
    return any(present(entry, entry.file(file), folder) is not None for folder in folders())


def present(entry: Entry, file: DataFile, folder: Path) -> Path | None:
    """The path of a file below a folder, packed or not; `None` if it is not there."""
    plain = folder / _place(entry, file)
    packed = plain.with_name(plain.name + ".gz")
    return next((path for path in (packed, plain) if path.is_file()), None)


def _place(entry: Entry, file: DataFile) -> str:
    return f"{entry.folder}/{file.name}"


def content(path: Path, columns: Sequence[str] = ()) -> bytes:
    """What a file holds, unpacked; of a CSV file the columns that are kept.

    Raises:
        BadFile: it cannot be read or unpacked, or lacks a column.
    """
    data = read_bytes(path)
    name = path.name.removesuffix(".gz")
    return keep(data, columns, str(path)) if columns and name.endswith(".csv") else data


def keep(data: bytes, columns: Sequence[str], file: str) -> bytes:
    """The named columns of a CSV file, in that order; the same bytes if it has just these."""
    with readable(file):
        text = data.decode("utf-8")
    if text.partition("\n")[0] == ",".join(columns):
        return data
    kept = io.StringIO(newline="")
    try:
        rows = csv.reader(io.StringIO(text, newline=""), strict=True)
        header = next(rows, [])
        places = [header.index(column) for column in columns]
        write = csv.writer(kept, lineterminator="\n").writerow
        write(columns)
        for row in rows:
            write([row[place] for place in places])
    except (csv.Error, ValueError, IndexError) as error:
        raise BadFile(f"not a CSV file with the columns {', '.join(columns)}: {error}.", file) from error
    return kept.getvalue().encode()


def whole(file: DataFile, data: bytes) -> bool:
    """Whether this is a file's content; where no digest is known, whether there is any."""
    if file.sha256:
        return len(data) == file.size and hashlib.sha256(data).hexdigest() == file.sha256
    if file.md5:
        return hashlib.md5(data, usedforsecurity=False).hexdigest() == file.md5
    return bool(data)


def verify(entry: Entry, folder: Path | None = None) -> dict[str, str]:
    """For each file `ok`, `unchecked`, `missing` or `differs`, below one folder or wherever it is found first.

    A file of which no digest is known is `unchecked`.
    """
    result = {}
    for file in entry.files.values():
        paths = [present(entry, file, place) for place in ([folder] if folder else folders())]
        path = next((path for path in paths if path is not None), None)
        if path is None:
            result[file.name] = "missing"
        else:
            good = "ok" if file.checkable else "unchecked"
            result[file.name] = good if _is_whole(entry, file, path) else "differs"
    return result


def _is_whole(entry: Entry, file: DataFile, path: Path) -> bool:
    try:
        return whole(file, content(path, entry.columns))
    except BadFile:  # cut short, or something else under this name: not what it should be
        return False
