"""What a record tells of its run."""

from pathlib import Path

import numpy as np
import pytest

from epignn.report.record import forget_peak, peak_mb


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell")
def test_the_memory_of_a_run_is_not_that_of_the_one_before():
    large = np.ones(40_000_000)
    before = peak_mb()
    assert before is not None
    assert before >= large.nbytes >> 20
    del large
    forget_peak()
    after = peak_mb()
    assert after is not None
    assert after < before - 250
