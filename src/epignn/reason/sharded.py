"""Questions about links as jobs: each worker answers or ranks those of some heads, over a graph that all share."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from epignn.bridges.shards import Shards
from epignn.data.graph import Ints, Known, Side
from epignn.data.shared import arrays_of, graph_of
from epignn.learn.checkpoint import Kept
from epignn.learn.protocols import Exam, Negatives, Outcome, all_ranks
from epignn.learn.ranking import Ranks
from epignn.reason.answers import Answers, Finder
from epignn.reason.links import Links
from epignn.tasks.api import Report
from epignn.workers import Shared, Workers, run
from epignn.workers.api import Tell

PARTS = 8
"""Parts of an evaluation for each worker, so that none waits long for the last."""


@dataclass(frozen=True)
class Asked:
    """What is asked, and about which graph.

    Attributes:
        models: of run folders; several answer together.
        pruned: see `Links`.
        graph: its arrays; see `epignn.data.shared`.
    """

    models: tuple[Kept, ...]
    pruned: float
    graph: Shared

    @classmethod
    def of(cls, links: Links, code: Sequence[Path], graph: Shared) -> "Asked":
        """Models that were loaded, and a graph that is shared."""
        return cls(tuple(Kept.of(model, code) for model in links.models), links.pruned, graph)

    def links(self) -> Links:
        """The models, read once by each process."""
        return _links(self.models, self.pruned)


@lru_cache(maxsize=1)
def _links(models: tuple[Kept, ...], pruned: float) -> Links:
    return Links(*(model.load() for model in models), pruned=pruned)


# -- answers, to a table of shards --


@dataclass(frozen=True)
class Asking:
    """What all shards of a table share: plain values.

    Attributes:
        asked: who is asked about what.
        top, include_known, least: which answers are told.
        paths: whether they are told with what supports them.
        out, about: of the table, as `Shards` takes them.
    """

    asked: Asked
    top: int
    include_known: bool
    least: float
    paths: bool
    out: Path
    about: Mapping[str, Any]


@dataclass(frozen=True)
class Part:
    """A shard: its number, and the heads whose questions it answers."""

    asking: Asking
    number: int
    questions: Sequence[tuple[int, Ints]]


def write_part(part: Part, tell: Tell) -> int:
    """Answer the questions of a shard and write it; returns how many answers it has."""
    torch.set_num_threads(1)  # the same bits whoever does it
    asking = part.asking
    links, graph = asking.asked.links(), graph_of(asking.asked.graph)
    finder = links.finder(graph) if asking.paths else None
    found = links.answers(graph, part.questions, asking.top, asking.include_known, asking.least)
    columns = columns_of(list(found), finder)
    Shards(asking.out, asking.about).write(part.number, columns)
    return len(columns["tail"])


def columns_of(parts: Sequence[Answers], finder: Finder | None) -> dict[str, list[Any]]:
    """The columns of several parts, with paths where there is a finder."""
    found: dict[str, list[Any]] = {}
    for part in parts:
        columns = part.columns()
        if finder is not None:
            columns["path"] = [str(one.path or "") for one in part.rows(finder)]
        for name, values in columns.items():
            found.setdefault(name, []).extend(values)
    return found


# -- ranks, for an evaluation --


@dataclass(frozen=True)
class Examined:
    """Questions (N, 3) to rank, and negatives (N, S); the graph has `valid` and `test` beside its own arrays."""

    asked: Asked
    questions: Ints
    drawn: Ints


def rank_part(part: Examined, tell: Tell) -> NDArray[np.int64]:
    """(2, 3, N): full ranks, and ranks among negatives."""
    torch.set_num_threads(1)
    found = all_ranks(part.questions, _scorer(part.asked), _known(part.asked.graph), part.drawn)
    return np.stack([ranks.columns for ranks in found])


@lru_cache(maxsize=1)
def _scorer(asked: Asked) -> Any:
    return asked.links().scorer(graph_of(asked.graph))


@lru_cache(maxsize=1)
def _known(shared: Shared) -> Known:
    arrays = shared.open()
    return Side(graph_of(shared), arrays["valid"], arrays["test"]).known()


def examine_by(
    workers: Workers,
    links: Links,
    side: Side,
    negatives: Negatives,
    folder: Path,
    code: Sequence[Path] = (),
    report: Report | None = None,
) -> Outcome:
    """What `examine` tells of models of run folders, by workers.

    Args:
        workers: who ranks.
        links: the models.
        side: what they are tested on.
        negatives: stored ones.
        folder: where the graph is laid for workers to see.
        code: files that models are classes of.
        report: called with parts done and parts in all.
    """
    exam = Exam.of(side, negatives)
    shared = workers.share({**arrays_of(side.graph), "valid": side.valid, "test": side.test}, folder)
    asked = Asked.of(links, code, shared)
    # Whole chunks of the scorer, so that heads are passed together that are passed together by one process.
    chunk, heads = _scorer(asked).chunk, len(np.unique(exam.questions[:, 0]))
    parts = exam.parts(chunk * max(1, heads // (chunk * PARTS * workers.count)))
    jobs = [Examined(asked, exam.questions[rows], exam.drawn[rows]) for rows in parts]
    columns = np.zeros((2, 3, len(exam.questions)), dtype=np.int64)
    for rows, found in zip(parts, run(workers, rank_part, jobs, report).all("parts"), strict=True):
        columns[:, :, rows] = found
    return Outcome(exam, Ranks(*columns[0]), Ranks(*columns[1]))
