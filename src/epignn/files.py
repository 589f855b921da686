"""Files: read within limits and with errors that say what to do; written whole or not at all.

A name that ends in `.gz` means gzip. What a file may hold is bounded, because a packed file of some megabytes can
hold as many gigabytes: see `most_bytes`.
"""

import gzip
import io
import json
import os
import re
import tomllib
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from epignn.errors import BadArgument, BadFile, EpignnError
from epignn.locks import try_lock

ACTS = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters: escape sequences, line ends, backspaces
    "\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"  # line ends and marks of direction, which let text seem another
    "\ud800-\udfff\ufeff\ufff9-\ufffb\ufffe\uffff\U000e0000-\U000e007f]"  # halves of pairs, and what cannot be seen
)
"""Characters that do something to a terminal, or to the reading of a text, instead of being shown."""


SURROGATE = re.compile("[\ud800-\udfff]")
"""Half a character: JSON can write one, UTF-8 cannot."""


def shown(text: object) -> str:
    r"""Text from outside, safe to show: what would act on a terminal or a reader is written as Python writes it.

    >>> shown("a\x1b[31mb\n[red]")
    'a\\x1b[31mb\\n[red]'
    """
    return ACTS.sub(lambda found: repr(found[0])[1:-1], str(text))


MEGABYTE = 1 << 20
MOST_MEGABYTES = "EPIGNN_MAX_MB"
"""The variable that sets how many megabytes may be read of one file."""
HELD, UNPACKED, RATIO = 1024, 64, 64
"""Without it: megabytes of any file; and, of a packed one, this many or `RATIO` times its size."""


def most_bytes(packed: int | None = None) -> int:
    """How many bytes may be read of a file; of one that is packed, given its size, how many it may unpack to.

    Raises:
        BadArgument: EPIGNN_MAX_MB is no number.
    """
    told = os.environ.get(MOST_MEGABYTES)
    if not told:
        return HELD * MEGABYTE if packed is None else min(max(UNPACKED * MEGABYTE, RATIO * packed), HELD * MEGABYTE)
    if not re.fullmatch("[1-9][0-9]{0,8}", told):
        raise BadArgument(f"{MOST_MEGABYTES} must be a number of megabytes, such as 4096, not {told[:40]!r}.")
    return int(told) * MEGABYTE


class _TooMuch(Exception):
    """A file holds more than may be read; `readable` says so."""

    def __init__(self, limit: int) -> None:
        super().__init__(
            f"holds more than {limit // MEGABYTE:,} MB, which is the limit; set {MOST_MEGABYTES} to a larger "
            "number of megabytes if you trust it"
        )


def name_a_file(folder: Path) -> str:
    """What to do where a folder was given instead of a file."""
    found = next((path for path in sorted(folder.iterdir()) if path.is_file() and path.name[0] != "."), None)
    return f"Name a file in it, such as {found}." if found else "Name a file; there are none in it."


@contextmanager
def readable(file: str) -> Iterator[None]:
    """Turn what goes wrong while a file is opened, unpacked and decoded into `BadFile`."""
    try:
        yield
    except UnicodeDecodeError as error:
        raise BadFile("not UTF-8 text. Save it as UTF-8, or name it .gz if it is gzip.", file) from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise BadFile(f"not a whole gzip file ({error}); compress it again or drop .gz.", file) from error
    except _TooMuch as error:
        raise BadFile(f"{error}.", file) from error
    except IsADirectoryError as error:
        raise BadFile(f"it is a folder. {name_a_file(Path(file))}", file) from error
    except (OSError, ValueError, AttributeError) as error:  # or a NUL in the path, or no standard input
        reason = getattr(error, "strerror", None) or str(error)
        raise BadFile(f"cannot read it: {reason}. Check the path.", file) from error


@contextmanager
def foreign(file: str, what: str) -> Iterator[None]:
    """Turn whatever another library raises while it reads a file into `BadFile`: their errors are of many kinds.

    What it warns of is not shown.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (EpignnError, MemoryError):
        raise
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        line = getattr(error, "lines", 0)  # of rdflib
        raise BadFile(f"cannot be read as {what}: {reason}.", file, line if isinstance(line, int) else 0) from error


def refuse_above(size: int, limit: int, file: str) -> None:
    """Refuse a file that holds more bytes than may be read.

    Raises:
        BadFile: it does.
    """
    if size > limit:
        raise BadFile(
            f"holds {size / MEGABYTE:,.0f} MB, of which {limit // MEGABYTE:,} may be read; set {MOST_MEGABYTES} to "
            "a larger number of megabytes if you trust it.",
            file,
        )


def read_bytes(path: Path | str) -> bytes:
    """The content of a file, unpacked.

    Raises:
        BadFile: it cannot be read, or holds more than `most_bytes`.
    """
    with readable(str(path)), Path(path).open("rb") as raw:
        if not str(path).casefold().endswith(".gz"):
            return read_bounded(raw, most_bytes())
        with gzip.GzipFile(fileobj=raw) as unpacked:
            return read_bounded(unpacked, most_bytes(os.fstat(raw.fileno()).st_size))


def read_bounded(file: IO[bytes] | gzip.GzipFile, limit: int) -> bytes:
    """All that a file has, inside `readable`; more than the limit is an error before it is held."""
    parts, size = [], 0
    while part := file.read(MEGABYTE):  # not all at once: room for the limit would be taken first
        parts.append(part)
        size += len(part)
        if size > limit:
            parts.clear()  # the error would keep them
            raise _TooMuch(limit)
    return b"".join(parts)


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


class _Unpacking(gzip.GzipFile):
    """A packed file that ends with an error where it has unpacked to more than it may."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        self._limit = most_bytes(path.stat().st_size)

    def read1(self, size: int = -1) -> bytes:
        data = super().read1(size)
        if self.tell() > self._limit:
            raise _TooMuch(self._limit)
        return data


def open_text(path: Path) -> IO[str]:
    """Open a large text file, to be read line by line inside `readable`."""
    # utf-8-sig: a byte-order mark is no part of the first column's name.
    if path.suffix.casefold() == ".gz":
        return io.TextIOWrapper(_Unpacking(path), encoding="utf-8-sig", newline="")
    return path.open(encoding="utf-8-sig", newline="")


def parse_toml(text: str, file: str) -> dict[str, Any]:
    """The tables of TOML text; `file` names it in errors."""
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise BadFile("not a TOML file: its brackets are nested too deeply.", file) from error
    except ValueError as error:  # malformed, or a number of thousands of digits
        raise BadFile(f"not a TOML file: {error}.", file) from error


def load_json(text: str, file: str) -> Any:
    """The value of JSON text; `file` names it in errors, which tell line and column."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise BadFile(f"not JSON: {error.msg}.", file, error.lineno, error.colno) from error
    except RecursionError as error:
        raise BadFile("not JSON that can be read: its brackets are nested too deeply.", file) from error
    except ValueError as error:  # a number of thousands of digits
        raise BadFile(f"not JSON that can be read: {error}.", file) from error


def json_text(value: object) -> str:
    """A value as JSON that can be shown: characters of `ACTS` stand in strings alone, and there have escapes.

    Raises:
        ValueError: it has a number that is not finite.
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    return ACTS.sub(lambda found: json.dumps(found[0])[1:-1], text)


def quoted(text: str) -> str:
    """A string in TOML, which has JSON's escapes, and wants that of the delete character, too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


PART = re.compile(r"\.epignn-[0-9a-f]{16}\.part")
_swept: set[Path] = set()
"""Folders in which left-overs have been looked for."""


@contextmanager
def writing(path: Path) -> Iterator[Path]:
    """A hidden file beside `path` to write to: it takes the place of `path` when the block ends.

    It is flushed to the disk before it does. If the block fails, it is removed, and `path` is as before; where a
    killed process could not, the next one that writes there does. A link stays one: the file it leads to is
    replaced. What is no regular file, such as `/dev/stdout`, is written to directly.

    Raises:
        BadFile: it cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            yield path
            return
        target = Path(os.path.realpath(path))
        _sweep(target.parent)
        held, part = _part(target)
        with held:
            try:
                yield part
                os.fsync(held.fileno())
                if os.name == "nt":  # Windows replaces no open file
                    held.close()
                part.replace(target)
            finally:
                # Gone after the replacement. Else it is ours alone: the name was new, and the file is locked.
                with suppress(OSError):
                    part.unlink()
        _flush_folder(target.parent)
    except OSError as error:
        raise BadFile(f"cannot write it: {error.strerror or error}.", str(path)) from error


def _part(target: Path) -> tuple[IO[bytes], Path]:
    """A new file beside the target, open and locked, with the permissions that the target has or would get."""
    # Its name is new (O_EXCL), so that no link or file that somebody laid there is written to.
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    while True:
        part = target.with_name(f".epignn-{os.urandom(8).hex()}.part")
        held = os.fdopen(os.open(part, flags, 0o666), "rb")
        # Somebody who looks for left-overs may have come between the two; what has no name left is tried anew.
        if try_lock(held.fileno()) and os.fstat(held.fileno()).st_nlink:
            break
        held.close()
    if target.exists():
        with suppress(OSError):  # a file system without permissions
            part.chmod(target.stat().st_mode & 0o777)
    return held, part


def _sweep(folder: Path) -> None:
    """Remove what killed processes left in a folder: hidden files of ours that nobody has locked."""
    if folder in _swept:
        return
    _swept.add(folder)
    with suppress(OSError):
        for path in folder.iterdir():
            if PART.fullmatch(path.name):
                handle = os.open(path, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    if try_lock(handle):
                        path.unlink()
                finally:
                    os.close(handle)


def _flush_folder(folder: Path) -> None:
    """Let the new name of a file outlive a loss of power, where the system can."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8; the same text gives the same bytes, packed or not.

    Raises:
        BadFile: it cannot be written, or the text has half a surrogate pair, as names typed in another encoding do.
    """
    try:
        data = text.encode()
    except UnicodeEncodeError as error:
        near = shown(text[max(0, error.start - 20) : error.start + 20])
        raise BadFile(f"cannot write it: half a character, as in …{near}…, is no UTF-8.", str(path)) from error
    with writing(path) as part:
        part.write_bytes(gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def make_folder(path: Path) -> None:
    """Make a folder, or take the one that is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadFile(f"cannot be a folder: {error.strerror}. Choose another name.", str(path)) from error


@contextmanager
def new_folder(path: Path) -> Iterator[None]:
    """A folder for what is made within; if that fails and the folder is empty, there is none afterwards.

    Raises:
        BadFile: there can be no such folder.
    """
    missing = [one for one in (path, *path.parents) if not os.path.exists(one)]  # noqa: PTH110, takes any name
    make_folder(path)
    try:
        yield
    except BaseException:
        with suppress(OSError):
            for one in missing:
                one.rmdir()
        raise


def sha256(path: Path) -> str:
    """The digest of a file, as it is on disk."""
    import hashlib  # here, because few commands need it and all would wait for it

    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
