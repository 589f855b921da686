"""Networks whose paths tell everything: closure along an elimination order, of all pairs or of one.

Where composition distributes over intersections, complete closure leaves of a pair what all paths between the
two leave: the intersection of the compositions along them (Long and Li, 2015). Then one sweep along an elimination
order finds every contradiction that closure finds, and all that closure knows of the pair that is eliminated last.
What it knows of the others follows against that order, from each entity's later neighbours alone: with v the
entity, u these neighbours, x any entity eliminated after v, and C what is known,

    C_vx = ⋂ { C_vu ∘ C_ux },

instead of through every other entity. A chain of n facts takes n² steps, where complete closure takes n³.

That this is so is not believed but tested, of the sets that can come up: see `paths_suffice`.
"""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Indices, Network
from epignn.calculus.result import triangle_ends
from epignn.calculus.solve import plain_sparse
from epignn.calculus.solve.native import native_algebra
from epignn.calculus.solve.sparse import swept
from epignn.kernels import Backend, kernels

FEW = 128
"""Entities below which complete closure is quick enough."""
SPARSE = 64
"""Of n entities, n² by this is the most pairs that may be kept along the order, for it to pay."""
MOST_SETS = 128
"""Sets that may come up; above, the laws are not tested. Single relations of RCC-8 give 37, of intervals 29."""


class Closed(NamedTuple):
    """Whether there is no contradiction, or near which pair; the pairs that are kept; and the cost."""

    consistent: bool
    near: tuple[int, int]
    first: Indices
    second: Indices
    masks: Masks
    steps: int
    refinements: int


def along_paths(network: Network, query: tuple[int, int] | None, backend: Backend) -> Closed | None:
    """What complete closure finds of a sparse network; None where this may differ, or be slower.

    Args:
        network: any network.
        query: the positions of the pair that is asked for; without it all pairs are kept.
        backend: which kernels answer.
    """
    n, calculus = len(network.names), network.calculus
    if n < FEW or len(network) > n * n // SPARSE:
        return None
    if not paths_suffice(calculus, tuple(network.distinct_sets()[0])):
        return None
    asked = [query] if query is not None and query[0] != query[1] else []
    order, first, second, masks, empty, triangles, refinements, _ = swept(
        network, asked, 1, backend, most=n * n // SPARSE
    )
    if not len(order):  # it would keep too many pairs
        return None
    nothing = (first[:0], second[:0], masks[:0])
    if empty >= 0 or (loop := network.impossible_loop()) is not None:
        near = (int(first[empty]), int(second[empty])) if empty >= 0 else (int(network.heads[loop]),) * 2
        return Closed(False, near, *nothing, triangles, refinements)
    if query is not None:
        last = (first[-1:], second[-1:], masks[-1:]) if asked else nothing
        return Closed(True, query, *last, triangles, refinements)
    module = kernels(backend)
    if module is None:
        pairs = plain_sparse.spread(calculus, order, first, second, masks)
    else:
        pairs = module.spread(native_algebra(calculus), order, first, second, masks)
    steps = triangles + len(first)
    if len(pairs) < n * (n - 1) // 2:
        return Closed(False, (0, 0), *nothing, steps, refinements)
    return Closed(True, (0, 0), *triangle_ends(n), pairs, steps, refinements)


@lru_cache(maxsize=256)
def paths_suffice(calculus: Calculus, masks: tuple[int, ...]) -> bool:
    """Whether closure of any network over these sets is the intersection of all paths.

    It is if the laws below hold of all sets that converse, composition and intersection make of these. Let v be
    eliminated first, and let the others be closed (by induction; of a single entity nothing is to be shown).

    - Nothing is empty: sets of which each two meet, meet all at once, because with T˘ the converse of T, the
      identity is in (R ∩ S) ∘ T˘ = R ∘ T˘ ∩ S ∘ T˘. And C_vu ∘ C_ux meets C_vw ∘ C_wx, by Peirce's law, if
      C_wv ∘ C_vu meets C_wx ∘ C_xu, which both contain C_wu.
    - It is closed: C_vy ∘ C_yx = ⋂ C_vu ∘ C_uy ∘ C_yx contains ⋂ C_vu ∘ C_ux = C_vx, and likewise C_xv ∘ C_vy
      contains C_xy.
    - It is no smaller than what closure leaves, as every step is one of closure.
    """
    if calculus.distinct or 0 in masks:
        return False
    sets = _generated(calculus, masks)
    if sets is None:
        return False
    places = np.arange(len(sets))
    composed = calculus.compose_array(sets[:, None], sets[None, :])
    table, turned = np.searchsorted(sets, composed), np.searchsorted(sets, calculus.converse_array(sets))
    one, anything = np.searchsorted(sets, np.array([calculus.identity_mask, calculus.universal], dtype=np.uint64))
    lawful = (
        (turned[turned] == places).all()  # converse is an involution
        and (turned[table] == table[turned][:, turned].T).all()  # and turns compositions round
        and (table[one] == places).all()  # identity is neutral
        and (composed[places, turned] & np.uint64(calculus.identity_mask) != 0).all()
        and (table[anything] == anything).all()  # what is not known tells nothing
    )
    return bool(lawful) and all(_lawful_from(r, sets, composed, table, turned) for r in range(len(sets)))


def _lawful_from(r: int, sets: Masks, composed: Masks, table: NDArray[np.intp], turned: NDArray[np.intp]) -> bool:
    """Whether composition is associative, distributive and obeys Peirce's law, of three sets that begin with R."""
    both = sets[r] & sets
    meeting = both != 0
    distributes = composed[np.searchsorted(sets, both[meeting])] == composed[r] & composed[meeting]
    associates = table[table[r]] == table[r][table]
    # R ∘ S meets T if and only if R˘ ∘ T meets S.
    peirce = (composed[r][:, None] & sets != 0) == (composed[turned[r]] & sets[:, None] != 0)
    return bool(distributes.all() and associates.all() and peirce.all())


def _generated(calculus: Calculus, masks: tuple[int, ...]) -> Masks | None:
    """All sets that the operations make of these, sorted; None if they are too many, or one is empty."""
    sets = np.unique(np.array([*masks, calculus.identity_mask, calculus.universal], dtype=np.uint64))
    while True:
        before = len(sets)
        composed = calculus.compose_array(sets[:, None], sets[None, :])
        if before > MOST_SETS or not composed.all():
            return None
        meets = sets[:, None] & sets[None, :]
        sets = np.unique(np.concatenate([sets, calculus.converse_array(sets), composed.ravel(), meets[meets != 0]]))
        if len(sets) == before:
            return sets
