"""Files of labelled graphs over any vocabulary: CLUTRR's or STaR's `.csv`, Graphlog's `.jsonl`, also with `.gz`."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

from epignn.data.dataset import Dataset
from epignn.errors import BadFile
from epignn.formats.clutrr import COLUMNS, read_clutrr
from epignn.formats.columns import Columns, open_text
from epignn.formats.csvfile import FACTS, LABEL, read_rows
from epignn.formats.graphlog import read_graphlog
from epignn.formats.networks import readable

Reader = Callable[[Path, Sequence[str] | None], Dataset]


def _read_csv(path: Path, relations: Sequence[str] | None) -> Dataset:
    """A CSV file of either kind; its header tells which."""
    with readable(str(path)), open_text(path) as lines:
        if COLUMNS[0] in next(lines, ""):
            return read_clutrr(path, relations)
        lines.seek(0)
        columns = Columns()
        columns.extend(read_rows(lines, str(path), (*FACTS, LABEL)))
    names, position = columns.codes.vocabulary(relations, str(path))
    return columns.dataset(names, position)


READERS: MappingProxyType[str, Reader] = MappingProxyType({".csv": _read_csv, ".jsonl": read_graphlog})


def read_graphs(path: Path, relations: Sequence[str] | None = None) -> Dataset:
    """Read a file over a vocabulary, or over the sorted names that occur in it.

    Raises:
        BadFile: the suffix is of neither format, or the reader refuses the file.
    """
    suffix = Path(Path(path).name.casefold().removesuffix(".gz")).suffix
    if suffix not in READERS:
        raise BadFile(f"expected a file ending in {' or '.join(READERS)}, also with .gz.", str(path))
    return READERS[suffix](path, relations)


def vocabulary(paths: Iterable[Path]) -> tuple[str, ...]:
    """The sorted names of all relations that occur in some files, on edges or as answers."""
    return tuple(sorted({name for path in paths for name in read_graphs(path).relations}))
