"""All algorithms against all models: every way to lay points, intervals or sets is tried, with disjunctive facts.

The oracle knows no composition table. It lays out every entity in every way that can matter (n points need n
places, n intervals 2n, n sets 2ⁿ - 1 elements), looks which facts hold, and reads off what is possible of each
pair. Where such a list is not complete (durations; regions with borders, of which rectangles are laid), what it
shows is still possible. Of families, in which all people cannot be tried, facts of a real one are taken.
"""

import os
from functools import cache
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from epignn.calculus import load
from epignn.calculus.calculi.orders import ALLEN, CARDINAL
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.directional import directional
from epignn.calculus.solve.incremental import Incremental
from epignn.calculus.solve.search import entails, minimal_labels, solve
from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
from epignn.explain.symbolic import explain
from tests.calculus.realise.made import consistent

pytestmark = pytest.mark.numeric
EXAMPLES = 400 if "EPIGNN_FUZZ_SECONDS" in os.environ else 12


def sign(a, b):
    return (a > b) - (a < b)


def points(a, b):
    return "<=>"[sign(a, b) + 1]


def interval(a, b):
    signs = sign(a[0], b[0]), sign(a[0], b[1]), sign(a[1], b[0]), sign(a[1], b[1])
    return next(name for name, known in ALLEN.items() if known == signs)


def direction(a, b):
    return next(name for name, known in CARDINAL.items() if known == (sign(a[0], b[0]), sign(a[1], b[1])))


def sets(a, b):
    if a == b:
        return "EQ"
    if not a & b:
        return "DR"
    return "PP" if a & b == a else "PPI" if a & b == b else "PO"


def duration(a, b):
    names = {"<": "b", ">": "bi", "=": "eq"}
    allen = interval(a, b)
    return names.get(allen, allen) + "<=>"[sign(a[1] - a[0], b[1] - b[0]) + 1]


def rectangles(a, b):
    """By the lengths that two rectangles share on each axis; those of a border are 0."""
    share = [min(a[1][n], b[1][n]) - max(a[0][n], b[0][n]) for n in (0, 1)]
    if min(share) < 0:
        return "DC"
    if min(share) == 0:
        return "EC"
    if a == b:
        return "EQ"
    inside = [all(x[0][n] >= y[0][n] and x[1][n] <= y[1][n] for n in (0, 1)) for x, y in ((a, b), (b, a))]
    if not any(inside):
        return "PO"
    touch = any(a[end][n] == b[end][n] for end in (0, 1) for n in (0, 1))
    return ("" if touch else "N") + "TPP" + ("" if inside[0] else "I")


SPANS = list(combinations(range(4), 2))
BOXES = [((x0, y0), (x1, y1)) for x0, x1 in SPANS for y0, y1 in SPANS]
THINGS = {
    "point": (points, lambda n: range(n), 5, True),
    "allen": (interval, lambda n: list(combinations(range(2 * n), 2)), 4, True),
    "cardinal": (direction, lambda n: list(product(range(n), repeat=2)), 4, True),
    "rcc5": (sets, lambda n: range(1, 2 ** (2**n - 1)), 3, True),
    "rcc8": (rectangles, lambda n: BOXES, 4, False),
    "indu": (duration, lambda n: list(combinations(range(9), 2)), 3, False),
}
"""How two things lie, all things for n entities, the most entities, and whether all models are among them."""


@cache
def relations(name, entities):
    """(U, U): the number of the relation between every two things."""
    relate, things, _, _ = THINGS[name]
    calculus, laid = load(name), list(things(entities))
    return np.array([[calculus.relations.index(relate(a, b)) for b in laid] for a in laid])


def possible(network):
    """For each pair, the relations that it has in some model; nothing where there is none."""
    n, calculus = len(network.names), network.calculus
    related = relations(calculus.name, n)
    shape = [len(related)] * n
    holds = np.ones(shape, dtype=bool)

    def over(i, j, values):
        """A table over things i and j, along these axes of all models."""
        first, last = sorted((i, j))
        table = values if i < j else values.T
        return table.reshape([len(related) if axis in (first, last) else 1 for axis in range(n)])

    for i, j, mask in zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True):
        allowed = np.array([mask >> r & 1 for r in range(len(calculus))], dtype=bool)[related]
        holds &= (
            np.diagonal(allowed).reshape([-1 if axis == i else 1 for axis in range(n)])
            if i == j
            else over(i, j, allowed)
        )
    if not holds.any():
        return {}
    found = {}
    for i, j in combinations(range(n), 2):
        seen = holds.any(tuple(axis for axis in range(n) if axis not in (i, j)))
        found[i, j] = sum(1 << r for r in np.unique(related[seen]).tolist())
    return found


@st.composite
def networks(draw, name):
    """Random disjunctive facts of three entities or more; of many, sets are small, so that some clash."""
    calculus, most = load(name), THINGS[name][2]
    entities = draw(st.integers(3, most))
    entity, relation = st.integers(0, entities - 1), st.integers(0, len(calculus) - 1)
    sets_ = st.lists(relation, min_size=1, max_size=max(2, len(calculus) // 3))
    facts = draw(
        st.lists(st.tuples(entity, sets_, entity), min_size=1, max_size=entities * (entities - 1) // 2 + 2)
    )
    masks = [(f"e{i}", sum(1 << r for r in set(chosen)), f"e{j}") for i, chosen, j in facts if i != j]
    return Network.of(calculus, masks, [f"e{n}" for n in range(entities)])


def bounded(call):
    return settings(max_examples=EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))(call)


@pytest.mark.parametrize("name", THINGS)
def test_no_algorithm_contradicts_the_models(name):
    complete = THINGS[name][3]

    @bounded
    @given(networks(name), st.sampled_from(["compiled", "plain"]))
    def check(network, backend):
        models = possible(network)
        results = [
            answer(network, backend=backend) for answer in (close, dpc, dpc_plus, partial, solve, minimal_labels)
        ]
        results.append(directional(network, "e0"))
        for result in results:
            if not result.consistent:
                assert not models, result
            if complete and result.answer is Answer.CONSISTENT:
                assert models, result
        if models:
            check_labels(network, models, results, complete)
        elif complete:
            check_conflict(network, results[4])
        check_revisions(network, backend)

    check()


def check_labels(network, models, results, complete):
    """What is possible is left by all algorithms; the minimal network leaves nothing else."""
    minimal = results[5]
    for (i, j), mask in models.items():
        pair = f"e{i}", f"e{j}"
        for result in results:
            if result.algorithm != "search":  # which chooses one
                assert result.mask(*pair) & mask == mask, result
        if complete:
            assert minimal.mask(*pair) == mask
            assert entails(network, pair[0], mask, pair[1]).entailed is True
            one = mask & -mask
            assert entails(network, pair[0], one, pair[1]).entailed is (mask == one)
    i, j = next(iter(models))
    found = explain(network, f"e{i}", f"e{j}")
    some = possible(network.select(list(found.support.facts)))
    assert not complete or some[i, j] & ~results[0].mask(f"e{i}", f"e{j}") == 0


def check_conflict(network, result):
    """Facts that clash have no model, and have one without any of them."""
    facts = list(result.conflict_facts)
    assert not possible(network.select(facts))
    if result.conflict_is_minimal:
        for fact in facts:
            assert possible(network.select([one for one in facts if one != fact]))


def check_revisions(network, backend):
    """Facts that are added one by one and taken back leave what closure leaves of the rest."""
    kept = Incremental(network.calculus, backend)
    triples = [
        (fact.head, int(network.masks[f]), fact.tail) for f in range(len(network)) for fact in [network.fact(f)]
    ]
    for triple in triples:
        kept.add(*triple)
    for number in range(len(triples) // 2 + 1):
        rest = kept.network
        closed = close(rest)
        assert kept.answer is closed.answer
        if closed.consistent:
            np.testing.assert_array_equal(kept.matrix(), closed.matrix())
        if number < len(triples):
            kept.retract(*triples[number])


@pytest.mark.parametrize("size", [3, 4, 5])
def test_no_algorithm_contradicts_a_family(size, rng):
    for _ in range(EXAMPLES // 4):
        network = consistent("kinship", rng, size, 0.8, 0.1)
        for answer in (close, dpc, dpc_plus, partial, solve, minimal_labels):
            assert answer(network).consistent
        check_revisions(network, "compiled")


def test_the_oracle_can_fail():
    """It finds the clash of a circle, and all that a chain leaves."""
    point = load("point")
    assert not possible(Network.of(point, [("a", "<", "b"), ("b", "<", "c"), ("c", "<", "a")]))
    found = possible(Network.of(load("allen"), [("a", "m", "b"), ("b", "m", "c")]))
    assert found[0, 2] == load("allen").parse("<")
