"""The stream: balanced, shuffled, all of a small cell, nothing twice in a large one."""

from collections import Counter
from itertools import product

import numpy as np
import pytest

from epignn.calculus import load
from epignn.data import Dataset, Problems
from epignn.data import stream as stream_module
from epignn.data.stream import digests
from epignn.errors import BadArgument
from tests.conftest import DECIDED


def stream(name, k, b, per_label, seed=0):
    return Problems(load(name), k, b, per_label, np.random.default_rng(seed))


def count(chunks):
    return Counter(example for chunk in chunks for example in map(chunk.example, range(len(chunk))))


@pytest.mark.parametrize(
    ("name", "k", "b", "distinct"), [("rcc8", 2, 1, 27), ("rcc8", 3, 1, 93), ("allen", 2, 1, 97)]
)
def test_small_cells_hold_every_problem_of_the_published_files(name, k, b, distinct):
    problems = stream(name, k, b, 800)
    seen = count(problems)
    assert len(seen) == problems.distinct == distinct


@pytest.mark.parametrize("name", DECIDED)
def test_small_cells_hold_every_problem_there_is(name):
    """All pairs of two-edge paths that say something and together single out a relation, by enumeration."""
    calculus = load(name)
    two = [cell for row in calculus.composition for cell in row if cell != calculus.universal]
    problems = stream(name, 2, 2, 3000)
    assert len(count(problems)) == sum((p & q).bit_count() == 1 for p, q in product(two, repeat=2))


def test_repeats_are_even():
    """Within a label no problem comes twice more often than another, over several chunks."""
    problems = stream("rcc8", 3, 1, 5000)
    chunks = list(problems)
    assert len(chunks) > 2
    by_label = {}
    for example, times in count(chunks).items():
        by_label.setdefault(example.label, []).append(times)
    assert all(max(times) - min(times) <= 1 for times in by_label.values())
    assert {sum(times) for times in by_label.values()} == {5000}


@pytest.mark.parametrize(("name", "k", "b"), [("rcc8", 4, 3), ("rcc8", 5, 1), ("allen", 6, 1), ("point", 9, 1)])
def test_large_cells_repeat_nothing(name, k, b):
    seen = count(stream(name, k, b, 500))
    assert set(seen.values()) == {1}


def test_chunks_are_balanced_and_shuffled():
    chunks = list(stream("rcc8", 4, 2, 2500))
    assert sum(map(len, chunks)) == 8 * 2500
    for chunk in chunks:
        assert len(set(np.bincount(chunk.label, minlength=8).tolist())) == 1
        assert len(chunk) <= 8192
        changes = np.count_nonzero(np.diff(chunk.label)) / (len(chunk) - 1)
        assert 0.8 < changes < 0.95


def test_what_is_kept_is_bounded_and_still_serves_repeats(monkeypatch):
    monkeypatch.setattr(stream_module, "KEPT_EDGES", 10)
    seen = count(stream("rcc8", 3, 1, 3000))
    assert len(seen) == 93
    assert sum(seen.values()) == 8 * 3000


def test_digests_tell_any_difference():
    one = Dataset(("a", "b"), [3], [0, 2], [0, 1], [1, 2], [0, 1], [0], [2], [0])
    same = Dataset(("a", "b"), [3], [0, 2], [0, 1], [1, 2], [0, 1], [0], [2], [0])
    swapped = Dataset(("a", "b"), [3], [0, 2], [0, 1], [1, 2], [1, 0], [0], [2], [0])
    moved = Dataset(("a", "b"), [3], [0, 2], [0, 0], [1, 2], [0, 1], [0], [2], [0])
    shorter = Dataset(("a", "b"), [3], [0, 1], [0], [1], [0], [0], [2], [0])
    alone = [digests(data)[0] for data in (one, same, swapped, moved, shorter)]
    assert alone[0] == alone[1]
    assert len(set(alone)) == 4
    assert digests(Dataset.concat([shorter, swapped, moved])).tolist() == [alone[4], alone[2], alone[3]]
    assert len(digests(one.select([]))) == 0


@pytest.mark.parametrize(
    ("k", "b", "per_label", "message"),
    [(1, 1, 1, "k must be 2 or more, not 1"), (2, 0, 1, "b must be 1"), (2, 1, 0, "per_label must be 1")],
)
def test_impossible_cells_are_refused(k, b, per_label, message):
    with pytest.raises(BadArgument, match=message):
        stream("rcc8", k, b, per_label)
