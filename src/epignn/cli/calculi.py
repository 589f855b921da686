"""`epignn calculus`: list, show and validate."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus
from epignn.calculus.laws import laws_of
from epignn.calculus.neighbours import neighbours
from epignn.calculus.toml import load_calculus, write_calculus
from epignn.cli.output import emit_json, emit_text, say, table
from epignn.errors import BadArgument

app = typer.Typer(
    help="The calculi: which there are, what their tables say, whether yours obeys the laws.",
    no_args_is_help=True,
)
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
        bool, typer.Option("--neighbours", help="Which relation can follow on which when things move a little.")
    ] = False,
    svg: Annotated[
        Path | None, typer.Option(help="Draw the neighbours as a picture, to this file; goes with --neighbours.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the relations, converses and composition table of a calculus, or which relations are neighbours."""
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
        say("terms: " + ", ".join(f"{term} = {calculus.aliases[term]}" for term in calculus.terms))
    pairs = [f"{a}–{names[c]}" for a, c in zip(names, calculus.converses, strict=True) if names[c] != a]
    say(f"converses: {', '.join(pairs) or 'every relation is its own'}")
    words = {word: calculus.parse_one(word) for word in calculus.words(calculus.universal)}
    rows = [
        (left, *(calculus.format(calculus.compose(first, second)).replace("|", " ") for second in words.values()))
        for left, first in words.items()
    ]
    table(("∘", *words), rows, "composition (* is any relation)")


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
