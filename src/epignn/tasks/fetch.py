"""Get published files: over HTTP, continued where it stopped, checked, and put in place whole or not at all.

This is the only part of epignn that uses the network. What has arrived of a file is kept beside its place as
`.NAME.part`, so that a later call continues there.
"""

import time
from collections.abc import Callable
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from epignn.errors import BadArgument, BadFile
from epignn.tasks.registry import HOST, DataFile, Entry, content, keep, present, whole
from epignn.version import __version__

Progress = Callable[[int, int], None]

CHUNK = 1 << 16
TIMEOUT = 30.0
ATTEMPTS = 5
"""How often in a row nothing may arrive before we give up."""


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
        For each file `there` (whole before), `fetched`, or `by hand` where the source has no such file.

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
        _place(entry, file, url, path, lambda part: download(url, part, progress, wait))
    except OSError as error:
        raise BadArgument(f"cannot write {path}: {error.strerror or error}.") from error
    return "fetched"


def _place(entry: Entry, file: DataFile, url: str, path: Path, complete: Callable[[Path], None]) -> None:
    """Let `complete` download a file, check it and put it in place; a wrong one that was continued begins anew."""
    part = path.with_name(f".{path.name}.part")
    for _ in range(2 if part.exists() else 1):
        complete(part)
        data = part.read_bytes()
        if entry.columns and path.suffix == ".csv":
            data = keep(data, entry.columns, url)
        if whole(file, data):
            part.write_bytes(data)
            part.replace(path)
            return
        part.unlink()
    raise BadFile(
        f"not the published content: {len(data)} bytes came, {file.size} with SHA-256 {file.sha256} were expected. "
        f"The source may have changed; see {entry.page}.",
        url,
    )


def download(url: str, part: Path, progress: Progress | None = None, wait: float = 1.0) -> None:
    """Complete the file `part` from where it ends; cut connections are taken up again.

    Raises:
        BadFile: the server refuses, or nothing arrives in several attempts.
        OSError: the file cannot be written.
    """
    failures = 0
    while True:
        before = part.stat().st_size if part.exists() else 0
        try:
            _request(url, part, before, progress)
            return
        except HTTPError as error:
            if error.code == 416:  # what we have is longer than the file: begin anew
                part.unlink()
                before = 0
            elif error.code < 500 and error.code != 429:
                raise BadFile(f"the server has no such file (HTTP {error.code} {error.reason}).", url) from error
            reason = f"HTTP {error.code} {error.reason}"
        except _Cut as error:
            reason = str(error)
        arrived = part.stat().st_size if part.exists() else 0
        failures = 0 if arrived > before else failures + 1
        if failures == ATTEMPTS:
            raise BadFile(f"nothing arrives ({reason}). Check the network, then run it again.", url)
        time.sleep(wait * 2**failures / 2)


class _Cut(Exception):
    """A connection that could not be made, or ended before the file did."""


def _request(url: str, part: Path, start: int, progress: Progress | None) -> None:
    """One request for all that is missing; a server that ignores the range sends the whole file anew."""
    headers = {"User-Agent": f"epignn/{__version__}", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    try:
        response = urlopen(Request(url, headers=headers), timeout=TIMEOUT)
    except HTTPError:
        raise
    except (URLError, HTTPException, ConnectionError, TimeoutError) as error:
        raise _Cut(str(getattr(error, "reason", error))) from error
    with response, part.open("ab" if response.status == 206 else "wb") as file:
        length = int(response.headers.get("Content-Length", -1))
        here = start if response.status == 206 else 0
        total = here + length
        while chunk := _read(response):
            file.write(chunk)
            here += len(chunk)
            if progress is not None:
                progress(here, total)
    if length >= 0 and here < total:
        raise _Cut(f"cut after {here} of {total} bytes")


def _read(response: HTTPResponse) -> bytes:
    try:
        return response.read(CHUNK)
    except (HTTPException, ConnectionError, TimeoutError) as error:
        raise _Cut(str(error)) from error
