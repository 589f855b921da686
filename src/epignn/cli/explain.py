"""`epignn explain`: an answer and why, by a model, a learnt calculus or a known one. Only a model loads torch."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.limits import Memory, Seconds, limited
from epignn.cli.output import emit_json, say, table, working
from epignn.files import write_text


def explain(
    model: Annotated[
        str,
        typer.Argument(
            help="A model (shipped name, run folder), a learnt calculus or rules (.toml) or a calculus (rcc8 …)."
        ),
    ],
    facts: Annotated[str, typer.Argument(help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them.')],
    head: Annotated[str, typer.Argument(help="What may hold from this entity …")],
    tail: Annotated[str, typer.Argument(help="… to this one, and why?")],
    exact: Annotated[
        bool, typer.Option("--exact", help="Take MODEL for the name of a calculus, and reason by its exact table.")
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="A relation of at least this probability may still hold, for a model.")
    ] = 0.05,
    rounds: Annotated[
        int | None, typer.Option(min=0, help="Show so many rounds of states; all if left out.")
    ] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw a picture here.")] = None,
    seconds: Seconds = None,
    memory: Memory = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Explain an answer: what excludes each other relation, a checked proof, the fewest facts that give it, states.

    Exit code 1 if the facts contradict each other; the clash is then what is explained.
    """
    from epignn.explain.explanation import Status
    from epignn.explain.picture import draw
    from epignn.explain.text import lines, states
    from epignn.formats.told import Told
    from epignn.reason import load

    with working("explaining"), limited(seconds, memory, as_json):
        reasoner = load(model, exact, threshold=threshold)
        found = reasoner.explain(reasoner.read(Told.read(facts)), head, tail)
    if svg is not None:
        write_text(svg, draw(found))
    if as_json:
        emit_json({"model": model, **found.to_dict()})
    else:
        for line in lines(found):
            say(line)
        title, columns, rows = states(found, rounds)
        if rows:
            say()
            say(title)
            table(columns, rows)
        if svg is not None:
            say()
            say(f"The picture is in {svg}.")
    if found.status is Status.CONTRADICTORY:
        raise typer.Exit(1)
