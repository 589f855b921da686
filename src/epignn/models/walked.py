"""Passes that follow the edges around their head alone: what they reach in each step, and what is scored there.

Axes are named P passes (one for every head and relation that is asked), N entities that are reached in some pass,
E edges that are walked, V entities, Q questions, C candidates.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from epignn.data.dataset import offsets
from epignn.data.graph import Edges, Ints
from epignn.models.api import Model
from epignn.models.links import Questions
from epignn.models.memory import compute, parts


class Walked(NamedTuple):
    """One step of all passes, from the entities that each has reached to those that it reaches next.

    Attributes:
        source, label, target: (E) edges, by the places of entities before and after the step; a loop at each entity
            has the label 2R.
        of_pass: (E) the pass of each edge.
        stays: (N before) where the entities reached before stand after it.
        reached: (N after) entities, as numbers pass · V + entity.
    """

    source: Tensor
    label: Tensor
    target: Tensor
    of_pass: Tensor
    stays: Tensor
    reached: Tensor


def walk(edges: Edges, heads: Ints, open_edges: NDArray[np.bool_], steps: int, relations: int) -> list[Walked]:
    """The steps of passes from some heads, each over the edges that are open to it (P, E)."""
    nodes, degree = len(edges.offset) - 1, np.diff(edges.offset)
    reached = np.arange(len(heads)) * nodes + heads
    found = []
    for _ in range(steps):
        of_pass, entity = np.divmod(reached, nodes)
        count = degree[entity]
        source = np.repeat(np.arange(len(reached)), count)
        edge = np.repeat(edges.offset[entity] - offsets(count)[:-1], count) + np.arange(len(source))
        stays = open_edges[of_pass[source], edge]
        source, edge = source[stays], edge[stays]
        # What leads into an entity leads, as its inverse, out of it.
        target = of_pass[source] * nodes + edges.source[edge]
        inverse = (edges.label[edge].astype(np.int64) + relations // 2) % relations
        source = np.concatenate([source, np.arange(len(reached))])
        label = np.concatenate([inverse, np.full(len(reached), relations)])
        target = np.concatenate([target, reached])
        mark = np.zeros(len(heads) * nodes, dtype=bool)
        mark[target] = True
        place, after = np.cumsum(mark) - 1, np.flatnonzero(mark)
        step = (source, label, place[target], of_pass[source], place[reached], after)
        found.append(Walked(*(torch.from_numpy(part) for part in step)))
        reached = after
    return found


class WalkingModel(Model):
    """What models share that make a pass for every head and relation that is asked, around the head alone.

    Attributes:
        unreached: the score of entities that no path of so many edges reaches.
    """

    unreached: float = 0.0

    @property
    def steps(self) -> int:
        """How many edges the longest path has."""
        raise NotImplementedError

    @property
    def taken(self) -> int:
        """The bytes that an edge keeps for its gradient."""
        raise NotImplementedError

    def at_reached(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(N): the scores of what passes have reached in the end, for the relations that they ask (P)."""
        raise NotImplementedError

    def rank(self, questions: Questions) -> Tensor:
        """(Q, C): scores of candidates; a pass for every head and relation that is asked."""
        edges, nodes = questions.edges, len(questions.edges.offset) - 1
        place, relation, pass_of = questions.passes()
        heads, stays = questions.heads.head[place], questions.open_edges(place)
        walked = walk(edges, heads, stays, self.steps, self.relations)
        edges_of = sum(step.of_pass.bincount(minlength=len(heads)) for step in walked)
        found = []
        for first, last, kept in parts(self.taken * torch.as_tensor(edges_of)):
            whole = last - first == len(heads)
            own = walked if whole else walk(edges, heads[first:last], stays[first:last], self.steps, self.relations)
            moved = [Walked(*(part.to(self.device) for part in step)) for step in own]
            asked = torch.from_numpy(relation[first:last]).to(self.device)
            found.append(compute(kept, self._scored, moved, asked, nodes))
        scores = torch.cat(found)
        return scores[torch.from_numpy(pass_of[:, None]), torch.from_numpy(questions.candidate)]

    def _scored(self, walked: list[Walked], asked: Tensor, nodes: int) -> Tensor:
        """(P, V): the score of every entity in every pass."""
        scores = self.at_reached(walked, asked, nodes)
        every = scores.new_full((len(asked) * nodes,), self.unreached)
        return every.index_copy(0, walked[-1].reached, scores).view(len(asked), nodes)
