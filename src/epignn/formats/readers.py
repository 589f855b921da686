"""Files of labelled graphs over any vocabulary: CLUTRR's or STaR's `.csv`, Graphlog's `.jsonl`, also with `.gz`."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

from epignn.data.dataset import Dataset
from epignn.errors import BadFile
from epignn.files import open_text, readable
from epignn.formats.clutrr import COLUMNS, read_clutrr
from epignn.formats.columns import Columns
from epignn.formats.csvfile import FACTS, LABEL
from epignn.formats.graphlog import read_graphlog
from epignn.formats.star_csv import cell_of

Reader = Callable[[Path, Sequence[str] | None], Dataset]


def is_benchmark(path: Path) -> bool:
    """Whether a file has the columns of the RCC-8 and interval benchmark, by its header."""
    if Path(path.name.casefold().removesuffix(".gz")).suffix != ".csv":
        return False
    with readable(str(path)), open_text(path) as lines:
        return COLUMNS[0] not in next(lines, "")


def _read_csv(path: Path, relations: Sequence[str] | None) -> Dataset:
    """A CSV file of either kind."""
    if not is_benchmark(path):
        return read_clutrr(path, relations)
    columns = Columns.read(path, (*FACTS, LABEL))
    return columns.dataset(*columns.codes.vocabulary(relations, str(path)), *cell_of(path))


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
