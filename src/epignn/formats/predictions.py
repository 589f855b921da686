"""Predictions made elsewhere, as CSV: a row a problem, in the order of the file of problems.

    id,prediction
    0,DC
    1,NTPPI

A prediction is the name of a relation, or its number. With a column `id` (or `row`), which counts the problems of
their file from 0, rows may stand in any order. Other columns are passed over. What `epignn predict --out` writes is
such a file: there the column is called `relation`.
"""

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from epignn.errors import BadFile
from epignn.files import open_text, readable
from epignn.formats.clutrr import COLUMNS as WALKS
from epignn.formats.csvfile import FACTS

PREDICTION = ("prediction", "relation")
ID = ("id", "row")
DIGITS = 18
"""Of a number; longer ones Python may refuse to read."""


def holds_predictions(path: Path) -> bool:
    """Whether a file, by its first row, holds predictions and not problems.

    Raises:
        BadFile: it cannot be read.
    """
    if ".csv" not in path.suffixes:
        return False
    with readable(str(path)), open_text(path) as lines:
        header = set(next(csv.reader(lines), []))
    return bool(header & set(PREDICTION)) and not header & {FACTS[0], WALKS[0]}


def read_predictions(path: Path, count: int) -> list[str]:
    """What is predicted for each of `count` problems, in their order.

    Raises:
        BadFile: it cannot be read; a row has no prediction; or there are more predictions than problems, or fewer.
    """
    with readable(str(path)), open_text(path) as lines:
        reader = csv.reader(lines, strict=True)
        try:
            found = list(_rows(reader))
        except csv.Error as error:
            raise BadFile(f"not a CSV file: {error}.", str(path), reader.line_num) from error
        except BadFile as error:
            raise BadFile(str(error), str(path), max(reader.line_num, 1)) from None
    if len(found) != count:
        raise BadFile(f"{len(found)} predictions for {count} problems; give one for each.", str(path))
    told: dict[int, str] = {}
    for at, (line, name, prediction) in enumerate(found):
        number = at if name is None else _number(name, count, str(path), line)
        if number in told:
            raise BadFile(f"a second prediction for problem {number}; give one for each.", str(path), line)
        told[number] = prediction
    return [told[number] for number in range(count)]


def _rows(reader: Any) -> Iterator[tuple[int, str | None, str]]:
    """Line, id where there is one, and prediction of every row."""
    header: list[str] = next(reader, [])
    what, name = (next((header.index(one) for one in names if one in header), None) for names in (PREDICTION, ID))
    if what is None:
        shown = ",".join(header)[:80]
        raise BadFile(f"no column {PREDICTION[0]!r}; the first row must name it, found {shown!r}.")
    for cells in reader:
        if not cells:
            continue  # an empty line
        if len(cells) != len(header):
            raise BadFile(f"expected {len(header)} columns, as in the first row, found {len(cells)}.")
        if not cells[what].strip():
            raise BadFile("no prediction; every problem needs one.")
        yield reader.line_num, None if name is None else cells[name].strip(), cells[what].strip()


def is_number(text: str) -> bool:
    """Whether a text is a number that may count problems or relations."""
    return text.isdecimal() and len(text) <= DIGITS


def _number(text: str, count: int, file: str, line: int) -> int:
    if not is_number(text) or int(text) >= count:
        raise BadFile(
            f"the id {text[:40]!r} is no number of a problem; they are counted from 0 to {count - 1}.", file, line
        )
    return int(text)
