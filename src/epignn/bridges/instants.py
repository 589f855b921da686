"""Instants of OWL-Time: beginnings and ends of intervals, their order and their dates, as relations of intervals.

Instants are points on a line. What is said of them (`time:before`, `time:after`, `time:inside`, a date) is closed
in the point algebra; what is then possible for the ends of two intervals gives a set of Allen's relations. An
interval whose beginning or end is not named has one all the same.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from epignn.bridges.vocabularies import TIME
from epignn.calculus import load
from epignn.calculus.calculi.orders import ALLEN
from epignn.calculus.network import Network
from epignn.calculus.solve.closure import close
from epignn.errors import BadArgument

BEGINS, ENDS = TIME + "hasBeginning", TIME + "hasEnd"
BEFORE, AFTER, INSIDE = TIME + "before", TIME + "after", TIME + "inside"
DATES = tuple(TIME + "inXSD" + name for name in ("DateTimeStamp", "DateTime", "Date", "gYearMonth", "gYear"))
ABOUT = frozenset({BEGINS, ENDS, BEFORE, AFTER, INSIDE, *DATES})
"""Predicates that are about instants, or about the ends of intervals."""
MOST = 2_000
"""Intervals with ends of which every two are compared."""

Fact = tuple[str, int, str]
Triple = tuple[str, str, Any]


def facts_of_instants(triples: Sequence[Triple], intervals: set[str]) -> list[Fact]:
    """What statements about instants say of every two intervals, in Allen's relations.

    Args:
        triples: names of subject and predicate, and the object: a name, or a literal of rdflib.
        intervals: what is known to be an interval, because a relation of intervals is stated of it.

    Raises:
        BadArgument: the instants cannot be as they are said to be, a date is none, or there are too many intervals.
    """
    found = intervals | {s for s, p, _ in triples if p in (BEGINS, ENDS, INSIDE)}
    instants = {str(o) for _, p, o in triples if p in (BEGINS, ENDS, INSIDE)}
    instants |= {s for s, p, _ in triples if p in DATES}
    for s, p, o in triples:
        found |= {one for one in (s, str(o)) if p in (BEFORE, AFTER) and one not in instants}
    if len(found) > MOST:
        raise BadArgument(f"{len(found):,} intervals with ends are too many to compare; up to {MOST:,} can be.")
    order = list(_order(triples, found))
    ends = sorted(found)
    point = load("point")
    names = [end for interval in ends for end in (_begin(interval), _end(interval))]
    points = dict.fromkeys([*names, *(end for a, _, b in order for end in (a, b))])
    result = close(Network.of(point, order, tuple(points)))
    if not result.consistent:
        raise BadArgument(
            "what it says of beginnings and ends cannot all be so: "
            f"{', '.join(str(fact) for fact in result.conflict)}. Correct one of them."
        )
    matrix = result.matrix()
    allen, told = load("allen"), []
    for i, j in combinations(range(len(ends)), 2):
        signs = matrix[2 * i : 2 * i + 2, 2 * j : 2 * j + 2].ravel()
        mask = _possible(signs.tolist())
        if mask != allen.universal:
            told.append((ends[i], mask, ends[j]))
    return told


def _begin(interval: str) -> str:
    return f"the beginning of {interval}"


def _end(interval: str) -> str:
    return f"the end of {interval}"


def _order(triples: Sequence[Triple], intervals: set[str]) -> Iterator[tuple[str, str, str]]:
    """The facts about points: begin before end, what is stated, and the order of dates."""
    for interval in sorted(intervals):
        yield _begin(interval), "<", _end(interval)
    dates: dict[str, np.datetime64] = {}
    for s, p, o in triples:
        if p in DATES:
            dates[s] = _date(s, str(o))
        elif p in (BEGINS, ENDS):
            yield (_begin if p == BEGINS else _end)(s), "=", str(o)
        elif p == INSIDE:
            yield _begin(s), "<", str(o)
            yield str(o), "<", _end(s)
        elif p in (BEFORE, AFTER):
            first, second = (s, str(o)) if p == BEFORE else (str(o), s)
            yield (
                _end(first) if first in intervals else first,
                "<",
                _begin(second) if second in intervals else second,
            )
    by_date = sorted(dates, key=lambda name: dates[name])
    for one, other in pairwise(by_date):
        yield one, "=" if dates[one] == dates[other] else "<", other


def _date(name: str, text: str) -> np.datetime64:
    """A date, or a date and a time; one without a zone is taken as it stands."""
    from datetime import UTC, datetime

    try:
        if "T" in text:
            moment = datetime.fromisoformat(text)
            return np.datetime64(moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment, "us")
        return np.datetime64(text.removesuffix("Z"), "us")
    except ValueError as error:
        raise BadArgument(f"{name}: {text[:40]!r} is no date, such as 2024-03-01 or 2024-03-01T12:00Z.") from error


def _possible(signs: Sequence[int]) -> int:
    """Allen's relations whose four signs are among those that are possible, as masks of the point algebra."""
    allowed = [{-1: mask & 1, 0: mask & 2, 1: mask & 4} for mask in signs]
    return sum(
        1 << r
        for r, relation in enumerate(ALLEN.values())
        if all(allowed[place][sign] for place, sign in enumerate(relation))
    )
