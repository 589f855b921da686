"""Problems of one cell (k, b): base graphs expanded to full length, many at a time.

Every path from head to tail has exactly k edges. Up to k = 4 a problem is b disjoint paths. From k = 5 on
(paper, appendix, step 4) the base paths have k // 2 + 1 edges, some of which are replaced by whole
subgraphs of 2 to 5 branches. Departs from the paper's text where the published files do: base paths start
from two edges, and subgraphs are as large as is missing, whatever b is.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.data.dataset import Dataset, Ints, offsets
from epignn.data.paths import Integers, Relations, ShortPaths, below

FIRST_WITH_SUBGRAPHS = 5
SUBGRAPH_BRANCHES = (2, 5)


@dataclass(frozen=True)
class _Slots:
    """The edges of all base paths, shape (graphs, b * base length), and what stands in their place.

    A slot is a subgraph of `branches` paths of `length` edges, or (1 and 1) still an edge. Its relations
    are the rows `first_path` and following of `paths`, one row a branch.
    """

    branches: Integers
    length: Integers
    first_path: Integers
    paths: Relations


def draw(short: ShortPaths, k: int, b: int, label: NDArray[np.integer], rng: np.random.Generator) -> Dataset:
    """One problem of cell (k, b) for each label; equal ones may occur."""
    base_length = k if k < FIRST_WITH_SUBGRAPHS else k // 2 + 1
    graphs = len(label)
    base = short.base_graphs(label, np.full(graphs, b), rng).reshape(graphs * b, 2)
    base = short.lengthen(base, np.full(graphs * b, base_length), rng)
    branches, length = _plan(graphs * b, base_length, k, rng)
    slots = _fill(short, base.ravel(), branches.ravel(), length.ravel(), rng)
    return _assemble(short.calculus.relations, slots, label, k, b)


def _plan(rows: int, base_length: int, k: int, rng: np.random.Generator) -> tuple[Integers, Integers]:
    """Step 4: which edges of the base paths become subgraphs, of how many branches, of what length.

    A uniform random edge that is still one is replaced, until the path has k edges.
    """
    branches = np.ones((rows, base_length), dtype=np.int64)
    length = np.ones_like(branches)
    order = np.argsort(rng.random(branches.shape), axis=1) if base_length < k else branches
    missing = np.full(rows, k - base_length)
    for edge in order.T:
        short = np.flatnonzero(missing)
        if not len(short):
            break
        size = 2 + below(missing[short], rng)
        fewest, most = SUBGRAPH_BRANCHES
        length[short, edge[short]] = size
        branches[short, edge[short]] = fewest + below(most - fewest + 1, rng, len(short))
        missing[short] -= size - 1
    return branches, length


def _fill(
    short: ShortPaths, base: Relations, branches: Integers, length: Integers, rng: np.random.Generator
) -> _Slots:
    """Make a subgraph for every slot that is to be one, with the relation of its edge as the label."""
    first_path = offsets(branches)
    paths = np.repeat(base, branches)[:, None]
    where = np.flatnonzero(length > 1)
    if len(where):
        drawn = short.base_graphs(base[where], branches[where], rng)
        used = np.arange(drawn.shape[1]) < branches[where, None]
        longer = short.lengthen(drawn[used], np.repeat(length[where], branches[where]), rng)
        paths = np.repeat(paths, longer.shape[1], axis=1)
        paths[np.repeat(length, branches) > 1] = longer
    return _Slots(branches, length, first_path[:-1], paths)


def _assemble(relations: tuple[str, ...], slots: _Slots, label: NDArray[np.integer], k: int, b: int) -> Dataset:
    """Number nodes and list edges as the published files do: head 0, branch by branch, tail last.

    The inner nodes of a subgraph come before the node where it ends.
    """
    graphs = len(label)
    shape = (graphs, b, len(slots.length) // (graphs * b))
    taken = (slots.branches * (slots.length - 1)).reshape(shape)
    taken[:, :, :-1] += 1
    after = 1 + np.cumsum(taken.reshape(graphs, -1), axis=1)
    tail = after[:, -1]
    end = (after - 1).reshape(shape)
    end[:, :, -1] = tail[:, None]
    start = np.zeros_like(end)
    start[:, :, 1:] = end[:, :, :-1]
    first_inner = after - taken.reshape(graphs, -1)
    count = slots.branches * slots.length
    edges = _edges(slots, count, start.ravel(), first_inner.ravel(), end.ravel())
    edge_offset = offsets(count.reshape(graphs, -1).sum(axis=1))
    nodes, head, tail = (a.astype(np.int32) for a in (tail + 1, np.zeros_like(tail), tail))
    return Dataset(relations, nodes, edge_offset, *edges, head, tail, label.astype(np.int32), k=k, b=b)


def _edges(
    slots: _Slots, count: Integers, start: Integers, first_inner: Integers, end: Integers
) -> tuple[Ints, Ints, Ints]:
    """Source, target and relation of every edge, slot by slot, branch by branch."""
    slot = np.repeat(np.arange(len(count)), count)
    within = np.arange(len(slot)) - offsets(count)[slot]
    length = slots.length[slot]
    branch, step = np.divmod(within, length)
    inner = first_inner[slot] + branch * (length - 1) + step
    source = np.where(step == 0, start[slot], inner - 1)
    target = np.where(step == length - 1, end[slot], inner)
    relation = slots.paths[slots.first_path[slot] + branch, step]
    return source.astype(np.int32), target.astype(np.int32), relation.astype(np.int32)
