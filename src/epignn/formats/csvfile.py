"""The CSV files of the RCC-8 and interval benchmark (STaR): one problem a row, as names and numbers.

    ,edges,edge_labels,query_edge,query_label
    0,"[(0, 1), (1, 2)]","['EC', 'NTPPI']","(0, 2)",DC

Columns are found by their names, in any order; others, such as the row number, are passed over. The lists are
Python's. `formats.networks` and `formats.star_csv` give the names a meaning.
"""

import ast
import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from operator import itemgetter
from typing import NamedTuple, cast

from epignn.errors import BadFile

FACTS = ("edges", "edge_labels", "query_edge")
"""The columns that make a network."""
LABEL = "query_label"

MAX_CELL = 16 << 20
# The limit is one for the process and 128 kB by default, which a graph of some thousand edges exceeds.
csv.field_size_limit(max(csv.field_size_limit(), MAX_CELL))

# Every repetition is possessive, so that matching takes linear time. White space is that of JSON, which reads on.
_NODE = r"[ \t\r\n]*+-?(?:0|[1-9][0-9]{0,17}+)[ \t\r\n]*+"
_PAIR = rf"(?:\({_NODE},{_NODE}\)|\[{_NODE},{_NODE}\])"
_ONE_PAIR = re.compile(rf"[ \t\r\n]*+{_PAIR}[ \t\r\n]*+")
_PAIRS = re.compile(
    rf"[ \t\r\n]*+\[[ \t\r\n]*+(?:{_PAIR}(?:[ \t\r\n]*+,[ \t\r\n]*+{_PAIR})*+)?[ \t\r\n]*+\][ \t\r\n]*+"
)
_NO_BRACKETS = str.maketrans("", "", "()[]")
_STRING = re.compile(r"""'(?:[^'\\]|\\.)*+'|"(?:[^"\\]|\\.)*+\"""", re.DOTALL)
_STRINGS = re.compile(rf"\s*+\[\s*+(?:(?:{_STRING.pattern})\s*+(?:,\s*+(?:{_STRING.pattern})\s*+)*+)?\]\s*+")


class Row(NamedTuple):
    """A problem as the file has it.

    Attributes:
        line: where the row ends.
        edges: the two nodes of each edge, one edge after the other.
        edge_labels: a name for each edge.
        query: the two nodes that are asked about.
        label: the answer; empty where the file has none.
    """

    line: int
    edges: list[int]
    edge_labels: list[str]
    query: list[int]
    label: str


def read_rows(lines: Iterable[str], file: str, columns: tuple[str, ...] = FACTS) -> Iterator[Row]:
    """Read the rows of a file, which must have these columns: edges, their labels, the query, and its label.

    >>> text = ["edges,edge_labels,query_edge", '''"[(0, 1), (1, 2)]","['EC', 'DC']","(0, 2)"''']
    >>> next(read_rows(text, "example"))
    Row(line=2, edges=[0, 1, 1, 2], edge_labels=['EC', 'DC'], query=[0, 2], label='')

    Raises:
        BadFile: a column is missing, or a row is malformed; with its line.
    """
    reader = csv.reader(lines, strict=True)
    try:
        header = next(reader, [])
        pick, has_label = _picker(header, columns)
        for cells in reader:
            if len(cells) != len(header):
                if not cells:
                    continue  # an empty line
                raise BadFile(f"expected {len(header)} columns, as in the first row, found {len(cells)}.")
            edges, labels, query, label = pick(cells)
            ends, names = _pairs(edges), _names(labels, columns[1])
            if len(ends) != 2 * len(names):
                raise BadFile(f"{len(ends) // 2} edges but {len(names)} {columns[1]}; each edge needs one.")
            yield Row(reader.line_num, ends, names, _pair(query), label if has_label else "")
    except csv.Error as error:
        raise BadFile(f"not a CSV file: {error}.", file, reader.line_num) from error
    except BadFile as error:
        raise BadFile(str(error), file, max(reader.line_num, 1)) from None


RELATION_COLUMNS = ("relations", "relation", "predicate")
HEAD_COLUMNS = ("head", "subject", "a", "from")
TAIL_COLUMNS = ("tail", "object", "b", "to")


def read_fact_table(lines: Iterable[str], file: str, delimiter: str) -> Iterator[tuple[int, str, str, str]]:
    """The line, head, relations and tail of every row of a table of facts.

    The first row may name the columns (`head`, `relations` and `tail`, or the like); without such names, the first
    three columns are head, relations and tail.

    >>> list(read_fact_table(["id,A,relation,B", "7,Lyon,inside|overlaps,France"], "example", ","))
    [(2, 'Lyon', 'inside|overlaps', 'France')]

    Raises:
        BadFile: a row has fewer columns; with its line.
    """
    reader = csv.reader(lines, delimiter=delimiter, strict=True)
    places = [0, 1, 2]
    try:
        for number, cells in enumerate(reader):
            folded = [cell.strip().casefold() for cell in cells]
            if number == 0 and (places_named := fact_columns(folded)):
                places = places_named
            elif cells:
                if len(cells) <= max(places):
                    raise BadFile(f"a fact has a head, relations and a tail; this row has {len(cells)} columns.")
                head, relations, tail = (cells[place].strip() for place in places)
                yield reader.line_num, head, relations, tail
    except csv.Error as error:
        raise BadFile(f"not a table: {error}.", file, reader.line_num) from error
    except BadFile as error:
        raise BadFile(str(error), file, reader.line_num) from None


def fact_layout(text: str, delimiter: str) -> tuple[int, list[int]] | None:
    r"""Where the rows of a table of facts begin, in bytes, and its columns; None if its first row is not one line.

    >>> fact_layout("id,A,relation,B\n7,Lyon,inside,France\n", ",")
    (16, [1, 2, 3])
    """
    first, end, _ = text.partition("\n")
    try:
        cells = next(csv.reader([first], delimiter=delimiter, strict=True), [])
    except csv.Error:
        return None
    named = fact_columns([cell.strip().casefold() for cell in cells])
    return (len((first + end).encode()), named) if named else (0, [0, 1, 2])


def fact_columns(header: list[str]) -> list[int] | None:
    """Where head, relations and tail are, if a row names them; what has another name is beside the relations."""
    relation = next((header.index(name) for name in RELATION_COLUMNS if name in header), None)
    if relation is None:
        return None
    head = next((header.index(name) for name in HEAD_COLUMNS if name in header), relation - 1)
    tail = next((header.index(name) for name in TAIL_COLUMNS if name in header), relation + 1)
    return [head, relation, tail] if head >= 0 and tail < len(header) else None


def _picker(header: list[str], columns: tuple[str, ...]) -> tuple[Callable[[list[str]], tuple[str, ...]], bool]:
    """A function that picks the cells of these columns from a row, and whether the last is a label."""
    for column in columns:
        if column not in header:
            found = ",".join(header)[:80]
            hint = (
                " Triples go to `epignn train` as a .tsv file, with tabs between them." if len(header) == 3 else ""
            )
            raise BadFile(
                f"no column {column!r}; the first row must name {', '.join(columns)}, found {found!r}.{hint}"
            )
    *facts, label = columns if len(columns) > len(FACTS) else (*columns, LABEL)
    has_label = label in header
    wanted = (*facts, label if has_label else facts[0])
    return itemgetter(*map(header.index, wanted)), has_label


def _pairs(text: str) -> list[int]:
    if not _PAIRS.fullmatch(text):
        raise BadFile(f"edges must be pairs of node numbers, such as [(0, 1), (1, 2)]; found {text[:40]!r}.")
    return _numbers(text)


def _pair(text: str) -> list[int]:
    if not _ONE_PAIR.fullmatch(text):
        raise BadFile(f"query_edge must be one pair of node numbers, such as (0, 2); found {text[:40]!r}.")
    return _numbers(text)


def _numbers(text: str) -> list[int]:
    return cast(list[int], json.loads(f"[{text.translate(_NO_BRACKETS)}]"))


def _names(text: str, column: str) -> list[str]:
    """The names in a list; read as JSON, which is ten times faster, unless a name is odd."""
    try:
        names = json.loads(text.replace("'", '"'))
    except (ValueError, RecursionError):
        names = _odd_names(text)
    if not isinstance(names, list) or not set(map(type, names)) <= {str}:
        raise BadFile(f"{column} must be a list of names, such as ['EC', 'TPP']; found {text[:40]!r}.")
    return names


def _odd_names(text: str) -> list[str] | None:
    """Names that hold quotes or escapes; one at a time, for the syntax tree of a large cell takes gigabytes."""
    try:
        return [*map(ast.literal_eval, _STRING.findall(text))] if _STRINGS.fullmatch(text) else None
    except (SyntaxError, ValueError):
        return None
