"""Ranking, fact by fact: each question has a pass of its own, and all questions of a step share one graph.

Models whose passes depend on the relation that is asked gain nothing from asking several facts of a head at once.
The graph of a step lacks every fact that the step asks.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.graph import Edges, Graph, Ints, Known, both_sides
from epignn.errors import BadArgument
from epignn.learn import losses
from epignn.learn.objectives.api import ObjectiveConfig
from epignn.learn.objectives.rank import CALIBRATION_TRIPLES, Rank, Step
from epignn.learn.ranking import METRICS
from epignn.models.api import Model
from epignn.models.links import Heads, Questions

DRAWS = 4
"""How often a negative is drawn again that is a known answer; one that still is does not count."""


@dataclass(frozen=True)
class FactsConfig(ObjectiveConfig):
    """The settings of ranking, fact by fact.

    Attributes:
        loss: `cross_entropy` of the answer against all negatives, `margin`, or `adversarial`: a yes or no for each
            candidate, in which likely negatives weigh more.
        margin: Δ of the margin loss.
        sharpness: temperature of the weights of the loss `adversarial`.
        negatives: how many entities are drawn as wrong answers to each question, never known answers; 0 takes all.
        asked: the share of all facts that an epoch asks, from both ends, over the graph of the others. 0 asks every
            fact, from one end, over the graph of all facts but those of the step.
        one_hop: the graph also lacks all facts between a head that is asked about and its answer or a negative.
        metric: the validation metric that chooses the epoch.
        validation_triples: how many validation triples are ranked after an epoch, and calibrate the model, at most.
    """

    kind: str = "rank-facts"
    loss: str = "cross_entropy"
    margin: float = 1.0
    sharpness: float = 1.0
    negatives: int = 32
    asked: float = 0.0
    one_hop: bool = False
    metric: str = "mrr"
    validation_triples: int = 1000

    def __post_init__(self) -> None:
        super().__post_init__()
        known = (("loss", ("margin", "cross_entropy", "adversarial")), ("metric", tuple(METRICS)))
        for name, choices in known:
            if getattr(self, name) not in choices:
                raise BadArgument(f"{name} must be {' or '.join(choices)}, not {getattr(self, name)!r}.")
        if self.negatives < 0 or self.validation_triples < 1:
            raise BadArgument("negatives must be 0 or more, validation_triples 1 or more.")
        if not 0 <= self.asked < 1 or self.sharpness <= 0:
            raise BadArgument("asked must be at least 0 and below 1, sharpness above 0.")


class RankFacts(Rank):
    """A knowledge graph, as a model learns it that makes a pass for every question; see `Rank`."""

    Config: ClassVar[type[ObjectiveConfig]] = FactsConfig
    unit = "questions"
    config: Any

    @property
    def calibrated(self) -> int:  # type: ignore[override]
        """How many validation triples choose the temperature: a pass a question takes long."""
        return min(CALIBRATION_TRIPLES, int(self.config.validation_triples))

    def _sampler(self) -> "FactSampler":
        return FactSampler(self.side.graph, self.config)

    def __len__(self) -> int:
        return len(self.sampler)

    def batches(self, size: int, seed: int, epoch: int) -> Iterator[Any]:
        """Questions of all facts that the epoch asks, in a random order."""
        yield from self.sampler.epoch(size, np.random.default_rng([seed, epoch]))

    def loss(self, model: Model, batch: Any) -> Tensor:
        """Each answer against its negatives."""
        found, allowed, config = model.rank(batch.questions), batch.allowed.to(self.device), self.config
        if config.loss == "cross_entropy":
            first = torch.zeros(len(found), dtype=torch.long, device=found.device)
            return losses.cross_entropy(found, first, config.temperature, allowed)
        if config.loss == "margin":
            return losses.margin(found[:, 0], found[:, 1:], config.margin, allowed[:, 1:])
        return losses.adversarial(found[:, 0], found[:, 1:], config.sharpness, allowed[:, 1:])


class FactSampler:
    """Draws questions of a graph's facts, and the graph of each step."""

    def __init__(self, graph: Graph, config: FactsConfig) -> None:
        self.graph, self.config = graph, config
        self.known = Known([graph.facts], len(graph.entities), len(graph.relations))
        self._pair = self._pairs(graph.facts[:, 0], graph.facts[:, 2])

    def __len__(self) -> int:
        facts = len(self.graph.facts)
        return 2 * math.ceil(self.config.asked * facts) if self.config.asked else facts

    def epoch(self, size: int, rng: np.random.Generator) -> Iterator[Step]:
        """The steps of an epoch, of at most so many questions."""
        count, order = len(self.graph.facts), rng.permutation(len(self.graph.facts))
        if self.config.asked:
            chosen = order[: len(self) // 2]
            edges = self.without(chosen)
            questions = rng.permutation(both_sides(self.graph.facts[chosen], len(self.graph.relations)))
            for first in range(0, len(questions), size):
                yield self.step(questions[first : first + size], edges, rng)
            return
        both = both_sides(self.graph.facts, len(self.graph.relations))
        for first in range(0, count, size):
            chosen = order[first : first + size]
            end = rng.permutation(len(chosen)) % 2  # as many heads as tails
            yield self.step(both[chosen + end * count], self.without(chosen), rng)

    def without(self, facts: NDArray[np.int64]) -> Edges:
        """The edges of all other facts."""
        kept = np.ones(len(self.graph.facts), dtype=bool)
        kept[facts] = False
        return self.graph.edges.thinned(kept)

    def _pairs(self, one: Ints, other: Ints) -> NDArray[np.int64]:
        """A number for each two entities, whichever comes first."""
        return np.minimum(one, other).astype(np.int64) * len(self.graph.entities) + np.maximum(one, other)

    def step(self, questions: Ints, edges: Edges, rng: np.random.Generator) -> Step:
        """Questions (Q, 3) with their answers, over some edges, against negatives."""
        head, relation, tail = questions.T
        negative = self._negatives(head, relation, rng)
        candidate = np.concatenate([tail[:, None], negative], 1)
        if self.config.one_hop:  # of wrong answers, too: a fact with the head would tell which these are
            edges = edges.thinned(~np.isin(self._pair, self._pairs(head[:, None], candidate)))
        known = self.known.holds(head[:, None], relation[:, None], negative)
        allowed = np.concatenate([np.ones((len(tail), 1), dtype=bool), ~known], 1)
        none = np.zeros(len(questions) + 1, dtype=np.int64)
        row = np.arange(candidate.size).reshape(candidate.shape)
        passes = Heads(
            head,
            none,
            np.zeros(0, dtype=np.int32),
            np.append(row[:, 0], row.size),
            candidate.astype(np.int32).ravel(),
        )
        asked = Questions(edges, passes, relation.astype(np.int64), row)
        return Step(asked, torch.from_numpy(allowed), self.graph.edges)

    def _negatives(self, head: Ints, relation: Ints, rng: np.random.Generator) -> Ints:
        """(Q, S): entities that are no known answers, but for few."""
        entities = len(self.graph.entities)
        if not self.config.negatives:
            return np.broadcast_to(np.arange(entities, dtype=np.int32), (len(head), entities))
        drawn = rng.integers(0, entities, (len(head), self.config.negatives), dtype=np.int32)
        for _ in range(DRAWS):
            question, place = self.known.holds(head[:, None], relation[:, None], drawn).nonzero()
            drawn[question, place] = rng.integers(0, entities, len(question), dtype=np.int32)
        return drawn
