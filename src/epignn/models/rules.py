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
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import spans
from epignn.data.graph import Edges, Graph, Ints
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig, Scores
from epignn.models.links import Questions
from epignn.models.listed import Listed
from epignn.models.tally import FROM_ONE, Floats, Longs, Walks, added, alternatives, among, follow, summed, tally

NEXT_BEST = 1e-3
"""How much the second best rule counts where the best one decides: it settles ties."""
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
    def lookup(self) -> "Lookup":
        """What is looked up when questions are answered, by what was counted in training; made once."""
        if self._lookup is None:
            relation, body, held, seen = (getattr(self, name).cpu().numpy() for name in self.grown)
            self._lookup = Lookup.of(relation, body, held / (seen + self.config.unseen), self)
        return self._lookup

    def on(self, edges: Edges) -> "Lookup":
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
            self._adapted[edges] = Lookup.of(rule % self.relations, rule // self.relations, confidence, self)
        return self._adapted[edges]

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
            scorer = RuleScorer(self, edges)
            scores[own] = scorer(int(questions.heads.head[head]), relation[own])
        found = scores[pass_of[:, None], questions.candidate]
        return torch.from_numpy(found).to(self.device, torch.get_default_dtype())

    def scorer(self, graph: Graph) -> "RuleScorer":
        """All entities of a graph; the walks of a head answer all its questions."""
        return RuleScorer(self, graph.edges)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rules as they are looked up.

    Attributes:
        known: (M) their bodies, in order.
        offset: (M + 1) where the rules of each body begin.
        relation, confidence: (N) of every rule, those of one body together.
        prefix: every body and every beginning of one, in order.
        relations: how many there are, with inverses.
        aggregate: see `RulesConfig`.
    """

    known: Longs
    offset: Longs
    relation: Longs
    confidence: Floats
    prefix: Longs
    relations: int
    aggregate: str

    @classmethod
    def of(cls, relation: Longs, body: Longs, confidence: Floats, rules: Rules) -> "Lookup":
        """Rules (N) in any order."""
        order = np.argsort(body, kind="stable")
        known, first = np.unique(body[order], return_index=True)
        part, base, prefixes = known, rules.relations + 1, [known]
        while len(part := np.unique(part // base)) and part[-1]:
            prefixes.append(part)
        prefix, offset = np.unique(np.concatenate(prefixes)), np.append(first, len(body))
        made = relation[order], confidence[order], prefix, rules.relations, rules.config.aggregate
        return cls(known, offset, *made)

    def score(self, relations: NDArray[np.integer], body: Longs, end: Longs, weight: Floats, nodes: int) -> Listed:
        """The scores of entities that paths of some bodies (N) reach (N), as answers to some relations.

        The confidence of a rule counts as much as the weight (N) says of where it leads.
        """
        use = among(body, self.known)
        place = np.searchsorted(self.known, body[use])
        begin = self.offset[place]
        count = self.offset[place + 1] - begin
        rule, end, weight = spans(begin, count), np.repeat(end[use], count), np.repeat(weight[use], count)
        asked = np.zeros(self.relations, dtype=bool)
        asked[relations] = True
        kept = asked[self.relation[rule]]
        kind = self.relation[rule[kept]] * nodes + end[kept]
        return Listed.of(*self._joined(kind, self.confidence[rule[kept]] * weight[kept]), self.relations, nodes)

    def _joined(self, kind: Longs, confidence: Floats) -> tuple[Longs, Floats]:
        """Relations and entities that rules say something of, each once, in order, and what the rules come to."""
        if self.aggregate == "noisy-or":
            (kind,), score = summed((kind,), -np.log1p(-confidence))
            return kind, score
        order = np.lexsort((-confidence, kind))
        kind, confidence = kind[order], confidence[order]
        best = np.flatnonzero(np.diff(kind, prepend=-1))
        score, several = confidence[best], np.diff(np.append(best, len(kind))) > 1
        score[several] += NEXT_BEST * confidence[best[several] + 1]
        return kind[best], score


class RuleScorer:
    """The scores of rules on a graph. Walks from a head that has very many are cut short (`FROM_ONE`)."""

    chunk = 1

    def __init__(self, model: Rules, edges: Edges) -> None:
        self.edges, self.nodes = edges, len(edges.offset) - 1
        self.hops, self.relations, self.lookup = model.config.hops, model.relations, model.on(edges)
        self.spread = model.config.spread
        self.alike = alternatives(edges, self.relations) if self.spread else None

    def prepare(self, heads: Ints) -> None:
        """Nothing is shared between heads."""

    def reached(self, head: int, relations: NDArray[np.integer]) -> Listed:
        """The scores of all entities that a rule leads to from a head, for some relations."""
        start, prefix = np.array([head], dtype=np.int64), self.lookup.prefix
        walked = follow(self.edges, start, self.hops, self.relations, prefix, FROM_ONE, self.alike)
        (body, end), chance = _reached(walked)
        return self.lookup.score(relations, body, end, chance**self.spread, self.nodes)

    def __call__(self, head: int, relations: NDArray[np.integer]) -> Scores:
        """(Q, V): see `Scorer`."""
        return self.reached(head, relations).table(relations, self.nodes)


def _reached(walks: Iterable[Walks]) -> tuple[list[Longs], Floats]:
    """Body and end of some walks, each once, in order, and the chance that a walk of the body ends there."""
    none = np.zeros(0, dtype=np.int64)
    parts = [(none, none, np.zeros(0)), *((part.body, part.nodes[:, -1], part.chance) for part in walks)]
    body, end, chance = (np.concatenate(column) for column in zip(*parts, strict=True))
    return summed((body, end), chance)
