"""Facts as commands take them: an argument or a file, over the calculus that is meant."""

from typing import Annotated

import typer

from epignn.calculus import load
from epignn.calculus.network import Network
from epignn.cli.output import say
from epignn.formats.told import Told

File = Annotated[
    str,
    typer.Argument(
        help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them as text, .csp, .json, .csv or .tsv, '
        "also gzipped, or RDF (.ttl, .nt, .jsonld, .rdf); - is standard input."
    ),
]
CalculusName = Annotated[
    str | None,
    typer.Option(
        "--calculus", help="What the facts are about: a name from `epignn calculus list`, or a .toml file."
    ),
]


def read_facts(file: str, calculus: str | None) -> list[Network]:
    """The networks of a file, or facts as text; where the calculus is guessed and others fit, that is said."""
    told = Told.read(file, must_exist=False)
    if calculus is None and (guess := told.guessed()):
        say(f"note: {guess}", err=True)
    return told.all_networks(load(calculus) if calculus else None)
