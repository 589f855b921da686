"""Graphs of a rule world: a path from which the label follows, and noise.

Noise is nodes and edges that contradict nothing, so that forward chaining over all edges derives the label and
nothing else for the query. The relations along the path of a test graph are a sequence that does not occur in
training.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from epignn.data.worlds import Chaining, World, WorldShape, conclusion, random_sequence, random_world
from epignn.errors import BadArgument

Shares = NDArray[np.float64]
"""The share of each length, from 0 on."""
Sequences = dict[int, list[tuple[tuple[int, ...], int]]]
"""By length: relations of a path, and what follows from them."""

HELD_OUT = 0.2
"""The share of sequences of three steps or more that are kept for the test."""
ATTEMPTS = 100


@dataclass(frozen=True)
class Graph:
    """A problem: edges as (head, tail, relation), the query likewise, and the nodes of its resolution path."""

    edges: list[tuple[int, int, int]]
    query: tuple[int, int, int]
    path: list[int]


@dataclass(frozen=True, eq=False)
class Plan:
    """A world, the sequences of training and validation, those of the test, and the shares of their lengths."""

    world: World
    seen: Sequences
    unseen: Sequences
    share: Shares


def plan_world(shape: WorldShape, rng: np.random.Generator) -> Plan:
    """A world of a shape: rules, and as many sequences as it asks for.

    Raises:
        BadArgument: no world of that shape is found.
    """
    for _ in range(ATTEMPTS):
        world = random_world(rng, shape.pairs, shape.rules)
        heads = world.heads()
        if len(heads) < shape.classes:
            continue
        classes = rng.permutation(list(heads))[: shape.classes].tolist()
        share = length_shares(shape.mean_path, shape.longest)
        found = _sequences(world, classes, shape, share, rng)
        labels = {label for some in found.values() for _, label in some}
        if sum(map(len, found.values())) == shape.sequences and len(labels) == shape.classes:
            seen, unseen = _hold_out(found, rng)
            if not unseen:
                continue
            return Plan(world, seen, unseen, _balanced(shape, seen, unseen))
    wanted = f"{shape.classes} classes and {shape.sequences} sequences"
    raise BadArgument(f"found no world with {wanted}; allow more rules or longer paths.")


def length_shares(mean: float, longest: int) -> Shares:
    """Shares of lengths that fall or rise by a constant factor from 2 to the longest, with a given mean.

    >>> length_shares(2.5, 3).round(6).tolist()
    [0.0, 0.0, 0.5, 0.5]
    """
    steps = np.arange(longest + 1)

    def shares(rate: float) -> Shares:
        weight = np.where(steps >= 2, np.exp((steps - 2) * rate), 0.0)
        result: Shares = weight / weight.sum()
        return result

    low, high = -20.0, 20.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if shares(middle) @ steps < mean else (low, middle)
    return shares((low + high) / 2)


def _sequences(
    world: World, classes: list[int], shape: WorldShape, share: Shares, rng: np.random.Generator
) -> Sequences:
    """Distinct consistent sequences, with lengths drawn from the given shares."""
    bodies = world.heads()
    found: dict[tuple[int, ...], int] = {}
    for length in rng.choice(len(share), size=ATTEMPTS * shape.sequences, p=share).tolist():
        head = classes[int(rng.integers(len(classes)))]
        sequence = random_sequence(bodies, head, length, rng)
        if sequence is not None and sequence not in found and conclusion(world, sequence) == head:
            found[sequence] = head
            if len(found) == shape.sequences:
                break
    by_length: Sequences = {}
    for sequence, head in found.items():
        by_length.setdefault(len(sequence), []).append((sequence, head))
    return by_length


def _hold_out(found: Sequences, rng: np.random.Generator) -> tuple[Sequences, Sequences]:
    """Part the sequences: those of training, and those of the test."""
    seen, unseen = {}, {}
    for length, some in found.items():
        order = rng.permutation(len(some)).tolist()
        kept = 0 if length == 2 else round(HELD_OUT * len(some))
        unseen[length] = [some[place] for place in order[:kept]]
        seen[length] = [some[place] for place in order[kept:]]
    return seen, {length: some for length, some in unseen.items() if some}


def _balanced(shape: WorldShape, seen: Sequences, unseen: Sequences) -> Shares:
    """Shares of lengths that give the mean path over all splits, although tests lack the shortest paths."""
    steps = np.arange(shape.longest + 1)
    known, asked = shape.train + shape.valid, shape.test
    low, high = 2.0, float(shape.longest)
    for _ in range(40):
        middle = (low + high) / 2
        share = length_shares(middle, shape.longest)
        sums = known * (_among(share, seen) @ steps) + asked * (_among(share, unseen) @ steps)
        low, high = (middle, high) if sums < shape.mean_path * (known + asked) else (low, middle)
    return length_shares(low, shape.longest)


def _among(share: Shares, sequences: Sequences) -> Shares:
    """The shares, restricted to the lengths of some sequences."""
    weight = np.where(np.isin(np.arange(len(share)), list(sequences)), share, 0.0)
    result: Shares = weight / weight.sum()
    return result


def graphs(plan: Plan, shape: WorldShape, split: str, rng: np.random.Generator) -> Iterator[Graph]:
    """The graphs of a split; of each length, every sequence is used before one is used again."""
    count: int = getattr(shape, split)
    sequences = plan.unseen if split == "test" else plan.seen
    lengths = rng.choice(len(plan.share), size=count, p=_among(plan.share, sequences))
    turn = {length: _endless(some, rng) for length, some in sequences.items()}
    noise = _noise_nodes(shape, count, rng)
    cycles = (shape.mean_edges - shape.mean_nodes + 1) / max(shape.mean_nodes - shape.mean_path - 1, 1)
    extra = rng.poisson(noise * cycles)
    for length, nodes, edges in zip(lengths.tolist(), noise.tolist(), extra.tolist(), strict=True):
        yield random_graph(plan.world, *next(turn[length]), nodes, edges, rng)


def _endless(
    some: list[tuple[tuple[int, ...], int]], rng: np.random.Generator
) -> Iterator[tuple[tuple[int, ...], int]]:
    while True:
        for place in rng.permutation(len(some)).tolist():
            yield some[place]


def _noise_nodes(shape: WorldShape, count: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Numbers of nodes off the path, with the mean and about the spread that the shape asks for."""
    mean = shape.mean_nodes - shape.mean_path - 1
    variance = shape.std_nodes**2
    if variance <= mean or mean <= 0:
        return rng.poisson(max(mean, 0), count)
    return rng.negative_binomial(mean**2 / (variance - mean), mean / variance, count)


def random_graph(
    world: World, sequence: tuple[int, ...], label: int, noise: int, extra: int, rng: np.random.Generator
) -> Graph:
    """A path along a sequence with `noise` more nodes and up to `extra` more edges, its nodes shuffled."""
    chaining = Chaining(world.rules)
    path = [chaining.node() for _ in range(len(sequence) + 1)]
    edges = [(a, b, relation) for (a, b), relation in zip(pairwise(path), sequence, strict=True)]
    for edge in edges:
        chaining.add(*edge)
    assert chaining.known[path[0]].get(path[-1]) == label
    builder = _Noise(chaining, edges, {(path[0], path[-1]), (path[-1], path[0])}, rng)
    for _ in range(noise):
        builder.node()
    for _ in range(extra):
        builder.edge()
    number = rng.permutation(len(chaining.known)).tolist()
    shuffled = [edges[place] for place in rng.permutation(len(edges)).tolist()]
    return Graph(
        [(number[a], number[b], relation) for a, b, relation in shuffled],
        (number[path[0]], number[path[-1]], label),
        [number[node] for node in path],
    )


@dataclass
class _Noise:
    """Adds nodes and edges that contradict nothing to a graph; the pairs in `taken` get no edge."""

    chaining: Chaining
    edges: list[tuple[int, int, int]]
    taken: set[tuple[int, int]]
    rng: np.random.Generator

    def __post_init__(self) -> None:
        self.taken |= {pair for a, b, _ in self.edges for pair in ((a, b), (b, a))}
        self.relations = 1 + max(max(body) for body in self.chaining.rules)

    def node(self) -> None:
        """A new node, joined to a random one by a random relation."""
        anchor = int(self.rng.integers(len(self.chaining.known)))
        node = self.chaining.node()
        for relation in self.rng.permutation(self.relations).tolist():
            ends = (anchor, node) if self.rng.random() < 0.5 else (node, anchor)
            if self._add(*ends, relation):
                return
        self._add_anywhere(node)

    def _add_anywhere(self, node: int) -> None:
        """Join a node to any other by any relation that contradicts nothing."""
        for anchor in self.rng.permutation(node).tolist():
            if any(self._add(anchor, node, relation) for relation in range(self.relations)):
                return
        raise BadArgument("the rules leave no room for noise; give fewer rules or more relations.")

    def edge(self) -> None:
        """An edge between two nodes that have none; it is left out if none is found that contradicts nothing."""
        size = len(self.chaining.known)
        for _ in range(ATTEMPTS):
            a, b = self.rng.integers(size, size=2).tolist()
            if a == b or (a, b) in self.taken:
                continue
            known = self.chaining.known[a].get(b)
            relation = int(self.rng.integers(self.relations)) if known is None else known
            if self._add(a, b, relation):
                return

    def _add(self, a: int, b: int, relation: int) -> bool:
        if not self.chaining.add(a, b, relation):
            return False
        self.edges.append((a, b, relation))
        self.taken |= {(a, b), (b, a)}
        return True
