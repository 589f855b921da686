"""Answers to (head, relation, ?): entities with scores, calibrated probabilities and supporting facts."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints, Known
from epignn.errors import BadArgument
from epignn.kgc.evaluate import ModelScorer, Report, by_head, matrices
from epignn.kgc.paths import Path, PathFinder
from epignn.kgc.store import Trained


@dataclass(frozen=True)
class Answer:
    """One answer to a question.

    Attributes:
        head, relation: the question.
        rank: from 1 for the likeliest.
        tail: the entity.
        score: the cross-entropy with the relation; low is likely.
        probability: that this is the answer, given that the question has one which the graph does not state.
        known: whether the graph states it.
        path: the facts that support it most, or None where no short path leads to it.
    """

    head: str
    relation: str
    rank: int
    tail: str
    score: float
    probability: float
    known: bool
    path: Path | None


def answer(
    trained: Trained,
    graph: Graph,
    questions: Sequence[tuple[str, str]],
    top: int = 10,
    include_known: bool = False,
    paths: bool = True,
    report: Report | None = None,
) -> list[Answer]:
    """The likeliest answers to each (head, relation), in the order of the questions.

    Args:
        trained: a model; the graph may be one it has never seen.
        graph: the facts, over the relations that the model knows.
        questions: names of head and relation; `relation^-1` asks for the heads of a tail.
        top: how many answers to each.
        include_known: rank what the graph states too.
        paths: find the supporting path of each answer.
        report: called with heads done and heads in all.
    """
    if top < 1:
        raise BadArgument(f"top must be 1 or more, not {top}.")
    asked = np.array([(graph.entity(h), graph.relation(r), 0) for h, r in questions], dtype=np.int32).reshape(-1, 3)
    known = Known([graph.facts], len(graph.entities), len(graph.relations))
    finder = _finder(trained, graph) if paths else None
    found: dict[int, list[Answer]] = {}
    for rows, scores in by_head(asked, ModelScorer(trained.model, graph), report):
        for row, line in zip(rows.tolist(), scores, strict=True):
            head, relation = int(asked[row, 0]), int(asked[row, 1])
            stated = known.answers(head, relation)
            chances = probabilities(line, stated, trained.temperature, include_known)
            order = np.argsort(-chances, kind="stable")[:top]
            order = order[chances[order] > 0]
            found[row] = [
                Answer(
                    head=questions[row][0],
                    relation=questions[row][1],
                    rank=rank,
                    tail=graph.entities[tail],
                    score=float(line[tail]),
                    probability=float(chances[tail]),
                    known=bool(np.isin(tail, stated)),
                    path=finder.best(head, relation, tail) if finder is not None and tail != head else None,
                )
                for rank, tail in enumerate(order.tolist(), 1)
            ]
    return [one for row in range(len(questions)) for one in found[row]]


def probabilities(
    scores: NDArray[np.float32], stated: Ints, temperature: float, include_known: bool = False
) -> NDArray[np.float64]:
    """(V): the softmax of negative scores over entities; what is stated already has none, unless included."""
    logits = -scores.astype(np.float64) / temperature
    if not include_known:
        logits[stated] = -np.inf
    if not np.isfinite(logits).any():
        return np.zeros(len(logits))
    chances = np.exp(logits - logits.max())
    result: NDArray[np.float64] = chances / chances.sum()
    return result


def _finder(trained: Trained, graph: Graph) -> PathFinder:
    with torch.no_grad():
        table, vectors = matrices(trained.model).numpy(), trained.model.relation_vectors().numpy()
    return PathFinder(graph, table, vectors, int(trained.config.experiment.model.rounds))
