"""Networks of which a world is known, since they were read off one."""

import numpy as np

from epignn.calculus import load
from epignn.calculus.calculi.families import simulate
from epignn.calculus.calculi.kinship import relation_matrix
from epignn.calculus.network import Network
from tests.calculus.realise import oracle


def box(rng, span):
    x0, x1 = sorted(rng.choice(span, 2, replace=False).tolist())
    y0, y1 = sorted(rng.choice(span, 2, replace=False).tolist())
    return {"polygons": [[[x0, y0], [x1, y0], [x1, y1], [x0, y1]]]}


def intervals(rng, size):
    ends = [sorted(rng.choice(2 * size, 2, replace=False).tolist()) for _ in range(size)]
    return {"kind": "intervals", "calculus": "allen", "intervals": dict(enumerate(ends))}


def points(rng, size):
    return {"kind": "points", "calculus": "point", "points": dict(enumerate(rng.integers(0, size, size).tolist()))}


def plane(rng, size):
    places = rng.integers(0, size, (size, 2)).tolist()
    return {"kind": "plane", "calculus": "cardinal", "points": dict(enumerate(places))}


def boxes(rng, size, calculus="rcc8"):
    regions = {n: box(rng, max(6, size)) for n in range(size)}
    return {"kind": "regions", "calculus": calculus, "regions": regions}


def family(rng, size):
    """The relations of some people in a family that grew; they are numbers, as the others' entities are."""
    matrix = relation_matrix(simulate(rng, 3, 4, children=(1, 3)))
    chosen = rng.choice(len(matrix), min(size, len(matrix)), replace=False)
    relations = load("kinship").relations
    return lambda a, b: relations[matrix[chosen[a], chosen[b]]]


MAKERS = {
    "allen": intervals,
    "point": points,
    "cardinal": plane,
    "rcc8": boxes,
    "rcc5": lambda rng, size: boxes(rng, size, "rcc5"),
}


def consistent(name, rng, size, density=1.0, loose=0.0):
    """A network of facts that hold in a random world; to each, others are added with a chance of `loose`."""
    calculus = load(name)
    relation = family(rng, size) if name == "kinship" else oracle.relations(MAKERS[name](rng, size))
    facts = []
    for a in range(size):
        for b in range(a + 1, size):
            if rng.random() < density:
                extra = rng.random(len(calculus)) < loose
                extra[calculus.identity] &= not calculus.distinct
                mask = calculus.parse(relation(a, b)) | sum(1 << r for r in np.flatnonzero(extra).tolist())
                turned = rng.random() < 0.5
                facts.append((f"e{b}", calculus.converse(mask), f"e{a}") if turned else (f"e{a}", mask, f"e{b}"))
    return Network.of(calculus, facts, [f"e{n}" for n in range(size)])
