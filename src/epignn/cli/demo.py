"""`epignn demo`: the symbolic core at work, on a question one can check by eye."""

from typing import Annotated

import typer

from epignn.calculus import load
from epignn.calculus.closure import Incremental, close
from epignn.calculus.network import Network
from epignn.calculus.search import entails
from epignn.cli.output import emit_json, table

PLACES = (
    ("harbour", "EC", "old_town"),
    ("old_town", "NTPP", "city"),
    ("harbour", "TPPI", "pier"),
    ("pier", "PO", "city"),
    ("lake", "DC", "city"),
    ("garden", "TPP", "old_town"),
)
WRONG = ("garden", "PO", "lake")
DAY = (
    ("train", "<|m", "talk"),
    ("talk", "d|s", "workshop"),
    ("lunch", "mi", "talk"),
    ("lunch", "f", "workshop"),
)


def demo(as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False) -> None:
    """Answer a spatial and a temporal question exactly, and name the facts that clash when one is wrong."""
    rcc8, allen = load("rcc8"), load("allen")
    places = Network.of(rcc8, PLACES)
    closed = close(places)
    names = places.names
    asked = rcc8.format(closed.relations("harbour", "city"))
    growing = Incremental.over(places)
    growing.add(*WRONG)
    conflict = [str(fact) for fact in growing.conflict]
    day = Network.of(allen, DAY)
    before = entails(day, "train", "<|m|o|d|s", "workshop").entailed  # the relations that end earlier
    if as_json:
        emit_json({"harbour to city": asked, "conflict": conflict, "train and workshop": before})
        return
    typer.echo("What is stated:")
    typer.echo("".join(f"  {fact}\n" for fact in str(places).splitlines()))
    rows = [(a, *(rcc8.format(closed.relations(a, b)).replace("|", " ") for b in names)) for a in names]
    table(("", *names), rows, "What follows, from row to column (* is any relation)")
    typer.echo(f"So the harbour and the city: {asked}. Nobody said so; two paths together leave nothing else.\n")
    typer.echo(f"Add {WRONG[1]}({WRONG[0]}, {WRONG[2]}) and it is inconsistent. These facts clash:")
    typer.echo("".join(f"  {fact}\n" for fact in conflict))
    typer.echo("In time: " + ", ".join(f"{r}({a}, {b})" for a, r, b in DAY) + ".")
    typer.echo(
        f"Does the train ride end before the workshop does? {'Yes, in every case' if before else 'Not always'}."
    )
