"""Regions of several parts for any scenario of RCC-8: the construction that always succeeds.

Every consistent scenario holds among regions that may have several parts (Renz 2002, "A canonical model of the
region connection calculus"). The model is drawn here in strips. A strip is a row of blocks, and each block belongs
to one region and to all that contain it. Neighbouring blocks touch where their regions are EC, and overlap where
they are PO; every such pair has a place in some strip, and every region a block. A region that strictly contains
another (NTPP) reaches further around each of the other's blocks, by a cell for every step of the longest chain.

Why the relations are right, in a closed scenario: Two regions that share a block contain the same region, so that
they may overlap. Two that meet where the blocks of a and b do contain a and b, so that they may meet. If they may
only touch, neither reaches beyond its block, for what lies strictly inside a region touches nothing outside it. A
part of every block's rim is free of its neighbours: there a region has what others lack, and TPP touches the rim.
"""

from collections import defaultdict
from collections.abc import Iterable
from itertools import pairwise
from math import prod, sqrt

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Masks
from epignn.calculus.realise.regions import Bools, Outline
from epignn.errors import TooLarge

EC, PO, TPP, NTPP = 2, 4, 8, 16
"""Masks of RCC-8 that matter here."""
OVERLAP, HEIGHT, RAISED = 2, 4, 1
LONGEST, SHAPE = 7, 1.4
"""Blocks of a strip, of which longer ones are cut, and how much wider than high the whole is meant to be."""
MOST_CELLS = 500_000_000
"""Cells of the picture times regions: a byte each while it is drawn."""
Ints = NDArray[np.int64]


def draw_strips(scenario: Masks, rng: np.random.Generator) -> list[tuple[Outline, ...]]:
    """The outlines of a region for each row of a scenario in which no two regions are equal.

    Raises:
        TooLarge: there are too many regions, or too many inside each other.
    """
    depth = _depths(scenario)
    reach = int(depth.max(initial=0))
    block, between = 2 * (OVERLAP + reach) + 2, 2 * reach + 2
    height = HEIGHT + RAISED + between
    rows = _rows(list(_trails(_contacts(scenario), len(scenario), rng)), block, between, height)
    width = max(sum(len(trail) * block + between for trail in row) for row in rows) + 2
    shape = (len(scenario), width, len(rows) * height + 2)
    if prod(shape) > MOST_CELLS:
        raise TooLarge(
            f"{len(scenario):,} regions, inside each other up to {reach + 1} deep, are too many to draw: the "
            f"picture would have {width:,} by {shape[2]:,} cells. Ask for fewer of them."
        )
    cells = np.zeros(shape, dtype=bool)
    for number, row in enumerate(rows):
        left, bottom = 1 + reach, 1 + number * height + reach
        for trail in row:
            left += between + _draw(cells, trail, (left, bottom), block, scenario, depth)
    return [outlines(region) for region in cells]


def _draw(cells: Bools, trail: list[int], corner: tuple[int, int], block: int, scenario: Masks, depth: Ints) -> int:
    """Draw a strip and return its width: every region that contains a block has it, as deep as it reaches."""
    x, y = corner
    raised = 0
    for before, region in pairwise((-1, *trail)):
        if before >= 0 and int(scenario[before, region]) == PO:
            x, raised = x - OVERLAP, RAISED - raised
        low = y + raised
        for outer in np.flatnonzero(depth[region] >= 0).tolist():
            far = int(depth[region, outer])
            cells[outer, x - far : x + block + far, low - far : low + HEIGHT + far] = True
        x += block
    return x - corner[0]


def _depths(scenario: Masks) -> Ints:
    """How many NTPP steps lead at most from each region to one that contains it; -1 where it does not."""
    within = (scenario & np.uint64(TPP | NTPP)) != 0
    depth = np.where(within, 0, -1)
    np.fill_diagonal(depth, 0)
    strict = scenario == np.uint64(NTPP)
    order = np.argsort(within.sum(axis=0), kind="stable")  # what contains fewer comes first
    for outer in order.tolist():
        for middle in order.tolist():
            if within[middle, outer]:
                reached = depth[:, middle] >= 0
                through = depth[:, middle] + int(strict[middle, outer])
                depth[:, outer] = np.where(reached, np.maximum(depth[:, outer], through), depth[:, outer])
    return depth


def _contacts(scenario: Masks) -> list[tuple[int, int]]:
    """The pairs that have to touch or overlap in a place of their own: no pair of their parts shows it already."""
    size = len(scenario)
    part = (scenario & np.uint64(TPP | NTPP)) != 0
    np.fill_diagonal(part, True)
    found = []
    for i, j in zip(*np.triu_indices(size, 1), strict=True):
        mask = int(scenario[i, j])
        if mask in (EC, PO):
            smaller = scenario[np.ix_(part[:, i], part[:, j])]
            shows = (smaller == np.uint64(mask)).sum() > 1
            if mask == PO:
                shows |= bool((part[:, i] & part[:, j]).any())
            if not shows:
                found.append((int(i), int(j)))
    return found


def _trails(contacts: Iterable[tuple[int, int]], size: int, rng: np.random.Generator) -> Iterable[list[int]]:
    """Rows of regions that have each contact once between neighbours, and each region at least once."""
    open_: dict[int, set[int]] = defaultdict(set)
    for a, b in contacts:
        open_[a].add(b)
        open_[b].add(a)
    alone = set(range(size)) - open_.keys()
    while any(open_.values()):
        # A trail that starts where an odd number of contacts is left ends at such a place: few trails do.
        odd = [a for a, others in open_.items() if len(others) % 2]
        at = int(rng.choice(odd or [a for a, others in open_.items() if others]))
        trail = [at]
        while open_[at] and len(trail) < LONGEST:
            to = int(rng.choice(sorted(open_[at])))
            open_[at].remove(to)
            open_[to].remove(at)
            trail.append(to)
            at = to
        yield trail
    yield from ([a] for a in sorted(alone))


def _rows(trails: list[list[int]], block: int, between: int, height: int) -> list[list[list[int]]]:
    """The strips in rows of about the same length."""
    lengths = {id(trail): len(trail) * block + between for trail in trails}
    wide = max(SHAPE * sqrt(sum(lengths.values()) * height), max(lengths.values()))
    rows: list[list[list[int]]] = []
    free = 0.0
    for trail in sorted(trails, key=len, reverse=True):
        if lengths[id(trail)] > free:
            rows.append([])
            free = wide
        rows[-1].append(trail)
        free -= lengths[id(trail)]
    return rows


def outlines(cells: Bools) -> tuple[Outline, ...]:
    """The outlines of some cells; the rim of the grid has to be empty. Cells that meet at a corner stay apart."""
    filled = np.argwhere(cells).tolist()
    ends: dict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
    for x, y in filled:  # sides run so that the region is on their left
        if not cells[x, y - 1]:
            ends[x, y].append((x + 1, y))
        if not cells[x + 1, y]:
            ends[x + 1, y].append((x + 1, y + 1))
        if not cells[x, y + 1]:
            ends[x + 1, y + 1].append((x, y + 1))
        if not cells[x - 1, y]:
            ends[x, y + 1].append((x, y))
    rings = []
    while ends:
        start = at = next(iter(ends))
        ring, way = [start], (0, 0)
        while True:
            left = (at[0] - way[1], at[1] + way[0])
            to = left if left in ends[at] else ends[at][0]
            ends[at].remove(to)
            if not ends[at]:
                del ends[at]
            turn = (to[0] - at[0], to[1] - at[1])
            if turn != way and way != (0, 0):
                ring.append(at)
            way, at = turn, to
            if at == start:
                break
        rings.append(tuple(ring))
    return tuple(rings)
