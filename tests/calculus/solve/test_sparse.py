"""DPC, DPC+ and partial closure: chordality, agreement with complete closure, both kernels."""

from itertools import combinations, pairwise

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.sparse import dpc, dpc_plus, partial
from epignn.errors import BadArgument
from tests.calculus.solve.test_closure import model_network
from tests.conftest import DECIDED, random_network

pytestmark = pytest.mark.numeric

BACKENDS = ("compiled", "plain")
METHODS = (dpc, dpc_plus, partial)


def edges_of(result) -> set[frozenset[int]]:
    return {frozenset(pair) for pair in zip(result.first.tolist(), result.second.tolist(), strict=True)}


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_graph_is_chordal_and_holds_every_fact(backend, rng):
    """Perfect elimination: some vertex always has neighbours that form a clique."""
    for _ in range(10):
        network = random_network(load("rcc8"), rng, 14, 0.2, 1)
        edges = edges_of(partial(network, backend=backend))
        given = zip(network.heads.tolist(), network.tails.tolist(), strict=True)
        assert {frozenset(pair) for pair in given} <= edges
        left = set(range(14))
        while left:
            for v in left:
                around = {u for u in left if frozenset((u, v)) in edges}
                if all(frozenset(pair) in edges for pair in combinations(around, 2)):
                    break
            else:
                pytest.fail("not chordal")
            left.remove(v)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", CALCULI)
def test_kernels_agree(name, method, rng):
    for size in (1, 2.5):
        network = random_network(load(name), rng, 12, 0.25, size)
        native, plain = (method(network, backend=backend) for backend in BACKENDS)
        assert native.answer is plain.answer
        if native.consistent:
            assert all(map(np.array_equal, native._by_pair, plain._by_pair))
            assert native.statistics["sweeps"] == plain.statistics["sweeps"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", DECIDED)
def test_decides_atomic_networks_as_complete_closure_does(name, method, rng):
    answers = set()
    for _ in range(60):
        network = random_network(load(name), rng, 8, 0.3, 1)
        atomic = Network(
            network.calculus,
            network.names,
            network.heads,
            network.tails,
            network.masks & (~network.masks + np.uint64(1)),  # the lowest relation of each set
        )
        complete, swept = close(atomic), method(atomic)
        assert swept.answer is complete.answer
        answers.add(swept.answer)
    assert answers == {Answer.CONSISTENT, Answer.INCONSISTENT}


@pytest.mark.parametrize("name", DECIDED)
def test_partial_closure_decides_tractable_classes_as_complete_closure_does(name, rng):
    """What `contradiction_test` relies on, where it takes the one for the other."""
    calculus = load(name)
    sets = sorted(calculus.tractable - {calculus.universal})
    answers = set()
    for _ in range(150):
        size, most = int(rng.integers(5, 12)), int(rng.integers(1, len(calculus)))
        chosen = [mask for mask in sets if mask.bit_count() <= most]
        density = rng.uniform(1.2, 5) / size
        facts = [
            (str(i), chosen[rng.integers(len(chosen))], str(j))
            for i, j in combinations(range(size), 2)
            if rng.random() < density
        ]
        network = Network.of(calculus, facts, [str(i) for i in range(size)])
        answers.add(partial(network).answer)
        assert partial(network).answer is close(network).answer
    assert answers == {Answer.CONSISTENT, Answer.INCONSISTENT}


@pytest.mark.parametrize("backend", BACKENDS)
def test_partial_equals_complete_closure_on_its_pairs_for_single_relations(backend, rng):
    """Single relations generate a distributive subalgebra, where partial closure loses nothing."""
    for _ in range(5):
        network = model_network(load("rcc8"), rng, 25, facts=40)
        network = network.select(np.flatnonzero(np.bitwise_count(network.masks) == 1))
        complete, swept = close(network), partial(network, backend=backend)
        assert swept.answer is Answer.CONSISTENT
        for i, j in edges_of(swept):
            a, b = network.names[i], network.names[j]
            assert swept.mask(a, b) == complete.mask(a, b)


@pytest.mark.parametrize("name", ["allen", "kinship"])
def test_never_stronger_than_complete_closure(name, rng):
    for _ in range(20):
        network = random_network(load(name), rng, 9, 0.3, 4)
        complete, swept = close(network), partial(network)
        if not swept.consistent:
            assert not complete.consistent
        elif complete.consistent:
            for i, j in edges_of(swept):
                a, b = network.names[i], network.names[j]
                assert complete.mask(a, b) & ~swept.mask(a, b) == 0


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_query_is_answered_by_one_sweep(backend, rng):
    for _ in range(10):
        network = model_network(load("rcc8"), rng, 20, facts=30)
        network = network.select(np.flatnonzero(np.bitwise_count(network.masks) == 1))
        a, b = rng.choice(network.names, size=2, replace=False).tolist()
        expected = close(network).mask(a, b)
        assert dpc(network, queries=[(a, b)], backend=backend).mask(a, b) == expected
        assert dpc(network, queries=[(b, a)], backend=backend).mask(a, b) == expected


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_given_order_is_followed(backend):
    point = load("point")
    network = Network.of(point, [("a", "<", "b"), ("b", "<", "c"), ("c", "<", "d")])
    inner_first = dpc(network, order=["b", "c", "a", "d"], backend=backend)
    assert point.format(inner_first.mask("a", "d")) == "<"
    ends_first = dpc(network, order=["a", "d", "b", "c"], backend=backend)
    assert edges_of(ends_first) == {frozenset(pair) for pair in pairwise(range(4))}
    with pytest.raises(BadArgument, match="names every entity"):
        dpc(network, order=["a", "b"], backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("method", METHODS)
def test_conflicts(method, backend):
    point = load("point")
    ring = [("a", "<", "b"), ("b", "<", "c"), ("c", "<", "d"), ("d", "<", "a"), ("d", "<", "e")]
    result = method(Network.of(point, ring), backend=backend)
    assert result.answer is Answer.INCONSISTENT
    assert len(result.conflict) == 4
    loop = method(Network.of(point, [("a", "<", "b"), ("b", "<", "b")]), backend=backend)
    assert [str(fact) for fact in loop.conflict] == ["<(b, b)"]
    twice = method(Network.of(point, [("a", "<", "b"), ("b", "<", "c"), ("b", "<", "a")]), backend=backend)
    assert [str(fact) for fact in twice.conflict] == ["<(a, b)", "<(b, a)"]
