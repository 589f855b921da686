"""Which facts of composition the table has: a threshold for the scores, then single facts near it, by the data.

With training data the threshold is the one whose table makes the labels likeliest. Without, the laws choose: of the
thresholds whose table is associative and has no empty cell, the one with the largest gap between the scores on its
two sides, times the number of facts excluded. (A wide gap that excludes few facts says little: near the table in
which everything is possible all tables are associative.) The true table plays no part.

Then every fact is tried the other way round. If that changes the likelihood of the labels decisively, the data
decide the fact. The others are decided by their scores where these are clearly among those of possible, or of
impossible facts; what is left is undecided and stays possible.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from epignn.distil.evidence import Evidence
from epignn.distil.orbits import Bools, Floats, Orbits
from epignn.workers import Here, Workers, run
from epignn.workers.api import Tell

PROBLEMS = 6000
"""Tables are compared on so many distinct training problems, the smallest; the certificate counts all."""
CUT_SHARE = 4
"""Thresholds are compared on a quarter of these: their tables differ by more than single facts do."""
DECISIVE = math.log(1000)
"""Logarithm of the odds from which on the data decide a fact."""
PASSES = 8
ROUNDING = 1e-5
"""Scores are sums in single precision: what differs by less, as a share of them, is the same."""

TOGETHER = 8
"""Tables that a worker judges at a time."""

Report = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Judging:
    """Tables (T, N) to be judged by problems."""

    evidence: Evidence
    orbits: Orbits
    tables: Bools


def likelihoods(asked: Judging, tell: Tell) -> list[float]:
    """How likely each table makes the labels: a job for workers."""
    return [asked.evidence.judge(asked.orbits.calculus(table)).log_likelihood for table in asked.tables]


@dataclass(frozen=True, eq=False)
class Judge:
    """Tells how likely tables make the labels of some problems; workers share the tables."""

    evidence: Evidence
    orbits: Orbits
    workers: Workers

    @property
    def ahead(self) -> int:
        """As many tables as are worth judging at once."""
        return 1 if self.workers.count == 1 else TOGETHER * self.workers.count

    def __call__(self, tables: Bools, report: Report = lambda done, total: None) -> list[float]:
        """The logarithms of the likelihoods."""
        size = min(TOGETHER, self.ahead)
        parts = [Judging(self.evidence, self.orbits, tables[n : n + size]) for n in range(0, len(tables), size)]
        shown = run(
            self.workers, likelihoods, parts, lambda done, of: report(min(done * size, len(tables)), len(tables))
        )
        return [one for part in shown.all("parts") for one in part]


@dataclass(frozen=True, eq=False)
class Table:
    """A table with the reasons for it, by fact.

    Attributes:
        possible: the facts of the table.
        gain: the logarithm of the odds that the data give in favour of each fact; 0 for the settled ones.
        turned: facts that the data decide against the threshold.
        uncertain: facts that neither data nor weights decide; all of them are possible.
        highest_possible, lowest_impossible: of the facts that the data decide, or of all where there are no data,
            the highest score of a possible and the lowest of an impossible one; these may overlap.
        by_weights, by_cut: the table by laws and weights alone, and by the threshold that the data choose.
        cut: the threshold.
    """

    possible: Bools
    gain: Floats
    turned: Bools
    uncertain: Bools
    highest_possible: float
    lowest_impossible: float
    by_weights: Bools
    by_cut: Bools
    cut: float


def decide(
    orbits: Orbits,
    score: Floats,
    evidence: Evidence | None,
    problems: int,
    report: Report,
    workers: Workers | None = None,
) -> Table:
    """Choose the facts of a table.

    Args:
        orbits: the facts.
        score: (N,) of each; low is possible.
        evidence: training problems, or None to go by weights and laws alone.
        problems: how many of the smallest problems compare tables.
        report: called with the tables tried and to be tried, first for thresholds, then for single facts.
        workers: who tries them; this process, if nobody is named.
    """
    by_weights, cut = choose_cut(orbits, score, None, report)
    if evidence is None:
        nothing = np.zeros(len(orbits), dtype=bool)
        ends = _edges(score, ~orbits.settled & by_weights, ~orbits.settled & ~by_weights)
        table = Table(by_weights, np.zeros(len(orbits)), nothing, nothing, *ends, by_weights, by_weights, cut)
    else:
        few, all_ = (
            Judge(evidence.smallest(n), orbits, workers or Here()) for n in (problems // CUT_SHARE, problems)
        )
        by_cut, cut = choose_cut(orbits, score, few, report)
        possible, gain = _improve(orbits, score, by_cut, cut, all_, report)
        table = _settle(orbits, score, possible, gain, by_weights, by_cut, cut)
    return fill_empty_cells(orbits, table)


def choose_cut(orbits: Orbits, score: Floats, judge: Judge | None, report: Report) -> tuple[Bools, float]:
    """Which facts are possible, and the threshold: the likeliest, or by the laws where there is no evidence."""
    order = orbits.free[np.argsort(score[orbits.free], kind="stable")]
    # Cut c lies between facts c - 1 and c of different scores; the gap beyond either end counts as none.
    low, high = score[order].take([0, *range(len(order))]), score[order].take([*range(len(order)), -1])
    cuts = [c for c in range(len(order) + 1) if c in (0, len(order)) or low[c] < high[c]]
    tables = np.repeat(orbits.neutral[None], len(cuts), axis=0)
    for table, c in zip(tables, cuts, strict=True):
        table[order[:c]] = True
    lawful = np.array([breaches(orbits, table) == 0 for table in tables])
    likelihood = np.zeros(len(cuts))
    if judge is not None:
        likelihood[:] = judge(tables, report)
    worth = [(high[c] - low[c]) * (len(order) - c) for c in cuts]
    best = int(np.lexsort((worth, lawful, likelihood))[-1])
    return tables[best], float((low[cuts[best]] + high[cuts[best]]) / 2)


def breaches(orbits: Orbits, possible: Bools) -> int:
    """How many cells break a law: empty cells, and (a ∘ b) ∘ c unlike a ∘ (b ∘ c) at some result.

    The other laws hold for every set of orbits.
    """
    table = possible[orbits.number].astype(np.float32)
    count = len(table)
    empty = int((table.sum(2) == 0).sum())
    left = (table.reshape(count * count, count) @ table.reshape(count, count * count)) > 0
    right = np.einsum("bdc,ace->abde", table, table, optimize=True) > 0
    return empty + int((left.reshape(right.shape) != right).any(3).sum())


def _improve(
    orbits: Orbits, score: Floats, start: Bools, cut: float, judge: Judge, report: Report
) -> tuple[Bools, Floats]:
    """Change facts while that makes the labels decisively likelier; also the gain of each fact."""
    order = orbits.free[np.argsort(np.abs(score[orbits.free] - cut), kind="stable")].tolist()
    possible, gain = start.copy(), np.zeros(len(orbits))
    for round_ in range(PASSES):
        (before,), moved, done = judge(possible[None]), False, 0
        while done < len(order):
            tried = order[done : done + judge.ahead]
            for fact, after in zip(tried, judge(_turned(possible, tried)), strict=True):
                gain[fact] = before - after if possible[fact] else after - before
                done += 1
                report(round_ * len(order) + done, PASSES * len(order))
                if after > before + DECISIVE:
                    possible[fact] = not possible[fact]
                    before, moved = after, True
                    break  # those after it were judged beside what is no longer the table
        if not moved:
            break
    return possible, gain


def _turned(possible: Bools, facts: Sequence[int]) -> Bools:
    """Tables that differ from one in a fact each."""
    tables = np.repeat(possible[None], len(facts), axis=0)
    tables[np.arange(len(facts)), facts] ^= True
    return tables


def _settle(
    orbits: Orbits, score: Floats, possible: Bools, gain: Floats, by_weights: Bools, by_cut: Bools, cut: float
) -> Table:
    """Decide by their scores the facts that the data leave open, where these are clear."""
    free = ~orbits.settled
    decided = free & (np.abs(gain) > DECISIVE)
    highest, lowest = _edges(score, decided & possible, decided & ~possible)
    # Where scores of possible and impossible facts overlap, they are trusted only as far again beyond the overlap.
    overlap = max(0.0, highest - lowest)
    open_ = free & ~decided
    in_ = open_ & (score <= min(highest * (1 + ROUNDING), lowest - overlap)) & (score < lowest)
    out = open_ & (score >= max(lowest * (1 - ROUNDING), highest + overlap)) & (score > highest)
    turned, uncertain = decided & (possible != by_cut), open_ & (in_ == out)
    table = np.where(open_, in_ | uncertain, possible)
    return Table(table, gain, turned, uncertain, highest, lowest, by_weights, by_cut, cut)


def _edges(score: Floats, possible: Bools, impossible: Bools) -> tuple[float, float]:
    """The highest score of a possible fact and the lowest of an impossible one."""
    return float(score[possible].max(initial=-np.inf)), float(score[impossible].min(initial=np.inf))


def fill_empty_cells(orbits: Orbits, table: Table) -> Table:
    """Make everything possible in cells that are empty: the evidence against all of it cannot be right."""
    possible, uncertain = table.possible.copy(), table.uncertain.copy()
    while True:
        empty: Bools = ~np.any(possible[orbits.number], axis=2)
        added = np.unique(orbits.number[empty])
        added = added[~orbits.settled[added]]
        if not len(added):
            return replace(table, possible=possible, uncertain=uncertain)
        possible[added] = uncertain[added] = True
