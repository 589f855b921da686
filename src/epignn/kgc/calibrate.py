"""How sure a model may be: one temperature, chosen so that held-out answers are likeliest."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Ints, Known
from epignn.kgc.evaluate import Report, Scorer, by_head

TEMPERATURES = np.geomspace(0.02, 50, 80)
BINS = 10


@dataclass(frozen=True)
class Calibration:
    """A temperature, and what it is worth on the questions that chose it.

    Attributes:
        temperature: scores are divided by it before the softmax over entities.
        questions: how many chose it.
        log_loss: the mean of -log p(answer).
        error: the expected difference between the probability of the first answer and how often it is right.
        uncalibrated_error: the same at a temperature of one.
    """

    temperature: float
    questions: int
    log_loss: float
    error: float
    uncalibrated_error: float


def calibrate(questions: Ints, scorer: Scorer, known: Known, report: Report | None = None) -> Calibration:
    """Choose the temperature on questions (N, 3) whose answers the graph does not state.

    Other known answers of a question are no candidates, as in filtered ranking.
    """
    losses = np.zeros((len(questions), len(TEMPERATURES)))
    first = np.zeros((len(questions), len(TEMPERATURES)))
    right = np.zeros(len(questions), dtype=bool)
    for rows, scores in by_head(questions, scorer, report):
        for row, line in zip(rows.tolist(), scores.astype(np.float64), strict=True):
            head, relation, tail = questions[row].tolist()
            own = line[tail]
            line[known.answers(head, relation)] = np.inf
            line[tail] = own
            gaps = line[np.isfinite(line)] - line.min()
            sums = np.exp(-gaps[:, None] / TEMPERATURES).sum(0)
            losses[row] = (own - line.min()) / TEMPERATURES + np.log(sums)
            first[row], right[row] = 1 / sums, line.argmin() == tail
    means = losses.mean(0)
    best, plain = int(means.argmin()), int(np.abs(TEMPERATURES - 1).argmin())
    return Calibration(
        round(float(TEMPERATURES[best]), 4),
        len(questions),
        float(means[best]),
        calibration_error(first[:, best], right),
        calibration_error(first[:, plain], right),
    )


def calibration_error(confidence: NDArray[np.float64], right: NDArray[np.bool_]) -> float:
    """The expected difference of confidence and accuracy, over bins of confidence."""
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, confidence - right, minlength=BINS)
    return float(np.abs(gaps).sum() / max(len(right), 1))
