"""Training examples for rules: the walk from head to tail of each graph, as a sequence of relations.

Where the edges of a graph, in their order, are a walk from head to tail, as CLUTRR's are, it is that walk;
otherwise it is a shortest path, the first found.
"""

from collections import Counter, deque
from dataclasses import dataclass

from epignn.data.dataset import Dataset

Walk = tuple[int, ...]


@dataclass(frozen=True)
class Walks:
    """Distinct walks with the labels that their copies bear.

    Attributes:
        relations: what the numbers mean.
        labels: for each walk, how often each label was seen.
    """

    relations: tuple[str, ...]
    labels: dict[Walk, Counter[int]]

    @classmethod
    def of(cls, data: Dataset) -> "Walks":
        """The walks of all graphs; a graph without a path from head to tail has none."""
        labels: dict[Walk, Counter[int]] = {}
        columns = (data.edge_source.tolist(), data.edge_target.tolist(), data.edge_label.tolist())
        ends = zip(data.query_head.tolist(), data.query_tail.tolist(), data.label.tolist(), strict=True)
        offset = data.edge_offset.tolist()
        for g, (head, tail, label) in enumerate(ends):
            edges = list(zip(*(column[offset[g] : offset[g + 1]] for column in columns), strict=True))
            walk = _walk(edges, head, tail)
            if walk:
                labels.setdefault(walk, Counter())[label] += 1
        return cls(data.relations, labels)

    def upto(self, hops: int) -> "Walks":
        """The walks of at most so many edges."""
        return Walks(self.relations, {walk: seen for walk, seen in self.labels.items() if len(walk) <= hops})


def _walk(edges: list[tuple[int, int, int]], head: int, tail: int) -> Walk:
    at = head
    for source, target, _ in edges:
        if source != at:
            return _shortest(edges, head, tail)
        at = target
    return tuple(relation for _, _, relation in edges) if at == tail else _shortest(edges, head, tail)


def _shortest(edges: list[tuple[int, int, int]], head: int, tail: int) -> Walk:
    ahead: dict[int, list[tuple[int, int]]] = {}
    for source, target, relation in edges:
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
