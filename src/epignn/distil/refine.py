"""Facts near the cut, one at a time: those that training data decide, and those that nothing decides.

Turning a single fact changes the likelihood of the labels. Where it does so decisively, the data decide. Facts
that they leave open are decided by the weights if their scores are clearly among those of possible, or of
impossible facts; the others are uncertain and stay possible, so that their cells are disjunctive.
"""

import math
from dataclasses import dataclass

import numpy as np

from epignn.distil.cut import Progress
from epignn.distil.evidence import Evidence
from epignn.distil.orbits import Bools, Floats, Orbits

DECISIVE = math.log(1000)
"""Odds in favour, from which on data decide a fact."""
PASSES = 8


@dataclass(frozen=True, eq=False)
class Refined:
    """A table with the reasons for it, by fact.

    Attributes:
        possible: the facts of the table.
        gain: the logarithm of the odds that the data give in favour of each fact; 0 for the settled ones.
        turned: facts that the data turned against the cut.
        uncertain: facts that neither data nor weights decide; possible, all of them.
        highest_possible, lowest_impossible: scores between which nothing is decided; their difference is the
            margin, negative where scores overlap.
    """

    possible: Bools
    gain: Floats
    turned: Bools
    uncertain: Bools
    highest_possible: float
    lowest_impossible: float


def refine(
    orbits: Orbits, score: Floats, start: Bools, cut: float, evidence: Evidence, report: Progress
) -> Refined:
    """Turn facts while the data ask for it, then settle what they leave open."""
    order = orbits.free[np.argsort(np.abs(score[orbits.free] - cut), kind="stable")]
    possible, gain = start.copy(), np.zeros(len(orbits))
    for round_ in range(PASSES):
        before = evidence.judge(orbits.calculus(possible)).log_likelihood
        moved = False
        for step, fact in enumerate(order.tolist()):
            other = possible.copy()
            other[fact] = not possible[fact]
            after = evidence.judge(orbits.calculus(other)).log_likelihood
            gain[fact] = before - after if possible[fact] else after - before
            if after > before + DECISIVE:
                possible, before, moved = other, after, True
            report(round_ * len(order) + step + 1, PASSES * len(order))
        if not moved:
            break
    return _settle(orbits, score, start, possible, gain)


def _settle(orbits: Orbits, score: Floats, start: Bools, possible: Bools, gain: Floats) -> Refined:
    """Decide by the weights what data leave open, as far as scores of decided facts tell them apart."""
    free = ~orbits.settled
    decided = free & (np.abs(gain) > DECISIVE)
    highest, lowest = edges(score, decided & possible, decided & ~possible)
    # Where scores of possible and impossible facts overlap, they are trusted only as far again beyond the overlap.
    overlap = max(0.0, highest - lowest)
    open_ = free & ~decided
    in_ = open_ & (score <= min(highest, lowest - overlap)) & (score < lowest)
    out = open_ & (score >= max(lowest, highest + overlap)) & (score > highest)
    uncertain = open_ & ~in_ & ~out
    table = np.where(open_, ~out, possible)
    return Refined(table, gain, decided & (possible != start), uncertain, highest, lowest)


def edges(score: Floats, possible: Bools, impossible: Bools) -> tuple[float, float]:
    """The highest score of a possible fact and the lowest of an impossible one."""
    return float(score[possible].max(initial=-np.inf)), float(score[impossible].min(initial=np.inf))
