"""What few entities have for a relation, against a table of all."""

import numpy as np

from epignn.models.listed import Listed


def test_a_table_has_what_is_listed_row_by_row():
    """Relations in any order, one of them twice, one of which nothing is listed."""
    rng = np.random.default_rng(0)
    whole = rng.integers(1, 9, (6, 40)) * (rng.random((6, 40)) < 0.2)
    whole[3] = 0
    kind = np.flatnonzero(whole)
    listed, asked = Listed.of(kind, whole.ravel()[kind], 6, 40), np.array([5, 3, 0, 5])
    np.testing.assert_array_equal(listed.table(asked, 40), whole[asked])
    row, entity, value = listed.asked(asked)
    assert len(value) == np.count_nonzero(whole[asked])
    np.testing.assert_array_equal(whole[asked][row, entity], value)
    assert not listed.table(np.zeros(0, dtype=np.int64), 40).size
