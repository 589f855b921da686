"""Facts as commands take them: an argument or a file, over the calculus that is meant."""

from typing import Annotated, NamedTuple

import typer

from epignn.calculus import load
from epignn.calculus.algebra import Calculus
from epignn.calculus.network import Network
from epignn.cli.output import say
from epignn.formats.told import Told
from epignn.formats.wording import Source, spoken

File = Annotated[
    str,
    typer.Argument(
        metavar="FACTS",
        help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them as text, .csp, .json, .csv or .tsv, '
        "also gzipped, or RDF (.ttl, .nt, .jsonld, .rdf); - is standard input.",
    ),
]
CalculusName = Annotated[
    str | None,
    typer.Option(
        "--calculus", help="What the facts are about: a name from `epignn calculus list`, or a .toml file."
    ),
]


class Read(NamedTuple):
    """A network as a command has read it.

    Attributes:
        network: the facts.
        words: its calculus, which tells relations in the words that were written.
        source: what was written, and where.
    """

    network: Network
    words: Calculus
    source: Source

    @classmethod
    def of(cls, network: Network, source: Source) -> "Read":
        """A network, told in the words of its source."""
        return cls(network, spoken(network.calculus, source.names()), source)


def note_alike(told: Told) -> None:
    """Say which names may be meant as one."""
    if note := told.alike():
        say(f"note: {note}", err=True)


def read_facts(file: str, calculus: str | None) -> list[Read]:
    """The networks of a file, or facts as text; where the calculus is guessed and others fit, that is said."""
    told = Told.read(file, must_exist=False)
    if calculus is None and (guess := told.guessed()):
        say(f"note: {guess}", err=True)
    note_alike(told)
    networks = told.all_networks(load(calculus) if calculus else None)
    return [Read.of(network, told.source(number)) for number, network in enumerate(networks)]
