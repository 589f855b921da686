"""Networks to measure on: random boxes of a given degree, and map-like hierarchies."""

import numpy as np

from epignn.calculus import load
from epignn.calculus.network import Network, arrays

RCC8 = load("rcc8")
DC, EC, PO, TPP, NTPP, TPPI, NTPPI, EQ = (1 << r for r in range(8))


def relation(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """RCC-8 masks between boxes `[x, y, X, Y]`, row by row."""
    low_a, high_a, low_b, high_b = a[:, :2], a[:, 2:], b[:, :2], b[:, 2:]
    apart = ((high_a < low_b) | (high_b < low_a)).any(1)
    touching = ((high_a == low_b) | (high_b == low_a)).any(1)
    inside = ((low_a >= low_b) & (high_a <= high_b)).all(1)
    deep = ((low_a > low_b) & (high_a < high_b)).all(1)
    around = ((low_b >= low_a) & (high_b <= high_a)).all(1)
    hollow = ((low_b > low_a) & (high_b < high_a)).all(1)
    return np.select(
        [apart, touching, inside & around, inside & deep, inside, around & hollow, around],
        [DC, EC, EQ, NTPP, TPP, NTPPI, TPPI],
        PO,
    ).astype(np.uint64)


def random_boxes(regions: int, degree: float, seed: int = 1) -> Network:
    """Boxes on an integer grid of 60 by 60; each pair is stated with probability degree / (regions - 1)."""
    rng = np.random.default_rng(seed)
    low = rng.integers(0, 61, size=(regions, 2))
    boxes = np.hstack([low, low + rng.integers(1, 21, size=(regions, 2))])
    first, second = np.triu_indices(regions, 1)
    stated = rng.random(len(first)) < degree / (regions - 1)
    first, second = first[stated], second[stated]
    names = tuple(map(str, range(regions)))
    return Network(RCC8, names, *arrays(first, second, relation(boxes[first], boxes[second])))


def world_map(regions: int, seed: int = 1, branch: int = 4) -> Network:
    """A map: a grid of districts, joined to blocks of `branch` by `branch`, those joined again, up to the world.

    Facts state in which block each region lies, and half of the contacts between neighbours of one level,
    across the borders of blocks too; the mean degree is about 4.
    """
    rng = np.random.default_rng(seed)
    side = int(np.sqrt(regions * (1 - 1 / branch**2)))
    boxes, heads, tails, start, scale = [], [], [], 0, 1
    while True:
        x, y = np.divmod(np.arange(side * side), side)
        low = np.stack([x, y], 1) * scale
        boxes.append(np.hstack([low, low + scale]))
        index = start + np.arange(side * side).reshape(side, side)
        for a, b in ((index[:-1], index[1:]), (index[:, :-1], index[:, 1:])):
            kept = rng.random(a.size) < 0.5
            heads.append(a.ravel()[kept])
            tails.append(b.ravel()[kept])
        start += side * side
        if side == 1:
            break
        upper = -(-side // branch)
        heads.append(index.ravel())
        tails.append(start + (x // branch) * upper + y // branch)
        side, scale = upper, scale * branch
    box, first, second = np.vstack(boxes), np.concatenate(heads), np.concatenate(tails)
    names = tuple(map(str, range(len(box))))
    return Network(RCC8, names, *arrays(first, second, relation(box[first], box[second])))
