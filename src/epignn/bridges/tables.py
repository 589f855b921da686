"""Tables: columns of data frames, and networks as files with one column a thing, or as arrays."""

import csv
import io
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.calculus.network import COLUMNS, Network
from epignn.errors import BadArgument, lookup, unknown
from epignn.extras import optional
from epignn.files import shown, write_text, writing
from epignn.formats.networks import WRITERS
from epignn.formats.rows import text_of_rows

NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
"""What cannot stand in XML, and so not in a file of Excel."""
MOST_CHARACTERS = 32_767
"""Of a cell of Excel; what is longer would be cut without a word."""
SUFFIXES = MappingProxyType({".csp": "csp", ".json": "json", ".txt": "facts", ".facts": "facts", ".pl": "facts"})


def column(frame: Any, name: str) -> Any:
    """A column of a data frame of pandas or polars.

    Raises:
        BadArgument: it is not there, with the near miss; or there are two of this name.
    """
    columns = list(frame.columns)
    if name not in columns:
        raise BadArgument(str(unknown("column", name, map(str, columns))))
    if columns.count(name) > 1:
        raise BadArgument(f"{columns.count(name)} columns are called {name!r}; rename all but one.")
    return frame[name]


def table_text(network: Network, delimiter: str = ",") -> str:
    r"""A network as CSV text, with a column each for head, relations and tail.

    >>> from epignn.calculus import load
    >>> table_text(Network.of(load("rcc8"), [("Vieux-Lyon, 5e", "tpp|ntpp", "Lyon")]))
    'head,relations,tail\n"Vieux-Lyon, 5e",TPP|NTPP,Lyon\n'
    """
    masks, sets = network.distinct_sets()
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
    openpyxl, cells = (optional(name, "writing Excel") for name in ("openpyxl", "openpyxl.cell"))
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("facts")

    def cell(text: str) -> Any:
        """A text as it is: one that begins with = would be a formula, one such as #N/A an error."""
        if NOT_XML.search(text):
            raise BadArgument(f"{shown(text[:80])} has a control character, which Excel cannot hold; write .csv.")
        if len(text) > MOST_CHARACTERS:
            raise BadArgument(f"{shown(text[:40])}… is longer than a cell of Excel holds; write .csv.")
        if not text.startswith(("=", "#")):
            return text
        found = cells.WriteOnlyCell(sheet, text)
        found.data_type = "s"
        return found

    masks, sets = network.distinct_sets()
    names, relations = [*map(cell, network.names)], [network.calculus.format(mask) for mask in masks]
    sheet.append(COLUMNS)
    for row in zip(network.heads.tolist(), sets.tolist(), network.tails.tolist(), strict=True):
        sheet.append((names[row[0]], relations[row[1]], names[row[2]]))
    book.save(path)


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
