"""CLUTRR's rules: exactly those of the two-hop rows; every published label is derivable."""

import numpy as np
import pytest

from epignn.calculus.calculi.families import TERMS
from epignn.data.dataset import Dataset
from epignn.data.kin_rules import ambiguous_by_rules, derivable_labels, rule_table
from epignn.errors import BadArgument
from epignn.formats.clutrr import read_clutrr
from tests.conftest import known_files, made_here


def plain(walk):
    """All terms that some bracketing derives, by recursion."""
    if len(walk) == 1:
        return {walk[0]}
    table = rule_table()
    return {
        int(table[a, b]).bit_length() - 1
        for cut in range(1, len(walk))
        for a in plain(walk[:cut])
        for b in plain(walk[cut:])
        if table[a, b]
    }


def walks(labels):
    count, length = labels.shape
    step = np.tile(np.arange(length), count)
    return Dataset(TERMS, np.full(count, length + 1), np.arange(count + 1) * length, step, step + 1, labels.ravel(),
                   np.zeros(count), np.full(count, length), np.zeros(count))  # fmt: skip


@pytest.mark.parametrize("length", [1, 2, 3, 5, 7])
def test_a_recursion_finds_the_same(rng, length):
    common = [
        TERMS.index(t) for t in ("son", "daughter", "brother", "sister", "wife", "grandfather", "father", "aunt")
    ]
    data = walks(rng.choice(common, (200, length)))
    found = derivable_labels(data)
    for g, mask in enumerate(found.tolist()):
        walk = tuple(data.edge_label[g * length : (g + 1) * length].tolist())
        assert {t for t in range(20) if mask >> t & 1} == plain(walk)
    assert (found != 0).any()


def test_long_walks():
    data = walks(np.tile([TERMS.index("brother")], (3, 100)))
    assert derivable_labels(data).tolist() == [1 << TERMS.index("brother")] * 3


def test_the_two_hop_rows_show_the_rules(files):
    train = read_clutrr(files / "clutrr" / "data_db9b8f04" / "1.2,1.3,1.4_train.csv.gz", TERMS)
    short = train.select(train.edge_count == 2)
    first, second = short.edge_label.reshape(-1, 2).T
    seen = np.zeros((20, 20), dtype=np.uint64)
    np.bitwise_or.at(seen, (first, second), np.uint64(1) << short.label.astype(np.uint64))
    assert np.array_equal(seen, rule_table())


@pytest.mark.parametrize("version", ["db9b8f04", "089907f8", "9b2173cf"])
def test_every_label_of_the_files_is_derivable(files, version):
    paths = known_files(files, f"clutrr-{version}", ".csv")
    assert len(paths) >= 2
    for path in paths:
        rows = read_clutrr(path, TERMS)
        derived = derivable_labels(rows)
        assert (derived >> rows.label.astype(np.uint64) & np.uint64(1) == 1).all(), path
        assert ambiguous_by_rules(rows).mean() < (0.3 if made_here(files) else 0.16)


def test_rows_with_two_labels_are_ambiguous(files):
    """Walks that the training file labels in two ways are among those for which the rules derive two terms."""
    train = read_clutrr(files / "clutrr" / "data_db9b8f04" / "1.2,1.3,1.4_train.csv.gz", TERMS)
    rows = np.flatnonzero(train.edge_count == 3)
    walk = train.edge_label[train.edge_offset[rows, None] + np.arange(3)]
    labels = {}
    for row, key in zip(rows.tolist(), map(tuple, walk.tolist()), strict=True):
        labels.setdefault(key, set()).add(int(train.label[row]))
    open_rows = [row for row, key in zip(rows, map(tuple, walk.tolist()), strict=True) if len(labels[key]) > 1]
    assert open_rows
    assert ambiguous_by_rules(train)[open_rows].all()


def test_what_is_no_walk_is_refused():
    apart = Dataset(TERMS, [4], [0, 2], [0, 2], [1, 3], [0, 0], [0], [3], [0])
    away = Dataset(TERMS, [3], [0, 2], [0, 1], [1, 2], [0, 0], [0], [1], [0])
    for data in (apart, away, Dataset(TERMS, [2], [0, 0], [], [], [], [0], [1], [0])):
        with pytest.raises(BadArgument, match="only walks"):
            derivable_labels(data)
