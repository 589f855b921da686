"""`epignn generate` and `epignn check`: benchmark files, made and proved."""

from pathlib import Path
from typing import Annotated

import typer

from epignn.calculus import load
from epignn.cli.networks import Vocabulary
from epignn.cli.output import emit_json, kept, progress, say, table
from epignn.cli.relate import (
    Backwards,
    End,
    Layer,
    Name,
    Only,
    Precision,
    Reading,
    SkipBad,
    Snap,
    Start,
    Svg,
    check_claims,
    read_world,
)
from epignn.cli.workers import PANEL, RayAddress, WorkersOption
from epignn.errors import BadArgument, lookup

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def generate(
    calculus: Annotated[str, typer.Argument(metavar="CALCULUS", help="A calculus by name, or a .toml file.")],
    out: Annotated[Path, typer.Option(help="The folder to write to.")],
    k: Annotated[
        list[int], typer.Option(help="Lengths of the paths: --k 2 3 4, or --k 2-9.", metavar="NUMBERS")
    ] = [2, 3, 4],
    b: Annotated[list[int], typer.Option(help="Numbers of branches: --b 1 2 3, or --b 1-3.", metavar="NUMBERS")] = [
        1,
        2,
        3,
    ],
    per_label: Annotated[int, typer.Option(help="Problems for each label of each file.")] = 800,
    seed: Annotated[
        int, typer.Option(help="The same seed gives the same files; training and test files need two.")
    ] = 0,
    prefix: Annotated[str, typer.Option(help="What file names begin with, such as train or test.")] = "test",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    shards: Annotated[
        int,
        typer.Option(
            min=1, help="How many files to make for each k and b; no two share a problem.", rich_help_panel=PANEL
        ),
    ] = 1,
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Generate benchmark files: graphs of b branches of length k, each with the relation that follows, proved.

    If it is interrupted, the same command goes on from there.
    """
    from functools import partial

    from epignn.data.prove import prove
    from epignn.tasks.generate import generate as generate_files
    from epignn.workers import workers_of

    chosen = load(calculus)
    with workers_of(workers, ray_address) as them, kept(out), progress(f"{chosen.name} problems") as report:
        manifest = generate_files(
            chosen,
            k,
            b,
            per_label,
            seed,
            out,
            prove=partial(prove, calculus=chosen),
            progress=report,
            prefix=prefix,
            overwrite=overwrite,
            shards=shards,
            workers=them,
        )
    if as_json:
        emit_json(manifest)
        return
    columns = ("file", "k", "b", "instances", "distinct", "nodes", "edges")
    rows = [
        (
            c["file"],
            c["k"],
            c["b"],
            c["instances"],
            c["distinct"],
            f"{c['mean_nodes']:.2f}",
            f"{c['mean_edges']:.2f}",
        )
        for c in manifest["cells"]
    ]
    table(columns, rows, f"{out}: every problem proved; manifest.json tells the rest")


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="FILE...",
            help="Benchmark files (CSV, also gzipped) or folders of them; with --against, claims.",
        ),
    ],
    calculus: Annotated[
        str | None, typer.Option(help="A calculus by name, or a .toml file; guessed if left out.")
    ] = None,
    algorithm: Annotated[str, typer.Option(help="How labels are proved: closure, directional or dpc.")] = "closure",
    against: Annotated[
        Path | None,
        typer.Option(help="Hold claims against this map or table of events, instead of checking labels."),
    ] = None,
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
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Check that the labels of benchmark files follow; or, with --against, which claims a map contradicts.

    The exit code is 1 if a label does not follow, or if a claim is contradicted.
    """
    from epignn.data.prove import METHODS

    if against is not None:
        how = Reading(
            calculus, name, start, end, backwards, layer, precision, snap, vocabulary, tuple(only), skip_bad
        )
        check_claims(files, read_world(against, how), svg, as_json)
        return
    lookup("algorithm", algorithm, METHODS)
    from epignn.tasks.check import Asked, check_file
    from epignn.workers import run, workers_of

    known = load(calculus) if calculus is not None else None
    with workers_of(workers, ray_address) as them, progress("files") as report:
        asked = [Asked(file, known, algorithm) for file in _in_folders(files)]
        results = run(them, check_file, asked, report).all("files")
    if as_json:
        emit_json({"algorithm": algorithm, "files": results})
    else:
        columns = (
            "file",
            "calculus",
            "k",
            "b",
            "instances",
            "distinct",
            "entailed",
            "open",
            "wrong",
            "inconsistent",
        )
        rows = [[Path(r["file"]).name, *(r[column] for column in columns[1:])] for r in results]
        table(columns, rows)
        for result in results:
            for line in result["examples"]:
                say(f"{result['file']}: {line}")
    if any(result["entailed"] < result["instances"] for result in results):
        raise typer.Exit(1)


def _in_folders(files: list[Path]) -> list[Path]:
    """Files, and the benchmark files of folders."""
    found: list[Path] = []
    for file in files:
        inside = sorted(path for path in file.glob("*.csv*") if path.is_file()) if file.is_dir() else [file]
        if not inside:
            raise BadArgument(f"{file} holds no benchmark files; they end in .csv or .csv.gz.")
        found += inside
    return found
