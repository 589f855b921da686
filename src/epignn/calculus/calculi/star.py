"""The star calculus: directions between points by lines through them, four of which give sixteen compass points.

Lines at equal angles cut the plane around a point into rays and, between them, open sectors. The composition is
exact: going in one direction and then in another, one arrives somewhere strictly between the two, on the shorter
way round; if they are opposite, ahead, behind, or where one began.
"""

from itertools import product

from epignn.calculus.algebra import Calculus

COMPASS = (
    *("N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE"),
    *("S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW"),
)
"""Rays and sectors of four lines in turn, clockwise."""
FINE = 8
"""Angles told apart from one ray to the next; a direction of a sector and its neighbours need four."""


def star(names: tuple[str, ...] = COMPASS) -> Calculus:
    """The star calculus whose rays and sectors in turn have these names; `nne(a, b)` says that a lies there of b.

    Closure does not decide it: some networks that are closed have no model (J. Renz and D. Mitra, 2004).
    """
    count, same = len(names), len(names)
    turn = FINE * count // 2
    composition = [[_told(_sums(r, s, turn), count, turn) for s in range(count)] + [1 << r] for r in range(count)]
    composition.append([1 << r for r in range(count + 1)])
    opposite = [*((r + count // 2) % count for r in range(count)), same]
    return Calculus(
        name=f"star{count // 4}",
        relations=(*names, "EQ"),
        identity=same,
        converses=tuple(opposite),
        composition=tuple(map(tuple, composition)),
        title="Star calculus: sixteen compass directions between points" if count == 16 else "Star calculus",
        source="derived from the angles of sums of vectors; J. Renz, D. Mitra, PRICAI 2004",
    )


def _angles(r: int) -> tuple[int, ...]:
    """Some angles of a relation: that of a ray, or three of a sector."""
    middle = r * FINE // 2
    return (middle,) if r % 2 == 0 else (middle - 1, middle, middle + 1)


def _sums(r: int, s: int, turn: int) -> set[int | None]:
    """The angles of sums of a vector of one relation and one of another; None is no way at all."""
    found: set[int | None] = set()
    for u, v in product(_angles(r), _angles(s)):
        ahead = (v - u) % turn
        if ahead == 0:
            found.add(u)
        elif 2 * ahead == turn:
            found |= {u, v, None}
        else:
            start, steps = (u, ahead) if 2 * ahead < turn else (v, turn - ahead)
            found |= {(start + step) % turn for step in range(1, steps)}
    return found


def _told(angles: set[int | None], count: int, turn: int) -> int:
    """The relations of some angles, as a mask."""
    mask = 0
    for angle in angles:
        if angle is None:
            mask |= 1 << count
        else:
            ray, rest = divmod(angle % turn, FINE)
            mask |= 1 << (2 * ray + (rest > 0))
    return mask
