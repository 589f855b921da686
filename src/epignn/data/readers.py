"""Files of labelled graphs by their suffix: CLUTRR's `.csv`, Graphlog's `.jsonl`, also with `.gz`."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import MappingProxyType

from epignn.data.clutrr import read_clutrr
from epignn.data.dataset import Dataset
from epignn.data.graphlog import read_graphlog
from epignn.errors import BadFile

Reader = Callable[[Path, Sequence[str] | None], Dataset]

READERS: MappingProxyType[str, Reader] = MappingProxyType({".csv": read_clutrr, ".jsonl": read_graphlog})


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
