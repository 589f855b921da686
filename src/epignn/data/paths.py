"""Paths whose composition is known: the raw material of the benchmark (paper, appendix, steps 1 to 3).

Short paths are drawn and composed once. Base graphs are tuples of two-edge paths that together leave one
relation possible. A path is made longer by replacing an edge with a short path that composes to exactly
the relation of that edge. All of it works on arrays of many graphs at a time; relations are positions.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.data.dataset import offsets
from epignn.errors import BadArgument

Relations = NDArray[np.uint8]
Integers = NDArray[np.int64]

SHORT = (2, 3, 4)
SAMPLE = 100_000
PATIENCE = 1_000_000
"""So many tuples of paths are tried in vain for one label before its base graphs count as impossible."""


def below(limit: Integers | int, rng: np.random.Generator, shape: int | tuple[int, ...] = ()) -> Integers:
    """Uniform integers from 0 to `limit - 1`, for arrays of limits much faster than `rng.integers`."""
    shape = np.shape(limit) if shape == () else shape
    return (rng.random(shape) * limit).astype(np.int64)


class Pool:
    """Paths of one length by relation, so that one can be drawn for each of many relations."""

    def __init__(self, paths: Relations, masks: Masks, filed: NDArray[np.bool_]) -> None:
        """File path p under relation r where `filed[r, p]`."""
        path = np.nonzero(filed)[1]
        self.paths, self.masks = paths[path], masks[path]
        self.count: Integers = filed.sum(axis=1)
        self.start: Integers = offsets(self.count)[:-1]

    def draw(self, relation: NDArray[np.integer], rng: np.random.Generator) -> Integers:
        """Positions of paths drawn uniformly, with replacement, among those filed under each relation."""
        drawn: Integers = self.start[relation] + below(self.count[relation], rng)
        return drawn


class ShortPaths:
    """Step 1: paths of 2, 3 and 4 edges, and what can be built from them (steps 2 and 3).

    Departs from the paper: where there are no more than 100,000 paths of a length, all of them are taken
    once instead of a sample; the distribution is the same, and no rare path is missing.
    """

    def __init__(self, calculus: Calculus, rng: np.random.Generator) -> None:
        if calculus.distinct:
            raise BadArgument(
                f"problems are not drawn from the table of {calculus.name}: two names mean two things in it, and "
                "paths that each are possible need not be so together. `epignn generate families` draws them from "
                "simulated families."
            )
        self.calculus = calculus
        relations = np.arange(len(calculus))[:, None]
        self.singleton = np.uint64(1) << relations[:, 0].astype(np.uint64)
        self.exact: dict[int, Pool] = {}
        for length in SHORT:
            paths = _paths(len(calculus), length, rng)
            masks = _compose(calculus, paths)
            self.exact[length] = Pool(paths, masks, masks == self.singleton[:, None])
            if length == 2:
                # A path that leaves every relation possible says nothing; the published files have none.
                telling = (masks != calculus.universal) | (len(calculus) == 1)
                self.containing = Pool(paths, masks, telling & ((masks & self.singleton[:, None]) != 0))
        self._possible(self.exact[2].count, "no path of two edges composes to exactly that relation")

    def base_graphs(self, label: NDArray[np.integer], branches: Integers, rng: np.random.Generator) -> Relations:
        """Step 2: for each label, two-edge paths whose compositions have just that label in common.

        Paths are drawn with replacement among those that allow the label, until they allow nothing else.
        The result has shape (graphs, most branches, 2); branches beyond a graph's number are to be ignored.
        """
        if len(branches) and branches.max() == 1:
            return self.exact[2].paths[self.exact[2].draw(label, rng)][:, None]
        width = int(branches.max(initial=1))
        result = np.zeros((len(label), width, 2), dtype=np.uint8)
        unused = np.where(np.arange(width) < branches[:, None], np.uint64(0), ~np.uint64(0))
        waiting = np.arange(len(label))
        tried: Integers = np.zeros(len(self.calculus), dtype=np.int64)
        while len(waiting):
            drawn = self.containing.draw(np.broadcast_to(label[waiting, None], (len(waiting), width)), rng)
            common = np.bitwise_and.reduce(self.containing.masks[drawn] | unused[waiting], axis=1)
            good = common == self.singleton[label[waiting]]
            result[waiting[good]] = self.containing.paths[drawn[good]]
            tried += np.bincount(label[waiting], minlength=len(tried))
            tried[label[waiting[good]]] = 0
            self._possible(tried < PATIENCE, f"{width} paths of two edges do not single it out")
            waiting = waiting[~good]
        return result

    def _possible(self, possible: NDArray[np.integer] | NDArray[np.bool_], why: str) -> None:
        if not np.all(possible):
            label = self.calculus.relations[int(np.argmin(possible.astype(bool)))]
            raise BadArgument(
                f"{self.calculus.name} has no problem with the label {label!r}: {why}. "
                "Choose another number of branches, or a calculus whose identity is neutral."
            )

    def lengthen(self, paths: Relations, length: Integers, rng: np.random.Generator) -> Relations:
        """Step 3: replace random edges by short paths that compose to them, up to `length` edges a path.

        `paths` has shape (P, 2), `length` shape (P,); the result has one column an edge of the longest.
        """
        result = np.zeros((len(paths), int(length.max(initial=2))), dtype=np.uint8)
        result[:, :2] = paths
        current = np.full(len(paths), 2)
        short = np.flatnonzero(current < length)
        while len(short):
            place = below(current[short], rng)
            most = np.minimum(SHORT[-1], length[short] - current[short] + 1)
            growth = 2 + below(most - 1, rng)
            relation = result[short, place]
            for size in SHORT:
                # A sample of a large calculus may lack paths of 3 or 4 edges; those of 2 are complete.
                lacking = self.exact[size].count[relation] == 0
                growth[lacking & (growth == size)] = 2
            for size in SHORT:
                now = np.flatnonzero(growth == size)
                pool = self.exact[size]
                _splice(result, short[now], place[now], pool.paths[pool.draw(relation[now], rng)])
            current[short] += growth - 1
            short = short[current[short] < length[short]]
        return result


def _paths(relations: int, length: int, rng: np.random.Generator) -> Relations:
    """All paths of a length, or a uniform sample if they are more than 100,000."""
    if relations**length > SAMPLE:
        return rng.integers(relations, size=(SAMPLE, length), dtype=np.uint8)
    return np.array(list(product(range(relations), repeat=length)), dtype=np.uint8)


def _compose(calculus: Calculus, paths: Relations) -> Masks:
    masks = np.uint64(1) << paths[:, 0].astype(np.uint64)
    for relation in paths.T[1:]:
        masks = calculus.compose_array(masks, np.uint64(1) << relation.astype(np.uint64))
    return masks


def _splice(rows: Relations, chosen: Integers, place: Integers, inserted: Relations) -> None:
    """In the chosen rows, put a path where the edge at `place` is; what follows it moves to the right."""
    column, size = np.arange(rows.shape[1]), inserted.shape[1]
    source = np.where(column <= place[:, None], column, np.maximum(column - (size - 1), 0))
    rows[chosen] = np.take_along_axis(rows[chosen], source, axis=1)
    rows[chosen[:, None], place[:, None] + np.arange(size)] = inserted
