"""Tables: data frames from files, and networks as files with one column a thing, or as arrays."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zipfile import ZipFile

import numpy as np

from epignn.calculus.network import COLUMNS, Network
from epignn.errors import BadArgument, lookup, unknown
from epignn.extras import optional
from epignn.files import decode, foreign, most_bytes, read_bytes, refuse_above, write_text, writing
from epignn.formats.networks import WRITERS
from epignn.formats.rows import distinct_sets, text_of_rows

CELL = 8
"""Bytes of a cell of a table in memory, at least."""
SUFFIXES = MappingProxyType({".csp": "csp", ".json": "json", ".txt": "facts", ".facts": "facts", ".pl": "facts"})


def column(frame: Any, name: str) -> Any:
    """A column of a data frame of pandas or polars.

    Raises:
        BadArgument: it is not there; with the near miss.
    """
    if name not in list(frame.columns):
        raise BadArgument(str(unknown("column", name, map(str, frame.columns))))
    return frame[name]


def read_frame(path: Path) -> Any:
    """A data frame of pandas from a file: `.csv`, `.tsv`, `.parquet` or `.xlsx`, also with `.gz`.

    Raises:
        BadArgument: pandas is not installed, or the suffix is none of these.
        BadFile: it cannot be read as what its suffix says, or holds more than may be read.
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
    file = optional("pyarrow.parquet", f"reading {path.name}").ParquetFile(io.BytesIO(data))
    cells = file.metadata.num_rows * file.metadata.num_columns
    refuse_above(cells * CELL, most_bytes(len(data)), str(path))
    return file.read().to_pandas()


def _read_excel(data: bytes, path: Path) -> Any:
    optional("openpyxl", f"reading {path.name}")
    pandas = optional("pandas", f"reading {path.name}")
    with ZipFile(io.BytesIO(data)) as packed:
        refuse_above(sum(one.file_size for one in packed.infolist()), most_bytes(len(data)), str(path))
    return pandas.read_excel(io.BytesIO(data), engine="openpyxl")


def table_text(network: Network, delimiter: str = ",") -> str:
    r"""A network as CSV text, with a column each for head, relations and tail.

    >>> from epignn.calculus import load
    >>> table_text(Network.of(load("rcc8"), [("Vieux-Lyon, 5e", "tpp|ntpp", "Lyon")]))
    'head,relations,tail\n"Vieux-Lyon, 5e",TPP|NTPP,Lyon\n'
    """
    masks, sets = distinct_sets(network)
    names = _cells(network.names, delimiter)
    relations = _cells([network.calculus.format(mask) for mask in masks], delimiter)
    columns = ((network.heads, names), (sets, relations), (network.tails, names))
    return delimiter.join(COLUMNS) + "\n" + text_of_rows(columns, ("", delimiter, delimiter, "\n"))


def _cells(values: Sequence[str], delimiter: str) -> list[str]:
    """Cells as the csv module quotes them."""
    written = []
    for value in values:
        line = io.StringIO()
        csv.writer(line, delimiter=delimiter, lineterminator="").writerow([value, ""])
        written.append(line.getvalue().removesuffix(delimiter))
    return written


def _parquet(network: Network, path: Path) -> None:
    optional("pyarrow", "writing Parquet")
    network.to_pandas().to_parquet(path, index=False)


def _excel(network: Network, path: Path) -> None:
    if len(network) >= 1 << 20:
        raise BadArgument(f"{len(network):,} facts are more than a sheet of Excel holds; write .csv or .parquet.")
    optional("openpyxl", "writing Excel")
    with path.open("wb") as file:  # by its name, pandas would not know what to write
        network.to_pandas().to_excel(file, index=False, engine="openpyxl")


def _arrays(network: Network, path: Path) -> None:
    with path.open("wb") as file:
        np.savez_compressed(
            file,
            calculus=np.array(network.calculus.name),
            relations=np.array(network.calculus.relations),
            names=np.array(network.names),
            heads=network.heads,
            tails=network.tails,
            masks=network.masks,
        )


BINARY: MappingProxyType[str, Callable[[Network, Path], None]] = MappingProxyType(
    {".npz": _arrays, ".parquet": _parquet, ".xlsx": _excel}
)
DELIMITERS = MappingProxyType({".csv": ",", ".tsv": "\t"})


def write_out(networks: Sequence[Network], path: Path, form: str = "") -> None:
    """Write networks to a file, in the format of its suffix; it is there whole or not at all.

    Args:
        networks: one; of text formats also several, one after the other.
        path: a name that ends in .csv, .tsv, .parquet, .npz, .xlsx, .csp, .json or .ttl; others get facts as text.
        form: facts, csp or json, whatever the suffix says.

    Raises:
        BadArgument: there are several and the format takes one, or a library is missing.
    """
    suffix = Path(path.name.casefold().removesuffix(".gz")).suffix
    text_form = form or SUFFIXES.get(suffix, "")
    if not text_form and (suffix in BINARY or suffix in DELIMITERS):
        if len(networks) != 1:
            raise BadArgument(f"{suffix} holds one network, not {len(networks)}; choose one with --network N.")
        if suffix in DELIMITERS:
            write_text(path, table_text(networks[0], DELIMITERS[suffix]))
        else:
            with writing(path) as part:
                BINARY[suffix](networks[0], part)
        return
    writer = lookup("format", text_form or "facts", WRITERS)
    write_text(path, "".join(map(writer, networks)))
