"""OPRA-1: points that look in a direction, such as people or ships, and where each sees the other.

`left-front(a, b)` says that a sees b somewhere to its left, and b sees a straight ahead. Where both are at the same
place, `same-left(a, b)` says that b looks to the left of where a looks; `same` is the identity.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus

SIDES = ("front", "left", "back", "right")
SAME = ("same", "same-left", "same-back", "same-right")
RELATIONS = (*(f"{mine}-{theirs}" for mine, theirs in product(SIDES, repeat=2)), *SAME)
FAR = 2
"""The table is the same for places of this grid, each way, and larger ones; a test compares."""

Points = NDArray[np.int64]


def opra(far: int = FAR, steps: int = 1) -> Calculus:
    """OPRA-1, derived by enumeration.

    Its composition is weak and not associative; closure finds no contradiction in some networks that have no model.

    Args:
        far: points lie on a grid, so many places each way from the first one.
        steps: they look along vectors of so many steps at most.
    """
    looks = [v for v in product(range(-steps, steps + 1), repeat=2) if v != (0, 0)]
    places = product(range(-far, far + 1), repeat=2)
    points = np.array([(*place, *look) for place in places for look in looks])
    origin = np.array([0, 0, 1, 0])  # any other oriented point can be turned and moved there
    from_origin, back = relate(origin, points), relate(points, origin)
    holds = np.zeros((len(RELATIONS),) * 3, dtype=bool)
    for point, first in zip(points, from_origin, strict=True):
        holds[first, relate(point, points), from_origin] = True
    converses = dict(zip(from_origin.tolist(), back.tolist(), strict=True))
    bits = 1 << np.arange(len(RELATIONS), dtype=np.int64)
    return Calculus(
        name="opra1",
        relations=RELATIONS,
        identity=RELATIONS.index("same"),
        converses=tuple(converses[r] for r in range(len(RELATIONS))),
        composition=tuple(map(tuple, (holds * bits).sum(axis=2).tolist())),
        aliases={side: "|".join(name for name in RELATIONS if name.startswith(f"{side}-")) for side in SIDES},
        title="OPRA-1: where each of two oriented points sees the other",
        source="derived from triples of oriented points on a grid; R. Moratz, ECAI 2006",
        associative=False,
    )


def relate(a: Points, b: Points) -> NDArray[np.int64]:
    """The relation of oriented points `(x, y, dx, dy)`, element by element, as its number."""
    way = b[..., :2] - a[..., :2]
    apart = len(SIDES) * _side(a[..., 2:], way) + _side(b[..., 2:], -way)
    together = len(SIDES) ** 2 + _side(a[..., 2:], b[..., 2:])
    return np.where((way == 0).all(axis=-1), together, apart)


def _side(look: Points, way: Points) -> NDArray[np.int64]:
    """On which side of a look a way goes."""
    cross = look[..., 0] * way[..., 1] - look[..., 1] * way[..., 0]
    ahead = (look * way).sum(axis=-1) > 0
    return np.where(cross > 0, 1, np.where(cross < 0, 3, np.where(ahead, 0, 2)))
