"""Differentiable proving on walks: what CTP and GNTP share.

A goal is a vector; those that are asked are the embeddings of all relations. A goal is proved of one edge as far as
it resembles the embedding of the edge's relation. It is proved of several neighbouring edges by a rule with two
subgoals: the first is proved of some of the edges, the second of the rest. A proof is as good as its worst step;
of all proofs of at most some depth the best counts.

Two vectors of distance d match by exp(-d). As only the largest and the smallest of such numbers are taken, all is
done with -d instead.

Axes: U parts of walks, N goals, M rules that may prove them, D the width.
"""

from abc import abstractmethod
from dataclasses import dataclass
from functools import reduce
from types import MappingProxyType

import torch
from torch import Tensor, nn

from epignn.data.dataset import Dataset
from epignn.errors import BadArgument
from epignn.models.api import Model, ModelConfig
from epignn.models.walks import NOTHING, Walks, distinct, edge_walks

NEAREST = 1e-3
"""Vectors are never nearer to each other than this."""
TOGETHER = 1024
"""So many walks are proved together."""
ENTRIES = 4_000_000
"""So many numbers are worked on together; some of the goals that are asked wait where it would be more."""


@dataclass(frozen=True)
class ProverConfig(ModelConfig):
    """The settings of provers.

    Attributes:
        width: components of an embedding.
        rules: how many rules there are, or may be made for a goal.
        depth: the depth of proofs in training: how many rules are applied one upon the other. Walks of more than
            2^depth edges get as deep a proof as they need.
        deepest: the depth of proofs outside training. Walks of more than 2^deepest edges have no proof and are left
            out; a graph without other walks is refused.
        walks: how many paths of a graph are read, the shortest first.
    """

    width: int = 50
    rules: int = 5
    depth: int = 2
    deepest: int = 4
    walks: int = 8

    def __post_init__(self) -> None:
        if min(self.width, self.rules, self.depth, self.deepest, self.walks) < 1:
            raise BadArgument("width, rules, depth, deepest and walks of a prover must be 1 or more.")


class Prover(Model):
    """A model that proves each relation of walks, with rules that a kind of prover has or makes."""

    recipes = MappingProxyType(
        {
            "classify": (
                'objective.loss="binary"',
                'training.schedule="one_cycle"',
                "training.learning_rate=0.03",
                "training.epochs=15",
            )
        }
    )

    def __init__(self, relations: int, config: ProverConfig) -> None:
        super().__init__(relations, config)
        self.embedding = nn.Parameter(torch.randn(relations, config.width))

    @abstractmethod
    def bodies(self, goals_ND: Tensor) -> Tensor:
        """(M, 2, D): the two subgoals of every rule that may prove some of the goals."""

    @abstractmethod
    def best(self, goals_ND: Tensor, body_UM: Tensor) -> Tensor:
        """(U, N): how well the best rule proves each goal, given how well the body of each rule is proved."""

    @abstractmethod
    def growth(self) -> int:
        """How many goals of the next level a goal has to itself."""

    @classmethod
    def prepare(cls, data: Dataset, config: ProverConfig) -> Walks:
        """The shortest walks of every graph, but for those that are too long to be proved."""
        found, limit = edge_walks(data, config.walks), 2**config.deepest
        length = found.length
        shortest = length[found.offset[:-1]]
        if (shortest > limit).any():
            raise BadArgument(
                f"the shortest walk of a graph has {int(shortest.max())} edges; proofs of depth {config.deepest} "
                f"reach {limit}. Set model.deepest to {_levels(int(shortest.max()))}: every level "
                f"takes {2 * config.rules} times as long."
            )
        kept = length <= limit
        before = nn.functional.pad(kept.cumsum(0), (1, 0))
        return Walks(before[found.offset], found.relation[kept, :limit], found.label)

    def scores(self, batch: Walks) -> Tensor:
        """(B, R): the log-odds of the best proof of each relation by any walk of each graph."""
        relation, which = distinct(batch.relation)
        found_WR = torch.cat([self.proofs(some) for some in torch.split(relation, TOGETHER)])[which]
        graph = batch.graph[:, None].expand_as(found_WR)
        none = found_WR.new_full((len(batch), self.relations), -torch.inf)
        distance = -none.scatter_reduce(0, graph, found_WR, "amax", include_self=False)
        return -distance - (-(-distance).expm1()).log()

    def proofs(self, relation_WL: Tensor) -> Tensor:
        """(W, R): how well each relation is proved of each walk: minus a distance."""
        longest = relation_WL.shape[1]
        depth = max(self.config.depth, _levels(longest)) if self.training else self.config.deepest
        depth = min(depth, longest - 1)  # no proof of so few edges is deeper
        parts = Parts.of(relation_WL)
        together = max(ENTRIES // self._entries(parts, depth), 1)
        asked = [self.embedding[first : first + together] for first in range(0, self.relations, together)]
        return torch.cat([self._proved(goals, parts, depth) for goals in asked], 1)

    @staticmethod
    def match(one_AD: Tensor, other_BD: Tensor) -> Tensor:
        """(A, B): how well vectors match: minus their distance."""
        distance: Tensor = torch.cdist(one_AD, other_BD, compute_mode="donot_use_mm_for_euclid_dist")
        return -distance.clamp_min(NEAREST)

    def _entries(self, parts: "Parts", depth: int) -> int:
        """The most numbers that one goal needs on a level: of its rules there, for all parts of one length."""
        counts = [len(parts.ends[0]), *(len(split[0][0]) for split in parts.splits)]
        rules = [int(self.config.rules * self.growth() ** level) for level in range(depth + 1)]
        return max(count * max(counts[: 2 ** (depth - level)]) for level, count in enumerate(rules))

    def _proved(self, goals_ND: Tensor, parts: "Parts", depth: int) -> Tensor:
        """(W, N): how well some goals are proved of whole walks."""
        chart = self._chart(goals_ND, parts, depth)
        found = goals_ND.new_zeros(len(parts.whole), len(goals_ND))
        for edges, walks in enumerate(parts.ends):
            found = found.index_copy(0, walks, chart[edges][parts.whole[walks]])
        return found

    def _chart(self, goals_ND: Tensor, parts: "Parts", depth: int) -> list[Tensor]:
        """(U, N) for 1, 2, ... up to 2^depth edges: how well each goal is proved of each part of so many edges."""
        chart = [self.match(self.embedding, goals_ND)[parts.relation]]
        if depth == 0:
            return chart
        bodies = self.bodies(goals_ND)
        below = self._chart(bodies.flatten(0, 1), parts, depth - 1)
        pairs = [table.reshape(len(table), len(bodies), 2) for table in below]  # (U, M, 2) each
        for edges in range(2, min(2**depth, len(parts.ends)) + 1):
            joined = (
                torch.minimum(pairs[some - 1][left, :, 0], pairs[edges - some - 1][right, :, 1])
                for some, (left, right) in enumerate(parts.splits[edges - 2], 1)
                if max(some, edges - some) <= len(pairs)
            )
            chart.append(self.best(goals_ND, reduce(torch.maximum, joined)))
        return chart


@dataclass(frozen=True, eq=False)
class Parts:
    """All runs of neighbouring edges of W walks of at most L edges. Runs of the same relations are one part.

    Attributes:
        relation: (U) the relation of every part of one edge.
        splits: for 2..L edges, and for 1, 2, ... edges on the left: which part is on the left and which on the
            right, (U) each, of every part of so many edges.
        ends: for 1..L edges: which walks have so many.
        whole: (W) which part of so many edges each walk is.
    """

    relation: Tensor
    splits: list[list[tuple[Tensor, Tensor]]]
    ends: list[Tensor]
    whole: Tensor

    @classmethod
    def of(cls, relation_WL: Tensor) -> "Parts":
        """The parts of walks."""
        length = (relation_WL != NOTHING).sum(1)
        relations = int(relation_WL.max()) + 1
        relation, which = torch.unique(relation_WL, return_inverse=True)
        first = int(relation[0] == NOTHING)
        at = [which - first]  # which part begins at each place of each walk, by the number of edges
        splits, ends = [], [torch.nonzero(length == 1).squeeze(1)]
        whole = at[0][:, 0].clone()
        for edges in range(2, relation_WL.shape[1] + 1):
            code = at[-1][:, :-1] * relations + relation_WL[:, edges - 1 :]
            walk, place = torch.nonzero(relation_WL[:, edges - 1 :] != NOTHING, as_tuple=True)
            found, which = torch.unique(code[walk, place], return_inverse=True)
            at.append(torch.zeros_like(code).index_put((walk, place), which))
            some = which.new_zeros(len(found)).scatter(0, which, torch.arange(len(which), device=which.device))
            walk, place = walk[some], place[some]  # an occurrence of every part
            splits.append(
                [(at[left - 1][walk, place], at[edges - left - 1][walk, place + left]) for left in range(1, edges)]
            )
            ends.append(torch.nonzero(length == edges).squeeze(1))
            whole[ends[-1]] = at[-1][ends[-1], 0]
        return cls(relation[first:], splits, ends, whole)


def _levels(edges: int) -> int:
    """The least depth of proofs of so many edges.

    >>> [_levels(n) for n in (1, 2, 3, 4, 5)]
    [0, 1, 2, 2, 3]
    """
    return (edges - 1).bit_length()
