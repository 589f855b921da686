"""`epignn calculus`: list, show and validate."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.laws import laws_of
from epignn.calculus.neighbours import neighbours
from epignn.calculus.toml import load_calculus, write_calculus
from epignn.calculus.vocabulary import unions, vocabulary
from epignn.cli.output import emit_json, emit_text, matrix, say, svg_name, table
from epignn.errors import BadArgument

app = typer.Typer(
    help="The calculi: which there are, what their tables say, whether yours obeys the laws.",
    no_args_is_help=True,
)
SHOWN = 6
"""Entries of a long list that are printed."""
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command("list")
def list_calculi(as_json: Json = False) -> None:
    """List the calculi that come with epignn."""
    calculi = [load(name) for name in CALCULI]
    if as_json:
        emit_json(
            {"calculi": [{"name": c.name, "title": c.title, "relations": list(c.relations)} for c in calculi]}
        )
        return
    rows = [(c.name, c.title, " ".join(c.words(c.universal))) for c in calculi]
    table(("name", "what it tells", "relations"), rows)


@app.command()
def show(
    name: Annotated[str, typer.Argument(help="A name from `epignn calculus list`, or a .toml file.")],
    toml: Annotated[
        bool, typer.Option("--toml", help="Print it as a calculus file, to start your own from.")
    ] = False,
    near: Annotated[
        bool,
        typer.Option("--neighbours", help="Show which relation can turn into which when things move a little."),
    ] = False,
    svg: Annotated[
        Path | None,
        typer.Option(metavar="FILE.svg", help="With --neighbours: draw them as a picture.", callback=svg_name),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show what the relations of a calculus mean, which words it takes, and what two of them make together."""
    calculus = load(name)
    if svg is not None:
        from epignn.explain.neighbourhood import draw_neighbourhood
        from epignn.files import write_text

        if not near:
            raise BadArgument("--svg draws neighbours; add --neighbours.")
        write_text(svg, draw_neighbourhood(calculus))
    if near:
        found = neighbours(calculus)
        if as_json:
            emit_json({"name": calculus.name, "neighbours": found})
        else:
            table(("relation", "neighbours"), [(one, " ".join(others)) for one, others in found.items()])
            if svg is not None:
                say(f"The picture is in {svg}.")
    elif toml:
        emit_text(write_calculus(calculus))
    elif as_json:
        from epignn.reason.calculi import calculus_dict

        emit_json(calculus_dict(calculus))
    else:
        _print(calculus)


def _print(calculus: Calculus) -> None:
    names = calculus.relations
    say(f"{calculus.name}: {calculus.title or 'no title'}")
    if calculus.source:
        say(f"source: {calculus.source}")
    say(f"identity: {names[calculus.identity]}{' (two names mean two things)' if calculus.distinct else ''}")
    if calculus.terms:
        _some("terms", [f"{term} = {calculus.aliases[term]}" for term in calculus.terms])
    pairs = [f"{names[r]}–{names[c]}" for r, c in enumerate(calculus.converses) if r < c]
    _some("the other way round", pairs or ["every relation is its own"])
    words = {word: calculus.parse_one(word) for word in calculus.words(calculus.universal)}
    _print_vocabulary(calculus)
    rows = [
        (left, *(calculus.format(calculus.compose(first, second)).replace("|", " ") for second in words.values()))
        for left, first in words.items()
    ]
    matrix(("∘", *words), rows, "What two relations make together, the left one first (* is anything)", " ∘ ")


def _some(what: str, entries: list[str]) -> None:
    """The first entries of a list, as many as a screen wants."""
    more = f", … ({len(entries)} in all; --json has them)" if len(entries) > SHOWN else ""
    say(f"{what}: {', '.join(entries[:SHOWN])}{more}")


def _print_vocabulary(calculus: Calculus) -> None:
    """Every relation with its picture, its meaning and its other names."""
    columns, rows = vocabulary(calculus)
    pictured = " (pictures: a above, b below)" if "picture" in columns else ""
    table(columns, rows, f"Relations from a to b{pictured}")
    if several := unions(calculus):
        say("words for several: " + ", ".join(f"{word} = {meant}" for word, meant in several.items()))


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(help="A calculus as a .toml file.")],
    as_json: Json = False,
) -> None:
    """Check a calculus file against the laws of the algebra; a broken law is an error that names the cell."""
    calculus = load_calculus(file)
    laws = list(laws_of(calculus))
    if as_json:
        emit_json(
            {
                "file": str(file),
                "name": calculus.name,
                "relations": len(calculus),
                "laws": laws,
                "valid": True,
            }
        )
        return
    say(f"{file}: {calculus.name} has {len(calculus)} relations and obeys every law:")
    for law in laws:
        say(f"  {law}")
