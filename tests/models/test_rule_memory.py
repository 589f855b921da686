"""A rule scorer whose memory ran out in the middle of a head answers rightly afterwards."""

import subprocess
import sys

import pytest

from epignn.kernels import native

ASKS_WITH_LITTLE_MEMORY = """
import resource
import numpy as np
from epignn.data.graph import Graph
from epignn.models.rule_scorer import Lookup, RuleScorer
from epignn.models.tally import body_of

rng = np.random.default_rng(0)
dense = np.stack([rng.integers(0, 1200, 100_000), np.zeros(100_000, int), rng.integers(0, 1200, 100_000)], 1)
sparse = np.stack([1200 + rng.integers(0, 40, 300), rng.integers(0, 8, 300), 1200 + rng.integers(0, 40, 300)], 1)
facts = np.unique(np.concatenate([dense, sparse]), axis=0).astype(np.int32)
graph = Graph(tuple(map(str, range(1240))), tuple("abcdefgh"), facts)
bodies = [[0, 0, last] for last in range(16)] + [[5, 3], [6, 2, 1], [7, 4, 9]]
rules = Lookup.of(
    np.arange(len(bodies)) % 16,
    np.array([body_of(body, 16) for body in bodies]),
    np.linspace(0.1, 0.9, len(bodies)),
    16,
    "max",
)
relations = np.arange(16)
scorer = RuleScorer(rules, graph.edges, 3, 0.5, "compiled")
expected = [scorer(head, relations) for head in range(1200, 1240)]
assert np.any(expected)

unlimited = resource.getrlimit(resource.RLIMIT_AS)
failed = 0
for megabytes in (8, 16, 24, 32, 48, 64, 96):
    pages = int(open("/proc/self/statm").read().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + megabytes * 2**20, unlimited[1]))
    try:
        scorer.reached(0, relations)
    except MemoryError:
        failed += 1
    resource.setrlimit(resource.RLIMIT_AS, unlimited)
    for head, scores in zip(range(1200, 1240), expected, strict=True):
        np.testing.assert_array_equal(scorer(head, relations), scores)
print(failed)
"""


@pytest.mark.skipif(native() is None or sys.platform != "linux", reason="nothing is compiled, or limits differ")
def test_answers_after_memory_ran_out():
    ran = subprocess.run([sys.executable, "-c", ASKS_WITH_LITTLE_MEMORY], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert int(ran.stdout) > 1
