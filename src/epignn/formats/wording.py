"""Facts and answers in the words in which facts were written, with file and line."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from epignn.calculus.algebra import RESERVED, Calculus
from epignn.calculus.network import Fact
from epignn.formats.raw import RawNetwork

PLAIN = 4
"""A word of so many letters is not one of the short forms that papers have."""
NOTHING = "nothing follows"
"""What people read where any relation may hold."""


def spoken(calculus: Calculus, written: Iterable[str]) -> Calculus:
    """The calculus as one that tells relations in the words of some facts.

    A relation, or a set of them, is called as it is written there. Where whole words are used, other relations have
    the first whole word that the calculus knows for them.

    >>> from epignn.calculus import load
    >>> allen = load("allen")
    >>> spoken(allen, ["overlaps", "meets"]).format(allen.parse("o|m|<"))
    'before|overlaps|meets'
    >>> spoken(allen, ["o", "m"]).format(allen.parse("o|m|<"))
    '<|o|m'
    """
    own = {name.casefold(): 1 << r for r, name in enumerate(calculus.relations)}
    known = [name for name in dict.fromkeys(written) if name not in RESERVED and calculus.knows(name)]
    others = [name for name in known if name.casefold() not in own]
    if not others:
        return calculus
    words = {own[name.casefold()]: "" for name in known if name.casefold() in own}  # a name of its own stays
    for name in others:
        words.setdefault(calculus.parse_one(name), name)
    if any(len(name) >= PLAIN for name in others):
        turned = {calculus.converse(mask) for mask in words}  # who says `inside` of a set is told `contains` of one
        for alias, meaning in calculus.aliases.items():
            mask = calculus.parse_one(alias)
            if len(alias) >= PLAIN and ("|" not in meaning or mask in turned):
                words.setdefault(mask, alias)
    told = {word: "|".join(calculus.names(mask)) for mask, word in words.items() if word}
    terms = sorted((word for word in told if word not in calculus.terms), key=lambda word: -told[word].count("|"))
    return replace(calculus, aliases={**calculus.aliases, **told}, terms=(*calculus.terms, *terms))


@dataclass(frozen=True, eq=False)
class Source:
    """Where the facts of a network come from.

    Attributes:
        raw: the network as the file has it; None where nothing tells.
        file: what the file is called; empty where facts were not in one.
    """

    raw: RawNetwork | None = None
    file: str = ""

    def names(self) -> list[str]:
        """The relation names of its facts."""
        return [] if self.raw is None else [name for s in self.raw.used() for name in self.raw.written[s]]

    def written(self, fact: Fact) -> str:
        """A fact of the network as it is written."""
        if self.raw is None:
            return str(fact)
        raw = self.raw.fact(fact.number)
        return f"{'|'.join(raw.relations)}({raw.head}, {raw.tail})"

    def place(self, fact: Fact) -> str:
        """Where it stands: `events.txt:3`, or `events.json: facts[2]`; empty where that is not known."""
        place = self.raw.place(fact.number) if self.raw is not None and self.file else None
        if place is None or not (place.line or place.path):
            return ""
        return f"{self.file}: {place.path}" if place.path else f"{self.file}:{place.line}"

    def fact(self, fact: Fact) -> str:
        """A fact as it is written, with its place."""
        place = self.place(fact)
        return f"{self.written(fact)}  ({place})" if place else self.written(fact)

    def to_dict(self, fact: Fact) -> dict[str, object]:
        """The same as plain values."""
        return {"fact": fact.to_list(), "written": self.written(fact), "place": self.place(fact) or None}


def in_words(calculus: Calculus, mask: int) -> str:
    """A relation set for people, who are told where nothing follows."""
    return NOTHING if mask == calculus.anything else calculus.format(mask)
