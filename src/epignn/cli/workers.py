"""Options that say who does the work; commands that share it out have them all."""

from typing import Annotated

import typer

PANEL = "More than one core"
Threads = Annotated[int, typer.Option(min=1, max=1024, help="Cores to use; one is best for small models.")]
WorkersOption = Annotated[
    str,
    typer.Option(
        "--workers",
        metavar="N|auto|ray",
        help="Who does the work: so many processes of this machine, auto for one on each core, or ray for a Ray "
        "cluster; ray://HOST:PORT reaches one from outside. The results are the same.",
        rich_help_panel=PANEL,
    ),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="HOST:PORT",
        help="The Ray cluster: an address, or auto for the one that this machine belongs to.",
        rich_help_panel=PANEL,
    ),
]
