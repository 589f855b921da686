"""Training sets that tell less: what is left out, what is added, and that answers stay what they were."""

from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data.dataset import Dataset
from epignn.data.harder import never_adjacent, with_labels, with_noise, with_wrong_labels
from epignn.data.prove import answers
from epignn.data.reach import between
from epignn.errors import BadArgument, UnknownName
from epignn.tasks.star import generated


@pytest.fixture(scope="module")
def problems() -> Dataset:
    cells = ((2, 1), (3, 2), (4, 3), (6, 1))
    return Dataset.concat([generated(load("rcc8"), k, b, 10, 5) for k, b in cells])


def adjacent(data: Dataset, g: int) -> set[tuple[str, str]]:
    edges = data.example(g).edges
    return {(r, s) for _, r, end in edges for begin, s, _ in edges if end == begin}


def test_labels(problems):
    found = with_labels(problems, ["EC", "PO"])
    assert len(found) == 80
    assert {found.example(g).label for g in range(len(found))} == {"EC", "PO"}
    with pytest.raises(UnknownName, match="Unknown relation 'ECC'"):
        with_labels(problems, ["ECC"])


def test_pairs_that_are_never_adjacent(problems):
    pairs = [("TPP", "NTPP"), ("EC", "EC")]
    found = never_adjacent(problems, [" ".join(pair) for pair in pairs])
    expected = [g for g in range(len(problems)) if not adjacent(problems, g) & set(pairs)]
    assert 0 < len(expected) < len(problems)
    assert [found.example(g) for g in range(len(found))] == [problems.example(g) for g in expected]
    with pytest.raises(BadArgument, match="written like 'TPP NTPP', not 'TPP'"):
        never_adjacent(problems, ["TPP"])
    with pytest.raises(UnknownName, match="Unknown relation 'TP'"):
        never_adjacent(problems, ["TP EC"])


def test_noise_adds_facts_but_no_path_and_changes_no_answer(problems, rng):
    found = with_noise(problems, 5, rng)
    assert np.array_equal(found.edge_count, problems.edge_count + 5)
    for g in range(0, len(found), 17):
        before, after = problems.example(g), found.example(g)
        assert (after.edges[:-5], after.query, after.label) == (before.edges, before.query, before.label)
        first = problems.node_count[g]
        fresh = [max(source, target) for source, _, target in after.edges[-5:]]
        assert fresh == list(range(first, first + 5))
    paths = between(found)
    assert np.array_equal(paths.edge_label, problems.edge_label)
    assert np.array_equal(paths.edge_source, problems.edge_source)
    assert np.array_equal(answers(found, load("rcc8")), answers(problems, load("rcc8")))


def test_noise_leads_both_ways_from_any_entity(problems, rng):
    added = np.concatenate([np.arange(-3, 0) + end for end in with_noise(problems, 3, rng).edge_offset[1:]])
    found = with_noise(problems, 3, np.random.default_rng(1))
    away = found.edge_source[added] < found.edge_target[added]
    assert 0.4 < away.mean() < 0.6
    assert len(np.unique(found.edge_label[added])) == 8
    assert np.any(np.minimum(found.edge_source, found.edge_target)[added] >= np.repeat(problems.node_count, 3))


def test_wrong_labels_are_a_share_and_never_the_right_one(problems):
    many = problems.select(np.arange(20 * len(problems)) % len(problems))
    found = with_wrong_labels(many, 0.25, np.random.default_rng(1))
    wrong = found.label != many.label
    assert 0.22 < wrong.mean() < 0.28
    assert np.bincount((found.label - many.label)[wrong] % 8, minlength=8).min() == 0
    assert len(np.unique((found.label - many.label)[wrong] % 8)) == 7
    assert np.array_equal(replace(found, label=many.label).edge_label, many.edge_label)


def test_the_same_generator_gives_the_same(problems, same):
    for change in (lambda rng: with_noise(problems, 3, rng), lambda rng: with_wrong_labels(problems, 0.5, rng)):
        one, again, other = (change(np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert same(one, again)
        assert not same(one, other)
