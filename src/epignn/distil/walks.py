"""Training walks, and what rules derive of their stretches.

The walk of a graph is a sequence of relations from head to tail. Where all edges of a graph, in their order, are a
walk from head to tail, as CLUTRR's are, it is that walk; otherwise it is a shortest path, the first found. A
stretch is a part of a walk; a chart holds what follows of every stretch, however it is bracketed, as a bit mask.
"""

from collections import Counter, deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from epignn.calculus.algebra import members
from epignn.data.augment import in_order
from epignn.data.dataset import Dataset

Walk = tuple[int, ...]
Stretch = tuple[int, int]
Chart = dict[Stretch, int]


@dataclass(frozen=True)
class Walks:
    """Distinct walks with their labels.

    Attributes:
        relations: names of the relations.
        labels: for each walk, how often each label was seen.
    """

    relations: tuple[str, ...]
    labels: dict[Walk, Counter[int]]

    @classmethod
    def of(cls, data: Dataset) -> "Walks":
        """The walks of all graphs; a graph without a path from head to tail has none."""
        labels: dict[Walk, Counter[int]] = {}
        columns = (data.edge_source.tolist(), data.edge_target.tolist(), data.edge_label.tolist())
        offset, straight = data.edge_offset.tolist(), in_order(data).tolist()
        queries = zip(data.query_head.tolist(), data.query_tail.tolist(), data.label.tolist(), strict=True)
        for g, (head, tail, label) in enumerate(queries):
            sources, targets, relations = (column[offset[g] : offset[g + 1]] for column in columns)
            walk = tuple(relations) if straight[g] else _shortest(sources, targets, relations, head, tail)
            if walk:
                labels.setdefault(walk, Counter())[label] += 1
        return cls(data.relations, labels)

    def upto(self, hops: int) -> "Walks":
        """The walks of at most so many edges."""
        return Walks(self.relations, {walk: seen for walk, seen in self.labels.items() if len(walk) <= hops})


def _shortest(sources: list[int], targets: list[int], relations: list[int], head: int, tail: int) -> Walk:
    ahead: dict[int, list[tuple[int, int]]] = {}
    for source, target, relation in zip(sources, targets, relations, strict=True):
        ahead.setdefault(source, []).append((target, relation))
    found: dict[int, Walk] = {head: ()}
    waiting = deque([head])
    while waiting and tail not in found:
        node = waiting.popleft()
        for target, relation in ahead.get(node, ()):
            if target not in found:
                found[target] = (*found[node], relation)
                waiting.append(target)
    return found.get(tail, ())


@dataclass(frozen=True)
class Heads:
    """Rules without weights: `of[a][b]` is the set of heads of the body a, b."""

    of: tuple[tuple[int, ...], ...]
    _known: dict[tuple[int, int], int] = field(default_factory=dict, repr=False, compare=False)

    def compose(self, left: int, right: int) -> int:
        """What follows from one of the left relations and one of the right."""
        known = self._known.get((left, right))
        if known is None:
            known = 0
            for a in members(left):
                for b in members(right):
                    known |= self.of[a][b]
            self._known[left, right] = known
        return known


def derived(walk: Walk, heads: Heads) -> Chart:
    """What follows of every stretch of a walk; 0 where nothing does."""
    chart = {(i, i + 1): 1 << relation for i, relation in enumerate(walk)}
    for length in range(2, len(walk) + 1):
        for i in range(len(walk) - length + 1):
            j, found = i + length, 0
            for m in range(i + 1, j):
                left, right = chart[i, m], chart[m, j]
                if left and right:
                    found |= heads.compose(left, right)
            chart[i, j] = found
    return chart


def bodies(chart: Chart, stretch: Stretch) -> Iterator[tuple[int, int]]:
    """The pairs of relations that follow of a first and a second part of a stretch."""
    i, j = stretch
    for m in range(i + 1, j):
        for a in members(chart[i, m]):
            for b in members(chart[m, j]):
                yield a, b
