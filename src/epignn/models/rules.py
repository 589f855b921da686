"""Path rules, counted: what RuleN (Meilicke et al., 2018) and AnyBURL (2019) learn that holds for any entities.

A rule says that a path of some relations from x to y makes a relation between them likely. Its confidence is the
share of pairs with such a path that have the relation, too. Nothing is trained.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import offsets
from epignn.data.graph import Edges, Graph, Ints
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig, Scorer, Scores
from epignn.models.links import Questions

Longs = NDArray[np.int64]
NEXT_BEST = 1e-3
"""How much the second best rule counts where the best one decides: it settles ties."""
TOGETHER = 2_000_000
"""Walks that are followed together, about."""
FROM_A_HEAD = 5_000_000
"""Walks from one head that answer a question, at most: longer ones are left out where there would be more."""


@dataclass(frozen=True)
class RulesConfig(ModelConfig):
    """How rules are counted and used.

    Attributes:
        hops: the length of the longest path.
        walks: how many walks are counted, at most. Where a graph has more, confidence is that of a random sample.
        support: a rule is used if it holds for at least so many pairs.
        unseen: how many pairs are added to those for which a rule fails, so that rare rules are trusted less.
        aggregate: what the score of an answer is: `max`, the confidence of its best rule, ties broken by the second
            best; or `noisy-or`, all its rules, as if they were independent.
    """

    kind: str = "rules"
    hops: int = 3
    walks: int = 20_000_000
    support: int = 2
    unseen: float = 5.0
    aggregate: str = "max"

    def __post_init__(self) -> None:
        if not 1 <= self.hops <= 4 or min(self.walks, self.support) < 1 or self.unseen <= 0:
            raise BadArgument("hops must be 1 to 4, walks and support 1 or more, unseen above 0.")
        if self.aggregate not in ("max", "noisy-or"):
            raise BadArgument(f"aggregate must be max or noisy-or, not {self.aggregate!r}.")


class Walks(NamedTuple):
    """Walks of some length.

    Attributes:
        first: (N) which of the starts each begins at.
        body: (N) the relations that it follows, as one number.
        nodes: (N, length + 1) the entities that it visits, all different.
    """

    first: Longs
    body: Longs
    nodes: Longs


def follow(
    edges: Edges,
    starts: Longs,
    hops: int,
    relations: int,
    stays: NDArray[np.bool_] | None = None,
    prefixes: Longs | None = None,
    most: int | None = None,
) -> Iterator[Walks]:
    """Walks from some entities that visit none twice: those of one edge, then those of two, and so on.

    Args:
        edges: of the graph, inverses among them.
        starts: (S) entities.
        hops: how long the last ones are.
        relations: how many there are, with inverses.
        stays: (S, E) edges that walks from each start may use; all may use all if None.
        prefixes: go on only with walks whose bodies are among these, sorted; with all if None.
        most: walks of one length, before `prefixes` choose among them; where there would be more, the walks end.
    """
    degree = np.diff(edges.offset)
    walks = Walks(np.arange(len(starts)), np.zeros(len(starts), dtype=np.int64), starts[:, None].astype(np.int64))
    for _ in range(hops):
        end = walks.nodes[:, -1]
        count = degree[end]
        if most is not None and count.sum() > most:
            return
        row = np.repeat(np.arange(len(end)), count)
        edge = np.repeat(edges.offset[end] - offsets(count)[:-1], count) + np.arange(len(row))
        good = np.ones(len(row), dtype=bool) if stays is None else stays[walks.first[row], edge]
        # What leads into an entity leads, as its inverse, out of it.
        label = (edges.label[edge] + relations // 2) % relations
        body = walks.body[row] * (relations + 1) + label + 1
        if prefixes is not None:
            good &= among(body, prefixes)
        target = edges.source[edge].astype(np.int64)
        good &= (walks.nodes[row] != target[:, None]).all(1)
        row = row[good]
        walks = Walks(walks.first[row], body[good], np.column_stack([walks.nodes[row], target[good]]))
        yield walks


def among(values: Longs, known: Longs) -> NDArray[np.bool_]:
    """Which values are in a sorted list."""
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    found: NDArray[np.bool_] = known[np.searchsorted(known, values).clip(max=len(known) - 1)] == values
    return found


def distinct(*columns: Longs) -> list[Longs]:
    """Rows of columns, each once, in order."""
    order = np.lexsort(columns[::-1])
    ordered = [column[order] for column in columns]
    new = np.any([np.diff(column, prepend=column[:1] - 1) != 0 for column in ordered], 0)
    return [column[new] for column in ordered]


def body_of(labels: Iterable[int], relations: int) -> int:
    """The number of a body.

    >>> body_of([0, 2], 4)
    8
    """
    number = 0
    for label in labels:
        number = number * (relations + 1) + label + 1
    return number


def relations_of(body: int, relations: int) -> list[int]:
    """The relations of a body; `body_of` turned round."""
    found: list[int] = []
    while body:
        body, label = divmod(body, relations + 1)
        found.insert(0, label - 1)
    return found


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

    def __init__(self, relations: int, config: RulesConfig) -> None:
        super().__init__(relations, config)
        for name in self.grown:
            self.register_buffer(name, torch.empty(0, dtype=torch.int64))
        self._lookup: Lookup | None = None

    def _load_from_state_dict(self, *args: Any, **options: Any) -> None:
        super()._load_from_state_dict(*args, **options)
        self._lookup = None

    def count(self, graphs: Iterable[Edges], epoch: int) -> float:
        """Count all rules of a graph; the result is minus the number of its rules."""
        edges = next(iter(graphs))
        nodes, relations = len(edges.offset) - 1, self.relations
        target = np.repeat(np.arange(nodes), np.diff(edges.offset))
        pair = edges.source * np.int64(nodes) + target
        order = np.argsort(pair, kind="stable")
        pair, label = pair[order], edges.label[order].astype(np.int64)
        counted: list[tuple[Longs, Longs]] = []
        bodies: list[tuple[Longs, Longs]] = []
        for starts in self._starts(edges, epoch):
            for walks in follow(edges, starts, self.config.hops, relations):
                ends = starts[walks.first].astype(np.int64) * nodes + walks.nodes[:, -1]
                body, ends = distinct(walks.body, ends)
                bodies.append(np.unique(body, return_counts=True))
                first, last = np.searchsorted(pair, ends), np.searchsorted(pair, ends, side="right")
                many = last - first
                which = np.repeat(first - offsets(many)[:-1], many) + np.arange(many.sum())
                rule = np.repeat(body, many) * relations + label[which]
                counted.append(np.unique(rule, return_counts=True))
        rule, held = _added(counted)
        body, seen = _added(bodies)
        kept = (held >= self.config.support) & (rule // relations != rule % relations + 1)  # r ← r says nothing
        rule, held = rule[kept], held[kept]
        found = (rule % relations, rule // relations, held, seen[np.searchsorted(body, rule // relations)])
        order = np.lexsort((found[1], found[0]))
        for name, values in zip(self.grown, found, strict=True):
            setattr(self, name, torch.from_numpy(values[order]))
        self._lookup = None
        return -float(len(order))

    def _starts(self, edges: Edges, epoch: int) -> Iterator[Longs]:
        """Entities in a random order, in groups of about as many walks, until there are enough walks."""
        degree = np.diff(edges.offset).astype(np.float64)
        walks = degree
        for _ in range(self.config.hops - 1):
            walks = np.add.reduceat(np.append(walks[edges.source], 0), edges.offset[:-1]) * (degree > 0)
        order = np.random.default_rng(epoch).permutation(np.flatnonzero(degree))
        total = np.cumsum(walks[order])
        enough = max(1, int(np.searchsorted(total, self.config.walks, side="right")))
        group = (total[:enough] // TOGETHER).astype(np.int64)
        yield from np.split(order[:enough], np.flatnonzero(np.diff(group)) + 1)

    @property
    def lookup(self) -> "Lookup":
        """What is looked up when questions are answered, made once."""
        if self._lookup is None:
            body, base = np.unique(self.body.cpu().numpy()), self.relations + 1
            prefixes, part = [body], body
            while len(part := np.unique(part // base)) and part[-1]:
                prefixes.append(part)
            offset = np.searchsorted(self.relation.cpu().numpy(), np.arange(self.relations + 1))
            confidence = self.held.cpu().numpy() / (self.seen.cpu().numpy() + self.config.unseen)
            prefix = np.unique(np.concatenate(prefixes))
            self._lookup = Lookup(offset, self.body.cpu().numpy(), confidence, prefix, self.config.aggregate)
        return self._lookup

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates: 0 where no rule leads to them."""
        edges, nodes = questions.edges, len(questions.edges.offset) - 1
        place, relation, pass_of = questions.passes()
        heads, of_pass = np.unique(place, return_inverse=True)
        stays = questions.open_edges(heads) if len(questions.heads.left_out) else None
        scores = np.zeros((len(place), nodes))
        walked = follow(
            edges,
            questions.heads.head[heads].astype(np.int64),
            self.config.hops,
            self.relations,
            stays,
            self.lookup.prefix,
        )
        first, body, end = _reached(walked)
        for number, (head, asked) in enumerate(zip(of_pass.tolist(), relation.tolist(), strict=True)):
            own = slice(*np.searchsorted(first, [head, head + 1]))
            scores[number] = self.lookup.score(asked, body[own], end[own], nodes)
        found = scores[pass_of[:, None], questions.candidate]
        return torch.from_numpy(found).to(self.device, torch.get_default_dtype())

    def scorer(self, graph: Graph) -> Scorer:
        """All entities of a graph; the walks of a head answer all its questions."""
        return RuleScorer(self, graph)


@dataclass(frozen=True, eq=False)
class Lookup:
    """Rules as they are looked up.

    Attributes:
        offset: (R + 1) where the rules of each relation begin.
        body, confidence: of every rule, those of one relation together, in the order of their bodies.
        prefix: every body and every beginning of one, in order.
        aggregate: see `RulesConfig`.
    """

    offset: NDArray[np.intp]
    body: Longs
    confidence: NDArray[np.float64]
    prefix: Longs
    aggregate: str

    def score(self, relation: int, body: Longs, end: Longs, nodes: int) -> NDArray[np.float64]:
        """(V): the scores of entities that paths of some bodies (N) reach (N), as answers to one relation."""
        rules = slice(self.offset[relation], self.offset[relation + 1])
        known = self.body[rules]
        use = among(body, known)
        confidence, end = self.confidence[rules][np.searchsorted(known, body[use])], end[use]
        if self.aggregate == "noisy-or":
            return np.bincount(end, -np.log1p(-confidence), minlength=nodes).astype(np.float64)
        order = np.lexsort((-confidence, end))
        confidence, end = confidence[order], end[order]
        best = np.append(True, end[1:] != end[:-1])[: len(end)]
        second = np.append(False, best[:-1])[: len(end)] & ~best
        scores = np.zeros(nodes)
        scores[end[best]] = confidence[best]
        scores[end[second]] += NEXT_BEST * confidence[second]
        return scores


class RuleScorer:
    """The scores of rules on a graph. Walks from a head that has very many are cut short (`FROM_A_HEAD`)."""

    chunk = 1

    def __init__(self, model: Rules, graph: Graph) -> None:
        self.edges, self.nodes = graph.edges, len(graph.entities)
        self.hops, self.relations, self.lookup = model.config.hops, model.relations, model.lookup

    def prepare(self, heads: Ints) -> None:
        """Nothing is shared between heads."""

    def __call__(self, head: int, relations: Ints) -> Scores:
        """(Q, V): see `Scorer`."""
        start = np.array([head], dtype=np.int64)
        walked = follow(self.edges, start, self.hops, self.relations, prefixes=self.lookup.prefix, most=FROM_A_HEAD)
        _, body, end = _reached(walked)
        scores = [self.lookup.score(int(relation), body, end, self.nodes) for relation in relations]
        return np.array(scores, dtype=np.float32).reshape(len(relations), self.nodes)


def _reached(walks: Iterable[Walks]) -> list[Longs]:
    """Start, body and end of some walks, each once, in order."""
    columns = [(part.first, part.body, part.nodes[:, -1]) for part in walks]
    none = (np.zeros(0, dtype=np.int64),) * 3
    return distinct(*(np.concatenate(column) for column in zip(none, *columns, strict=True)))


def _added(parts: list[tuple[Longs, Longs]]) -> tuple[Longs, Longs]:
    """Values and counts of several parts as one: each value once, in order."""
    values, counts = (np.concatenate(column) for column in zip(*parts, strict=True))
    distinct, place = np.unique(values, return_inverse=True)
    return distinct, np.bincount(place, counts, minlength=len(distinct)).astype(np.int64)
