"""Why a calculus answers as it does: the true one, or a learnt one.

Every proof in an explanation has passed the checker; one that does not is an error, never a warning.
"""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from epignn.calculus.algebra import Calculus, Masks, members
from epignn.calculus.network import Fact, Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.explain.checker import WrongProof, check
from epignn.explain.derive import derive, refute
from epignn.explain.paths import path_of
from epignn.explain.proof import Proof, to_dict
from epignn.explain.smallest import Goal, Support, support


class Status(StrEnum):
    """What kind of answer it is."""

    DETERMINED = "determined"
    """One relation is left."""
    OPEN = "not determined"
    """Several are left."""
    CONTRADICTORY = "contradictory"
    """The facts cannot hold together."""


@dataclass(frozen=True, eq=False)
class Exclusion:
    """Why some relations cannot hold.

    Attributes:
        mask: the relations that these facts exclude.
        left: the relations that these facts leave.
        support: the facts.
        path: the entities from head to tail, where the facts are one path between them; else empty.
        proof: that nothing but `left` may hold.
    """

    mask: int
    left: int
    support: Support
    path: tuple[str, ...]
    proof: Proof


@dataclass(frozen=True, eq=False)
class Rounds:
    """What may hold from the head to the entities of the supporting facts, after each round of closure.

    `masks[r, e]` is the set of entity e after r rounds; row 0 is what the facts say themselves.
    """

    entities: tuple[str, ...]
    masks: Masks


@dataclass(frozen=True, eq=False)
class Explanation:
    """An answer of a calculus, and why.

    Attributes:
        network: the facts.
        head, tail: the pair that was asked about.
        verdict: whether the facts can hold together, and whether that is certain.
        mask: the relations that may hold; none where the facts contradict each other.
        support: the facts that give the answer; of contradictory facts, those that clash.
        proof: of the answer; of contradictory facts, that nothing can hold of some pair.
        exclusions: for every relation that cannot hold, why.
        rounds: what is known after each round.
    """

    network: Network
    head: str
    tail: str
    verdict: Answer
    mask: int
    support: Support
    proof: Proof
    exclusions: tuple[Exclusion, ...]
    rounds: Rounds

    @property
    def status(self) -> Status:
        """Determined, not determined or contradictory."""
        if self.verdict is Answer.INCONSISTENT:
            return Status.CONTRADICTORY
        return Status.DETERMINED if self.mask.bit_count() == 1 else Status.OPEN

    @property
    def relations(self) -> tuple[str, ...]:
        """The names of the relations that may hold."""
        return self.network.calculus.names(self.mask)

    def facts(self, support: Support) -> list[Fact]:
        """Supporting facts in words."""
        return [self.network.fact(f) for f in support.facts]

    def __str__(self) -> str:
        if self.status is Status.CONTRADICTORY:
            return f"contradictory: {', '.join(map(str, self.facts(self.support)))}"
        return f"{self.network.calculus.format(self.mask)}({self.head}, {self.tail})"


def explain(network: Network, head: str, tail: str) -> Explanation:
    """What may hold from head to tail by complete closure, and why.

    >>> from epignn.calculus import load
    >>> facts = [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c"), ("d", "dc", "e")]
    >>> found = explain(Network.of(load("rcc8"), facts), "a", "c")
    >>> print(found)
    PO(a, c)
    >>> found.support
    Support(facts=(0, 1, 2, 3), smallest=True)
    """
    for name in (head, tail):
        network.position(name)
    result = close(network)
    if not result.consistent:
        return _contradiction(network, head, tail)
    mask = result.relations(head, tail)
    found = support(network, Goal((head, tail), mask)) if head != tail else Support((), True)
    part = _part(network, found, head, tail)
    proof = _checked(part, derive(part, head, tail, mask), mask)
    exclusions = _exclusions(network, head, tail, mask, found) if head != tail else ()
    return Explanation(network, head, tail, result.answer, mask, found, proof, exclusions, _rounds(part, head))


def _contradiction(network: Network, head: str, tail: str) -> Explanation:
    conflict = support(network, Goal(), close(network)._explain())
    part = network.select(list(conflict.facts)).compact()
    proof = _checked(part, refute(part), 0)
    nothing = Rounds((), np.zeros((0, 0), dtype=np.uint64))
    return Explanation(network, head, tail, Answer.INCONSISTENT, 0, conflict, proof, (), nothing)


def _part(network: Network, found: Support, *ends: str) -> Network:
    """The supporting facts, over their entities and the pair that was asked about."""
    part = network.select(list(found.facts))
    used = {*part.heads.tolist(), *part.tails.tolist(), *map(network.position, ends)}
    names = [network.names[i] for i in sorted(used)]
    triples = zip(part.heads.tolist(), part.masks.tolist(), part.tails.tolist(), strict=True)
    return Network.of(network.calculus, [(part.names[h], m, part.names[t]) for h, m, t in triples], names)


def _checked(network: Network, proof: Proof, mask: int) -> Proof:
    """The proof itself, once the checker has found that it proves this set from these facts."""
    calculus = network.calculus
    triples = zip(network.heads.tolist(), network.masks.tolist(), network.tails.tolist(), strict=True)
    facts = [(network.names[h], calculus.names(m), network.names[t]) for h, m, t in triples]
    _, proved, _ = check(to_dict(proof, calculus), calculus, facts)
    if proved != frozenset(calculus.names(mask)):
        raise WrongProof(f"{'|'.join(sorted(proved))} is proved, not {calculus.format(mask)}.")
    return proof


def _exclusions(network: Network, head: str, tail: str, mask: int, whole: Support) -> tuple[Exclusion, ...]:
    """Why each other relation cannot hold; relations that the same facts exclude are told together."""
    calculus = network.calculus
    known: dict[tuple[int, ...], int] = {}  # facts, and what they leave
    supports: dict[tuple[int, ...], Support] = {}
    excluded: dict[tuple[int, ...], int] = {}
    for relation in members(calculus.universal & ~mask):
        starts = [facts for facts, left in known.items() if not left >> relation & 1]
        start = min(starts, key=len, default=whole.facts)
        found = support(network, Goal((head, tail), calculus.universal & ~(1 << relation)), start)
        if found.facts not in known:
            known[found.facts] = close(_part(network, found, head, tail)).relations(head, tail)
            supports[found.facts] = found
        excluded[found.facts] = excluded.get(found.facts, 0) | 1 << relation
    return tuple(
        _exclusion(network, (head, tail), excluded[facts], known[facts], found) for facts, found in supports.items()
    )


def _exclusion(network: Network, pair: tuple[str, str], mask: int, left: int, found: Support) -> Exclusion:
    part = _part(network, found, *pair)
    return Exclusion(mask, left, found, path_of(part, *pair), _checked(part, derive(part, *pair, left), left))


def _rounds(network: Network, head: str) -> Rounds:
    """Closure round by round: every pair through every third entity at once, until nothing changes."""
    matrix = network.matrix()
    start = network.position(head)
    rows = [matrix[start]]
    while True:
        refined = matrix & np.stack([_through_all(network.calculus, row, matrix) for row in matrix])
        if np.array_equal(refined, matrix):
            return Rounds(network.names, np.stack(rows))
        matrix = refined
        rows.append(matrix[start])


def _through_all(calculus: Calculus, row: Masks, matrix: Masks) -> Masks:
    """What a row leaves of each pair through every third entity."""
    result: Masks = np.bitwise_and.reduce(calculus.compose_array(row[:, None], matrix), axis=0)
    return result
