"""Tables of facts that are no text: Parquet and Excel by pandas, and the arrays of `--out FILE.npz`."""

import zipfile
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.calculus.algebra import members
from epignn.errors import BadFile, lookup
from epignn.extras import optional
from epignn.files import readable
from epignn.formats.csvfile import fact_columns
from epignn.formats.raw import Place, RawNetwork, relation_names

ARRAYS = ("calculus", "relations", "names", "heads", "tails", "masks")
"""What an .npz file of facts holds."""


def read_frame(path: Path) -> Any:
    """A data frame of pandas from a file: `.csv`, `.tsv`, `.parquet` or `.xlsx`.

    Raises:
        BadFile: it cannot be read.
        BadArgument: pandas is not installed, or the suffix is none of these.
    """
    pandas = optional("pandas", f"reading {path.name}")
    name = path.name.casefold().removesuffix(".gz")
    readers: dict[str, Callable[[Path], Any]] = {
        ".csv": pandas.read_csv,
        ".tsv": lambda file: pandas.read_csv(file, sep="\t"),
        ".parquet": pandas.read_parquet,
        ".xlsx": pandas.read_excel,
    }
    read = lookup("suffix of a table", Path(name).suffix, readers)
    with readable(str(path)):
        try:
            return read(path)
        except (ValueError, KeyError, zipfile.BadZipFile) as error:
            reason = " ".join(str(error).split())[:200]
            raise BadFile(f"not a table that pandas reads: {reason}", str(path)) from error


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
    head, relations, tail = (frame.iloc[:, place].astype(str).str.strip() for place in places)
    ends, names = pandas.factorize(np.stack([head, tail], axis=1).ravel().astype(object))
    sets, said = pandas.factorize(relations.to_numpy(dtype=object))
    heads, tails = ends.reshape(-1, 2).T.astype(np.int32)
    written = tuple(map(relation_names, said))
    where = lambda f: Place(f + 2)  # noqa: E731 (the first row has the names)
    found = RawNetwork(tuple(names), heads.copy(), tails.copy(), sets.astype(np.int32), written, place=where)
    return [found] if len(found) else []


def read_arrays(path: Path) -> list[RawNetwork]:
    """The facts of an .npz file, as `--out FILE.npz` writes them."""
    file = str(path)
    with readable(file):
        try:
            with np.load(path, allow_pickle=False) as found:
                missing = [key for key in ARRAYS if key not in found]
                if missing:
                    raise BadFile(f"{missing[0]!r} is missing; facts are the arrays {', '.join(ARRAYS)}.", file)
                calculus, relations, names, heads, tails, masks = (found[key] for key in ARRAYS)
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise BadFile(f"not an .npz file of arrays: {error}", file) from error
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
