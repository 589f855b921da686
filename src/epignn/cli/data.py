"""`epignn data`: the published data sets, where they are, whether they are whole, and how to get them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.output import emit_json, progress, say, table

if TYPE_CHECKING:
    from epignn.tasks.registry import Entry

app = typer.Typer(
    help="Published data sets: list them, check the files at hand, get missing ones.", no_args_is_help=True
)
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from `epignn data list`.")]


@app.command("list")
def list_datasets(as_json: Json = False) -> None:
    """List the data sets that epignn knows, and how many of their files are at hand."""
    from epignn.tasks import registry

    entries = [(entry, sum(path is not None for path in _paths(entry).values())) for entry in registry.datasets()]
    if as_json:
        emit_json({"folders": [*map(str, registry.folders())], "datasets": [_summary(*found) for found in entries]})
        return
    rows = [
        (e.name, e.task, f"{there} of {len(e.files)}", f"{e.size:,}" if e.size else "–", e.licence)
        for e, there in entries
    ]
    table(("name", "task", "files", "bytes", "licence"), rows, " ".join(map(str, registry.folders())))


@app.command()
def info(name: Name, as_json: Json = False) -> None:
    """Tell where a data set comes from, its licence, how to cite it, and its files."""
    from epignn.tasks import registry
    from epignn.tasks.fetch import by_hand

    entry = registry.find(name)
    paths = _paths(entry)
    if as_json:
        emit_json({**_summary(entry, sum(map(bool, paths.values()))), "files": _file_facts(entry, paths)})
        return
    for key in ("name", "version", "task", "licence", "citation", "page", "note"):
        say(f"{key:9} {getattr(entry, key)}".rstrip())
    rows = [
        (file.name, f"{file.size:,}" if file.size else "–", paths[file.name] or "missing")
        for file in entry.files.values()
    ]
    table(("file", "bytes", "where"), rows)
    for file in entry.files.values():
        if file.source is None and paths[file.name] is None:
            say(by_hand(entry, file))


@app.command()
def verify(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME]...", help="Names of data sets; if left out, all that have files here."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check that the files at hand are whole, by their digests.

    The exit code is 1 if a file differs, or if a data set that was named lacks one.
    """
    from epignn.tasks import registry

    entries = [registry.find(name) for name in names] if names else registry.datasets()
    results = {}
    with progress("data sets") as report:
        for done, entry in enumerate(entries):
            report(done, len(entries))
            states = registry.verify(entry)
            if names or set(states.values()) != {"missing"}:
                results[entry.name] = states
    if as_json:
        emit_json({"datasets": results})
    else:
        kinds = ("ok", "unchecked", "missing", "differs")
        rows = [(name, *([*states.values()].count(kind) for kind in kinds)) for name, states in results.items()]
        table(("data set", *kinds), rows)
        for name, states in results.items():
            for file in (file for file, state in states.items() if state == "differs"):
                say(f"{registry.locate(name, file)} differs from what was published")
    bad = {"differs", "missing"} if names else {"differs"}
    if any(bad & set(states.values()) for states in results.values()):
        raise typer.Exit(1)


@app.command()
def get(
    name: Name,
    out: Annotated[Path | None, typer.Option(help="The folder to write to; if left out, your cache.")] = None,
    mirror: Annotated[
        str | None,
        typer.Option(help="A server with the layout of raw.githubusercontent.com, which is the default."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Get the files of a data set from its public source; each is checked and appears whole or not at all."""
    from epignn.tasks import fetch, registry

    entry, folder = registry.find(name), out or registry.cache_folder()
    with progress(f"{name}, bytes") as report:
        states = fetch.get(entry, folder, mirror or registry.HOST, report)
    missing = [fetch.by_hand(entry, entry.files[file]) for file, state in states.items() if state == "by hand"]
    if as_json:
        emit_json({"name": name, "folder": str(folder), "files": states, "by_hand": missing})
    else:
        for file, state in states.items():
            say(f"{folder / entry.folder / file}: {state}")
        for line in missing:
            say(line)
        if "unchecked" in states.values():
            say("These files have no published digest: nobody can check that they are what the server should send.")
        say(f"Licence: {entry.licence}. Cite: {entry.citation}.")
    if set(states.values()) == {"by hand"}:
        raise typer.Exit(1)


def _paths(entry: "Entry") -> dict[str, Path | None]:
    """Where each file of a set is found first."""
    from epignn.tasks import registry

    found = {}
    for file in entry.files.values():
        places = (registry.present(entry, file, folder) for folder in registry.folders())
        found[file.name] = next((path for path in places if path is not None), None)
    return found


def _summary(entry: "Entry", there: int) -> dict[str, Any]:
    keys = ("name", "version", "task", "licence", "citation", "repository", "page", "note", "size")
    return {**{key: getattr(entry, key) for key in keys}, "files": len(entry.files), "at_hand": there}


def _file_facts(entry: "Entry", paths: dict[str, Path | None]) -> list[dict[str, Any]]:
    return [
        {
            "name": file.name,
            "size": file.size,
            "sha256": file.sha256 or None,
            "md5": file.md5 or None,
            "url": entry.url(file),
            "path": str(paths[file.name]) if paths[file.name] else None,
        }
        for file in entry.files.values()
    ]
