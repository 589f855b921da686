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
from epignn.cli.output import emit_json, emit_text, matrix, say, svg_name, table, width
from epignn.errors import BadArgument

app = typer.Typer(
    help="Calculi: list them, show the words and the table of one, check one of your own.",
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
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A name from `epignn calculus list`, or a .toml file.")
    ],
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
    composed: Annotated[
        bool,
        typer.Option("--table", help="Show the whole composition table, a line for each entry if it is too wide."),
    ] = False,
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
        _print(calculus, composed)


def _print(calculus: Calculus, whole: bool) -> None:
    names = calculus.relations
    say(f"{calculus.name}: {calculus.title or 'no title'}")
    if calculus.source:
        say(f"source: {calculus.source}")
    distinct = "; two names never mean the same thing" if calculus.distinct else ""
    say(f"of a thing to itself: {names[calculus.identity]}{distinct}")
    if calculus.terms:
        _some("words, by whose relative it is", [f"{term} = {calculus.aliases[term]}" for term in calculus.terms])
    pairs = [f"{names[r]} and {names[c]}" for r, c in enumerate(calculus.converses) if r < c]
    _some("inverses", pairs or ["every relation is its own"])
    words = {word: calculus.parse_one(word) for word in calculus.words(calculus.universal)}
    _print_vocabulary(calculus)
    rows = [
        (left, *(calculus.format(calculus.compose(first, second)).replace("|", " ") for second in words.values()))
        for left, first in words.items()
    ]
    title = "What two relations make together, the left one first (* is anything)"
    if not matrix(("∘", *words), rows, title, " ∘ ", lines=whole):
        say(f"What two relations make together: {len(words) ** 2} entries, too wide for here; --table lists them.")


def _some(what: str, entries: list[str]) -> None:
    """The entries of a list, or the first of them, as many as a line has room for."""
    whole, more = f"{what}: {', '.join(entries)}", f", … ({len(entries)} in all; --json has them)"
    if len(whole) <= width():
        say(whole)
        return
    fitting = [n for n in range(1, len(entries)) if len(f"{what}: {', '.join(entries[:n])}{more}") <= width()]
    say(f"{what}: {', '.join(entries[: max(fitting, default=1)])}{more}")


def _print_vocabulary(calculus: Calculus) -> None:
    """Every relation with its picture, its meaning and its other names."""
    columns, rows = vocabulary(calculus)
    pictured = " (pictures: a above, b below)" if "picture" in columns else ""
    table(columns, rows, f"Relations from a to b{pictured}")
    if several := unions(calculus):
        say("words for several:")
        for word, meant in several.items():
            say(f"  {word} = {meant}")


@app.command()
def validate(
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="A calculus of your own.")],
    as_json: Json = False,
) -> None:
    """Check that a calculus of your own obeys the laws of the algebra; an error names the law and the entry."""
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
