"""Get published files: over HTTP, continued where it stopped, checked, and put in place whole or not at all.

This is the only part of epignn that uses the network. What has arrived of a file is kept beside its place as
`.NAME.part`, so that a later call continues there; what turns out to be something else is not kept. Nothing that a
server says is believed: no more is read than the file may have, and only its digest lets it in, where one is known.
"""

import os
import time
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import IO
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from epignn.errors import BadArgument, BadFile
from epignn.files import writing
from epignn.tasks.registry import HOST, DataFile, Entry, content, keep, present, whole
from epignn.version import __version__

Progress = Callable[[int, int], None]

CHUNK = 1 << 16
TIMEOUT = 30.0
ATTEMPTS = 5
"""How often in a row nothing may arrive before we give up."""
UNKNOWN = 1 << 26
"""Bytes that a file of unknown size may have."""
DROPPED, LEAST = 40, 1 << 20
"""Of a file whose columns are dropped only the size of what is kept is known: the original may be so many times as
large, or have so many bytes."""


def get(
    entry: Entry,
    folder: Path,
    host: str = HOST,
    progress: Progress | None = None,
    wait: float = 1.0,
) -> dict[str, str]:
    """Put the files of a data set below a folder, in the registry's layout; returns what became of each.

    Args:
        entry: the data set.
        folder: the data folder; made if it is not there.
        host: a server with the layout of raw.githubusercontent.com.
        progress: called with the bytes that are there and the bytes of all files.
        wait: seconds before the second attempt; doubled each time.

    Returns:
        For each file `there` (whole before), `fetched`, `unchecked` (fetched, but no digest is known), or `by hand`
        where the source has no such file.

    Raises:
        BadArgument: the host is not one, or the folder cannot be written.
        BadFile: a file cannot be had, its content is not the published one, or another lies in its place.
    """
    if not host.startswith(("http://", "https://")):
        raise BadArgument(f"{host!r} is no server: its address begins with https:// or http://.")
    result, done = {}, 0
    for file in entry.files.values():
        result[file.name] = _get_file(entry, file, folder, host, wait, _shifted(progress, done, entry.size))
        done += file.size
        if progress is not None:
            progress(done, entry.size)
    return result


def by_hand(entry: Entry, file: DataFile) -> str:
    """How a person gets a file that the source does not have as such."""
    place = f"{entry.folder}/{file.name}"
    return f"{place} has to be made by hand. {entry.note} See {entry.page} and lay it below the data folder."


def _shifted(progress: Progress | None, done: int, total: int) -> Progress:
    return lambda here, _: progress(min(done + here, total), total) if progress is not None else None


def _get_file(entry: Entry, file: DataFile, folder: Path, host: str, wait: float, progress: Progress) -> str:
    there = present(entry, file, folder)
    if there is not None:
        if whole(file, content(there, entry.columns)):
            return "there"
        raise BadFile("is not the published file; move it away, or choose another folder.", str(there))
    url = entry.url(file, host)
    if url is None:
        return "by hand"
    path = folder / entry.folder / file.name
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        limit = max(DROPPED * file.size, LEAST) if entry.columns else file.size or UNKNOWN
        _place(entry, file, url, path, lambda part: download(url, part, limit, progress, wait))
    except OSError as error:
        raise BadArgument(f"cannot write {path}: {error.strerror or error}.") from error
    return "fetched" if file.checkable else "unchecked"


def _place(entry: Entry, file: DataFile, url: str, path: Path, complete: Callable[[Path], None]) -> None:
    """Let `complete` download a file, check it and put it in place; a wrong one that was continued begins anew."""
    part = path.with_name(f".{path.name}.part")
    for attempt in (1, 2) if part.exists() else (2,):
        complete(part)
        data, problem = part.read_bytes(), None
        part.unlink()  # it is whole: from here on either what was published, or nothing to go on from
        if entry.columns and path.suffix == ".csv":
            try:
                data = keep(data, entry.columns, url)
            except BadFile as error:
                problem = error
        if whole(file, data):
            with writing(path) as placed:
                placed.write_bytes(data)
            return
        if problem is not None and attempt == 2:
            raise problem
    raise BadFile(
        f"not the published content: {len(data)} bytes came, {_expected(file)} were expected. "
        f"The source may have changed; see {entry.page}.",
        url,
    )


def _expected(file: DataFile) -> str:
    """What is known of a file, in words."""
    if file.sha256:
        return f"{file.size} with SHA-256 {file.sha256}"
    return f"some with MD5 {file.md5}" if file.md5 else "some"


def download(url: str, part: Path, limit: int, progress: Progress | None = None, wait: float = 1.0) -> None:
    """Complete the file `part` from where it ends; cut connections are taken up again.

    Raises:
        BadFile: the server refuses, sends more than `limit` bytes, or nothing in several attempts.
        OSError: the file cannot be written.
    """
    failures = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            _request(url, part, before, limit, progress)
            return
        except HTTPError as error:
            if error.code == 416:  # what we have is longer than the file: begin anew
                part.unlink()
                before = 0
            elif error.code < 500 and error.code != 429:
                raise BadFile(f"the server has no such file (HTTP {error.code} {error.reason}).", url) from error
            reason = f"HTTP {error.code} {error.reason}"
        except _Wrong as error:
            part.unlink(missing_ok=True)
            if not before:
                raise BadFile(f"{error}. Another network, or --mirror, may have it.", url) from error
            reason, before = str(error), 0  # what was kept may be at fault: once more, from the first byte
        except _Cut as error:
            reason = str(error)
        arrived = part.stat().st_size if part.exists() else 0
        failures = 0 if arrived > before else failures + 1
        if failures == ATTEMPTS:
            raise BadFile(f"nothing arrives ({reason}). Check the network, then run it again.", url)
        time.sleep(wait * 2**failures / 2)


class _Cut(Exception):
    """A connection that could not be made, or ended before the file did."""


class _Wrong(Exception):
    """An answer that cannot be the file."""


def _request(url: str, part: Path, start: int, limit: int, progress: Progress | None) -> None:
    """One request for all that is missing; a server that ignores the range sends the whole file anew."""
    headers = {"User-Agent": f"epignn/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError:
        raise
    except (OSError, HTTPException) as error:  # URLError is an OSError
        raise _Cut(str(getattr(error, "reason", error))) from error
    except ValueError as error:  # where the server leads to cannot be an address
        raise _Wrong(f"the server leads elsewhere, to no address ({error})") from error
    with response:
        here = start if response.status == 206 else 0
        length = _length(response)
        total = here + length if length >= 0 else -1
        if total > limit:
            raise _Wrong(f"the server sends {total:,} bytes where at most {limit:,} are expected")
        told = response.headers.get("Content-Range", f"bytes {here}-")
        if response.status == 206 and not told.startswith(f"bytes {here}-"):
            raise _Wrong(f"asked to go on from byte {here}, the server sends {told[:40]!r}")
        with _open(part, "ab" if here else "wb") as file:
            while chunk := _read(response):
                here += len(chunk)
                if here > limit:
                    raise _Wrong(f"the server sends more than the {limit:,} bytes that are expected")
                file.write(chunk)
                if progress is not None:
                    progress(here, total)
    if here < total:
        raise _Cut(f"cut after {here} of {total} bytes")


def _open(part: Path, mode: str) -> IO[bytes]:
    """Open what has arrived so far; a link that somebody laid there is not followed."""
    return open(part, mode, opener=lambda name, flags: os.open(name, flags | getattr(os, "O_NOFOLLOW", 0), 0o666))


def _length(response: HTTPResponse) -> int:
    """The bytes that are announced; -1 if that is not told."""
    told = response.headers.get("Content-Length", "-1")
    if not told.removeprefix("-").isdecimal() or len(told) > 18:
        raise _Wrong(f"the server announces {told[:40]!r} bytes")
    return int(told)


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read(CHUNK)
    except (HTTPException, OSError, ValueError) as error:
        raise _Cut(str(error)) from error
