"""`epignn relate` and `epignn export`: from maps and tables of events to facts, and from problems to prompts."""

import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from epignn.bridges.world import Regions, World
from epignn.calculus.algebra import Calculus
from epignn.cli.networks import RDF, Vocabulary, read_statements
from epignn.cli.output import counted, emit_json, say, svg_name, table, working
from epignn.errors import BadArgument, BadFile

TABLES = (".csv", ".tsv", ".parquet", ".xlsx")
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
Name = Annotated[
    str,
    typer.Option(help="The property or column with the names of regions or events; for RDF, such as rdfs:label."),
]
Start = Annotated[str, typer.Option(help="For events: the column with their starts.")]
End = Annotated[str, typer.Option(help="For events: the column with their ends; an empty cell is an unknown end.")]
Backwards = Annotated[
    bool, typer.Option("--backwards", help="For events: times are ages, which count back from now.")
]
Layer = Annotated[str, typer.Option(help="One layer of a TopoJSON file or a GeoPackage.")]
Precision = Annotated[float, typer.Option(help="Round borders to this grid, so that neighbours fit.")]
SkipBad = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out what is no region or interval, and say how much that was.")
]


Only = Annotated[list[str], typer.Option(help="Only the region of this name; can be given several times.")]
Svg = Annotated[
    Path | None,
    typer.Option(metavar="FILE.svg", help="Draw the map or the time line, to this file.", callback=svg_name),
]
Snap = Annotated[float, typer.Option(help="Move borders onto corners of neighbours that are nearer than this.")]


@dataclass(frozen=True)
class Reading:
    """How a file is to be read; what each is for, the options of `relate` tell."""

    calculus: str | None
    name: str
    start: str
    end: str
    backwards: bool
    layer: str
    precision: float
    snap: float
    vocabulary: Path | None
    only: tuple[str, ...]
    skip_bad: bool


def read_world(file: Path, how: Reading) -> World:
    """The world of a map, of a table of events or of RDF, by the suffix of the file."""
    suffix = Path(file.name.casefold().removesuffix(".gz")).suffix
    if suffix in TABLES:
        from epignn.bridges.events import from_intervals
        from epignn.formats.frames import read_frame

        if how.calculus not in (None, "allen", "ia", "interval"):
            raise BadArgument(f"events are compared in allen, not {how.calculus!r}.")
        if not file.is_file():
            raise BadFile("there is no such file. Check the path.", str(file))
        try:
            return from_intervals(
                read_frame(file), how.start, how.end, how.name or "name", how.backwards, how.skip_bad
            )
        except BadArgument as error:
            raise BadFile(str(error), str(file)) from error
    if suffix in RDF:
        told = read_statements(file, how.vocabulary, how.name, how.skip_bad)
        others = (f"{told.passed:,} statements of other kinds passed over",) if told.passed else ()
        return World(told.network, told.network.calculus.anything, (*told.notes, *others))
    from epignn.bridges.regions import from_geometries, read_regions

    regions = read_regions(file, how.name, how.layer)
    if how.only:
        regions = regions.only(how.only)
    world = from_geometries(
        regions.geometries,
        regions.names,
        how.calculus or "rcc8",
        how.precision,
        regions.file,
        how.skip_bad,
        how.snap,
    )
    return replace(world, notes=(*regions.notes, *world.notes))


def relate(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Regions (.geojson, .json, .shp, .gpkg), events (.csv, .tsv, .parquet, .xlsx) or RDF (.ttl).",
        ),
    ],
    calculus: Annotated[str | None, typer.Option(help="The calculus of regions: rcc8 or rcc5.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the facts to this file; its ending tells the format.")
    ] = None,
    every_pair: Annotated[
        bool, typer.Option("--every-pair", help="Also write that regions are apart, for all that do not meet.")
    ] = False,
    name: Name = "",
    start: Start = "start",
    end: End = "end",
    backwards: Backwards = False,
    layer: Layer = "",
    precision: Precision = 0.0,
    snap: Snap = 0.0,
    vocabulary: Vocabulary = None,
    only: Only = [],
    skip_bad: SkipBad = False,
    svg: Svg = None,
    as_json: Json = False,
) -> None:
    """Find how the regions of a map, or the events of a table, lie to each other; or what RDF says."""
    from epignn.bridges.tables import write_out
    from epignn.explain.sources import draw_source
    from epignn.files import write_text

    with working(f"comparing: {file}"):
        how = Reading(
            calculus, name, start, end, backwards, layer, precision, snap, vocabulary, tuple(only), skip_bad
        )
        world = read_world(file, how)
        network = world.complete() if every_pair else world.network
    if svg is not None:
        what = "regions" if isinstance(world.source, Regions) else "events"
        told = f"{len(network.names):,} {what}, {len(network):,} facts in {network.calculus.name}"
        write_text(svg, draw_source(world.source, file.name, told))
    if out is not None:
        write_out([network], out)
    counts = Counter(network.masks.tolist())
    found = {network.calculus.format(mask): count for mask, count in counts.most_common()}
    if as_json:
        document: dict[str, Any] = {"file": str(file), "calculus": network.calculus.name}
        emit_json(document | {"entities": len(network.names), "facts": found, "notes": world.notes})
        return
    size = f"{counted(len(network.names), 'entity', 'entities')}, {counted(len(network), 'fact')}"
    say(f"{file}: {network.calculus.name}, {size}")
    if out is None:
        table(("relations", "pairs"), list(found.items()))
    else:
        say(f"Written: {out}")
    for note in world.notes:
        say(f"note: {note}")
    if svg is not None:
        say(f"The picture is in {svg}.")


def check_claims(files: list[Path], world: World, svg: Path | None, as_json: bool) -> None:
    """Print which claims of some files a world refutes; exit code 1 if one is."""
    from epignn.bridges.world import refuted
    from epignn.explain.sources import draw_source
    from epignn.files import write_text
    from epignn.formats.networks import as_networks, read_raw

    found = []
    for file in files:
        raws = read_raw(file)
        for raw, claims in zip(raws, as_networks(raws, world.network.calculus, str(file)), strict=True):
            found += [(file, one) for one in refuted(world, claims, raw, str(file))]
    if svg is not None:
        wrong = {name for _, one in found for name in (one.head, one.tail)}
        title = _refuted(len(found)) if found else "No claim is refuted"
        told = "; ".join(f"{one.claim} is not so: {one.truth}" for _, one in found[:2])
        write_text(svg, draw_source(world.source, title, told + (" …" if len(found) > 2 else ""), wrong))
    if as_json:
        rows = [{"file": str(file), "line": r.line, "claim": r.claim, "truth": r.truth} for file, r in found]
        emit_json({"refuted": rows, "notes": world.notes})
    else:
        for file, one in found:
            say(f"{file}{f':{one.line}' if one.line else ''}: {one}")
        say(f"{_refuted(len(found))}." if found else "No claim is refuted.")
    if found:
        raise typer.Exit(1)


def _refuted(count: int) -> str:
    return f"{count} claims are refuted" if count > 1 else "1 claim is refuted"


def export(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="Problems: benchmark or CLUTRR .csv, Graphlog .jsonl; with --query, facts."
        ),
    ],
    out: Annotated[Path, typer.Option(help="Where the prompts go: one JSON object a line.")],
    prompt: Annotated[bool, typer.Option("--prompt", help="Write prompts for language models.")] = False,
    calculus: Annotated[str | None, typer.Option(help="A calculus; guessed if left out.")] = None,
    query: Annotated[
        tuple[str, str] | None,
        typer.Option(metavar="A B", help="For a file of facts: the question, what holds from A to B."),
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only so many problems, spread over the file.")] = None,
) -> None:
    """Write problems in words, to test language models with: each with its answer and the words to choose from."""
    from epignn.bridges.prompts import network_prompt
    from epignn.calculus import load
    from epignn.files import write_text
    from epignn.formats.networks import read_networks

    if not prompt:
        raise BadArgument("say what to write: add --prompt, which is the only form there is.")
    chosen = load(calculus) if calculus else None
    if query:
        found = [network_prompt(network, *query) for network in read_networks(file, chosen)]
    else:
        found = _problems(file, chosen, limit)
    lines = [json.dumps(one, ensure_ascii=False) for one in found]
    write_text(out, "".join(line + "\n" for line in lines))
    say(f"{out}: {len(lines):,} prompts")


def _problems(file: Path, calculus: Calculus | None, limit: int | None) -> list[dict[str, Any]]:
    """The problems of a file over a calculus, or over the words that it uses."""
    import numpy as np

    from epignn.bridges.prompts import prompts
    from epignn.formats.readers import is_benchmark, read_graphs
    from epignn.formats.star_csv import read_problems

    if is_benchmark(file):
        calculus, data = read_problems(file, calculus)
    else:
        data = read_graphs(file)
    if limit is not None and limit < len(data):
        data = data[np.linspace(0, len(data) - 1, limit).astype(int)]
    return list(prompts(data, calculus))
