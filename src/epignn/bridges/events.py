"""Time: events with a start and an end, in a table, as a network of Allen's relations.

An end that is missing is not known: the network then has every relation that some end would give.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.bridges.tables import column
from epignn.bridges.world import Events, World
from epignn.calculus import load
from epignn.calculus.algebra import Masks
from epignn.calculus.calculi.orders import ALLEN
from epignn.calculus.network import Network
from epignn.errors import BadArgument
from epignn.extras import optional

Numbers = NDArray[np.float64]
MOST = 20_000
"""Events of which every two are compared; so many give two hundred million facts."""


def from_intervals(
    frame: Any,
    start: str = "start",
    end: str = "end",
    name: str = "name",
    backwards: bool = False,
    skip_bad: bool = False,
) -> World:
    """What holds between every two events of a data frame, in Allen's relations.

    Args:
        frame: of pandas or polars; a row an event.
        start: the column of starts: numbers, dates or text that reads as dates; one that is missing is not known.
        end: the column of ends, likewise.
        name: the column of their names, which must differ.
        backwards: whether times count back from now, as ages in millions of years do.
        skip_bad: pass over rows that are no interval, and count them.

    Raises:
        BadArgument: a column is not there; a row is no interval or has a name that another row has; pandas is
            missing. Rows are counted from 1, without the header.

    >>> import pandas
    >>> plan = pandas.DataFrame({"name": ["dig", "pour"], "start": ["2024-03-01", "2024-03-08"],
    ...     "end": ["2024-03-08", None]})
    >>> print(from_intervals(plan).network)
    m(dig, pour)
    """
    names = [str(value).strip() for value in column(frame, name).to_list()]
    (begins, dated), (ends, _) = (_numbers(column(frame, key).to_list(), key) for key in (start, end))
    if backwards:
        begins, ends = -begins, -ends
    kept, notes = [], []
    first: dict[str, int] = {}
    for row, (label, begin, finish) in enumerate(zip(names, begins.tolist(), ends.tolist(), strict=True), start=1):
        wrong = _wrong(label, begin, finish, first.get(label))
        if wrong and not skip_bad:
            raise BadArgument(f"row {row}: {wrong}")
        if not wrong:
            kept.append(row - 1)
            first[label] = row
    if len(kept) < len(names):
        notes.append(f"{len(names) - len(kept):,} rows that are no interval, or repeat a name, passed over")
    unknown = int(np.isnan(begins[kept]).sum() + np.isnan(ends[kept]).sum())
    if unknown:
        notes.append(f"{unknown:,} starts or ends are not known: the sets that are possible were taken")
    if len(kept) > MOST:
        raise BadArgument(f"{len(kept):,} events are too many to compare every two of them; up to {MOST:,} can be.")
    calculus = load("allen")
    heads, tails, masks = _possible(begins[kept], ends[kept])
    network = Network(calculus, tuple(names[row] for row in kept), heads, tails, masks)
    source = Events(network.names, begins[kept], ends[kept], dated, backwards)
    return World(network, calculus.universal, tuple(notes), source)


def _wrong(name: str, start: float, end: float, before: int | None) -> str:
    """What is wrong with a row; empty if nothing is."""
    if before is not None:
        return f"{name!r} is also the name of row {before}; names must differ."
    if end < start:
        return f"{name!r} ends before it starts; exchange the two, or say that times count backwards."
    if end == start:
        return f"{name!r} starts and ends at the same time; an interval needs some time between."
    return ""


def _numbers(values: list[Any], key: str) -> tuple[Numbers, bool]:
    """Times as numbers, `nan` where there is nothing, and whether they are dates, as nanoseconds."""
    try:
        return np.array([np.nan if value is None or value == "" else float(value) for value in values]), False
    except (TypeError, ValueError):
        pass  # dates
    pandas = optional("pandas", "reading dates")
    try:
        times = pandas.to_datetime(pandas.Series(values), utc=True, format="mixed").to_numpy(dtype="datetime64[ns]")
    except (ValueError, TypeError) as error:
        raise BadArgument(f"column {key!r}: neither numbers nor dates such as 2024-03-01 ({error}).") from error
    return np.where(np.isnat(times), np.nan, times.astype(np.int64).astype(np.float64)), True


def _possible(begins: Numbers, ends: Numbers) -> tuple[NDArray[np.int32], NDArray[np.int32], Masks]:
    """The possible relations of every two intervals; those of which nothing is known are left out.

    A time that is not known lies anywhere on its side of the other end of its interval.
    """
    first, second = (side.astype(np.int32) for side in np.triu_indices(len(begins), 1))
    low_begin, high_begin = (np.where(np.isnan(begins), side, begins) for side in (-np.inf, ends))
    low_end, high_end = (np.where(np.isnan(ends), side, ends) for side in (begins, np.inf))
    low_end, high_begin = np.nan_to_num(low_end, nan=-np.inf), np.nan_to_num(high_begin, nan=np.inf)
    points = {"start": (low_begin, high_begin), "end": (low_end, high_end)}
    masks = np.full(len(first), (1 << len(ALLEN)) - 1, dtype=np.uint64)
    for place, (mine, theirs) in enumerate((("start",) * 2, ("start", "end"), ("end", "start"), ("end",) * 2)):
        signs = _signs(*(side[first] for side in points[mine]), *(side[second] for side in points[theirs]))
        allowed = np.zeros(len(first), dtype=np.uint64)
        for sign, possible in signs.items():
            having = sum(1 << r for r, relation in enumerate(ALLEN.values()) if relation[place] == sign)
            allowed |= np.where(possible, np.uint64(having), np.uint64(0))
        masks &= allowed
    told = masks != np.uint64((1 << len(ALLEN)) - 1)
    return first[told], second[told], masks[told]


def _signs(low_a: Numbers, high_a: Numbers, low_b: Numbers, high_b: Numbers) -> dict[int, NDArray[np.bool_]]:
    """Which orders of two times are possible: each is known, or anywhere strictly between two bounds."""
    known_a, known_b = low_a == high_a, low_b == high_b
    inside = (np.maximum(low_a, low_b) < np.minimum(high_a, high_b)) | np.where(
        known_a, (low_b < low_a) & (low_a < high_b), known_b & (low_a < low_b) & (low_b < high_a)
    )
    same = np.where(known_a & known_b, low_a == low_b, inside)
    return {-1: low_a < high_b, 0: same, 1: high_a > low_b}
