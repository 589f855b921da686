"""Tables too long to be made in one go: written in shards, resumed where they stopped, joined at the end.

While a table is made, `NAME.parts` beside its place holds its shards and what they belong to. Each is written whole
or not at all. When all are there they become the file, and the folder goes.
"""

import csv
import io
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from epignn.errors import BadArgument, BadFile
from epignn.extras import optional
from epignn.files import foreign, json_text, load_json, make_folder, read_text, write_text, writing

Columns = Mapping[str, Sequence[Any]]
ABOUT = "about.json"


def csv_text(columns: Columns, header: bool = True) -> str:
    """Columns as CSV; numbers with a point have six digits behind it, what is missing is empty."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    if header:
        writer.writerow(columns)
    cells = ([_cell(value) for value in values] for values in columns.values())
    writer.writerows(zip(*cells, strict=True))
    return buffer.getvalue()


def _cell(value: Any) -> Any:
    return f"{value:.6f}" if isinstance(value, float) else value


def _write_csv(columns: Columns, path: Path) -> None:
    write_text(path, csv_text(columns))


def _join_csv(parts: Sequence[Path], out: Path) -> None:
    with out.open("wb") as file:
        for number, part in enumerate(parts):
            data = part.read_bytes()
            file.write(data if not number else data.partition(b"\n")[2])


def _write_json(columns: Columns, path: Path) -> None:
    rows = zip(*columns.values(), strict=True)
    write_text(path, "".join(f"{json_text(dict(zip(columns, row, strict=True)))}\n" for row in rows))


def _join_json(parts: Sequence[Path], out: Path) -> None:
    with out.open("wb") as file:
        file.write(b"[\n")
        begun = False
        for part in parts:
            if lines := part.read_bytes().removesuffix(b"\n").replace(b"\n", b",\n"):
                file.write((b",\n" if begun else b"") + lines)
                begun = True
        file.write(b"\n]\n")


def _write_parquet(columns: Columns, path: Path) -> None:
    arrow, parquet = _arrow(), optional("pyarrow.parquet", "writing Parquet")
    table = arrow.table({name: _array(arrow, name, values) for name, values in columns.items()})
    with writing(path) as part:
        parquet.write_table(table, part)


def _array(arrow: Any, name: str, values: Sequence[Any]) -> Any:
    """A column of a type that does not depend on what one shard happens to hold."""
    kinds = {
        "rank": arrow.int32(),
        "probability": arrow.float64(),
        "score": arrow.float32(),
        "known": arrow.bool_(),
    }
    return arrow.array(values, kinds.get(name, arrow.string()))


def _join_parquet(parts: Sequence[Path], out: Path) -> None:
    parquet = optional("pyarrow.parquet", "writing Parquet")
    with parquet.ParquetWriter(out, parquet.read_schema(parts[0])) as writer:
        for part in parts:
            writer.write_table(parquet.read_table(part))


def _arrow() -> Any:
    return optional("pyarrow", "writing Parquet")


FORMATS: Mapping[str, tuple[Callable[[Columns, Path], None], Callable[[Sequence[Path], Path], None]]] = (
    MappingProxyType(
        {
            ".csv": (_write_csv, _join_csv),
            ".json": (_write_json, _join_json),
            ".parquet": (_write_parquet, _join_parquet),
        }
    )
)
"""By suffix: what writes a shard, and what joins all."""


class Shards:
    """A table that is made shard by shard.

    Args:
        out: where the table goes, in the format of its suffix: .csv, .json or .parquet; CSV by any other.
        about: what tells this table from others, as plain values.

    Raises:
        BadArgument: another table was begun here, or a library is missing.
    """

    def __init__(self, out: Path, about: Mapping[str, Any]) -> None:
        self.out, self.folder = out, out.with_name(f"{out.name}.parts")
        self.suffix = out.suffix if out.suffix in FORMATS else ".csv"
        self._write, self._join = FORMATS[self.suffix]
        if self.suffix == ".parquet":
            _arrow()
        self._begin(json.loads(json_text(about)))

    def _begin(self, about: dict[str, Any]) -> None:
        place = self.folder / ABOUT
        if self.folder.is_symlink():  # somebody laid it there; what it leads to is not ours to fill and to remove
            raise BadArgument(f"{self.folder} is a link; remove it, or choose another name with --out.")
        if not place.exists():
            make_folder(self.folder)
            write_text(place, json_text(about) + "\n")
            return
        there = load_json(read_text(place), str(place))
        differ = [key for key in about if not isinstance(there, dict) or there.get(key) != about[key]]
        if differ:
            raise BadArgument(
                f"{self.folder} holds the beginning of another table (other {', '.join(differ)}); delete it, or "
                "choose another name with --out."
            )

    def has(self, number: int) -> bool:
        """Whether a shard is there."""
        return self._place(number).exists()

    def write(self, number: int, columns: Columns) -> None:
        """Write a shard."""
        self._write(columns, self._place(number))

    def join(self, count: int) -> None:
        """Make the table of so many shards, and remove them."""
        places = [self._place(number) for number in range(count)]
        for place in places:
            if not place.exists():
                raise BadFile("a part of the table is missing; run the same command again.", str(place))
        with (
            foreign(str(self.folder), "the parts of this table; delete it to begin anew"),
            writing(self.out) as part,
        ):
            self._join(places, part)
        shutil.rmtree(
            self.folder, ignore_errors=True
        )  # the table is there; what is left of the parts is not needed

    def _place(self, number: int) -> Path:
        return self.folder / f"{number:06}{self.suffix}"
