"""Expectation-maximisation against all readings of short walks, one by one."""

import math
from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest
import torch

from epignn.models import inside as module
from epignn.models.inside import Evidence, evidence, expected, inside
from epignn.models.walks import walks
from tests.models.conftest import random_graphs
from tests.rounding import close

pytestmark = pytest.mark.numeric
FAILED = 3
"""Of three relations; the number of no relation that has a name."""
Used = tuple[tuple[int, int, int], ...]


@pytest.fixture
def table(rng) -> torch.Tensor:
    drawn = rng.random((3, 3, 4))
    return torch.from_numpy(drawn / drawn.sum(-1, keepdims=True))


def readings(walk: tuple[int, ...]) -> Iterator[tuple[int, Used, Fraction]]:
    """What a walk can be read as, by which entries, and the share of all bracketings that each reading has."""
    if len(walk) == 1:
        yield walk[0], (), Fraction(1)
        return
    for at in range(1, len(walk)):
        for i, left, one in readings(walk[:at]):
            for j, right, other in readings(walk[at:]):
                share = one * other / (len(walk) - 1)
                for r in range(4) if FAILED not in (i, j) else [FAILED]:
                    used = () if FAILED in (i, j) else ((i, j, r),)
                    yield r, (*left, *right, *used), share


def probability(table: torch.Tensor, used: Used, share: Fraction) -> float:
    return float(share) * math.prod(float(table[entry]) for entry in used)


WALKS = [(0, 1), (2, 2), (0, 1, 2), (1, 1, 0), (2, 0, 1, 0), (1, 0, 2, 0, 1)]


@pytest.mark.parametrize("walk", WALKS, ids=str)
def test_the_sum_over_all_readings(walk, table):
    summed = np.zeros(4)
    for read, used, share in readings(walk):
        summed[read] += probability(table, used, share)
    found = inside(table, torch.tensor([walk]))
    close(found[0], summed, 200, size=1.0)
    close(found.sum(), np.array(1.0), 200)


@pytest.mark.parametrize("chunk", [1, 1 << 20])
def test_expected_counts_are_those_of_all_readings_of_all_trials(table, chunk, monkeypatch):
    """A label comes of as many failed readings as it takes, and one that has not failed."""
    monkeypatch.setattr(module, "CHUNK", chunk)
    label = {walk: (1 + n % 3, n % 2, 0) for n, walk in enumerate(WALKS)}
    counts, likelihood = np.zeros((3, 3, 4)), 0.0
    for walk in WALKS:
        ways: dict[int, list[tuple[Used, float]]] = defaultdict(list)
        for read, used, share in readings(walk):
            ways[read].append((used, probability(table, used, share)))
        total = {read: sum(p for _, p in found) for read, found in ways.items()}
        success = sum(total[r] for r in range(3))
        for r, times in enumerate(label[walk]):
            likelihood += times * math.log(total[r] / success)
            for outcome, trials in ((r, 1.0), (FAILED, (1 - success) / success)):
                for used, p in ways[outcome]:
                    for entry in used:
                        counts[entry] += times * trials * p / total[outcome]
    alike = [[walk for walk in WALKS if len(walk) == length] for length in range(2, 6)]
    seen = [Evidence(torch.tensor(ws), torch.tensor([label[w] for w in ws]).double()) for ws in alike]
    found, told = expected(table, seen)
    close(found, counts, 5_000, size=float(counts.max()))
    close(np.array(told), np.array(likelihood), 5_000)


def test_the_likelihood_never_falls(rng, table):
    data = random_graphs(rng, 60, relations=3)
    seen = evidence([walks(data, 4)], 3, 6)
    reached = -math.inf
    for _ in range(30):
        counts, likelihood = expected(table, seen)
        assert likelihood >= reached - 1e-9 * abs(likelihood)
        reached = likelihood
        table = counts / counts.sum(-1, keepdim=True).clamp_min(1e-300)
        table[(counts.sum(-1) == 0)] = 1 / 4
    assert likelihood > expected(torch.full((3, 3, 4), 0.25, dtype=torch.float64), seen)[1]


def test_evidence_is_every_walk_with_its_labels_whatever_the_order_of_graphs(rng):
    data = random_graphs(rng, 80, relations=3)
    every = walks(data, 8)
    plain: dict[tuple[int, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for relation, label in zip(every.relation.tolist(), every.label[every.graph].tolist(), strict=True):
        walk = tuple(r for r in relation if r >= 0)
        if 2 <= len(walk) <= 4:
            plain[walk][label] += 1
    found = evidence(every.chunks(7), 3, 4)
    told = [pair for part in found for pair in zip(part.relation.tolist(), part.label.tolist(), strict=True)]
    assert {tuple(walk): seen for walk, seen in told} == dict(plain)
    turned = evidence(every.select(torch.from_numpy(rng.permutation(80))).chunks(30), 3, 4)
    for one, other in zip(found, turned, strict=True):
        assert torch.equal(one.relation, other.relation)
        assert torch.equal(one.label, other.label)


def test_at_most_so_many_different_walks_are_taken_whatever_the_order_of_graphs(rng):
    every = walks(random_graphs(rng, 80, relations=3), 8)
    turned = every.select(torch.from_numpy(rng.permutation(80)))
    whole = {tuple(walk) for part in evidence([every], 3, 4) for walk in part.relation.tolist()}
    some, same = (
        {tuple(walk) for part in evidence([one], 3, 4, 10) for walk in part.relation.tolist()}
        for one in (every, turned)
    )
    assert some == same
    assert len(some) == 10
    assert some < whole


def test_no_walks_are_no_evidence():
    assert evidence([], 3, 4) == []
