"""Triples and questions as Python users have them: lists, data frames of pandas or polars, files."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from epignn.errors import BadArgument
from epignn.formats.triples import COLUMN_NAMES, Triples, read_triples
from epignn.reason.answers import COLUMNS


def library_of(data: Any) -> str | None:
    """`pandas` or `polars`, if this is a frame or a column of one; neither is loaded for it."""
    for name in ("pandas", "polars"):
        library = sys.modules.get(name)
        if library is not None and isinstance(data, (library.DataFrame, library.Series)):
            return name
    return None


def read_rows(triples: Any) -> tuple[Triples, str | None]:
    """Triples in any form, and the library whose frame they came in.

    Raises:
        BadArgument: a frame has no three columns that could be meant.
        BadFile: a row is no triple.
    """
    if isinstance(triples, (str, Path)):
        return read_triples(Path(triples)), None
    library = library_of(triples)
    if library is None:
        return Triples.of(triples), None
    columns = [str(name) for name in triples.columns]
    named = [next((name for name in known if name in columns), None) for known in COLUMN_NAMES]
    chosen = named if None not in named else columns if len(columns) == 3 else None
    if chosen is None:
        raise BadArgument(
            f"which columns are head, relation and tail? These are {', '.join(columns)}; rename them."
        )
    parts = [values(triples[name]) for name in chosen]
    return Triples.of(zip(*parts, strict=True), "the data frame"), library


def values(column: Any) -> list[Any]:
    """A column, an array or a list as a list."""
    for method in ("to_list", "tolist"):
        if hasattr(column, method):
            found: list[Any] = getattr(column, method)()
            return found
    return list(column)


def pairs(heads: Any, relation: Any) -> list[tuple[str, str]]:
    """Questions: every head with one relation, or each with its own.

    Raises:
        BadArgument: there are not as many relations as heads.
    """
    asked = [str(heads)] if _is_one(heads) else [str(head) for head in values(heads)]
    if _is_one(relation):
        return [(head, str(relation)) for head in asked]
    named = [str(name) for name in values(relation)]
    if len(named) != len(asked):
        raise BadArgument(
            f"{len(asked)} heads and {len(named)} relations: give one relation, or one for each head."
        )
    return list(zip(asked, named, strict=True))


def _is_one(value: Any) -> bool:
    """Whether this is one name, or number, and no list or column of them."""
    return isinstance(value, str) or not (isinstance(value, Iterable) or hasattr(value, "to_list"))


def frame(rows: Iterable[dict[str, Any]], library: str, paths: bool) -> Any:
    """Answers as a data frame of a library that is loaded."""
    columns = [*COLUMNS, *(["path"] if paths else [])]
    found = list(rows)
    table = {name: [row[name] for row in found] for name in columns}
    return sys.modules[library].DataFrame(table)
