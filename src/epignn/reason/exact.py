"""Exact reasoning in a known calculus."""

from collections.abc import Sequence
from functools import cached_property
from typing import Self, final

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.calculus.result import Result
from epignn.calculus.solve.closure import close
from epignn.data.dataset import Dataset
from epignn.data.prove import answers
from epignn.errors import BadArgument
from epignn.explain import symbolic
from epignn.explain.explanation import Explanation
from epignn.formats.told import Told
from epignn.reason.answer import Answer, Facts, Question, Reasoner


@final
class Exact(Reasoner):
    """Complete closure in a known calculus; there is nothing to learn.

    Args:
        calculus: one that epignn knows, by name, a `.toml` file, or a calculus itself.
        words: other names for its relations or for sets of them, in which to answer as far as they reach.

    >>> rcc8 = load("rcc8")
    >>> network = Network.of(rcc8, [("a", "ec", "b"), ("b", "ntpp", "c"), ("a", "tppi", "d"), ("d", "po", "c")])
    >>> Exact("rcc8").predict([(network, "a", "c"), (network, "d", "b")])
    ['PO', 'DC|EC']
    """

    def __init__(self, calculus: str | Calculus = "rcc8", words: Sequence[str] = ()) -> None:
        self.calculus, self.words = calculus, words

    @cached_property
    def calculus_(self) -> Calculus:
        """The calculus."""
        return load(self.calculus) if isinstance(self.calculus, str) else self.calculus

    @property
    def relations(self) -> tuple[str, ...]:
        """The base relations."""
        return self.calculus_.relations

    def worded(self, told: Told) -> Self:
        """The same reasoner, which answers in the words of some facts."""
        return type(self)(told.spoken(self.calculus_), self.words)

    def fit(self, data: Dataset) -> Self:
        """Check that the problems are of this calculus.

        Raises:
            BadArgument: they speak of other relations.
        """
        self._same(data.relations)
        return self

    def read(self, told: Told) -> Network:
        """Facts over the calculus."""
        return told.network(self.calculus_)

    def answer(self, questions: Dataset | Sequence[Question]) -> list[Answer]:
        """What closure leaves of every pair that is asked about."""
        if isinstance(questions, Dataset):
            self._same(questions.relations)
            return [self._answer(mask) for mask in answers(questions, self.calculus_).tolist()]
        results = [(close(self._over(facts), query=(a, b)), a, b) for facts, a, b in questions]
        return [self._answer(found.mask(a, b) if found.consistent else 0, found) for found, a, b in results]

    def _answer(self, mask: int, found: Result | None = None) -> Answer:
        relations, left = [], mask
        for word in self.words:
            meant = self.calculus_.parse_one(word)
            if meant & mask:
                relations.append(word)
                left &= ~meant
        relations += self.calculus_.words(left)
        text = "*" if mask == self.calculus_.anything else "|".join(relations) or "∅"
        conflict = (lambda: found.conflict) if found else tuple
        return Answer(text, tuple(relations), consistent=bool(mask), _conflict=conflict)

    def explain(self, facts: Facts, head: str, tail: str) -> Explanation:
        """The answer of closure, with its proof."""
        return symbolic.explain(self._over(facts), head, tail)

    def _over(self, network: Facts) -> Network:
        """The same facts, to be reasoned about with this calculus."""
        calculus = self.calculus_
        if not isinstance(network, Network):
            raise BadArgument(f"{calculus.name} is a calculus, which a Network is for; Statements are for rules.")
        self._same(network.calculus.relations)
        return Network(calculus, network.names, network.heads, network.tails, network.masks, network.title)

    def _same(self, relations: tuple[str, ...]) -> None:
        name, known = self.calculus_.name, self.calculus_.relations
        if known != relations:
            raise BadArgument(f"{name} speaks of {' '.join(known)}, not of {' '.join(relations)}.")
