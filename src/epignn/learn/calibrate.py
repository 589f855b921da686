"""Calibration: one temperature, so that answers given with probability p are right in a share p of the cases.

Scores are divided by a temperature before the softmax (Guo and others, 2017). The one that makes the labels of
validation graphs likeliest is kept in the run folder as `calibration.json`. It is calibrated for graphs like
those: of the length and the number of branches that the validation split holds. On much larger graphs a model errs
more often, and its probabilities say so only in part: see the measured error at each size before trusting them.
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epignn.errors import BadArgument
from epignn.learn.checkpoint import CALIBRATION, write_text
from epignn.learn.collate import Graphs
from epignn.learn.evaluate import scores
from epignn.models.epignn import EpiGNN

Floats = NDArray[np.float64]
BINS = 15
COLDEST, HOTTEST = 1e-3, 1e4


@dataclass(frozen=True)
class Quality:
    """How good probabilities are; all three are better when smaller.

    Attributes:
        calibration_error: the expected difference of confidence and accuracy, over 15 bins of confidence.
        brier: the mean squared distance of the probabilities from the truth.
        log_loss: the mean of -log p(label).
    """

    calibration_error: float
    brier: float
    log_loss: float


@dataclass(frozen=True)
class Calibration:
    """A temperature, and what it is worth on the graphs that chose it.

    Attributes:
        temperature: scores are divided by it.
        graphs: how many chose it.
        trained: the temperature that the model was trained with.
        before, after: quality of the probabilities with that one, and with the chosen one.
    """

    temperature: float
    graphs: int
    trained: float
    before: Quality
    after: Quality

    def __str__(self) -> str:
        before, after = self.before, self.after
        return (
            f"calibration error {before.calibration_error:.4f} → {after.calibration_error:.4f}, "
            f"Brier score {before.brier:.4f} → {after.brier:.4f} "
            f"(temperature {self.trained:g} → {self.temperature:.3g})"
        )


def calibrate(model: EpiGNN, graphs: Graphs, trained: float) -> Calibration:
    """Choose the temperature by labelled graphs that the model was not trained on.

    Args:
        model: whose probabilities are to be trusted.
        graphs: validation graphs, like those that will be asked about.
        trained: the temperature used so far.

    Raises:
        BadArgument: there are no graphs to choose by.
    """
    if not len(graphs):
        raise BadArgument("no graphs to calibrate by; set data.validation above 0.")
    found, label = scores(model, graphs).astype(np.float64), graphs.label
    best = temperature(found, label)
    return Calibration(
        best, len(graphs), trained, quality(softmax(found, trained), label), quality(softmax(found, best), label)
    )


def save_calibration(folder: Path, calibration: Calibration) -> None:
    """Put it where `load_model` finds it."""
    write_text(folder / CALIBRATION, json.dumps(asdict(calibration), indent=2) + "\n")


def softmax(found: Floats, temperature: float) -> Floats:
    """(G, R): probabilities of relations from their scores, of which low ones are likely.

    >>> softmax(np.array([[0.0, 2.0]]), 2.0).round(3).tolist()
    [[0.731, 0.269]]
    """
    logits = -found / temperature
    chances = np.exp(logits - logits.max(-1, keepdims=True))
    result: Floats = chances / chances.sum(-1, keepdims=True)
    return result


def temperature(found: Floats, label: NDArray[np.integer]) -> float:
    """The temperature of least log loss, from scores (G, R) and labels (G).

    In 1/temperature the loss is convex, and its slope is the score of the truth less the expected score: zero is
    found by halving. The truth counts a little less than 1 (Platt, 1999), as if one more graph had been wrong, so
    that a model without an error is not taken for infallible.
    """
    count, relations = found.shape
    doubt = 1 / (count + 2)
    truth = found[np.arange(count), label]
    target = (1 - doubt) * truth + doubt * (found.sum(1) - truth) / max(relations - 1, 1)

    def slope(heat: float) -> float:
        return float((target - (softmax(found, heat) * found).sum(1)).mean())

    cold, hot = np.log(COLDEST), np.log(HOTTEST)
    for _ in range(60):
        middle = (cold + hot) / 2
        cold, hot = (cold, middle) if slope(np.exp(middle)) < 0 else (middle, hot)
    return float(np.exp((cold + hot) / 2))


def quality(chances: Floats, label: NDArray[np.integer]) -> Quality:
    """Calibration error, Brier score and log loss of probabilities (G, R)."""
    rows = np.arange(len(label))
    confidence, right = chances.max(1), chances.argmax(1) == label
    bins = np.minimum((confidence * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, confidence - right, BINS)
    truth = np.zeros_like(chances)
    truth[rows, label] = 1
    return Quality(
        float(np.abs(gaps).sum() / len(label)),
        float(((chances - truth) ** 2).sum(1).mean()),
        float(-np.log(np.maximum(chances[rows, label], 1e-300)).mean()),
    )
