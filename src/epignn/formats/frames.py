"""Tables of facts that are no text: Parquet and Excel by pandas, and the arrays of `--out FILE.npz`."""

import io
import sys
import zipfile
from collections.abc import Callable
from math import prod
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import members
from epignn.errors import BadFile, lookup
from epignn.extras import optional
from epignn.files import decode, foreign, most_bytes, read_bytes, refuse_above
from epignn.formats.csvfile import fact_columns
from epignn.formats.raw import Place, RawNetwork, relation_names

CELL = 8
"""Bytes of a cell of a table in memory, at least."""
ROWS = 4096
"""Rows of a Parquet file that are unpacked at once."""
ARRAYS = ("calculus", "relations", "names", "heads", "tails", "masks")
"""What an .npz file of facts holds."""


def read_frame(path: Path) -> Any:
    """A data frame of pandas from a file: `.csv`, `.tsv`, `.parquet` or `.xlsx`, also with `.gz`.

    Raises:
        BadFile: it cannot be read as what its suffix says, or holds more than may be read.
        BadArgument: pandas is not installed, or the suffix is none of these.
    """
    pandas = optional("pandas", f"reading {path.name}")
    suffix = Path(path.name.casefold().removesuffix(".gz")).suffix
    readers: dict[str, Callable[[bytes], Any]] = {
        ".csv": lambda data: pandas.read_csv(io.StringIO(decode(data, str(path)))),
        ".tsv": lambda data: pandas.read_csv(io.StringIO(decode(data, str(path))), sep="\t"),
        ".parquet": lambda data: _read_parquet(data, path),
        ".xlsx": lambda data: _read_excel(data, path),
    }
    reader, data = lookup("suffix of a table", suffix, readers), read_bytes(path)
    with foreign(str(path), suffix):
        return reader(data)


def _read_parquet(data: bytes, path: Path) -> Any:
    """Part by part, with texts that repeat held once: a few kilobytes of them may stand for gigabytes."""
    arrow, parquet = (optional(name, f"reading {path.name}") for name in ("pyarrow", "pyarrow.parquet"))
    schema = parquet.ParquetFile(io.BytesIO(data)).schema_arrow
    texts = [field.name for field in schema if field.type in (arrow.string(), arrow.binary(), arrow.large_string())]
    file = parquet.ParquetFile(io.BytesIO(data), read_dictionary=texts)
    about, limit = file.metadata, most_bytes(len(data))
    packed = sum(about.row_group(number).total_byte_size for number in range(about.num_row_groups))
    size = max(about.num_rows * about.num_columns * CELL, packed)
    refuse_above(size, limit, str(path))
    batches, held = [], 0
    for batch in file.iter_batches(batch_size=ROWS):
        held += batch.nbytes
        refuse_above(held, limit, str(path))
        batches.append(batch)
    frame = arrow.Table.from_batches(batches, file.schema_arrow).unify_dictionaries().to_pandas()
    for place, kind in enumerate(frame.dtypes):
        if kind == "category":
            frame.isetitem(place, frame.iloc[:, place].astype(object))
    return frame


def _read_excel(data: bytes, path: Path) -> Any:
    """The first sheet, row by row: one cell at its far end would make millions of empty ones."""
    openpyxl, pandas = (optional(name, f"reading {path.name}") for name in ("openpyxl", "pandas"))
    _refuse_bomb(data, path)
    sheet = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True, keep_links=False).worksheets[0]
    sheet.reset_dimensions()  # which the file may tell wrongly
    rows: list[list[Any]] = []
    widest = last = 0
    for cells in sheet.iter_rows(values_only=True):
        filled = max((place for place, cell in enumerate(cells, start=1) if cell not in (None, "")), default=0)
        rows.append(list(cells[:filled]))
        widest, last = max(widest, filled), len(rows) if filled else last
        refuse_above(len(rows) * max(widest, 1) * CELL, most_bytes(len(data)), str(path))
    names, *rest = [[*row, *[None] * (widest - len(row))] for row in rows[: max(last, 1)]] or [[]]
    return pandas.DataFrame(rest, columns=["" if name is None else name for name in names])


def _refuse_bomb(data: bytes, path: Path) -> None:
    """Refuse a zip file that unpacks to more than one of its size may."""
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        refuse_above(sum(one.file_size for one in packed.infolist()), most_bytes(len(data)), str(path))


def read_frame_facts(path: Path) -> list[RawNetwork]:
    """The facts of a Parquet file or of the first sheet of an Excel file; columns as in a table as text."""
    pandas, frame, file = optional("pandas", f"reading {path.name}"), read_frame(path), str(path)
    columns = [str(name).strip().casefold() for name in frame.columns]
    if not (places := fact_columns(columns)):
        if len(columns) != 3:
            shown = ", ".join(map(str, frame.columns))
            raise BadFile(f"a table of facts has the columns head, relations and tail; this one has {shown}.", file)
        places = [0, 1, 2]
    empty = np.flatnonzero(frame.iloc[:, places].isna().any(axis=1))
    if len(empty):
        raise BadFile("a cell of this fact is empty.", file, int(empty[0]) + 2)
    with foreign(file, "a table of texts"):  # or of bytes that are none
        head, relations, tail = (frame.iloc[:, place].astype(str).str.strip() for place in places)
    ends, names = pandas.factorize(np.stack([head, tail], axis=1).ravel().astype(object))
    sets, said = pandas.factorize(relations.to_numpy(dtype=object))
    heads, tails = ends.reshape(-1, 2).T.astype(np.int32)
    written = tuple(map(relation_names, said))
    where = lambda f: Place(f + 2)  # noqa: E731 (the first row has the names)
    found = RawNetwork(tuple(names), heads.copy(), tails.copy(), sets.astype(np.int32), written, place=where)
    return [found] if len(found) else []


def _refuse_forged(packed: zipfile.ZipFile, name: str) -> None:
    """Refuse an array whose header promises more than follows: room for it would be taken first."""
    with packed.open(name) as member:
        version = np.lib.format.read_magic(member)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, kind = header(member)
        if prod(shape) * kind.itemsize > packed.getinfo(name).file_size:
            raise ValueError(f"{name} promises {prod(shape):,} values, and has fewer")


def _codes(texts: NDArray[np.str_]) -> NDArray[np.uint32]:
    """The characters of texts as numbers, of which an array may have more than there are characters."""
    return np.frombuffer(texts.tobytes(), np.dtype(np.uint32).newbyteorder(texts.dtype.byteorder))


def read_arrays(path: Path) -> list[RawNetwork]:
    """The facts of an .npz file, as `--out FILE.npz` writes them."""
    file, data = str(path), read_bytes(path)
    with foreign(file, ".npz"):
        _refuse_bomb(data, path)
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            missing = [key for key in ARRAYS if key not in found]
            if missing:
                raise BadFile(f"{missing[0]!r} is missing; facts are the arrays {', '.join(ARRAYS)}.", file)
            for key in ARRAYS:
                _refuse_forged(found.zip, f"{key}.npy")
            calculus, relations, names, heads, tails, masks = (found[key] for key in ARRAYS)
    for texts in (calculus, relations, names):
        if texts.dtype.kind == "U" and _codes(texts).max(initial=0) > sys.maxunicode:
            raise BadFile("a name in it is no text.", file)
    if (relations.ndim, names.ndim, names.dtype.kind, relations.dtype.kind) != (1, 1, "U", "U"):
        raise BadFile("names and relations must be lists of texts.", file)
    kinds = (heads.dtype.kind, tails.dtype.kind, masks.dtype.kind)
    if kinds != ("i", "i", "u") or not heads.shape == tails.shape == masks.shape == (masks.size,):
        raise BadFile("heads, tails and masks must be arrays of numbers, as long as each other.", file)
    ends = np.concatenate([heads, tails])
    if ends.size and not 0 <= ends.min() <= ends.max() < len(names):
        raise BadFile(f"a fact refers to an entity outside 0..{len(names) - 1}.", file)
    if masks.size and int(masks.max()) >> len(relations):
        raise BadFile("a mask has bits beyond the relations.", file)
    values, sets = np.unique(masks, return_inverse=True)
    written = tuple(tuple(str(relations[r]) for r in members(mask)) or ("∅",) for mask in values.tolist())
    return [
        RawNetwork(
            tuple(names.tolist()),
            heads.astype(np.int32),
            tails.astype(np.int32),
            sets.astype(np.int32),
            written,
            calculus=str(calculus),
            place=lambda f: Place(path=f"heads[{f}]"),
        )
    ]


READERS: MappingProxyType[str, Callable[[Path], list[RawNetwork]]] = MappingProxyType(
    {".npz": read_arrays, ".parquet": read_frame_facts, ".xlsx": read_frame_facts}
)
"""What reads each suffix."""
