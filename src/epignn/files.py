"""Files: read with errors that say what to do, written whole or not at all; a name ending in `.gz` means gzip."""

import gzip
import json
import os
import tomllib
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from epignn.errors import BadFile


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Turn what goes wrong while a file is opened, unpacked and decoded into `BadFile`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadFile("not UTF-8 text. Save it as UTF-8, or name it .gz if it is gzip.", file) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadFile(f"not a whole gzip file ({error}); compress it again or drop .gz.", file) from error
    except (OSError, ValueError, AttributeError) as error:  # or a NUL in the path, or no standard input
        reason = getattr(error, "strerror", None) or str(error)
        raise BadFile(f"cannot read it: {reason}. Check the path.", file) from error


def read_bytes(path: Path | str) -> bytes:
    """The content of a file, unpacked."""
    with readable(str(path)):
        data = Path(path).read_bytes()
        return gzip.decompress(data) if str(path).casefold().endswith(".gz") else data


def read_text(path: Path | str) -> str:
    """The text of a file; see `decode`."""
    return decode(read_bytes(path), str(path))


def decode(data: bytes, file: str) -> str:
    """UTF-8 text, without a byte-order mark and with the line ends of Unix.

    Raises:
        BadFile: it is something else; tells the line.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        hint = "It looks like gzip: name it .gz." if data[:2] == b"\x1f\x8b" else "Save it as UTF-8."
        raise BadFile(f"not UTF-8 text. {hint}", file, data.count(b"\n", 0, error.start) + 1) from error
    if (nul := text.find("\0")) >= 0:
        raise BadFile("a NUL byte: not a text file. Save it as UTF-8.", file, text.count("\n", 0, nul) + 1)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def open_text(path: Path) -> IO[str]:
    """Open a large text file, to be read line by line inside `readable`."""
    # utf-8-sig: a byte-order mark is no part of the first column's name.
    if path.suffix.casefold() == ".gz":
        return gzip.open(path, "rt", encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of TOML text; `file` names it in errors."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise BadFile(f"not a TOML file: {error}.", file) from error


def quoted(text: str) -> str:
    """A string in TOML, which has JSON's escapes."""
    return json.dumps(text, ensure_ascii=False)


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A hidden name beside `path` to write to: it takes the place of `path` when the block ends.

    If the block fails, it is removed, and `path` is as before. A link stays one: the file it leads to is replaced.
    What is no regular file, such as `/dev/stdout`, is written to directly.

    Raises:
        BadFile: it cannot be written.
    """
    target = Path(os.path.realpath(path))
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():
            yield path
        else:
            yield part
            part.replace(target)
    except OSError as error:
        raise BadFile(f"cannot write it: {error.strerror or error}.", str(path)) from error
    finally:
        with suppress(OSError):
            part.unlink()


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; the same text gives the same bytes, packed or not."""
    data = text.encode()
    with writing(path) as part:
        part.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def make_folder(path: Path) -> None:
    """Make a folder, or take the one that is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot be a folder: {error.strerror}. Choose another name.", str(path)) from error


def sha256(path: Path) -> str:
    """The digest of a file, as it is on disk."""
    import hashlib  # here, because few commands need it and all would wait for it

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
