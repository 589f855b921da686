"""Worlds of rules in Graphlog's manner: relations with inverses, rules of two steps, and what follows from them.

A rule says `first(x, y), second(y, z) -> head(x, z)`. A body has at most one head, and every rule has its mirror
image over the inverse relations. Forward chaining refuses a fact by which two different relations would hold
between the same two nodes, so that sequences and graphs stay consistent while they are built.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from epignn.errors import BadArgument

Rules = Mapping[tuple[int, int], int]


SIZES = MappingProxyType(
    {
        "pairs": (2, 500),
        "rules": (1, 100_000),
        "classes": (1, 1000),
        "sequences": (2, 1_000_000),
        "longest": (3, 1000),
        "mean_nodes": (1, 10_000),
        "mean_edges": (1, 100_000),
        "train": (1, 100_000_000),
        "valid": (1, 100_000_000),
        "test": (1, 100_000_000),
    }
)
"""The least and the most of what a world may have: all pairs of relations are held at once, say."""


@dataclass(frozen=True)
class WorldShape:
    """What a world is to look like.

    Attributes:
        classes: relations that are asked for.
        sequences: different sequences of relations along resolution paths, over all splits.
        mean_path: mean length of resolution paths.
        mean_nodes, std_nodes, mean_edges: of the graphs.
        pairs: relations with their inverses; there are twice as many names.
        rules: rules of two steps, mirror images not counted.
        longest: the longest resolution path.
        train, valid, test: numbers of graphs.
    """

    classes: int = 16
    sequences: int = 250
    mean_path: float = 4.5
    mean_nodes: float = 15.0
    std_nodes: float = 10.0
    mean_edges: float = 18.0
    pairs: int = 10
    rules: int = 20
    longest: int = 10
    train: int = 5000
    valid: int = 1000
    test: int = 1000

    def __post_init__(self) -> None:
        for name, (least, most) in SIZES.items():
            if not least <= getattr(self, name) <= most:
                raise BadArgument(
                    f"a world's {name} must be from {least} to {most:,}, not {str(getattr(self, name))[:40]}."
                )
        if not 2 <= self.mean_path <= self.longest - 0.5:
            raise BadArgument(f"the mean path must lie between 2 and {self.longest - 0.5}, not {self.mean_path}.")
        if self.mean_nodes < self.mean_path + 1 or self.mean_edges < self.mean_nodes - 1:
            raise BadArgument(
                "graphs need a node for each step of the path and one more, and an edge for each node."
            )


LIKE = MappingProxyType(
    {
        6: WorldShape(16, 249, 5.06, 16.257, 11.62, 20.164),
        7: WorldShape(17, 288, 4.47, 13.161, 9.32, 16.333),
        8: WorldShape(15, 404, 5.43, 15.997, 10.28, 19.134),
        11: WorldShape(17, 194, 4.29, 11.459, 6.94, 13.037),
        32: WorldShape(16, 287, 4.66, 16.27, 12.68, 20.929),
    }
)
"""The shapes of Graphlog's worlds that the paper uses, by their official statistics (Sinha et al., 2020)."""


@dataclass(frozen=True, eq=False)
class World:
    """Relations and rules; relation `2i` is `R_i_+`, its inverse `2i + 1` is `R_i_-`."""

    pairs: int
    rules: Rules

    @property
    def relations(self) -> tuple[str, ...]:
        """The names, in Graphlog's spelling."""
        return tuple(f"R_{i}_{sign}" for i in range(self.pairs) for sign in "+-")

    def heads(self) -> dict[int, list[tuple[int, int]]]:
        """The bodies of each relation that a rule concludes."""
        result: dict[int, list[tuple[int, int]]] = {}
        for body, head in self.rules.items():
            result.setdefault(head, []).append(body)
        return result


def inverse(relation: int) -> int:
    """The same relation, seen from the other end."""
    return relation ^ 1


def random_world(rng: np.random.Generator, pairs: int, rules: int) -> World:
    """Relations and that many random rules, each with its mirror image.

    Raises:
        BadArgument: there are fewer bodies than rules.
    """
    made: dict[tuple[int, int], int] = {}
    bodies = [(first, second) for first in range(2 * pairs) for second in range(2 * pairs) if second != first ^ 1]
    for place in rng.permutation(len(bodies)).tolist():
        first, second = bodies[place]
        if len(made) >= 2 * rules:
            break
        if (first, second) in made:
            continue
        # A head that occurs in its own body would make the rule say that a step changes nothing.
        heads = [head for head in range(2 * pairs) if head >> 1 not in (first >> 1, second >> 1)]
        if heads:
            head = heads[int(rng.integers(len(heads)))]
            made[first, second] = head
            made[inverse(second), inverse(first)] = inverse(head)
    if len(made) < 2 * rules:
        raise BadArgument(
            f"{pairs} relations have room for {len(made) // 2} rules, not {rules}; give more relations."
        )
    return World(pairs, made)


class Chaining:
    """A graph with all that follows from it; an edge that contradicts it is refused, and nothing is changed."""

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.known: list[dict[int, int]] = []

    def node(self) -> int:
        """A new node."""
        self.known.append({})
        return len(self.known) - 1

    def add(self, head: int, tail: int, relation: int) -> bool:
        """State a fact and all that follows; `False`, and nothing is changed, if it contradicts what is known."""
        trail: list[tuple[int, int]] = []
        front = [(head, tail, relation)]
        while front:
            a, b, relation = front.pop()
            known = self.known[a].get(b)
            if known == relation:
                continue
            if known is not None or a == b:
                for x, y in trail:
                    del self.known[x][y]
                return False
            for x, y, fact in ((a, b, relation), (b, a, inverse(relation))):
                self.known[x][y] = fact
                trail.append((x, y))
            front += self._following(a, b, relation)
        return True

    def _following(self, a: int, b: int, relation: int) -> Iterator[tuple[int, int, int]]:
        """What follows from a fact and one more, before or after it."""
        for c, other in list(self.known[b].items()):
            head = self.rules.get((relation, other))
            if head is not None:
                yield a, c, head
        for c, other in list(self.known[a].items()):
            head = self.rules.get((inverse(other), relation))
            if head is not None:
                yield c, b, head


def conclusion(world: World, sequence: tuple[int, ...]) -> int | None:
    """What holds between the ends of a path; `None` if nothing does, or the path contradicts itself."""
    chaining = Chaining(world.rules)
    nodes = [chaining.node() for _ in range(len(sequence) + 1)]
    for step, relation in enumerate(sequence):
        if not chaining.add(nodes[step], nodes[step + 1], relation):
            return None
    return chaining.known[nodes[0]].get(nodes[-1])


def random_sequence(
    bodies: Mapping[int, list[tuple[int, int]]], head: int, length: int, rng: np.random.Generator
) -> tuple[int, ...] | None:
    """Relations from which rules derive `head`, by replacing heads with bodies; `None` if it gets stuck."""
    sequence = [head]
    while len(sequence) < length:
        places = [place for place, relation in enumerate(sequence) if relation in bodies]
        if not places:
            return None
        place = places[int(rng.integers(len(places)))]
        choices = bodies[sequence[place]]
        sequence[place : place + 1] = choices[int(rng.integers(len(choices)))]
    return tuple(sequence)
