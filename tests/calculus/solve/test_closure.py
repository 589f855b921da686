"""Complete closure against a ten-line twin, its laws, concrete models, and the compiled kernels."""

import tracemalloc
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network, arrays
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import MAX_DENSE, close, dense_closure
from epignn.calculus.solve.incremental import Incremental
from epignn.errors import BadArgument, UnknownName
from tests.conftest import DECIDED, random_network

pytestmark = pytest.mark.numeric

BACKENDS = ("compiled", "plain")


def naive_closure(network: Network) -> np.ndarray | None:
    """The definition: X_ef ∩= X_eg ∘ X_gf for all g, until stable. None when a set becomes empty."""
    matrix, calculus = network.matrix().tolist(), network.calculus
    changed = True
    while changed:
        changed = False
        for i, j, k in product(range(len(matrix)), repeat=3):
            refined = matrix[i][j] & calculus.compose(matrix[i][k], matrix[k][j])
            if not refined:
                return None
            if refined != matrix[i][j]:
                matrix[i][j], changed = refined, True
    return np.array(matrix, dtype=np.uint64)


def closed_matrix(network: Network, backend: str) -> np.ndarray | None:
    result = close(network, backend=backend)
    return result.closed.matrix() if result.consistent else None


@pytest.mark.parametrize("name", CALCULI)
@pytest.mark.parametrize(("entities", "density", "size"), [(3, 0.9, 1), (7, 0.5, 1.2), (9, 0.6, 3), (12, 0.3, 4)])
def test_equals_the_definition(name, entities, density, size, rng):
    for _ in range(12):
        network = random_network(load(name), rng, entities, density, size)
        expected = naive_closure(network)
        for backend in BACKENDS:
            found = closed_matrix(network, backend)
            assert (expected is None) == (found is None), backend
            if expected is not None:
                np.testing.assert_array_equal(found, expected, backend)


def test_random_networks_are_of_both_kinds(rng):
    kinds = {naive_closure(random_network(load("rcc8"), rng, 7, 0.5, 1.2)) is None for _ in range(30)}
    assert kinds == {True, False}


@pytest.mark.parametrize("entities", [63, 64, 65, 129, 200, 520])
def test_native_equals_numpy_across_word_sizes(entities, rng):
    network = model_network(load("rcc8"), rng, entities, facts=4 * entities)
    native, numpy = closed_matrix(network, "compiled"), closed_matrix(network, "plain")
    assert native is not None
    np.testing.assert_array_equal(native, numpy)
    assert (native != network.matrix()).any()


def boxes(rng: np.random.Generator, count: int) -> np.ndarray:
    low = rng.integers(0, 12, size=(count, 2))
    return np.stack([low, low + rng.integers(1, 7, size=(count, 2))], axis=1)


def box_relation(a: np.ndarray, b: np.ndarray) -> str:
    """RCC-8 between two boxes, written down from the definitions."""
    (al, ah), (bl, bh) = a.tolist(), b.tolist()
    if a.tolist() == b.tolist():
        return "EQ"
    if any(ah[d] < bl[d] or bh[d] < al[d] for d in (0, 1)):
        return "DC"
    if any(ah[d] == bl[d] or bh[d] == al[d] for d in (0, 1)):
        return "EC"
    for name, (xl, xh), (yl, yh) in (("TPP", (al, ah), (bl, bh)), ("TPPI", (bl, bh), (al, ah))):
        if all(xl[d] >= yl[d] and xh[d] <= yh[d] for d in (0, 1)):
            inner = all(xl[d] > yl[d] and xh[d] < yh[d] for d in (0, 1))
            return "N" + name if inner else name
    return "PO"


def model_network(calculus: Calculus, rng: np.random.Generator, entities: int, facts: int) -> Network:
    """Facts that hold between random boxes, each with some other relations beside the true one."""
    regions = boxes(rng, entities)
    rows = []
    for _ in range(facts):
        i, j = rng.choice(entities, size=2, replace=False)
        mask = calculus.parse(box_relation(regions[i], regions[j]))
        if rng.random() < 0.3:
            mask |= 1 << int(rng.integers(len(calculus)))
        rows.append((str(i), mask, str(j)))
    return Network.of(calculus, rows, names=[str(i) for i in range(entities)])


@pytest.mark.parametrize("backend", BACKENDS)
def test_never_removes_what_holds_in_a_model(backend, rng):
    rcc8 = load("rcc8")
    regions = boxes(rng, 30)
    truth = [[rcc8.parse(box_relation(a, b)) for b in regions] for a in regions]
    pairs = [(i, j) for i in range(30) for j in range(30) if i != j and rng.random() < 0.2]
    network = Network.of(
        load("rcc8"), [(str(i), truth[i][j], str(j)) for i, j in pairs], [str(i) for i in range(30)]
    )
    result = close(network, backend=backend)
    assert result.answer is Answer.CONSISTENT
    matrix = result.closed.matrix()
    assert all(int(matrix[i, j]) & truth[i][j] for i in range(30) for j in range(30))
    assert (matrix != network.matrix()).any()


@pytest.mark.parametrize("backend", BACKENDS)
def test_shrinks_is_idempotent_and_ignores_the_order_of_entities(calculus, backend, rng):
    for _ in range(10):
        network = random_network(calculus, rng, 9, 0.4, 2)
        once = closed_matrix(network, backend)
        order = rng.permutation(9)
        renamed = Network(
            calculus,
            network.names,
            np.argsort(order)[network.heads].astype(np.int32),
            np.argsort(order)[network.tails].astype(np.int32),
            network.masks,
        )
        shuffled = closed_matrix(renamed, backend)
        if once is None:
            assert shuffled is None
            continue
        assert not (once & ~network.matrix()).any()
        np.testing.assert_array_equal(closed_matrix(close(network, backend=backend).closed, backend), once)
        np.testing.assert_array_equal(shuffled, once[np.ix_(order, order)])


def test_answers_only_what_it_decides():
    rcc8 = load("rcc8")
    hard = Network.of(load("rcc8"), [("a", "tpp|ntppi", "b"), ("b", "dc", "c")])
    assert rcc8.parse("tpp|ntppi") not in rcc8.tractable
    assert close(hard).answer is Answer.CLOSED
    assert close(Network.of(load("rcc8"), [("a", "tpp|ntpp", "b")])).answer is Answer.CONSISTENT


@pytest.mark.parametrize("backend", BACKENDS)
class TestIncremental:
    @settings(deadline=None)
    @given(seed=st.integers(0, 10_000))
    def test_equals_closing_everything_at_once(self, backend, seed):
        rng = np.random.default_rng(seed)
        names = list(CALCULI) if backend == "compiled" else DECIDED  # of 55 relations the plain twin is slow
        name = names[seed % len(names)]
        network = random_network(load(name), rng, 6, 0.7, 2)
        growing = Incremental(network.calculus, backend=backend)
        for fact in range(len(network)):
            part = network.select(range(fact + 1)).compact()
            words = network.fact(fact)
            answer = growing.add(words.head, int(network.masks[fact]), words.tail)
            result = close(part, backend=backend)
            assert answer is result.answer
            if not result.consistent:
                return
            for a, b in product(part.names, repeat=2):
                assert growing.mask(a, b) == result.mask(a, b)

    def test_costs_only_what_it_changes(self, backend, rng):
        network = model_network(load("rcc8"), rng, 60, facts=300)
        growing = Incremental.over(network, backend=backend)
        before = growing.refinements
        growing.add("new", "ec", "0")
        known = growing.matrix()[0]
        new = growing.matrix()[-1]
        # only pairs with the new entity can have become smaller
        assert growing.refinements - before <= len(known)
        assert (new != load("rcc8").universal).sum() > 1
        steps = growing._closure.steps
        growing.add("new", "ec", "0")
        assert growing._closure.steps == steps  # nothing new, nothing done

    def test_grows_beyond_its_first_capacity(self, backend):
        point = load("point")
        line = Incremental(point, backend=backend)
        for i in range(150):
            line.add(f"p{i}", "<", f"p{i + 1}")
        assert point.format(line.mask("p0", "p150")) == "<"
        assert line.add("p150", "<", "p0") is Answer.INCONSISTENT
        assert len(line.conflict) == 151
        assert line.add("x", "<", "y") is Answer.INCONSISTENT

    def test_unknown_entity_suggests_the_near_miss(self, backend):
        line = Incremental(load("point"), backend=backend)
        line.add("alpha", "<", "beta")
        with pytest.raises(UnknownName, match="Did you mean 'alpha'"):
            line.mask("alpa", "beta")


@pytest.mark.parametrize("backend", BACKENDS)
def test_empty_and_tiny_networks(backend, calculus):
    for names in ([], ["a"], ["a", "b"]):
        result = close(Network.of(calculus, [], names), backend=backend)
        assert result.answer is (Answer.CONSISTENT if calculus.decides else Answer.CLOSED)
        assert len(result.closed) == 0


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("small", "large"), [(5, 9), (64, 65), (70, 200), (130, 131)])
def test_a_network_grows_with_all_it_knows(backend, small, large):
    """Also with news that was not yet acted on; of further entities nothing is known."""
    point = load("point")
    for closed_before in (False, True):
        first = dense_closure(point, small, backend)
        first.refine(*arrays(range(small - 1), range(1, small), [1] * (small - 1)))
        if closed_before:
            first.close()
        grown = first.grown(large)
        assert grown.close()
        expected = Network.of(
            point, [(str(i), "<", str(i + 1)) for i in range(small - 1)], [str(i) for i in range(large)]
        )
        np.testing.assert_array_equal(grown.matrix(), close(expected, backend=backend).closed.matrix())


@pytest.mark.parametrize("backend", BACKENDS)
def test_too_many_entities_for_every_pair(backend):
    network = Network.of(load("point"), [("0", "<", "1")], [str(i) for i in range(MAX_DENSE + 1)])
    with pytest.raises(BadArgument, match=r"20,001 entities are too many .* Use partial closure"):
        close(network, backend=backend)


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_calculus_of_forty_relations(backend, rng):
    """More relations than the kernels keep a table of plans for: differences modulo 40."""
    size = 40
    modulo = Calculus(
        "mod40",
        tuple(f"d{i}" for i in range(size)),
        0,
        tuple(-i % size for i in range(size)),
        tuple(tuple(1 << ((i + j) % size) for j in range(size)) for i in range(size)),
        decides=True,
    )
    values = rng.integers(0, size, 20)
    facts = [(str(i), f"d{(values[i + 1] - values[i]) % size}", str(i + 1)) for i in range(19)]
    result = close(Network.of(modulo, facts), backend=backend)
    assert modulo.format(result.mask("3", "17")) == f"d{(values[17] - values[3]) % size}"
    wrong = (values[0] - values[19] + 1) % size
    assert not close(Network.of(modulo, [*facts, ("19", f"d{wrong}", "0")]), backend=backend).consistent


def test_one_pair_is_looked_up_without_a_table_of_all():
    """In an order of their own, too, as sparse algorithms keep pairs."""
    rcc8 = load("rcc8")
    network = Network.of(rcc8, [(f"n{i}", "ntpp", f"n{i + 1}") for i in range(600)])
    result = close(network)
    mixed = replace(result, **{k: getattr(result, k)[::-1] for k in ("first", "second", "masks")})
    tracemalloc.start()
    for found in (result, mixed):
        assert rcc8.format(found.mask("n3", "n599")) == "NTPP"
        assert rcc8.format(found.mask("n599", "n3")) == "NTPPI"
        assert rcc8.format(found.mask("n5", "n5")) == "EQ"
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40 * len(result.masks)  # a dictionary takes some 200 bytes a pair
