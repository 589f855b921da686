"""Closure along paths: where it is the same as complete closure, and that it is."""

import subprocess
import sys
from itertools import combinations

import numpy as np
import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve import paths, plain_sparse
from epignn.calculus.solve.closure import _complete, close
from epignn.calculus.solve.native import native_algebra
from epignn.calculus.solve.paths import along_paths, paths_suffice
from epignn.calculus.solve.sparse import swept
from epignn.kernels import kernels
from tests.calculus.solve.test_closure import naive_closure
from tests.conftest import DECIDED, random_network

pytestmark = pytest.mark.numeric

BACKENDS = ("compiled", "plain")


@pytest.fixture
def always(monkeypatch):
    """Networks of any size and density go along paths, if that is known to be the same."""
    monkeypatch.setattr(paths, "FEW", 0)
    monkeypatch.setattr(paths, "SPARSE", 1)


def singles(calculus):
    return tuple(1 << r for r in range(len(calculus)))


def drawn(calculus, sets, rng, entities, density):
    """A network over some sets."""
    facts = [
        (str(i), sets[rng.integers(len(sets))], str(j))
        for i, j in combinations(range(entities), 2)
        if rng.random() < density
    ]
    return Network.of(calculus, facts, [str(i) for i in range(entities)])


@pytest.mark.parametrize(("name", "count"), [("rcc5", 12), ("rcc8", 37), ("point", 4), ("allen", 29)])
def test_single_relations_generate_few_sets(name, count):
    """Li, Long, Liu, Duckham and Both, 2015, count them for RCC-5 and RCC-8."""
    calculus = load(name)
    assert len(paths._generated(calculus, singles(calculus))) == count
    assert paths_suffice(calculus, singles(calculus))


def test_not_every_class_will_do():
    """Of points, `≠` is what breaks the law: Long and Li, 2015. Distinct names and weak tables are out."""
    point, kinship, indu = (load(name) for name in ("point", "kinship", "indu"))
    convex = tuple(map(point.parse, ("<", "<|=", "=", "=|>", ">", "*")))
    assert paths_suffice(point, convex)
    assert not paths_suffice(point, (*convex, point.parse("<|>")))
    assert not paths_suffice(kinship, singles(kinship)[:2])
    assert not paths_suffice(indu, singles(indu))
    assert not paths_suffice(point, (0, 1))


def test_a_broken_table_is_seen():
    """Whichever cell of a lawful table is changed, paths are not relied on."""
    from dataclasses import replace

    point = load("point")
    for r in range(3):
        for s in range(3):
            table = [list(row) for row in point.composition]
            table[r][s] ^= 1 << (r + s) % 3
            broken = replace(point, composition=tuple(map(tuple, table)))
            assert not paths_suffice(broken, singles(broken)), (r, s)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("name", CALCULI)
@pytest.mark.parametrize("density", [0.15, 0.3, 0.6])
def test_the_same_as_the_definition(always, name, backend, density, rng):
    calculus = load(name)
    if not paths_suffice(calculus, singles(calculus)):
        assert name not in DECIDED
        return
    sets = singles(calculus) if rng.random() < 0.5 else paths._generated(calculus, singles(calculus)).tolist()
    kinds = set()
    for _ in range(12):
        network = drawn(calculus, sets, rng, 9, density)
        expected = naive_closure(network)
        found = along_paths(network, None, backend)
        assert found is not None
        assert found.consistent == (expected is not None)
        kinds.add(found.consistent)
        pairs = [(int(i), int(j)) for i, j in rng.integers(0, 9, size=(3, 2))]
        asked = [along_paths(network, pair, backend) for pair in pairs]
        assert [one.consistent for one in asked] == [found.consistent] * 3
        if expected is None:
            continue
        np.testing.assert_array_equal(found.masks, expected[found.first, found.second])
        assert len(found.masks) == 36
        for one, (i, j) in zip(asked, pairs, strict=True):
            assert close(network, backend, (str(i), str(j))).mask(str(i), str(j)) == int(expected[i, j])
            assert len(one.masks) == (i != j)
    assert kinds & {True, False}


@pytest.mark.parametrize(("name", "relation"), [("rcc8", "ntpp"), ("allen", "during")])
@pytest.mark.parametrize("facts", [150, 180, 200])
def test_large_sparse_networks_are_closed_so_by_themselves(name, relation, facts, rng):
    calculus = load(name)
    answers = set()
    for ordered in (True, False, True, False):
        ends = rng.integers(0, 180, size=(facts, 2))
        chosen = rng.integers(len(calculus), size=facts)
        if ordered:  # all of one direction: these can hold together
            ends, chosen = np.sort(ends, axis=1), chosen * 0 + calculus.parse(relation).bit_length() - 1
        triples = [(str(i), 1 << int(r), str(j)) for (i, j), r in zip(ends, chosen, strict=True) if i != j]
        network = Network.of(calculus, triples, [str(i) for i in range(180)])
        found, dense = along_paths(network, None, "auto"), _complete(network, None, "auto")
        assert found is not None
        assert found.consistent == dense.consistent
        answers.add(found.consistent)
        if found.consistent:
            np.testing.assert_array_equal(found.masks, dense.masks)
            assert found.steps < dense.steps
        result = close(network)
        assert result.answer is (Answer.CONSISTENT if found.consistent else Answer.INCONSISTENT)
        if not result.consistent:
            assert not close(network.select(list(result.conflict_facts))).consistent
    assert answers == {True, False} or facts == 150


@pytest.mark.parametrize("name", CALCULI)
def test_kernels_agree(name, rng):
    """Whatever the calculus, and in all widths of a set: the compiled kernel does as its twin."""
    calculus, module = load(name), kernels("compiled")
    for size in (1, 2.5):
        network = random_network(calculus, rng, 11, 0.2, size)
        order, first, second, masks, empty, *_ = swept(network, [], 1, "compiled")
        if empty < 0:
            found = module.spread(native_algebra(calculus), order, first, second, masks)
            np.testing.assert_array_equal(found, plain_sparse.spread(calculus, order, first, second, masks))


def test_the_kernel_refuses_edges_that_do_not_follow_the_order():
    rcc8, module = load("rcc8"), kernels("compiled")
    one = np.ones(1, dtype=np.uint64)
    order, (a, b) = np.array([0, 1], dtype=np.int32), np.array([[0], [1]], dtype=np.int32)
    module.spread(native_algebra(rcc8), order, a, b, one)
    with pytest.raises(ValueError, match="do not follow the order"):
        module.spread(native_algebra(rcc8), order, b, a, one)
    with pytest.raises(ValueError, match="do not follow the order"):
        module.spread(native_algebra(rcc8), np.array([0, 0], dtype=np.int32), a, b, one)
    with pytest.raises(IndexError):
        module.spread(native_algebra(rcc8), order, a, b + 1, one)


@pytest.mark.parametrize("backend", BACKENDS)
def test_where_too_many_pairs_would_be_kept(monkeypatch, backend):
    """A ring of 40 facts has 77 pairs along any order."""
    ring = Network.of(load("rcc8"), [(str(i), "dc", str((i + 1) % 40)) for i in range(40)])
    assert [len(swept(ring, [], 1, backend, most=most)[0]) for most in (76, 77)] == [0, 40]
    monkeypatch.setattr(paths, "FEW", 0)
    found = []
    for sparse in (1600 // 60, 1600 // 80):
        monkeypatch.setattr(paths, "SPARSE", sparse)
        found.append(along_paths(ring, None, backend))
    assert found[0] is None
    assert found[1].consistent


CHAIN = """
import resource, sys
from epignn import Network, close, load
size, relation, pair = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "pair"
network = Network.of(load("rcc8"), [(f"n{i}", relation, f"n{i + 1}") for i in range(size - 1)])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
result = close(network, query=("n0", "n9")) if pair else close(network)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, result.mask("n0", "n9"))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="tells memory in kilobytes")
@pytest.mark.parametrize(
    ("relation", "pair", "bytes_a_pair"),
    [("ntpp", "pair", 0.6), ("ntpp", "all", 9.5), ("ec|ntpp", "pair", 2), ("ec|ntpp", "all", 10.5)],
)
def test_memory_for_n_entities(relation, pair, bytes_a_pair):
    """What docs/limits.md says: bytes for each of n² pairs; and one pair is never dearer than all."""
    size = 2000
    done = subprocess.run(
        [sys.executable, "-c", CHAIN, str(size), relation, pair], check=True, capture_output=True, text=True
    )
    kilobytes, mask = map(int, done.stdout.split())
    assert mask == load("rcc8").compose_path([load("rcc8").parse(relation)] * 9)
    assert kilobytes << 10 < bytes_a_pair * size * size + (2 << 20)
