"""Where an answer ranks among its rivals, and the metrics that follow; ties are averaged over all their orders."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranks:
    """For each question, how its answer stands among the candidates that are not known to be answers.

    Attributes:
        better: candidates that score better than the answer.
        ties: others that score the same.
        rivals: all candidates but the answer.
    """

    better: NDArray[np.int64]
    ties: NDArray[np.int64]
    rivals: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.better)

    @property
    def columns(self) -> NDArray[np.int64]:
        """(3, N): better, ties and rivals."""
        return np.stack([self.better, self.ties, self.rivals])

    def first(self, count: int) -> "Ranks":
        """Those of the first questions."""
        return Ranks(self.better[:count], self.ties[:count], self.rivals[:count])


def together(parts: Sequence[Ranks]) -> Ranks:
    """The ranks of several sets of questions as those of one."""
    return Ranks(*np.concatenate([part.columns for part in parts], 1))


def stand(scores: NDArray[np.floating], answer: NDArray[np.floating], rival: NDArray[np.bool_]) -> Ranks:
    """Rank answers among candidates; a high score is better, and only rivals count.

    Args:
        scores: (Q, C) of the candidates; one that is not a number is worse than any.
        answer: (Q) scores of the answers.
        rival: (Q, C) which candidates count.
    """
    found = np.where(np.isnan(scores), -np.inf, scores)
    right = np.where(np.isnan(answer), -np.inf, answer)[:, None]
    better = ((found > right) & rival).sum(1)
    ties = ((found == right) & rival).sum(1)
    return Ranks(better, ties, rival.sum(1))


def over_ties(ranks: Ranks, value: Callable[[NDArray[np.int64], int], Floats]) -> Floats:
    """(N): for each question, the mean of `value(better, rivals)` over the orders of its ties."""
    means = [
        value(np.arange(better, better + ties + 1), rivals).mean()
        for better, ties, rivals in zip(
            ranks.better.tolist(), ranks.ties.tolist(), ranks.rivals.tolist(), strict=True
        )
    ]
    return np.array(means, dtype=np.float64)


def _mean(values: Floats) -> float:
    """The mean; of no questions, 0."""
    return float(values.mean()) if len(values) else 0.0


def hits(ranks: Ranks, at: int) -> float:
    """The share of answers among the first `at`.

    >>> one, tied = np.array([0]), np.array([50])
    >>> round(hits(Ranks(one, tied, tied), 10) * 51, 6)   # chance
    10.0
    """
    return _mean(np.clip(at - ranks.better, 0, ranks.ties + 1) / (ranks.ties + 1))


def reciprocals(ranks: Ranks) -> Floats:
    """(N): the reciprocal rank of each answer."""
    return over_ties(ranks, lambda better, _: 1 / (better + 1).astype(np.float64))


def reciprocal(ranks: Ranks) -> float:
    """The mean reciprocal rank."""
    return _mean(reciprocals(ranks))


def analytic_hits(ranks: Ranks, at: int = 10, sampled: int = 50) -> float:
    """Hits among `sampled` negatives drawn with replacement, computed from the full rank as NBFNet does.

    An answer with b better rivals of n is hit if fewer than `at` of the draws are among the b.
    """
    ways = _choose(sampled, at)

    def chance(better: NDArray[np.int64], rivals: int) -> Floats:
        wrong = better[:, None] / max(rivals, 1)
        draws = np.arange(at)
        result: Floats = (ways * wrong**draws * (1 - wrong) ** (sampled - draws)).sum(1)
        return result

    return _mean(over_ties(ranks, chance))


def _choose(n: int, up_to: int) -> Floats:
    """Binomial coefficients n over 0..up_to - 1."""
    k = np.arange(1, up_to)
    return np.concatenate([[1.0], np.cumprod((n - k + 1) / k)])


METRICS: Mapping[str, Callable[[Ranks], float]] = {
    "mrr": reciprocal,
    "hits@1": lambda ranks: hits(ranks, 1),
    "hits@3": lambda ranks: hits(ranks, 3),
    "hits@10": lambda ranks: hits(ranks, 10),
    "hits@10_50": analytic_hits,
}
"""Metrics of full filtered ranking, by name."""


def metrics(ranks: Ranks) -> dict[str, float]:
    """All metrics of full filtered ranking."""
    return {name: metric(ranks) for name, metric in METRICS.items()}
