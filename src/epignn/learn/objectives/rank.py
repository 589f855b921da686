"""Ranking: which entity is the tail of (head, relation, ?) in a knowledge graph.

A step asks a part of each head's facts, which its pass leaves out, against sampled entities. A pass that asked
every fact of its head would leave the head alone, so a random part is asked.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import Dataset
from epignn.data.graph import Edges, Graph, Ints, Known, Side, both_sides
from epignn.errors import BadArgument
from epignn.learn import losses
from epignn.learn.answers import calibrate_answers
from epignn.learn.calibrate import Calibration, calibration
from epignn.learn.objectives.api import ObjectiveConfig
from epignn.learn.protocols import by_head, full_ranks
from epignn.learn.ranking import METRICS, together
from epignn.models.api import Model
from epignn.models.links import Heads, Questions
from epignn.tasks.api import LinkTask, Report

VALIDATION_SEED = 1
"""Which validation triples are ranked after an epoch, where there are more than `validation_triples`."""
CALIBRATION_TRIPLES, CALIBRATION_SCORES = 500, 50_000_000
"""Validation triples that choose the temperature, at most, and the scores of candidates that are kept for it."""


@dataclass(frozen=True)
class RankConfig(ObjectiveConfig):
    """The settings of ranking.

    Attributes:
        loss: `margin`, or `cross_entropy` of the answer against all negatives.
        margin: Δ of the margin loss.
        temperature: scores are divided by it in the cross-entropy.
        negatives: how many entities are drawn as wrong answers for each head; never known answers.
        share: the share of a head's facts that a pass asks, and does not see; at least one fact.
        thin: up to this share of all facts, drawn at random, is missing in a step, so that sparser graphs are met,
            too.
        metric: the validation metric that chooses the epoch.
        validation_triples: how many validation triples are ranked after an epoch, at most.
    """

    kind: str = "rank"
    loss: str = "cross_entropy"
    margin: float = 1.0
    negatives: int = 64
    share: float = 0.3
    thin: float = 0.0
    metric: str = "hits@10_50"
    validation_triples: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, choices in (("loss", ("margin", "cross_entropy")), ("metric", tuple(METRICS))):
            if getattr(self, name) not in choices:
                raise BadArgument(f"{name} must be {' or '.join(choices)}, not {getattr(self, name)!r}.")
        if min(self.negatives, self.validation_triples) < 1:
            raise BadArgument("negatives and validation_triples must be 1 or more.")
        if not 0 < self.share <= 1 or not 0 <= self.thin < 1:
            raise BadArgument("share must be above 0 and at most 1, thin at least 0 and below 1.")


class Step(NamedTuple):
    """The questions of a step; the first candidate of each is the answer, the others are sampled.

    Attributes:
        questions: a pass for each head, over the edges of the step.
        allowed: (Q, 1 + S) whether a candidate counts: an entity known as another answer does not.
        graphs: all edges, for models that count.
    """

    questions: Questions
    allowed: Tensor
    graphs: Edges


class Rank:
    """A knowledge graph, as a model learns it.

    Args:
        config: the settings.
        side: facts to learn from. Its test triples are not read.
        device: where scores are compared.
        notes: what a person should know of the data.
        judged: graphs whose `valid` triples choose the epoch; `side` itself where none is given.

    Raises:
        BadArgument: there are no validation triples.
    """

    Config: ClassVar[type[ObjectiveConfig]] = RankConfig
    unit = "heads"
    calibrated = CALIBRATION_TRIPLES
    """How many validation triples choose the temperature, at most."""

    def __init__(
        self,
        config: RankConfig,
        side: Side,
        device: torch.device | str = "cpu",
        notes: Sequence[str] = (),
        judged: Sequence[Side] = (),
    ) -> None:
        if not all(len(judge.valid) for judge in judged or [side]):
            raise BadArgument(
                "there are no validation triples to choose the epoch by: add a valid.txt to the folder, or train "
                "on its train.txt alone, of which some triples are then held out."
            )
        self.config, self.side, self.device, self.metric = config, side, device, config.metric
        self.judged = tuple(judged) or (side,)
        self.relations, self.outputs = side.graph.relations, 2 * len(side.graph.relations)
        self._notes = tuple(notes)
        self.sampler = self._sampler()

    def _sampler(self) -> Any:
        """Draws the questions of a step."""
        return Sampler(self.side.graph, self.config.share, self.config.negatives, self.config.thin)

    @classmethod
    def of(
        cls,
        config: RankConfig,
        task: LinkTask,
        prepare: Callable[[Dataset], Any],
        seed: int,
        device: torch.device | str = "cpu",
        report: Report | None = None,
    ) -> Self:
        """The objective of a task; see `Objective.of`."""
        if not isinstance(task, LinkTask):
            raise BadArgument(
                f"{task.task} holds labelled graphs, not links; objective.kind = 'classify' learns them."
            )
        links = task.split(seed)
        sizes = [f"train: {links.train}", f"test: {links.test}"]
        sizes += [f"judged by: {links.judged[0]}, in {len(links.judged)} turns"] if links.judged else []
        notes = [f"note: {note}" for note in links.notes]
        return cls(config, links.train, device, [*notes, *sizes], links.judged)

    def __len__(self) -> int:
        return len(self.sampler.heads)

    def notes(self) -> list[str]:
        """What was passed over while reading, and the sizes of both graphs."""
        return list(self._notes)

    def digest(self) -> str:
        """Of names, facts and validation triples."""
        own = (self.side,) if self.judged == (self.side,) else (self.side, *self.judged)
        return "".join(side.digest() for side in own)

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[Step]:
        """Questions of all heads, in a random order."""
        rng = np.random.default_rng([seed, epoch])
        heads = rng.permutation(self.sampler.heads)
        for step in range(math.ceil(len(heads) / size)):
            yield self.sampler.ask(heads[step * size : (step + 1) * size], rng)

    def loss(self, model: Model, batch: Step) -> Tensor:
        """Each answer against the negatives of its head."""
        parts, allowed = model.rank_parts(batch.questions), batch.allowed.to(self.device)
        found, allowed = parts.flatten(0, 1), allowed.repeat(len(parts), 1)
        if self.config.loss == "margin":
            return losses.margin(found[:, 0], found[:, 1:], self.config.margin, allowed[:, 1:])
        first = torch.zeros(len(found), dtype=torch.long, device=found.device)
        return losses.cross_entropy(found, first, self.config.temperature, allowed)

    def part(self, batch: Step, number: int, of: int) -> tuple[Step | None, float]:
        """The questions of some of the heads of a step, and what they count of all."""
        count = len(batch.questions.heads)
        first, last = count * number // of, count * (number + 1) // of
        if first == last:
            return None, 0.0
        asked, rows = batch.questions.of_heads(first, last)
        part = Step(asked, batch.allowed[rows], batch.graphs)
        if self.config.loss == "margin":  # a mean over negatives, of which questions have different numbers
            return part, float(part.allowed[:, 1:].sum() / batch.allowed[:, 1:].sum().clamp_min(1))
        return part, len(part.allowed) / len(batch.allowed)

    def validate(self, model: Model) -> float | None:
        """The metric on validation triples, ranked among all entities."""
        with torch.no_grad():
            ranks = [
                full_ranks(
                    _asked(side, self.config.validation_triples, VALIDATION_SEED),
                    model.validating_scorer(side.graph),
                    known,
                )
                for side, known in zip(self.judged, self._known, strict=True)
            ]
        return METRICS[self.metric](together(ranks))

    def calibrate(self, model: Model, report: Report | None = None) -> Calibration | None:
        """What makes held-out answers likeliest; other known answers are no candidates."""
        side, known = self.judged[0], self._known[0]
        entities = len(side.graph.entities)
        asked = _asked(side, min(self.calibrated, max(1, CALIBRATION_SCORES // (2 * entities))), 0)
        found = np.empty((len(asked), entities))
        for rows, scores in by_head(asked, model.scorer(side.graph), report):
            for row, line in zip(rows.tolist(), scores.astype(np.float64), strict=True):
                head, relation, tail = asked[row].tolist()
                own = line[tail]
                line[known.answers(head, relation)] = -np.inf
                line[tail] = own
                found[row] = line
        chosen = calibration(found, asked[:, 2], self.config.temperature)
        answers = calibrate_answers(side, model.scorer(side.graph), chosen.temperature, 2 * self.calibrated)
        return replace(chosen, answers=answers)

    @cached_property
    def _known(self) -> list[Known]:
        return [side.known() for side in self.judged]


def _asked(side: Side, most: int, seed: int) -> Ints:
    """Some of the validation triples, asked from both ends."""
    chosen = np.random.default_rng(seed).permutation(len(side.valid))[:most]
    return both_sides(side.valid[np.sort(chosen)], len(side.graph.relations))


class Sampler:
    """Draws the questions of a graph's facts, head by head.

    Args:
        graph: whose facts are asked.
        share: of a head's facts that are asked.
        negatives: drawn for each head.
        thin: up to this share of all facts is missing in a step, at random, so that sparser graphs are met too.
    """

    def __init__(self, graph: Graph, share: float, negatives: int, thin: float = 0.0) -> None:
        self.graph, self.share, self.negatives, self.thin = graph, share, negatives, thin
        self.known = Known([graph.facts], len(graph.entities), len(graph.relations))
        questions = both_sides(graph.facts, len(graph.relations))
        order = np.argsort(questions[:, 0], kind="stable")
        self._question = questions[order]
        self._fact = order % max(len(graph.facts), 1)
        self._offset = np.searchsorted(self._question[:, 0], np.arange(len(graph.entities) + 1))

    @cached_property
    def heads(self) -> Ints:
        """Entities that occur in facts."""
        return np.flatnonzero(np.diff(self._offset)).astype(np.int32)

    def ask(self, heads: Ints, rng: np.random.Generator) -> Step:
        """Questions of some heads."""
        chosen = [self._choose(int(head), rng) for head in heads]
        negatives = rng.integers(0, len(self.graph.entities), (len(heads), self.negatives), dtype=np.int32)
        edges = self._edges(rng)
        left_out = [np.unique(edges.of_fact[self._fact[rows]]) for rows in chosen]
        left_out = [places[places >= 0] for places in left_out]
        wanted = [
            np.concatenate([drawn, self._question[rows, 2]]) for drawn, rows in zip(negatives, chosen, strict=True)
        ]
        passes = Heads.of(heads, left_out, wanted)
        counts = np.array([len(rows) for rows in chosen])
        of_head = np.repeat(np.arange(len(heads)), counts)
        head, relation, tail = self._question[np.concatenate(chosen)].T
        begin = passes.wanted_offset[:-1][of_head][:, None]
        place = np.arange(len(of_head)) - np.repeat(np.cumsum(counts) - counts, counts)
        answer_row = begin + self.negatives + place[:, None]
        row = np.concatenate([answer_row, begin + np.arange(self.negatives)], 1)
        candidate = negatives[of_head]
        known = self.known.holds(head[:, None], relation[:, None], candidate)
        allowed = np.concatenate([np.ones((len(tail), 1), dtype=bool), ~known], 1)
        asked = Questions(edges, passes, relation.astype(np.int64), row)
        return Step(asked, torch.from_numpy(allowed), self.graph.edges)

    def _edges(self, rng: np.random.Generator) -> Edges:
        """The edges of a step."""
        if not self.thin:
            return self.graph.edges
        kept = rng.random(len(self.graph.facts)) >= rng.random() * self.thin
        return self.graph.edges.thinned(kept)

    def _choose(self, head: int, rng: np.random.Generator) -> NDArray[np.int64]:
        first, last = self._offset[head], self._offset[head + 1]
        count = max(1, round(self.share * (last - first)))
        chosen: NDArray[np.int64] = first + rng.permutation(last - first)[:count]
        return chosen
