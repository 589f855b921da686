"""`epignn settings`: everything that `--set` can change."""

from typing import Annotated

import typer

from epignn.cli.output import emit_json, table
from epignn.errors import unknown


def settings(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORD]...", help="Only settings with all these words: training, model epignn, learning_rate …"
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """List the settings of data, models, objectives and training, with what each means and its default.

    `epignn train … --set KEY=VALUE` changes one; so does an experiment file.
    """
    from epignn.learn.settings import all_settings

    found = all_settings()
    for word in words or ():
        found = {
            what: chosen
            for what, entries in found.items()
            if (chosen := [s for s in entries if word in what.replace(",", "").split() or word in s.key])
        }
    if not found:
        known = {name for what, entries in all_settings().items() for name in (what, *(s.key for s in entries))}
        raise unknown("setting", " ".join(words or ()), known)
    if as_json:
        emit_json({what: [vars(setting) for setting in entries] for what, entries in found.items()})
        return
    for what, entries in found.items():
        table(("setting", "default", "meaning"), [(s.key, s.default, s.meaning) for s in entries], what)
