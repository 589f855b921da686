"""`epignn generate` and `epignn check`: benchmark files, made and proved."""

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from epignn.calculus import load
from epignn.cli.networks import Vocabulary
from epignn.cli.output import emit_json, progress, say, table
from epignn.cli.relate import (
    Backwards,
    End,
    Layer,
    Name,
    Precision,
    Reading,
    SkipBad,
    Snap,
    Start,
    check_claims,
    read_world,
)
from epignn.errors import lookup

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def generate(
    calculus: Annotated[str, typer.Argument(help="A calculus by name, or a .toml file.")],
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
    seed: Annotated[int, typer.Option(help="The same seed gives the same files; train and test need two.")] = 0,
    prefix: Annotated[str, typer.Option(help="What file names begin with, such as train or test.")] = "test",
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")] = False,
    as_json: Json = False,
) -> None:
    """Generate benchmark files: graphs of b branches of length k whose label follows, each one proved."""
    from epignn.data.prove import prove
    from epignn.tasks.generate import generate as generate_files

    chosen = load(calculus)
    with progress(f"{chosen.name} problems") as report:
        manifest = generate_files(
            chosen,
            k,
            b,
            per_label,
            seed,
            out,
            prove=lambda data: prove(data, chosen),
            progress=report,
            prefix=prefix,
            overwrite=overwrite,
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
    files: Annotated[list[Path], typer.Argument(help="Benchmark files: CSV, also gzipped; or files of claims.")],
    calculus: Annotated[
        str | None, typer.Option(help="A calculus by name, or a .toml file; guessed if left out.")
    ] = None,
    algorithm: Annotated[str, typer.Option(help="closure, directional or dpc.")] = "closure",
    against: Annotated[
        Path | None, typer.Option(help="A map or a table of events that the claims of the files are held against.")
    ] = None,
    name: Name = "",
    start: Start = "start",
    end: End = "end",
    backwards: Backwards = False,
    layer: Layer = "",
    precision: Precision = 0.0,
    snap: Snap = 0.0,
    vocabulary: Vocabulary = None,
    skip_bad: SkipBad = False,
    as_json: Json = False,
) -> None:
    """Check benchmark files: is every label entailed by its facts? Exit code 1 if one is not.

    With --against, check claims: which does a map, or a table of events, refute?
    """
    from epignn.data.prove import METHODS

    if against is not None:
        how = Reading(calculus, name, start, end, backwards, layer, precision, snap, vocabulary, skip_bad)
        check_claims(files, read_world(against, how), as_json)
        return
    lookup("algorithm", algorithm, METHODS)
    results = []
    with progress("files") as report:
        for done, file in enumerate(files):
            report(done, len(files))
            results.append(_check_file(file, calculus, algorithm))
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


def _check_file(file: Path, calculus: str | None, algorithm: str) -> dict[str, Any]:
    from epignn.data.prove import answers
    from epignn.data.stream import digests
    from epignn.formats.star_csv import read_problems

    chosen, data = read_problems(file, load(calculus) if calculus is not None else None)
    found = answers(data, chosen, algorithm)
    label = np.uint64(1) << data.label.astype(np.uint64)
    entailed, inconsistent = found == label, found == 0
    wrong = (found & label == 0) & ~inconsistent
    kinds = {
        "contradictory facts": inconsistent,
        "excluded": wrong,
        "not alone": ~(entailed | wrong | inconsistent),
    }
    examples = [
        f"row {g}: label {data.relations[data.label[g]]} is {kind}; possible: {chosen.format(int(found[g]))}"
        if kind != "contradictory facts"
        else f"row {g}: contradictory facts"
        for kind, rows in kinds.items()
        for g in np.flatnonzero(rows)[:3].tolist()
    ]
    return {
        "file": str(file),
        "calculus": chosen.name,
        "k": data.k,
        "b": data.b,
        "instances": len(data),
        "distinct": len(np.unique(digests(data))),
        "entailed": int(entailed.sum()),
        "open": int(kinds["not alone"].sum()),
        "wrong": int(wrong.sum()),
        "inconsistent": int(inconsistent.sum()),
        "examples": examples,
    }
