"""Path rules, counted: what RuleN (Meilicke et al., 2018) and AnyBURL (2019) learn that holds for any entities.

A rule says that a path of some relations from x to y makes a relation between them likely. Its confidence is the
share of pairs with such a path that have the relation, too. Nothing is trained.
"""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor

from epignn.data.graph import Edges, Graph
from epignn.errors import BadArgument
from epignn.kernels import Backend
from epignn.models.api import Model, ModelConfig
from epignn.models.links import Questions
from epignn.models.rule_scorer import Lookup, RuleScorer
from epignn.models.tally import Floats, Longs, added, tally

HERE = 20_000_000
"""Walks that are counted in the graph that is asked, at most: it should answer at once."""


@dataclass(frozen=True)
class RulesConfig(ModelConfig):
    """How rules are counted and used.

    Attributes:
        hops: the length of the longest path.
        walks: how many walks are counted, at most. Where a graph has more, confidence is that of a random sample.
        support: a rule is used if it holds for at least so many pairs of the training graph.
        unseen: how many pairs are added to those for which a rule fails, so that rare rules are trusted less.
        aggregate: what the score of an answer is: `max`, the confidence of its best rule, ties broken by the second
            best; or `noisy-or`, all its rules, as if they were independent.
        adapt: rules are counted in the graph that is asked, too, and both counts are added up. What holds there for
            one pair is used.
        spread: what it costs that a path of the same relations leads elsewhere, too. The confidence of a rule is
            multiplied by the chance that a random walk along its relations ends at the answer, to this power.
    """

    kind: str = "rules"
    hops: int = 3
    walks: int = 200_000_000
    support: int = 2
    unseen: float = 5.0
    aggregate: str = "max"
    adapt: bool = False
    spread: float = 0.0

    def __post_init__(self) -> None:
        if not 1 <= self.hops <= 4 or min(self.walks, self.support) < 1 or self.unseen <= 0:
            raise BadArgument("hops must be 1 to 4, walks and support 1 or more, unseen above 0.")
        if not 0 <= self.spread < math.inf:
            raise BadArgument(f"spread must be 0 or more, not {self.spread}.")
        if self.aggregate not in ("max", "noisy-or"):
            raise BadArgument(f"aggregate must be max or noisy-or, not {self.aggregate!r}.")


def _digest(edges: Edges) -> int:
    """Tells a graph from others."""
    parts = (edges.offset, edges.source, edges.label)
    found = hashlib.sha256(b"".join(hashlib.sha256(np.ascontiguousarray(part).data).digest() for part in parts))
    return int.from_bytes(found.digest()[:7], "big")


class Rules(Model):
    """Rules r(x, y) ← r1(x, z), r2(z, …), … with their confidence; the rules that reach an entity give its score.

    The variables of a rule stand for different entities. The confidence of a rule is support / (pairs + 5), where
    pairs are those that its path connects, and support those of them that have the relation.

    What differs from the authors' code: rules that name entities are left out, since they say nothing of other
    graphs. Theirs draw paths for as long as they are told to; here all walks from some entities, drawn at random,
    are counted, which is every rule and its true confidence where the graph is small. Of the rules that reach the
    same entity, `max` compares the two best, AnyBURL all.
    """

    Config: ClassVar[type[ModelConfig]] = RulesConfig
    grown: ClassVar[tuple[str, ...]] = ("relation", "body", "held", "seen")
    recipes = MappingProxyType(
        {
            "rank": (
                'objective.kind="rank-facts"',
                "objective.negatives=1",
                "training.epochs=1",
                "training.batch_size=1000000",
            )
        }
    )
    relation: Tensor
    body: Tensor
    held: Tensor
    seen: Tensor
    digest: Tensor

    def __init__(self, relations: int, config: RulesConfig) -> None:
        super().__init__(relations, config)
        for name in self.grown:
            self.register_buffer(name, torch.empty(0, dtype=torch.int64))
        self.backend: Backend = "auto"
        self.register_buffer("digest", torch.tensor(0))
        self._lookup: Lookup | None = None
        self._forget()

    def _load_from_state_dict(self, state_dict: dict[str, Any], prefix: str, *args: Any, **options: Any) -> None:
        state_dict.setdefault(f"{prefix}digest", self.digest)  # earlier models do not tell which graph was counted
        super()._load_from_state_dict(state_dict, prefix, *args, **options)
        self._forget()

    def count(self, graphs: Iterable[Edges], epoch: int) -> float:
        """Count all rules of a graph; the result is minus the number of its rules."""
        edges = next(iter(graphs))
        found = tally(edges, self.relations, self.config.hops, self.config.walks, epoch)
        kept = found.held >= self.config.support
        rule, held = found.rule[kept], found.held[kept]
        body = rule // self.relations
        counted = (rule % self.relations, body, held, found.seen[np.searchsorted(found.body, body)])
        order = np.lexsort((body, counted[0]))
        for name, values in zip(self.grown, counted, strict=True):
            setattr(self, name, torch.from_numpy(values[order]))
        self.digest = torch.tensor(_digest(edges))
        self._forget()
        return -float(len(order))

    @property
    def lookup(self) -> Lookup:
        """What is looked up when questions are answered, by what was counted in training; made once."""
        if self._lookup is None:
            relation, body, held, seen = (getattr(self, name).cpu().numpy() for name in self.grown)
            self._lookup = self._look_up(relation, body, held / (seen + self.config.unseen))
        return self._lookup

    def on(self, edges: Edges) -> Lookup:
        """What is looked up on a graph: with `adapt`, by what is counted there, too; made once for each graph.

        A graph that was counted in training is not counted again.
        """
        if not self.config.adapt or int(self.digest) == _digest(edges):
            return self.lookup
        if edges not in self._adapted:
            relation, body, held, seen = (getattr(self, name).cpu().numpy() for name in self.grown)
            here = tally(edges, self.relations, self.config.hops, min(self.config.walks, HERE), 0)
            own, first = np.unique(body, return_index=True)
            rule, held = added([(body * self.relations + relation, held), (here.rule, here.held)])
            bodies, seen = added([(own, seen[first]), (here.body, here.seen)])
            confidence = held / (seen[np.searchsorted(bodies, rule // self.relations)] + self.config.unseen)
            self._adapted[edges] = self._look_up(rule % self.relations, rule // self.relations, confidence)
        return self._adapted[edges]

    def _look_up(self, relation: Longs, body: Longs, confidence: Floats) -> Lookup:
        """Rules as they are looked up."""
        return Lookup.of(relation, body, confidence, self.relations, self.config.aggregate)

    def weigh(self, config: RulesConfig) -> None:
        """Take other settings of how rules are used; what is counted stays."""
        self.config = config
        self._forget()

    def _forget(self) -> None:
        """Nothing is looked up in what was counted before."""
        self._lookup = None
        self._adapted: WeakKeyDictionary[Edges, Lookup] = WeakKeyDictionary()

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates: 0 where no rule leads to them."""
        nodes = len(questions.edges.offset) - 1
        place, relation, pass_of = questions.passes()
        scores = np.zeros((len(place), nodes))
        for head in np.unique(place):
            edges, own = questions.edges, np.flatnonzero(place == head)
            if len(questions.heads.left_out):  # neither walked nor counted
                edges = edges.only(questions.open_edges(place[own[:1]])[0])
            scorer = self.scorer_on(edges)
            scores[own] = scorer(int(questions.heads.head[head]), relation[own])
        found = scores[pass_of[:, None], questions.candidate]
        return torch.from_numpy(found).to(self.device, torch.get_default_dtype())

    def scorer(self, graph: Graph) -> RuleScorer:
        """All entities of a graph; the walks of a head answer all its questions."""
        return self.scorer_on(graph.edges)

    def scorer_on(self, edges: Edges) -> RuleScorer:
        """The same for the edges of a graph."""
        return RuleScorer(self.on(edges), edges, self.config.hops, self.config.spread, self.backend)
