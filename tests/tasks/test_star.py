"""The settings of generated problems: which cells, and how training sets are made harder."""

import numpy as np
import pytest

from epignn.errors import BadArgument, EpignnError
from epignn.learn.config import load_experiment
from epignn.tasks.star import Star

SMALL = {"k": (2, 3), "b": (1, 2), "per_label": 10}


def test_without_settings_problems_are_the_ordinary_ones(same):
    plain, valid = Star(**SMALL).examples()
    assert valid is None
    assert len(plain) == 4 * 8 * 10
    assert same(plain, Star(**SMALL, labels=(), apart=(), noise=0, wrong=0.0).examples()[0])


def test_settings_change_training_graphs_and_no_test_cell(same):
    harder = Star(**SMALL, labels=("DC", "EC", "TPP"), apart=("EC TPP",), noise=2, wrong=0.3)
    plain = Star(**SMALL)
    data, _ = harder.examples()
    clean, _ = Star(**SMALL, labels=("DC", "EC", "TPP"), apart=("EC TPP",)).examples()
    assert 0 < len(data) < 4 * 3 * 10
    assert np.array_equal(data.edge_count, clean.edge_count + 2)
    assert 0.15 < (data.label != clean.label).mean() < 0.45
    assert set(np.unique(clean.label)) == {0, 1, 3}
    assert same(data, harder.examples()[0])
    assert same(harder.cell(4, 2, 5, plain.examples()[0].relations), plain.cell(4, 2, 5, ()))


def test_settings_are_read_from_the_command_line():
    words = ["data.noise=3", "data.wrong=0.1", 'data.apart=["TPP NTPP"]', 'data.labels=["DC"]']
    task = load_experiment("rcc8", words).data
    assert (task.noise, task.wrong, task.apart, task.labels) == (3, 0.1, ("TPP NTPP",), ("DC",))


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("data.wrong=1.0", "data.wrong must be at least 0 and below 1"),
        ("data.noise=-1", "data.noise must be 0 or more"),
        ("data.holdout='x'", "holdout must be graphs, longest, longer or larger"),
    ],
)
def test_settings_out_of_range_are_refused(setting, message):
    with pytest.raises(EpignnError, match=message):
        load_experiment("rcc8", [setting])


def test_nothing_left_is_refused():
    every = tuple(
        f"{a} {b}" for a in ("DC", "EC", "PO", "TPP", "NTPP", "TPPI", "NTPPI", "EQ") for b in ("EQ", "DC")
    )
    with pytest.raises(BadArgument, match="no training graph is left"):
        Star(k=(2,), b=(1,), per_label=3, labels=("EQ",), apart=every).examples()
