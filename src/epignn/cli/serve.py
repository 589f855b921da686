"""`epignn serve`: the playground in the browser, and its JSON API. The server is loaded only when it runs."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from epignn.cli.output import say


def serve(
    port: Annotated[int, typer.Option(min=0, max=65535, help="Where to listen; 0 takes a free port.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen at; other machines cannot reach the default.")
    ] = "127.0.0.1",
    open_page: Annotated[bool, typer.Option("--open", help="Open the page in a browser.")] = False,
    root: Annotated[Path, typer.Option(help="Where training runs are kept.")] = Path("runs"),
    results: Annotated[Path, typer.Option(help="Where records are, to be shown as tables.")] = Path("results"),
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that answer quick questions.")] = 2,
) -> None:
    """Open the playground, a page in your browser, and its JSON API; Ctrl-C ends it.

    Everybody who can reach the address can ask and train: it is meant for one machine and the people at it.
    """
    from epignn.web.limits import Context
    from epignn.web.server import serve as run

    def ready(address: str) -> None:
        say(f"The playground is at {address}  (Ctrl-C ends it; the API is at {address}docs)")
        if open_page:
            webbrowser.open(address)

    try:
        run(Context(root, results if results.is_dir() else None), host, port, workers, ready)
    except KeyboardInterrupt:
        say("The server has ended. Runs that trained are kept; the page resumes them.", err=True)
