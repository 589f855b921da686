"""Tables: columns of data frames, and networks as files with one column a thing, or as arrays."""

import csv
import io
from collections.abc import Callable, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from epignn.calculus.network import COLUMNS, Network
from epignn.errors import BadArgument, lookup, unknown
from epignn.extras import optional
from epignn.files import write_text, writing
from epignn.formats.networks import WRITERS
from epignn.formats.rows import text_of_rows

SUFFIXES = MappingProxyType({".csp": "csp", ".json": "json", ".txt": "facts", ".facts": "facts", ".pl": "facts"})


def column(frame: Any, name: str) -> Any:
    """A column of a data frame of pandas or polars.

    Raises:
        BadArgument: it is not there; with the near miss.
    """
    if name not in list(frame.columns):
        raise BadArgument(str(unknown("column", name, map(str, frame.columns))))
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
