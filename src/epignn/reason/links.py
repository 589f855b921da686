"""Links: who is the tail of (head, relation, ?) in a knowledge graph, asked of a trained model."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Any, Self, final

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Graph, Ints, Known, Side, both_sides
from epignn.errors import BadArgument, unknown
from epignn.explain.support import Path, PathFinder
from epignn.learn.calibrate import softmax
from epignn.learn.checkpoint import Trained, load_model
from epignn.learn.protocols import (
    Negatives,
    by_head,
    load_negatives,
    measure,
    save_negatives,
    stored_negatives,
)
from epignn.models.baselines import BASELINES
from epignn.models.epignn import EpiGNN
from epignn.tasks import task_of
from epignn.tasks.api import LinkTask, Report
from epignn.tasks.links import read_graph


@dataclass(frozen=True)
class LinkAnswer:
    """One answer to a question.

    Attributes:
        head, relation: the question.
        rank: from 1 for the likeliest.
        tail: the entity.
        score: of the model; high is likely.
        probability: that this is the answer, given that the question has one which the graph does not state.
        known: whether the graph states it.
        path: the facts that support it most, or None where no short path leads to it or none was asked for.
    """

    head: str
    relation: str
    rank: int
    tail: str
    score: float
    probability: float
    known: bool
    path: Path | None

    def to_dict(self) -> dict[str, Any]:
        """As plain values; the path in words."""
        return {**vars(self), "path": str(self.path) if self.path is not None else ""}


@final
class Links:
    """A trained link prediction model.

    Args:
        trained: the model; the graphs that it is asked about may be new to it.
    """

    def __init__(self, trained: Trained) -> None:
        if not trained.config.ranks:
            raise BadArgument(f"{trained.name} classifies graphs; a model for links is trained on triples.")
        self.trained = trained

    @classmethod
    def load(cls, name: str, device: str = "cpu", code: Iterable[FilePath | str] = ()) -> Self:
        """One that was trained before: a run folder, or a weights file in one."""
        return cls(load_model(name, device, code))

    def graph(self, path: FilePath, skip_unknown: bool = False) -> tuple[Graph, list[str]]:
        """The facts of a file in the model's relations, and notes on what was passed over."""
        return read_graph(path, self.trained.relations, skip_unknown)

    def answer(
        self,
        graph: Graph,
        questions: Sequence[tuple[str, str]],
        top: int = 10,
        include_known: bool = False,
        paths: bool = True,
        report: Report | None = None,
    ) -> list[LinkAnswer]:
        """The likeliest answers to each (head, relation), in the order of the questions.

        Args:
            graph: the facts, over the relations that the model knows.
            questions: names of head and relation; `relation^-1` asks for the heads of a tail.
            top: how many answers to each.
            include_known: rank what the graph states too.
            paths: find the supporting path of each answer, where the model composes relations.
            report: called with heads done and heads in all.
        """
        if top < 1:
            raise BadArgument(f"top must be 1 or more, not {top}.")
        rows = [(graph.entity(head), graph.relation(relation), 0) for head, relation in questions]
        asked = np.array(rows, dtype=np.int32).reshape(-1, 3)
        known = Known([graph.facts], len(graph.entities), len(graph.relations))
        model = self.trained.model
        finder = PathFinder(graph, model) if paths and isinstance(model, EpiGNN) else None
        found: dict[int, list[LinkAnswer]] = {}
        for places, scores in by_head(asked, model.scorer(graph), report):
            for row, line in zip(places.tolist(), scores, strict=True):
                head, relation = int(asked[row, 0]), int(asked[row, 1])
                stated = known.answers(head, relation)
                chances = probabilities(line, stated, self.trained.temperature, include_known)
                order = np.argsort(-chances, kind="stable")[:top]
                order = order[chances[order] > 0]
                found[row] = [
                    LinkAnswer(
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

    def stated(self, graph: Graph, questions: Sequence[tuple[str, str]]) -> int:
        """How many answers of some questions the graph states already."""
        known = Known([graph.facts], len(graph.entities), len(graph.relations))
        return sum(len(known.answers(graph.entity(h), graph.relation(r))) for h, r in questions)

    def side(self, name: str) -> Side:
        """The test side of a task, in the numbers of the model's relations.

        Raises:
            BadArgument: the task has no links, or no test triples.
            UnknownName: one of its relations is unknown to the model.
        """
        task = task_of(name)
        if not isinstance(task, LinkTask):
            raise BadArgument(f"{name} holds labelled graphs; {self.trained.name} predicts links.")
        # The seed of the run holds out of a single file what was held out in training.
        side = _renumbered(task.links(self.trained.seed).test, self.trained.relations)
        if not len(side.test):
            raise BadArgument(
                f"{name} has no test triples; a folder has them in test.txt, or in that of its _ind twin."
            )
        return side

    def evaluate(
        self, side: Side, negatives: Negatives | None = None, report: Report | None = None
    ) -> dict[str, dict[str, float]]:
        """Every protocol, for the model and for scorers that learn nothing."""
        stored = negatives or stored_negatives(side)
        found = {"model": measure(self.trained.model.scorer(side.graph), side, stored, report)}
        return found | {name: measure(make(side.graph), side, stored) for name, make in BASELINES.items()}


def negatives_of(side: Side, path: FilePath | None) -> Negatives:
    """Stored negatives: read where the file is there, drawn and written where it is not."""
    if path is not None and path.exists():
        return load_negatives(path, both_sides(side.test, len(side.graph.relations)))
    drawn = stored_negatives(side)
    if path is not None:
        save_negatives(path, drawn)
    return drawn


def probabilities(
    scores: NDArray[np.float32], stated: Ints, temperature: float, include_known: bool = False
) -> NDArray[np.float64]:
    """(V): the softmax of scores over entities; what is stated already has none, unless included."""
    found = scores.astype(np.float64)
    if not include_known:
        found[stated] = -np.inf
    return softmax(found[None], temperature)[0] if np.isfinite(found).any() else np.zeros(len(found))


def _renumbered(side: Side, relations: tuple[str, ...]) -> Side:
    """A side in the numbers of other relations, which must have all that it uses."""
    if side.graph.relations == relations:
        return side
    groups = (side.graph.facts, side.valid, side.test)
    number = {name: place for place, name in enumerate(relations)}
    for relation in np.unique(np.concatenate([triples[:, 1] for triples in groups])).tolist():
        if side.graph.relations[relation] not in number:
            raise unknown("relation", side.graph.relations[relation], relations)
    places = np.array([number.get(name, -1) for name in side.graph.relations], dtype=np.int32)
    facts, valid, test = (np.stack([t[:, 0], places[t[:, 1]], t[:, 2]], 1) for t in groups)
    return Side(replace(side.graph, relations=relations, facts=facts), valid, test)
