"""`epignn explain`: an answer and why, by a model, a learnt calculus or a known one. Only a model loads torch."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.facts import note_alike
from epignn.cli.limits import Memory, Seconds, limited
from epignn.cli.output import emit_json, say, svg_name, table, working
from epignn.files import write_text


def explain(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="Who answers: a model (rcc8, allen, kinship, or a run folder), a calculus or rules in a .toml "
            "file; with --exact a calculus by its name.",
        ),
    ],
    facts: Annotated[
        str, typer.Argument(metavar="FACTS", help='Facts, such as "ec(a,b). ntpp(b,c)", or a file of them.')
    ],
    head: Annotated[
        str, typer.Argument(metavar="A", help="The first thing of the question: what may hold from A to B?")
    ],
    tail: Annotated[str, typer.Argument(metavar="B", help="The second.")],
    exact: Annotated[
        bool, typer.Option("--exact", help="Take MODEL for the name of a calculus, and reason by its exact table.")
    ] = False,
    threshold: Annotated[
        float, typer.Option(help="For a model: relations that are at least so likely count as possible.")
    ] = 0.05,
    rounds: Annotated[
        int | None, typer.Option(min=0, help="Show the states of so many rounds; all if left out, none for 0.")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw a picture here.", callback=svg_name)
    ] = None,
    proof_alone: Annotated[
        bool, typer.Option("--proof-alone", help="Draw the facts of the proof alone, not the others in grey.")
    ] = False,
    seconds: Seconds = None,
    memory: Memory = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Explain an answer: why no other relation can hold, a proof that was checked, and the fewest facts it needs.

    Exit code 1 if the facts contradict each other; the clash is then what is explained.
    """
    from epignn.explain.explanation import Status
    from epignn.explain.picture import draw
    from epignn.explain.text import lines, states
    from epignn.formats.told import Told
    from epignn.reason import load

    with working("explaining"), limited(seconds, memory, as_json):
        told = Told.read(facts)
        note_alike(told)
        reasoner = load(model, exact, threshold=threshold)
        reasoner = reasoner if as_json else reasoner.worded(told)
        found = reasoner.explain(reasoner.read(told), head, tail)
    if svg is not None:
        write_text(svg, draw(found, proof_alone))
    if as_json:
        emit_json({"model": model, **found.to_dict()})
    else:
        for line in lines(found, told.source().fact):
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
