"""Calibration: one temperature, so that answers given with probability p are right in a share p of the cases.

Scores are divided by a temperature before the softmax (Guo and others, 2017). The one that makes held-out answers
likeliest is kept in the run folder. It is calibrated for questions like those: on graphs much larger than the
validation graphs a model errs more often, and its probabilities say so only in part.
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.learn.answers import AnswerCalibration

Floats = NDArray[np.float64]
BINS = 15
COLDEST, HOTTEST = 1e-3, 1e4
"""Between these it is looked for."""
LEAST, MOST = 1e-6, 1e6
"""What a temperature may be at all: scores divided by it are still numbers."""


@dataclass(frozen=True)
class Quality:
    """How good probabilities are; all three are better when smaller.

    Attributes:
        calibration_error: the expected difference of confidence and accuracy, over 15 bins of confidence.
        brier: the mean squared distance of the probabilities from the truth.
        log_loss: the mean of -log p(answer).
    """

    calibration_error: float
    brier: float
    log_loss: float


@dataclass(frozen=True)
class Calibration:
    """A temperature, and what it is worth on the questions that chose it.

    Attributes:
        temperature: scores are divided by it.
        questions: how many chose it.
        trained: the temperature that the model was trained with.
        before, after: quality of the probabilities with that one, and with the chosen one.
        answers: what makes probabilities of single answers; for links.
    """

    temperature: float
    questions: int
    trained: float
    before: Quality
    after: Quality
    answers: "AnswerCalibration | None" = None

    def to_dict(self) -> dict[str, Any]:
        """As plain values, for files."""
        return asdict(self)

    def __str__(self) -> str:
        before, after = self.before, self.after
        if self.answers is not None:
            return str(self.answers)
        return (
            f"calibration error {before.calibration_error:.4f} → {after.calibration_error:.4f}, "
            f"Brier score {before.brier:.4f} → {after.brier:.4f} "
            f"(temperature {self.trained:g} → {self.temperature:.3g})"
        )


def calibration(found: Floats, answer: NDArray[np.integer], trained: float) -> Calibration:
    """The temperature that questions with known answers choose.

    Args:
        found: (N, C) scores of the candidates of each question; minus infinity for what is no candidate.
        answer: (N) the right candidate of each.
        trained: the temperature used so far.
    """
    best = temperature(found, answer)
    before, after = (quality(softmax(found, heat), answer) for heat in (trained, best))
    return Calibration(best, len(found), trained, before, after)


def softmax(found: Floats, temperature: float) -> Floats:
    """(N, C): probabilities from scores; what has a score of minus infinity has none.

    >>> softmax(np.array([[0.0, -2.0]]), 2.0).round(3).tolist()
    [[0.731, 0.269]]
    """
    with np.errstate(over="ignore", invalid="ignore"):  # what comes of it is looked at below
        logits = found / temperature
        chances = np.exp(logits - logits.max(-1, keepdims=True))
        result: Floats = chances / chances.sum(-1, keepdims=True)
    if not np.isfinite(result).all():
        raise BadArgument(
            "the model gives scores that are no finite numbers, so that it has no answer. Train it again."
        )
    return result


def temperature(found: Floats, answer: NDArray[np.integer]) -> float:
    """The temperature of least log loss, from scores (N, C) and answers (N).

    In 1/temperature the loss is convex, and its slope is the expected score less that of the truth: zero is found
    by halving. The truth counts a little less than 1 (Platt, 1999), as if one more question had been answered
    wrongly, so that a model without an error is not taken for infallible.
    """
    rows, doubt = np.arange(len(found)), 1 / (len(found) + 2)
    candidate = np.isfinite(found)
    worth = np.where(candidate, found, 0.0)
    truth, others = worth[rows, answer], np.maximum(candidate.sum(1) - 1, 1)
    target = (1 - doubt) * truth + doubt * (worth.sum(1) - truth) / others

    def slope(heat: float) -> float:
        return float(((softmax(found, heat) * worth).sum(1) - target).mean())

    cold, hot = np.log(COLDEST), np.log(HOTTEST)
    for _ in range(60):
        middle = (cold + hot) / 2
        cold, hot = (cold, middle) if slope(np.exp(middle)) < 0 else (middle, hot)
    return float(np.exp((cold + hot) / 2))


def quality(chances: Floats, answer: NDArray[np.integer]) -> Quality:
    """Calibration error, Brier score and log loss of probabilities (N, C)."""
    rows = np.arange(len(answer))
    confidence, right = chances.max(1), chances.argmax(1) == answer
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, confidence - right, BINS)
    own = chances[rows, answer]
    return Quality(
        float(np.abs(gaps).sum() / len(answer)),
        float(((chances**2).sum(1) - 2 * own + 1).mean()),
        float(-np.log(np.maximum(own, 1e-300)).mean()),
    )
