"""Verdicts: against a plain count, and that the likelihood prefers the truth."""

import math
from dataclasses import replace

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.solve.closure import close
from epignn.data.dataset import Dataset
from epignn.data.prove import networks
from epignn.distil.evidence import Evidence, corrupt
from epignn.distil.orbits import Orbits
from tests.distil.conftest import problems


def test_a_verdict_is_what_counting_each_problem_gives(rng):
    rcc8 = load("rcc8")
    data = corrupt(problems(rcc8, 3), 0.2, rng)
    weaker = replace(rcc8, composition=tuple(tuple(m | 0b100 for m in row) for row in rcc8.composition))
    entailed = open_ = wrong = 0
    likelihood = 0.0
    for network, head, tail, label in zip(
        networks(data, weaker), data.query_head, data.query_tail, data.label, strict=True
    ):
        result = close(network)
        left = result.mask(str(head), str(tail)) if result.consistent else 0
        entailed += left == 1 << label
        open_ += bool(left >> label & 1) and left != 1 << label
        wrong += not left >> label & 1
        likelihood -= math.log(left.bit_count()) if left >> label & 1 else 0
    share = wrong / len(data)
    likelihood += wrong * math.log(share / 7) + (len(data) - wrong) * math.log(1 - share)
    verdict = Evidence.of(data).judge(weaker)
    assert (verdict.entailed, verdict.open, verdict.contradicted) == (entailed, open_, wrong)
    assert wrong > 0
    assert open_ > 0
    assert verdict.log_likelihood == pytest.approx(likelihood)
    assert verdict.instances == len(data)


def test_copies_are_counted_and_queries_told_apart():
    data = Dataset(
        ("a", "b"), [3] * 4, [0, 2, 4, 6, 8], [0, 1] * 4, [1, 2] * 4, [0, 1] * 4, [0, 0, 0, 1], [2, 2, 2, 2],
        [0, 0, 1, 1],
    )  # fmt: skip
    evidence = Evidence.of(data)
    assert sorted(map(tuple, evidence.counts.tolist())) == [(0, 1), (2, 1)]
    assert len(evidence.smallest(1)) == 1


def test_smallest_problems_come_first():
    evidence = Evidence.of(problems(load("rcc5"), 5))
    assert (np.diff(evidence.problems.edge_count) >= 0).all()


@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_no_single_change_of_the_true_table_is_likelier(noise, rng):
    true = load("rcc5")
    evidence = Evidence.of(corrupt(problems(true, 60), noise, rng))
    orbits = Orbits.of(true.relations, true.identity, true.converses)
    possible = orbits.possible(true)
    best = evidence.judge(true).log_likelihood
    for fact in orbits.free.tolist():
        turned = possible.copy()
        turned[fact] = not turned[fact]
        assert evidence.judge(orbits.calculus(turned)).log_likelihood <= best, orbits.describe(fact)


def test_corruption_changes_labels_only(rng):
    data = problems(load("rcc5"), 40)
    bad = corrupt(data, 0.1, rng)
    changed = (bad.label != data.label).mean()
    assert 0.07 < changed < 0.13
    assert (bad.edge_label == data.edge_label).all()
    assert (corrupt(data, 0.0, rng).label == data.label).all()
