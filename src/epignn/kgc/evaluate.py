"""Scores of all entities, head by head, and the ranks of answers: full and filtered, or among stored negatives."""

from collections.abc import Callable, Iterator
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints, Known
from epignn.kernels import Backend
from epignn.kgc.config import KgcModel
from epignn.kgc.heads import HeadBatch, HeadScorer
from epignn.kgc.rank import Ranks, stand
from epignn.models.epignn import LOG_FLOOR, EpiGNN

Scores = NDArray[np.float32]
Report = Callable[[int, int], None]
MEMORY = 256 * 2**20
"""Bytes that the states of one chunk of heads may take."""


class Scorer(Protocol):
    """Whatever scores all entities for questions."""

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): the score of every entity as an answer to (head, relation, ?); low is likely."""
        ...


def matrices(model: EpiGNN) -> torch.Tensor:
    """(2R, F, I, K): what each relation does to a state, φ(·, r)."""
    return torch.einsum("rfj,fijk->rfik", model.relation_vectors(), model.composition_table())


class ModelScorer:
    """The scores of a model on a graph; a chunk of heads is passed at once, and kept until the next."""

    def __init__(self, model: EpiGNN, graph: Graph, backend: Backend = "auto", memory: int = MEMORY) -> None:
        config = model.config
        assert isinstance(config, KgcModel)
        self.nodes = len(graph.entities)
        self.chunk = max(1, memory // (4 * 3 * self.nodes * config.dim))
        with torch.no_grad():
            self.vectors = model.relation_vectors().flatten(1)
            self._heads = HeadScorer(graph.edges, matrices(model), config.passing, backend)
        self._logs: dict[int, torch.Tensor] = {}

    def prepare(self, heads: Ints) -> None:
        """Make the passes of some heads; at most `chunk` of them."""
        with torch.no_grad():
            states = self._heads.states(HeadBatch.everything(heads, self.nodes))
            logs = states.clamp_min_(LOG_FLOOR).log_().view(len(heads), self.nodes, -1)
        self._logs = dict(zip(heads.tolist(), logs, strict=True))

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): as `EpiGNN.scores`, for all entities."""
        if head not in self._logs:
            self.prepare(np.array([head], dtype=np.int32))
        scores: Scores = -(self.vectors[relations.astype(np.int64)] @ self._logs[head].T).numpy()
        return scores


def by_head(
    questions: Ints, scorer: Scorer, report: Report | None = None
) -> Iterator[tuple[NDArray[np.intp], Scores]]:
    """Questions (N, 3) of the same head, as their rows and the scores of all entities; each head once."""
    order = np.argsort(questions[:, 0], kind="stable")
    heads, first = np.unique(questions[order, 0], return_index=True)
    groups = np.split(order, first[1:]) if len(heads) else []
    for number, (head, rows) in enumerate(zip(heads.tolist(), groups, strict=True)):
        if isinstance(scorer, ModelScorer) and number % scorer.chunk == 0:
            scorer.prepare(heads[number : number + scorer.chunk])
        yield rows, scorer(head, questions[rows, 1])
        if report is not None:
            report(number + 1, len(heads))


def full_ranks(questions: Ints, scorer: Scorer, known: Known, report: Report | None = None) -> Ranks:
    """Answers ranked among all entities that are not known as other answers, in the order of the questions."""
    return all_ranks(questions, scorer, known, _none(questions), report)[0]


def sampled_ranks(questions: Ints, negatives: Ints, scorer: Scorer, report: Report | None = None) -> Ranks:
    """Answers ranked among the negatives (N, S) of each question; -1 stands for none."""
    return all_ranks(questions, scorer, None, negatives, report)[1]


def all_ranks(
    questions: Ints, scorer: Scorer, known: Known | None, negatives: Ints, report: Report | None = None
) -> tuple[Ranks, Ranks]:
    """Full ranks, filtered by what is known, and ranks among negatives, of one pass over the heads."""
    full, sampled = np.zeros((2, 3, len(questions)), dtype=np.int64)
    for rows, scores in by_head(questions, scorer, report):
        asked, drawn = questions[rows], negatives[rows]
        answers = scores[np.arange(len(rows)), asked[:, 2]]
        if known is not None:
            rival = np.ones(scores.shape, dtype=bool)
            for n, (head, relation, _) in enumerate(asked.tolist()):
                rival[n, known.answers(head, relation)] = False
            full[:, rows] = stand(scores, answers, rival).columns
        candidates = np.take_along_axis(scores, np.maximum(drawn, 0), 1)
        sampled[:, rows] = stand(candidates, answers, drawn >= 0).columns
    return Ranks(*full), Ranks(*sampled)


def _none(questions: Ints) -> Ints:
    return np.zeros((len(questions), 0), dtype=np.int32)
