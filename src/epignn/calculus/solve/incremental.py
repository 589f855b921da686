"""A network that is kept closed while facts come and go.

`Incremental` starts with the dense closure, which takes facts in fastest. When the first fact is taken back, or a
reason is asked for, the facts move to a `Revision`, which keeps the reason of every change.
"""

from collections.abc import Iterable
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from epignn.calculus.algebra import Calculus, Masks
from epignn.calculus.network import Fact, Network, arrays
from epignn.calculus.result import Answer, decided
from epignn.calculus.solve.closure import DenseClosure, close, keep_apart, unconstrained
from epignn.calculus.solve.native import native_algebra
from epignn.calculus.solve.plain_revise import PlainRevision
from epignn.errors import BadArgument, unknown
from epignn.kernels import Backend, kernels


class Revision(Protocol):
    """The interface of the compiled revision and of `PlainRevision`; facts are numbered as they are added."""

    refinements: int

    def grow(self, entities: int) -> None:
        """Make room for more entities."""

    def copy(self) -> "Revision":
        """An independent copy."""

    def add(self, i: int, j: int, mask: int) -> bool:
        """Add a fact; False when the facts clash."""

    def remove(self, fact: int) -> bool:
        """Take a fact back; False when the others still clash."""

    def label(self, i: int, j: int) -> int:
        """The set of one pair."""

    def labels(self) -> Masks:
        """The set of every pair, row by row."""

    def reasons(self, i: int, j: int) -> NDArray[np.int64]:
        """The numbers of the facts on which the set of a pair rests."""


def revision(calculus: Calculus, entities: int, backend: Backend = "auto") -> Revision:
    """An empty network whose facts can be taken back."""
    module = kernels(backend)
    if module is None:
        return PlainRevision(calculus, entities)
    found: Revision = module.Revision(native_algebra(calculus), entities, calculus.anything)
    return found


class Incremental:
    """A network that is kept closed while facts come and go; only what a fact changes is computed again.

    >>> from epignn.calculus import load
    >>> allen = load("allen")
    >>> day = Incremental(allen)
    >>> day.add("lunch", "during", "day"), day.add("nap", "meets|before", "lunch")
    (<Answer.CONSISTENT: 'consistent'>, <Answer.CONSISTENT: 'consistent'>)
    >>> day.relations("nap", "day")
    ('<', 'd', 'o', 'm', 's')
    >>> day.add("day", "before", "nap")
    <Answer.INCONSISTENT: 'inconsistent'>
    >>> [str(fact) for fact in day.conflict]
    ['d(lunch, day)', '<|m(nap, lunch)', '<(day, nap)']
    >>> day.retract("day", "before", "nap")
    <Answer.CONSISTENT: 'consistent'>
    >>> [str(fact) for fact in day.reason("nap", "day")]
    ['d(lunch, day)', '<|m(nap, lunch)']
    """

    def __init__(self, calculus: Calculus, backend: Backend = "auto") -> None:
        self.calculus = calculus
        self._backend: Backend = backend
        self._closure: DenseClosure = unconstrained(calculus, 64, backend)
        self._revision: Revision | None = None
        self._capacity = 64
        self._index: dict[str, int] = {}
        self._facts: dict[int, tuple[int, int, int]] = {}  # by number, in the order in which they came
        self._numbers: dict[tuple[int, int, int], list[int]] = {}
        self._next = 0
        self._consistent = True
        self._uncertain = 0  # facts with sets over which closure does not decide

    @classmethod
    def over(cls, network: Network, backend: Backend = "auto") -> "Incremental":
        """Start from a network, closed at once."""
        self = cls(network.calculus, backend)
        self._index = {name: i for i, name in enumerate(network.names)}
        self._grow(0)
        for fact in zip(network.heads.tolist(), network.tails.tolist(), network.masks.tolist(), strict=True):
            self._note(fact)
        closure = self._closure
        self._consistent = closure.refine(network.heads, network.tails, network.masks) and closure.close()
        return self

    def _note(self, fact: tuple[int, int, int]) -> None:
        self._facts[self._next] = fact
        self._numbers.setdefault(fact, []).append(self._next)
        self._uncertain += not decided(self.calculus, [fact[2]])
        self._next += 1

    def _grow(self, known: int) -> None:
        """Make room for the entities after the first `known` ones."""
        if len(self._index) > self._capacity:
            self._capacity = max(2 * self._capacity, len(self._index))
            if self._revision is None:
                self._closure = self._closure.grown(self._capacity)
            else:
                self._revision.grow(self._capacity)
        if self._revision is None:
            keep_apart(self._closure, self.calculus, known, len(self._index))

    def _revised(self) -> Revision:
        """The facts where they can be taken back; moved there the first time."""
        if self._revision is None:
            self._revision = revision(self.calculus, self._capacity, self._backend)
            facts = list(self._facts.values())
            for fact in facts:
                self._consistent = self._revision.add(*fact)
            self._facts, self._numbers, self._next, self._uncertain = {}, {}, 0, 0
            for fact in facts:
                self._note(fact)
        return self._revision

    def _mask(self, relations: str | int) -> int:
        return self.calculus.parse(relations) if isinstance(relations, str) else relations

    def add(self, head: str, relations: str | int, tail: str) -> Answer:
        """Add a fact and propagate it. Once inconsistent, a network stays so until a fact is taken back."""
        mask = self._mask(relations)
        known = len(self._index)
        i = self._index.setdefault(head, len(self._index))
        j = self._index.setdefault(tail, len(self._index))
        self._grow(known)
        self._note((i, j, mask))
        if self._revision is not None:
            self._consistent = self._revision.add(i, j, mask)
        elif self._consistent:
            self._consistent = self._closure.refine(*arrays([i], [j], [mask])) and self._closure.close()
        return self.answer

    def retract(self, head: str, relations: str | int, tail: str) -> Answer:
        """Take back a fact that was added with these words, the last one if there are several.

        Raises:
            BadArgument: there is no such fact.
            UnknownName: there is no such entity.
        """
        fact = (self._position(head), self._position(tail), self._mask(relations))
        if not self._numbers.get(fact):
            said = f"{self.calculus.format(fact[2])}({head}, {tail})"
            raise BadArgument(
                f"{said} was not added, or was taken back already; retract takes facts as they were added."
            )
        engine = self._revised()
        number = self._numbers[fact].pop()
        del self._facts[number]
        self._uncertain -= not decided(self.calculus, [fact[2]])
        self._consistent = engine.remove(number)
        return self.answer

    def reason(self, head: str, tail: str) -> tuple[Fact, ...]:
        """Facts on which what is known of a pair rests: they alone give the same set, if they do not clash."""
        i, j = self._position(head), self._position(tail)
        found = self._revised().reasons(i, j)
        network, place = self.network, {number: f for f, number in enumerate(self._facts)}
        return tuple(network.fact(place[number]) for number in sorted(found.tolist()))

    def what_if(self, facts: Iterable[tuple[str, str | int, str]]) -> "Incremental":
        """A copy to which some facts were added; this network stays as it is.

        >>> from epignn.calculus import load
        >>> line = Incremental(load("point"))
        >>> line.add("a", "<", "b")
        <Answer.CONSISTENT: 'consistent'>
        >>> line.what_if([("b", "<", "a")]).answer, line.answer
        (<Answer.INCONSISTENT: 'inconsistent'>, <Answer.CONSISTENT: 'consistent'>)
        """
        other = Incremental.__new__(Incremental)
        vars(other).update(vars(self))
        other._closure = self._closure.copy()
        other._revision = None if self._revision is None else self._revision.copy()
        other._index, other._facts = dict(self._index), dict(self._facts)
        other._numbers = {fact: list(numbers) for fact, numbers in self._numbers.items()}
        for fact in facts:
            other.add(*fact)
        return other

    @property
    def network(self) -> Network:
        """All facts that stand, in the order in which they came."""
        heads, tails, masks = zip(*self._facts.values(), strict=True) if self._facts else ((), (), ())
        return Network(self.calculus, tuple(self._index), *arrays(heads, tails, masks))

    @property
    def answer(self) -> Answer:
        """Whether the facts that stand can hold together."""
        if not self._consistent:
            return Answer.INCONSISTENT
        certain = self.calculus.decides and not self._uncertain
        return Answer.CONSISTENT if certain else Answer.CLOSED

    @property
    def conflict(self) -> tuple[Fact, ...]:
        """A minimal set of facts that cannot hold together."""
        return () if self._consistent else close(self.network, self._backend).conflict

    @property
    def refinements(self) -> int:
        """How many times a pair has become smaller so far."""
        return (self._closure if self._revision is None else self._revision).refinements

    def _position(self, name: str) -> int:
        if name not in self._index:
            raise unknown("entity", name, self._index)
        return self._index[name]

    def relations(self, head: str, tail: str) -> tuple[str, ...]:
        """What may hold from head to tail, as names; `mask` gives the same set as bits."""
        return self.calculus.words(self.mask(head, tail))

    def mask(self, head: str, tail: str) -> int:
        """What may hold from head to tail, as a mask."""
        engine = self._closure if self._revision is None else self._revision
        return engine.label(self._position(head), self._position(tail))

    def matrix(self) -> Masks:
        """The set of every pair of entities."""
        size = len(self._index)
        engine = self._revision
        whole = self._closure.matrix() if engine is None else engine.labels().reshape(self._capacity, -1)
        return np.ascontiguousarray(whole[:size, :size])
