"""Problems of a cell: sound by an independent closure, shaped and distributed as the published ones."""

from collections import Counter
from functools import cache

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data import Dataset
from epignn.data.paths import ShortPaths
from epignn.data.problems import draw
from epignn.formats.star_csv import read_csv
from epignn.tasks.generate import file_name
from tests.conftest import DECIDED


def problems(calculus, k, b, count, seed=0):
    rng = np.random.default_rng(seed)
    label = np.arange(count) % len(calculus)
    return draw(ShortPaths(calculus, rng), k, b, label, rng)


def edges_of(data, g):
    part = slice(data.edge_offset[g], data.edge_offset[g + 1])
    return list(zip(data.edge_source[part].tolist(), data.edge_target[part].tolist(), strict=True))


def close(calculus, data, g):
    """The full path-consistency closure of graph `g`, slowly and by definition."""
    compose, converse = cache(calculus.compose), cache(calculus.converse)
    nodes = range(data.node_count[g])
    matrix = [[calculus.identity_mask if i == j else calculus.universal for j in nodes] for i in nodes]
    part = slice(data.edge_offset[g], data.edge_offset[g + 1])
    for (i, j), r in zip(edges_of(data, g), data.edge_label[part].tolist(), strict=True):
        matrix[i][j] &= 1 << r
        matrix[j][i] = converse(matrix[i][j])
    changed = True
    while changed:
        changed = False
        for m in nodes:
            for i in nodes:
                for j in nodes:
                    smaller = matrix[i][j] & compose(matrix[i][m], matrix[m][j])
                    changed |= smaller != matrix[i][j]
                    matrix[i][j] = smaller
    return matrix


@pytest.mark.parametrize("name", DECIDED)
@pytest.mark.parametrize(("k", "b"), [(2, 1), (3, 2), (4, 3), (5, 1), (6, 2), (9, 1)])
def test_the_closure_entails_the_label(name, k, b):
    calculus = load(name)
    data = problems(calculus, k, b, max(len(calculus), 8))
    for g in range(len(data)):
        matrix = close(calculus, data, g)
        assert all(all(row) for row in matrix), data.example(g)
        assert matrix[data.query_head[g]][data.query_tail[g]] == 1 << data.label[g], data.example(g)


def test_the_oracle_can_fail():
    calculus = load("rcc8")
    good = problems(calculus, 3, 1, 8)
    bad = Dataset(
        **{name: getattr(good, name) for name in Dataset.__dataclass_fields__}
        | {"edge_label": (good.edge_label + 1) % 8}
    )
    matrices = [close(calculus, bad, g) for g in range(8)]
    assert any(matrix[0][-1] != 1 << label for matrix, label in zip(matrices, bad.label.tolist(), strict=True))


@pytest.mark.parametrize(
    ("k", "b"), [(2, 1), (2, 8), (3, 2), (4, 3), (5, 1), (7, 2), (9, 3), (15, 1), (30, 8), (100, 1)]
)
def test_every_path_has_k_edges_and_nodes_are_in_topological_order(k, b):
    data = problems(load("rcc8"), k, b, 40)
    assert (data.k, data.b) == (k, b)
    for g in range(len(data)):
        edges = edges_of(data, g)
        last = data.node_count[g] - 1
        assert data.query_head[g] == 0
        assert data.query_tail[g] == last
        assert len(set(edges)) == len(edges)
        assert all(source < target for source, target in edges)
        depth = {0: {0}}
        for source, target in sorted(edges):
            depth.setdefault(target, set()).update(d + 1 for d in depth[source])
        assert depth.keys() == set(range(last + 1))
        assert depth[last] == {k}
        assert {source for source, _ in edges} == set(range(last))


@pytest.mark.parametrize("k", [2, 3, 4])
@pytest.mark.parametrize("b", [1, 2, 3, 8])
def test_small_problems_are_disjoint_paths(k, b):
    data = problems(load("allen"), k, b, 26)
    for g in range(len(data)):
        out = Counter(source for source, _ in edges_of(data, g))
        into = Counter(target for _, target in edges_of(data, g))
        tail = data.node_count[g] - 1
        assert out.pop(0) == into.pop(tail) == b
        assert set(out.values()) <= {1}
        assert set(into.values()) <= {1}
        assert data.node_count[g] == b * (k - 1) + 2


def test_branches_are_listed_as_published():
    data = problems(load("rcc8"), 3, 2, 1)
    assert edges_of(data, 0) == [(0, 1), (1, 2), (2, 5), (0, 3), (3, 4), (4, 5)]


# Measured on the published files: mean nodes and edges at b = 1, and of a thousand edges those of each relation.
SIZES = {
    "rcc8": {5: (10.95, 13.64), 6: (12.0, 14.75), 7: (15.51, 19.11), 8: (16.47, 20.02), 9: (19.98, 24.15)},
    "allen": {5: (10.99, 13.71), 6: (12.02, 14.78), 7: (15.49, 19.07), 8: (16.49, 20.07), 9: (19.98, 24.18)},
}
FREQUENCIES = {
    ("rcc8", 2, 1): (47, 78, 62, 96, 90, 95, 91, 441),
    ("rcc8", 2, 3): (98, 146, 112, 141, 106, 141, 109, 148),
    ("rcc8", 3, 2): (50, 95, 63, 106, 84, 106, 85, 411),
    ("rcc8", 4, 3): (40, 84, 55, 96, 77, 97, 74, 478),
    ("rcc8", 7, 1): (23, 107, 34, 119, 76, 120, 76, 445),
    ("rcc8", 9, 1): (17, 94, 26, 112, 68, 112, 68, 503),
    ("allen", 2, 1): (258, 28, 28, 42, 41, 38, 37, 56, 56, 104, 103, 105, 104),
    ("allen", 2, 3): (61, 61, 63, 77, 78, 92, 92, 78, 77, 82, 78, 81, 81),
    ("allen", 3, 2): (217, 31, 31, 47, 44, 50, 49, 63, 64, 101, 102, 100, 100),
    ("allen", 4, 3): (270, 26, 25, 41, 41, 44, 43, 50, 51, 103, 103, 102, 102),
    ("allen", 7, 1): (235, 18, 18, 43, 43, 56, 55, 66, 66, 102, 101, 99, 99),
    ("allen", 9, 1): (276, 15, 15, 37, 37, 50, 49, 61, 61, 101, 100, 99, 99),
}


def published(folder, name, k, b):
    return read_csv(folder / "rcc8_ia" / file_name(load(name), k, b), load(name))


def per_mille(data):
    return 1000 * np.bincount(data.edge_label, minlength=len(data.relations)) / len(data.edge_label)


def test_topologies_are_those_of_the_published_file(data):
    """Sixty shapes at k=5, b=1, numbered alike and about as frequent."""
    theirs = published(data, "rcc8", 5, 1)
    ours = problems(load("rcc8"), 5, 1, len(theirs))
    a, b = (Counter(str(edges_of(some, g)) for g in range(len(some))) for some in (theirs, ours))
    assert a.keys() == b.keys()
    assert len(a) == 60
    assert sum(abs(a[shape] - b[shape]) for shape in a) / 2 < 0.1 * len(theirs)


def test_there_are_sixty_topologies():
    ours = problems(load("rcc8"), 5, 1, 6400)
    assert len({str(edges_of(ours, g)) for g in range(len(ours))}) == 60


def test_what_was_measured_on_the_published_files(data):
    for name, sizes in SIZES.items():
        for k, (nodes, edges) in sizes.items():
            theirs = published(data, name, k, 1)
            assert theirs.node_count.mean() == pytest.approx(nodes, abs=0.0051)
            assert theirs.edge_count.mean() == pytest.approx(edges, abs=0.0051)
    for cell, expected in FREQUENCIES.items():
        assert per_mille(published(data, *cell)) == pytest.approx(expected, abs=0.51)


@pytest.mark.parametrize("name", ["rcc8", "allen"])
@pytest.mark.parametrize("k", [5, 6, 7, 8, 9])
def test_sizes_are_those_of_the_published_files(name, k):
    nodes, edges = SIZES[name][k]
    ours = problems(load(name), k, 1, 3000)
    assert ours.node_count.mean() == pytest.approx(nodes, rel=0.02)
    assert ours.edge_count.mean() == pytest.approx(edges, rel=0.02)


@pytest.mark.parametrize(("k", "b", "nodes", "edges"), [(7, 2, 29, 38), (15, 1, 33, 39)])
def test_sizes_are_those_measured_on_other_published_files(k, b, nodes, edges):
    data = problems(load("rcc8"), k, b, 3000)
    assert data.node_count.mean() == pytest.approx(nodes, rel=0.02)
    assert data.edge_count.mean() == pytest.approx(edges, rel=0.02)


@pytest.mark.parametrize(("name", "k", "b"), FREQUENCIES)
def test_relations_are_as_frequent_as_in_the_published_files(name, k, b):
    assert per_mille(problems(load(name), k, b, 8000)) == pytest.approx(FREQUENCIES[name, k, b], abs=10)
