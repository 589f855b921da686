"""The fewest facts that still give an answer: first a set of which none can be left out, then a smallest one.

Whether facts give an answer is tested by closure and is monotone: more facts never take it away. A smallest set
is found by hitting sets (Ignatiev and others, CP 2015). The facts outside a largest set that fails form a
correction set, and whatever passes has a fact of each. So a smallest set that hits all correction sets known so
far is no larger than what is sought: if it passes it is that, if it fails it grows to another correction set.
"""

from collections.abc import Collection
from dataclasses import dataclass, field
from itertools import count

from epignn.calculus.algebra import members
from epignn.calculus.network import Network, arrays
from epignn.calculus.solve.closure import DenseClosure, dense_closure
from epignn.calculus.solve.conflict import minimal_conflict
from epignn.explain.paths import distances

MOST_FACTS = 150
"""Networks of more facts are not searched for a smallest set; one of which none can be left out has to do."""
SECONDS = 1.0
"""How long facts are left out one after the other; after that, what is left has to do."""
MOST_CORRECTIONS, MOST_BRANCHES = 300, 20_000
"""When the search for a smallest set gives up."""


@dataclass(frozen=True)
class Goal:
    """That facts leave nothing but `need` from head to tail; without a pair, that they contradict each other."""

    pair: tuple[str, str] | None = None
    need: int = 0

    def given_by(self, network: Network) -> bool:
        """Whether closure of a network reaches the goal."""
        if self.pair and not set(self.pair) <= set(network.names):
            return not network.calculus.anything & ~self.need
        closure = dense_closure(network.calculus, len(network.names))
        return self.reached(network, closure, closure.refine(network.heads, network.tails, network.masks))

    def reached(self, network: Network, closure: DenseClosure, consistent: bool) -> bool:
        """Whether a refined network, consistent so far, is at the goal once it is closed."""
        consistent = consistent and closure.close()
        if self.pair is None or not consistent:
            return not consistent
        return not closure.label(*map(network.position, self.pair)) & ~self.need


@dataclass(frozen=True)
class Support:
    """Facts that give an answer.

    Attributes:
        facts: their numbers, in order.
        smallest: whether it is known that no smaller set gives the answer.
        irreducible: whether it is known that none of them can be left out.
    """

    facts: tuple[int, ...]
    smallest: bool
    irreducible: bool = field(default=True, repr=False)

    def __str__(self) -> str:
        return f"{len(self.facts)} fact{'s' if len(self.facts) > 1 else ''}"


def support(network: Network, goal: Goal, known: Collection[int] | None = None) -> Support:
    """A smallest set of facts that reaches a goal, or one of which none can be left out.

    Args:
        network: all facts; together they reach the goal.
        goal: the answer to keep.
        known: some facts that reach the goal, to start from.
    """
    facts = list(range(len(network))) if known is None else sorted(known)
    if goal.given_by(network.select([])):
        return Support((), True)
    least = _least(network, goal)
    if goal.pair is not None and least > 1 and (path := _path(network, goal)):
        return Support(tuple(sorted(path)), True)
    part = network.select(facts)
    near = int(part.heads[0]), int(part.tails[0])
    if goal.pair is not None:
        near = network.position(goal.pair[0]), network.position(goal.pair[1])
    tests = minimal_conflict(part, goal.given_by, near, SECONDS, of_circles=goal.pair is None)
    found = sorted(facts[f] for f in tests.facts)
    if len(found) <= least or len(network) > MOST_FACTS:
        return Support(tuple(found), len(found) <= least, tests.minimal)
    return _Search(network, goal).run(found, least)


def _least(network: Network, goal: Goal) -> int:
    """A bound from below: facts that say anything of a pair form a path between the two.

    That holds where composition with anything gives anything, as in every calculus whose table has no empty cell.
    """
    if goal.pair is None or not network.calculus.spreads:
        return 1
    head, tail = map(network.position, goal.pair)
    return distances(network, head).get(tail, 1)


def _path(network: Network, goal: Goal) -> list[int]:
    """The facts of a shortest path that reaches the goal by composition alone; nothing where it does not."""
    assert goal.pair is not None
    calculus, (head, tail) = network.calculus, map(network.position, goal.pair)
    best: dict[tuple[int, int], int] = {}
    for f, (i, j, mask) in enumerate(
        zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True)
    ):
        for pair in ((i, j), (j, i)):
            if pair not in best or mask.bit_count() < int(network.masks[best[pair]]).bit_count():
                best[pair] = f  # of several facts about two entities the sharpest
    far = distances(network, tail)
    around: dict[int, list[int]] = {}
    for i, j in best:
        around.setdefault(i, []).append(j)
    at, mask, path = head, calculus.identity_mask, []
    while at != tail:
        closer = [other for other in around.get(at, ()) if far.get(other, -1) == far.get(at, -1) - 1]
        if not closer:
            return []
        f = best[at, closer[0]]
        step = int(network.masks[f])
        mask = calculus.compose(mask, step if int(network.heads[f]) == at else calculus.converse(step))
        path.append(f)
        at = closer[0]
    return [] if mask & ~goal.need else path


class _Search:
    """The search for a smallest set; sets of facts are bit masks."""

    def __init__(self, network: Network, goal: Goal) -> None:
        self.network, self.goal = network, goal
        self.corrections: list[int] = []

    def run(self, found: list[int], size: int) -> Support:
        """Find a set smaller than `found`, or show that there is none; all of them have at least `size` facts."""
        for fact in found:
            self._fails(sum(1 << other for other in found if other != fact))
        while len(self.corrections) < MOST_CORRECTIONS:
            try:
                while size < len(found) and (hits := hitting_set(self.corrections, size)) is None:
                    size += 1
            except _TooMany:
                break
            if size == len(found) or hits is None:
                return Support(tuple(found), True)
            if not self._fails(hits):
                return Support(tuple(members(hits)), True)
        return Support(tuple(found), False)

    def _fails(self, chosen: int) -> bool:
        """Whether a set fails; if so it grows as long as it does, and what is left out is a correction set."""
        network, goal = self.network, self.goal
        closure = dense_closure(network.calculus, len(network.names))
        facts = list(members(chosen))
        part = network.heads[facts], network.tails[facts], network.masks[facts]
        if goal.reached(network, closure, closure.refine(*part)):
            return False
        left_out = 0
        for fact in range(len(network)):
            if chosen >> fact & 1:
                continue
            trial = closure.copy()
            one = arrays(network.heads[[fact]], network.tails[[fact]], network.masks[[fact]])
            if goal.reached(network, trial, trial.refine(*one)):
                left_out |= 1 << fact
            else:
                closure = trial
        self.corrections.append(left_out)
        return True


class _TooMany(Exception):
    """The search for a hitting set took too many branches."""


def hitting_set(sets: list[int], size: int) -> int | None:
    """A set of at most `size` elements that has one of each of the sets, or None where there is none.

    >>> hitting_set([0b0011, 0b0110, 0b1000], 2)
    10
    >>> hitting_set([0b0011, 0b0110, 0b1000], 1) is None
    True
    """
    branches = count()

    def search(chosen: int, left: int, excluded: int) -> int | None:
        open_sets = sorted((s & ~excluded for s in sets if not s & chosen), key=int.bit_count)
        if not open_sets:
            return chosen
        if next(branches) > MOST_BRANCHES:
            raise _TooMany
        apart, used = 0, 0  # sets that share no element need one each
        for one in open_sets:
            if not one & used:
                apart, used = apart + 1, used | one
        if apart > left:
            return None
        for element in members(open_sets[0]):
            if (found := search(chosen | 1 << element, left - 1, excluded)) is not None:
                return found
            excluded |= 1 << element  # every hitting set with it has been seen
        return None

    return search(0, size, 0)
