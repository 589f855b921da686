"""`epignn realise`: a concrete world in which the facts hold."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from epignn.calculus.realise.search import pictured
from epignn.cli.facts import CalculusName, File, read_facts
from epignn.cli.limits import Memory, give_up, limited
from epignn.cli.networks import Json
from epignn.cli.output import emit_json, say, svg_name, table, working
from epignn.errors import BadArgument
from epignn.files import write_text

SHOWN_FACTS = 30


def realise(
    file: File,
    calculus: CalculusName = None,
    seed: Annotated[int, typer.Option(min=0, help="Another seed gives another world.")] = 0,
    seconds: Annotated[float, typer.Option(help="Give up after so many seconds.")] = 5.0,
    memory: Memory = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE.svg", help="Draw a picture here.", callback=svg_name)
    ] = None,
    as_json: Json = False,
) -> None:
    """Make up a world in which the facts hold, with coordinates: regions, intervals, points or a family.

    The exit code is 1 if the facts clash; the fewest that do are shown. It is 3 if no world was found in time.
    """
    with working("looking for a world"), limited(None, memory, as_json):
        network, words, source = read_facts(file, calculus)[0]
        found = network.realise(seed, seconds)
    world = found.world
    if world is None and not found.conflict:
        if pictured(network.calculus) is None:
            raise BadArgument(f"{found.reason}.")
        give_up(found.reason, as_json)
    if svg is not None and world is not None:
        from epignn.explain.world import draw_world

        write_text(svg, draw_world(world, replace(network, calculus=words)))
    if as_json:
        emit_json({"calculus": network.calculus.name, **found.to_dict()})
    elif world is None:
        say("The facts clash. These cannot hold together, and without any one of them they could:")
        for fact in found.conflict:
            say(f"  {source.fact(fact)}")
    else:
        columns, rows = world.table()
        table(columns, rows, f"A world in which the facts hold ({world.calculus})")
        say(f"All {len(network)} facts hold:" if len(network) else "There are no facts.")
        for f in range(min(len(network), SHOWN_FACTS)):
            fact = network.fact(f)
            mask = world.relation(fact.head, fact.tail)
            said = source.written(fact)
            say(f"  {said}" + (f": {words.format(mask)}" if mask != network.masks[f] else ""))
        if len(network) > SHOWN_FACTS:
            say(f"  … and {len(network) - SHOWN_FACTS} more")
        if svg is not None:
            say(f"The picture is in {svg}.")
    if world is None:
        raise typer.Exit(1)
