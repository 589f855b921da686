"""Probabilities of single answers, for questions that may have several.

A softmax shares 1 among all entities, as if each question had one answer. Here every answer has a probability of
its own: the logistic function of the logarithm of its share, and of how many answers questions of its relation have
on average. Three weights make the held-out answers likeliest. The probabilities of a question sum to the number
of answers to be expected, given that it has one at all which the graph does not state.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints, Known, Side, both_sides
from epignn.errors import BadArgument
from epignn.learn.calibrate import BINS
from epignn.learn.protocols import by_head
from epignn.models.api import Scorer

Floats = NDArray[np.float64]
QUESTIONS, SAMPLED = 1000, 100
"""Held-out questions that choose the weights, at most; of each so many answers of the highest scores, and as many
of the others, which stand for all others."""
SHOWN = 10
"""The calibration error is that of so many answers to each question."""
PRIOR = 1.0
"""Pulls the weights towards those of a softmax, as strongly as so many answers."""
TINY = -70.0
"""The logarithm of a share that counts as none."""


@dataclass(frozen=True)
class AnswerCalibration:
    """What makes probabilities of the scores of answers.

    Attributes:
        weights: of 1, of the logarithm of a share, and of that of the usual number of answers.
        questions: how many chose them.
        expected, found: answers to a question: the mean sum of probabilities, and how many there were.
        calibration_error: the expected difference of probability and truth, over the first ten answers to each
            question, in 15 bins.
    """

    weights: tuple[float, float, float]
    questions: int
    expected: float
    found: float
    calibration_error: float

    def chances(
        self,
        scores: NDArray[np.floating],
        several: Floats,
        temperature: float,
        picked: NDArray[np.integer] | None = None,
    ) -> Floats:
        """(Q, V), or (Q, K): the probability of every answer, or of some; none where a score is minus infinity.

        Args:
            scores: (Q, V) of the candidates.
            several: (Q) what `several` gives for the relation of each question.
            temperature: of the softmax whose shares are meant.
            picked: (Q, K) which candidates are asked.
        """
        logs = log_shares(scores, temperature, picked)
        first, share, more = self.weights
        logits = first + share * np.maximum(logs, TINY) + more * several[:, None]
        return np.where(np.isneginf(logs), 0.0, 1 / (1 + np.exp(-logits)))

    def __str__(self) -> str:
        return (
            f"probabilities of answers are calibrated: error {self.calibration_error:.4f}; a held-out question has "
            f"{self.found:.2f} answers, by the probabilities {self.expected:.2f}"
        )


def several(graph: Graph) -> Floats:
    """(2R): the logarithm of how many answers the graph has to a question of each relation that it answers."""
    asked = both_sides(graph.facts, len(graph.relations))
    count = 2 * len(graph.relations)
    questions = np.unique(asked[:, :2], axis=0)
    facts, asked_once = (np.bincount(rows[:, 1], minlength=count) for rows in (asked, questions))
    return np.log(np.maximum(facts, 1) / np.maximum(asked_once, 1))


def calibrate_answers(side: Side, scorer: Scorer, temperature: float, most: int = QUESTIONS) -> AnswerCalibration:
    """The weights that the validation triples of a side choose.

    Args:
        side: its facts are no candidates, its validation triples are the answers, its test triples neither.
        scorer: of its graph.
        temperature: that scores are divided by.
        most: questions that are asked.
    """
    relations, entities = len(side.graph.relations), len(side.graph.entities)
    valid = both_sides(side.valid, relations)
    wanted = Known([side.valid], entities, relations)
    passed = Known([side.graph.facts, side.test], entities, relations)
    questions = np.unique(valid[:, :2], axis=0)
    chosen = np.random.default_rng(0).permutation(len(questions))[:most]
    asked = np.column_stack([questions[np.sort(chosen)], np.zeros(len(chosen), dtype=np.int32)])
    usual, rng = several(side.graph), np.random.default_rng(1)
    parts = []
    for rows, scores in by_head(asked, scorer):
        for (head, relation, _), line in zip(asked[rows].tolist(), scores, strict=True):
            candidates = _without(line, passed.answers(head, relation), wanted.answers(head, relation))
            logs = log_shares(candidates[None], temperature)[0]
            parts.append(_sample(logs, wanted.answers(head, relation), float(usual[relation]), rng))
    features, truth, weight, first = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    weights = _fit(features, truth, weight)
    chance = 1 / (1 + np.exp(-features @ weights))
    return AnswerCalibration(
        weights=tuple(weights.tolist()),
        questions=len(asked),
        expected=float((weight * chance).sum() / len(asked)),
        found=float((weight * truth).sum() / len(asked)),
        calibration_error=_error(chance[first], truth[first]),
    )


def _without(line: NDArray[np.floating], passed: Ints, wanted: Ints) -> Floats:
    """Scores with what is known already left out, but for what is asked."""
    found = line.astype(np.float64)
    found[np.setdiff1d(passed, wanted)] = -np.inf
    return found


def log_shares(
    scores: NDArray[np.floating], temperature: float, picked: NDArray[np.integer] | None = None
) -> Floats:
    """(Q, V): the logarithm of the softmax of scores; (Q, K) where some candidates are picked.

    Minus infinity stands for what is no candidate.

    >>> log_shares(np.array([[0.0, -np.inf]]), 1.0).tolist()
    [[0.0, -inf]]
    """
    found = np.asarray(scores) / np.float32(temperature)
    top = found.max(1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):  # what comes of it is looked at below
        total = np.exp(found - top).sum(1, keepdims=True, dtype=np.float64)
        chosen = found if picked is None else np.take_along_axis(found, picked, 1)
        logs = np.where(np.isneginf(top), -np.inf, chosen.astype(np.float64) - top - np.log(total))
    if np.isnan(logs).any():
        raise BadArgument(
            "the model gives scores that are no finite numbers, so that it has no answer. Train it again."
        )
    return logs


def _sample(logs: Floats, answers: Ints, usual: float, rng: np.random.Generator) -> tuple[NDArray[Any], ...]:
    """Features, truth, weight and whether it is among the first, of some candidates of a question."""
    order = np.argsort(-logs, kind="stable")
    order = order[~np.isneginf(logs[order])]
    first, others = order[:SAMPLED], order[SAMPLED:]
    drawn = rng.permutation(others)[:SAMPLED]
    right = np.isin(others, answers)
    wrong = drawn[~np.isin(drawn, answers)]
    rows = np.concatenate([first, others[right], wrong])
    weight = np.ones(len(rows))
    weight[len(rows) - len(wrong) :] = (len(others) - right.sum()) / max(len(wrong), 1)
    features = np.column_stack([np.ones(len(rows)), np.maximum(logs[rows], TINY), np.full(len(rows), usual)])
    shown = np.arange(len(rows)) < min(SHOWN, len(first))
    return features, np.isin(rows, answers).astype(np.float64), weight, shown


def _fit(features: Floats, truth: Floats, weight: Floats) -> Floats:
    """The weights of least log loss, by Newton's method with steps halved until they help.

    The loss is convex. A weak pull towards a softmax, which is (0, 1, 0), decides what the data do not.
    """
    centre = np.array([0.0, 1.0, 0.0])
    pull = np.full(3, PRIOR)

    def loss(weights: Floats) -> float:
        logits = features @ weights
        fit = weight * (np.logaddexp(0, logits) - truth * logits)
        return float(fit.sum() + (pull * (weights - centre) ** 2).sum() / 2)

    weights, reached = centre, loss(centre)
    for _ in range(50):
        chance = 1 / (1 + np.exp(-features @ weights))
        slope = features.T @ (weight * (truth - chance)) - pull * (weights - centre)
        bend = (features * (weight * chance * (1 - chance))[:, None]).T @ features + np.diag(pull)
        step = np.linalg.solve(bend, slope)
        while (better := loss(weights + step)) > reached and np.abs(step).max() > 1e-9:
            step = step / 2
        if reached - better <= 1e-10 * abs(reached):
            break
        weights, reached = weights + step, better
    return weights


def _error(chance: Floats, truth: Floats) -> float:
    """The expected calibration error of single answers."""
    bins = np.minimum((chance * BINS).astype(int), BINS - 1)
    gaps = np.bincount(bins, chance - truth, BINS)
    return float(np.abs(gaps).sum() / max(len(chance), 1))
