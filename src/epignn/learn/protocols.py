"""Every protocol of link prediction under its own name, for a model or a baseline.

mrr, hits@1, hits@3, hits@10    full filtered ranking, head and tail
hits@10_50                      among 50 negatives, computed from the full rank, as NBFNet does
grail_hits@10                   among 50 stored negatives, as GraIL does
ultra_mrr, ultra_hits@10        full filtered ranking with validation and test triples merged, as ULTRA does

A graph that has not 50 negatives has no metrics among them.
"""

import io
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from epignn.data.graph import Ints, Known, Side, both_sides
from epignn.errors import BadFile
from epignn.files import writing
from epignn.learn.ranking import Floats, Ranks, hits, metrics, reciprocal, reciprocals, stand
from epignn.models.api import Scorer, Scores
from epignn.tasks.api import Report

NEGATIVES_SEED = 2025
COUNT = 50
"""As many as GraIL draws for a head and as many for a tail."""
AMONG_NEGATIVES = ("hits@10_50", "grail_hits@10")
"""Metrics that need so many."""


@dataclass(frozen=True, eq=False)
class Negatives:
    """Entities (N, S) that are no known answers to questions (N, 3); -1 where a question has fewer."""

    questions: Ints
    drawn: Ints
    seed: int


def draw_negatives(questions: Ints, known: Known, entities: int, seed: int, count: int = COUNT) -> Negatives:
    """Draw negatives of each question without replacement, from all entities that are no known answers."""
    rng = np.random.default_rng(seed)
    drawn = np.full((len(questions), count), -1, dtype=np.int32)
    for row, (head, relation, _) in enumerate(questions.tolist()):
        free = np.ones(entities, dtype=bool)
        free[known.answers(head, relation)] = False
        candidates = np.flatnonzero(free)
        chosen = rng.choice(candidates, min(count, len(candidates)), replace=False)
        drawn[row, : len(chosen)] = chosen
    return Negatives(questions, drawn, seed)


def save_negatives(path: Path, negatives: Negatives) -> None:
    """Write negatives, whole."""
    buffer = io.BytesIO()
    np.savez_compressed(buffer, questions=negatives.questions, drawn=negatives.drawn, seed=negatives.seed)
    with writing(path) as part:
        part.write_bytes(buffer.getvalue())


def load_negatives(path: Path, questions: Ints) -> Negatives:
    """Read negatives; they have to be those of these questions."""
    try:
        with np.load(path, allow_pickle=False) as arrays:
            found = Negatives(arrays["questions"], arrays["drawn"], int(arrays["seed"]))
    except (OSError, ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise BadFile("not a file of negatives; name a new file, and they are written there.", str(path)) from error
    if not np.array_equal(found.questions, questions):
        raise BadFile("these negatives were drawn for other questions; draw them anew.", str(path))
    return found


def by_head(
    questions: Ints, scorer: Scorer, report: Report | None = None
) -> Iterator[tuple[NDArray[np.intp], Scores]]:
    """Questions (N, 3) of the same head, as their rows and the scores of all entities; each head once."""
    order = np.argsort(questions[:, 0], kind="stable")
    heads, first = np.unique(questions[order, 0], return_index=True)
    groups = np.split(order, first[1:]) if len(heads) else []
    for number, (head, rows) in enumerate(zip(heads.tolist(), groups, strict=True)):
        if number % scorer.chunk == 0:
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


def stored_negatives(side: Side, seed: int = NEGATIVES_SEED) -> Negatives:
    """The negatives of a side's test triples, asked from both ends."""
    questions = both_sides(side.test, len(side.graph.relations))
    return draw_negatives(questions, side.known(), len(side.graph.entities), seed)


@dataclass(frozen=True, eq=False)
class Exam:
    """The questions that all protocols ask of a side, in parts that may be ranked elsewhere.

    Attributes:
        side: its test triples are asked from both ends, and those of validation after them.
        questions: (N, 3) all of them.
        drawn: (N, S) their stored negatives; those of validation triples have none.
        tested: how many of them are of test triples.
    """

    side: Side
    questions: Ints
    drawn: Ints
    tested: int

    @classmethod
    def of(cls, side: Side, negatives: Negatives | None = None) -> "Exam":
        """The exam of a side; negatives are drawn with the usual seed where none are given."""
        relations = len(side.graph.relations)
        asked = both_sides(side.test, relations)
        merged = np.concatenate([asked, both_sides(side.valid, relations)])
        drawn = (negatives or stored_negatives(side)).drawn
        padded = np.full((len(merged), drawn.shape[1]), -1, dtype=np.int32)
        padded[: len(drawn)] = drawn
        return cls(side, merged, padded, len(asked))

    def parts(self, heads: int) -> list[NDArray[np.intp]]:
        """Rows of the questions of so many heads each, in the order in which `by_head` asks them."""
        order = np.argsort(self.questions[:, 0], kind="stable")
        _, first = np.unique(self.questions[order, 0], return_index=True)
        return np.split(order, first[heads::heads]) if len(order) else []


@dataclass(frozen=True, eq=False)
class Outcome:
    """How a scorer did in an exam.

    Attributes:
        exam: what was asked.
        ranks: of all answers, among all entities.
        sampled: the same among stored negatives.
    """

    exam: Exam
    ranks: Ranks
    sampled: Ranks

    def metrics(self) -> dict[str, float]:
        """All metrics; among 50 negatives where there are more entities."""
        tested = self.exam.tested
        found = {
            **metrics(self.ranks.first(tested)),
            "grail_hits@10": hits(self.sampled.first(tested), 10),
            "ultra_mrr": reciprocal(self.ranks),
            "ultra_hits@10": hits(self.ranks, 10),
        }
        enough = len(self.exam.side.graph.entities) > COUNT
        return {name: value for name, value in found.items() if enough or name not in AMONG_NEGATIVES}

    def by_triple(self) -> Floats:
        """(T): the reciprocal rank of each test triple, the mean of its two ends; their mean is the `mrr`."""
        found: Floats = reciprocals(self.ranks.first(self.exam.tested)).reshape(2, -1).mean(0)
        return found


def examine(
    scorer: Scorer, side: Side, negatives: Negatives | None = None, report: Report | None = None
) -> Outcome:
    """Rank the test triples of a side, and those of validation, by a scorer.

    Args:
        scorer: of this side's graph.
        side: its test triples are asked from both ends; all its triples are filtered.
        negatives: stored ones; drawn with the usual seed where none are given.
        report: called with heads done and heads in all.
    """
    exam = Exam.of(side, negatives)
    return Outcome(exam, *all_ranks(exam.questions, scorer, side.known(), exam.drawn, report))


def measure(
    scorer: Scorer, side: Side, negatives: Negatives | None = None, report: Report | None = None
) -> dict[str, float]:
    """All metrics of a scorer on the test triples of a side; see `examine`."""
    return examine(scorer, side, negatives, report).metrics()
