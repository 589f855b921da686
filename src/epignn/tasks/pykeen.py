"""Data sets that PyKEEN carries, found where it is installed or in its wheel; PyKEEN itself is never loaded."""

import zipfile
from importlib.util import find_spec
from pathlib import Path

from epignn.errors import BadFile
from epignn.files import make_folder, most_bytes, writing
from epignn.tasks.registry import Entry, cache_folder, find, folders, present, whole

WHEEL = "pykeen-*.whl"


def folder_of(name: str) -> Path:
    """The folder of a data set: below a data folder, in an installed PyKEEN, or taken out of a wheel of it.

    Raises:
        BadFile: it is nowhere; tells how to get it.
    """
    entry = find(name)
    for folder in folders():
        if all(present(entry, file, folder) is not None for file in entry.files.values()):
            return folder / entry.folder
    installed = find_spec("pykeen")
    if installed is not None and installed.origin is not None:
        carried = Path(installed.origin).parent / "datasets" / name
        if all((carried / file).is_file() for file in entry.files):
            return carried
    wheels = [wheel for folder in folders() if folder.is_dir() for wheel in sorted(folder.glob(WHEEL))]
    if wheels:
        return _unpacked(entry, wheels[-1])
    raise BadFile(
        f"not below {' or '.join(map(str, folders()))}, and PyKEEN, which carries it, is not installed. Run "
        f"`epignn data get {name}`, or lay the wheel that `pip download --no-deps pykeen` gives there.",
        entry.folder,
    )


def _unpacked(entry: Entry, wheel: Path) -> Path:
    """Put the files of a wheel into the cache, checked, where they are found the next time."""
    folder = cache_folder() / entry.folder
    make_folder(folder)
    try:
        with zipfile.ZipFile(wheel) as archive:
            for file in entry.files.values():
                member = archive.getinfo(f"pykeen/datasets/{entry.name}/{file.name}")
                if member.file_size > most_bytes(wheel.stat().st_size):
                    raise BadFile(f"{member.filename} is too large.", str(wheel))
                data = archive.read(member)
                if not whole(file, data):
                    raise BadFile(f"{member.filename} is another than that of PyKEEN {entry.commit}.", str(wheel))
                with writing(folder / file.name) as part:
                    part.write_bytes(data)
    except (zipfile.BadZipFile, KeyError, OSError) as error:
        raise BadFile(f"not a wheel with the data sets of PyKEEN ({error}).", str(wheel)) from error
    return folder
