"""Facts as a command is given them, to be read in the words of a calculus or over a vocabulary."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from epignn.calculus import ALIASES
from epignn.calculus.algebra import RESERVED, Calculus
from epignn.calculus.network import Network
from epignn.errors import BadArgument, BadFile, lookup
from epignn.files import name_a_file
from epignn.formats.facts import parse_facts
from epignn.formats.networks import (
    PARSERS,
    SUBJECTS,
    TIME,
    as_networks,
    as_statements,
    calculus_of,
    own_names,
    read_raw,
    readings,
)
from epignn.formats.raw import RawNetwork, alike, names_of
from epignn.formats.wording import Source, spoken

if TYPE_CHECKING:
    from epignn.data.statements import Statements

TEXT = "the facts"
"""What messages call facts that stand in no file."""


@dataclass(frozen=True)
class Told:
    """Facts in words, whose meaning is left open.

    Attributes:
        networks: as the file has them; where one is asked for, it is the first.
        file: where they stand, for messages.
    """

    networks: list[RawNetwork]
    file: str

    @classmethod
    def read(cls, facts: str, must_exist: bool = True) -> Self:
        """Facts as text, such as `ec(a, b). ntpp(b, c)`, or those of the file that is named; `-` is standard input.

        Raises:
            BadArgument: it is neither, and a file `must_exist`.
            BadFile: the file cannot be read, or there are no facts.
        """
        if not facts.strip():
            raise BadFile("there are none; a fact looks like ntpp(a, b).", TEXT)
        is_text = "(" in facts and not _is_file(facts)
        if must_exist and not is_text and Path(facts).is_dir():
            raise BadArgument(f"{facts} is a folder. {name_a_file(Path(facts))}")
        if must_exist and not is_text and not _is_file(facts):
            raise BadArgument(f'{facts!r} is neither a file nor facts; these look like "ec(a, b). ntpp(b, c)".')
        file = TEXT if is_text else "standard input" if facts == "-" else facts
        return cls._some(parse_facts(facts, file) if is_text else read_raw(facts), file)

    @classmethod
    def parse(cls, text: str, format: str = "facts", file: str = TEXT) -> Self:
        """Facts as text in a format: `facts`, `csp`, `json` or `csv`. Never opens a file.

        Raises:
            BadFile: there are no facts in it; `file` is what the message calls it.
        """
        return cls._some(lookup("format", format, PARSERS)(text, file), file)

    @classmethod
    def _some(cls, networks: list[RawNetwork], file: str) -> Self:
        if not networks:
            raise BadFile("no facts in it; a fact looks like ntpp(a, b).", file)
        return cls(networks, file)

    def known_to(self, calculus: Calculus) -> bool:
        """Whether a calculus knows every relation; one that the file names has to be this one."""
        names = {raw.calculus.casefold() for raw in self.networks}
        words = names_of(self.networks)
        named = {ALIASES.get(name, name) for name in names} <= {"", calculus.name}
        return named and all(calculus.knows(word) or word in RESERVED for word in words)

    def calculus(self) -> Calculus:
        """The calculus that the file names, or the first that knows all relations.

        Raises:
            BadFile: no calculus does.
        """
        return calculus_of(self.networks, self.file)

    def alike(self) -> str:
        """Entities that are told apart, though their names differ only by case or by Unicode form."""
        told = next((found for raw in self.networks if (found := alike(raw.names))), "")
        return f"{told}: they are read as different things" if told else ""

    def guessed(self, option: str = "--calculus") -> str:
        """What a reader has to know of the calculus that is taken; empty where only one can be meant.

        Args:
            option: by which a command is told what is meant.

        Raises:
            BadFile: calculi of different subjects fit equally well.
        """
        names = [name for name in names_of(self.networks) if name not in RESERVED]
        found = readings(names) if names and not self.networks[0].calculus else []
        if len(found) < 2:
            return ""
        taken = self.calculus()
        others = [calculus for calculus in found if calculus.name != taken.name]
        choose = " or ".join(f"{option} {calculus.name}" for calculus in others)
        subjects = " or ".join(SUBJECTS[calculus.name] for calculus in others)
        subject = SUBJECTS.get(taken.name, taken.name)
        rivals = [calculus for calculus in others if not {taken.name, calculus.name} <= TIME]
        if any(own_names(calculus, names) >= own_names(taken, names) for calculus in rivals):
            said = f"these words are used of {subject} ({taken.name}) and of {subjects}"
            raise BadFile(f"{said}: say which, with {option} {taken.name} or {choose}.", self.file)
        return f"read as {subject} ({taken.name}); the words fit {subjects}, too, which {choose} would take."

    def network(self, calculus: Calculus | None = None) -> Network:
        """The facts over a calculus: this one, the one that the file names, or the first that knows all relations.

        Raises:
            BadFile: a relation is not known; the message tells where it stands.
        """
        return self.all_networks(calculus)[0]

    def all_networks(self, calculus: Calculus | None = None) -> list[Network]:
        """The same of all networks of a file."""
        return as_networks(self.networks, calculus, self.file)

    def source(self, number: int = 0) -> Source:
        """Where the facts of one of its networks come from."""
        return Source(self.networks[number], "" if self.file == TEXT else self.file)

    def spoken(self, calculus: Calculus) -> Calculus:
        """A calculus as one that tells relations in the words of these facts."""
        return spoken(calculus, [name for n in range(len(self.networks)) for name in self.source(n).names()])

    def statements(self, relations: tuple[str, ...]) -> "Statements":
        """The facts over a vocabulary, in the direction in which they are made.

        Raises:
            BadFile: a relation is not in the vocabulary; the message tells where it stands.
        """
        return as_statements(self.networks[0], relations, self.file)


def _is_file(name: str) -> bool:
    try:
        return Path(name).is_file()
    except OSError:  # too long for the name of a file
        return False
