"""`epignn generate`: problems over a calculus, in families, or in worlds of rules."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from epignn.cli import benchmark
from epignn.cli.output import emit_json, progress, table
from epignn.errors import lookup


class _CalculusByDefault(TyperGroup):
    """`generate rcc8 …` means `generate calculus rcc8 …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        known = (*self.commands, *ctx.help_option_names)
        return super().parse_args(ctx, args if not args or args[0] in known else ["calculus", *args])


app = typer.Typer(
    cls=_CalculusByDefault,
    help="Generate benchmark files: for a calculus (`epignn generate rcc8 …`), families, or a world of rules.",
    no_args_is_help=True,
)
app.command("calculus")(benchmark.generate)

Out = Annotated[Path, typer.Option(help="The folder to write to.")]
Seed = Annotated[int, typer.Option(help="The same seed gives the same files; training and test files need two.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace files that are there.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


@app.command()
def families(
    out: Out,
    k: Annotated[list[int], typer.Option(help="Numbers of facts: --k 2 3 4, or --k 2-10.", metavar="NUMBERS")] = [
        *range(2, 11)
    ],
    per_k: Annotated[int, typer.Option(help="Problems of each file.")] = 500,
    seed: Seed = 0,
    relations: Annotated[
        str, typer.Option(help="The words that facts may use, with commas between; the published 14 if left out.")
    ] = "",
    revisits: Annotated[bool, typer.Option("--revisits", help="A walk may come to the same person twice.")] = False,
    by: Annotated[
        str,
        typer.Option(
            help="What the labels are. rules: what the rules of the published data derive. entailed: what follows "
            "in every family. true: what holds in the family of the walk, even if the facts leave it open."
        ),
    ] = "rules",
    split: Annotated[str, typer.Option(help="What file names end in, such as train or test.")] = "test",
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Generate kinship problems in CLUTRR's format: walks through simulated families."""
    from epignn.data.family_walks import EDGE_TERMS
    from epignn.tasks.family_files import generate_families

    terms = tuple(term.strip() for term in relations.split(",")) if relations else EDGE_TERMS
    with progress("problems") as report:
        manifest = generate_families(k, per_k, seed, out, terms, revisits, by, split, overwrite, report)
    if as_json:
        emit_json(manifest)
        return
    columns = ("file", "instances", "distinct", "mean_nodes", "ambiguous", "ambiguous_by_rules")
    rows = [[cell[column] for column in columns] for cell in manifest["cells"]]
    table(columns, rows, f"{out}: labels are true; the columns `labels` and `derived` tell what follows")


@app.command()
def world(
    out: Out,
    like: Annotated[
        int | None,
        typer.Option(
            help="Take the sizes of this world of Graphlog: 6, 7, 8, 11 or 32. Options below change them."
        ),
    ] = None,
    seed: Seed = 0,
    classes: Annotated[int | None, typer.Option(help="How many relations are asked for.")] = None,
    sequences: Annotated[
        int | None, typer.Option(help="How many different sequences of relations lead to labels.")
    ] = None,
    mean_path: Annotated[float | None, typer.Option(help="Mean length of the paths that lead to labels.")] = None,
    longest: Annotated[int | None, typer.Option(help="The longest of these paths.")] = None,
    mean_nodes: Annotated[float | None, typer.Option(help="Mean number of nodes of a graph.")] = None,
    mean_edges: Annotated[float | None, typer.Option(help="Mean number of edges of a graph.")] = None,
    pairs: Annotated[int | None, typer.Option(help="How many relations there are, inverses not counted.")] = None,
    rules: Annotated[
        int | None, typer.Option(help="How many rules of two steps there are, mirror images not counted.")
    ] = None,
    train: Annotated[int | None, typer.Option(help="Graphs to train on.")] = None,
    valid: Annotated[int | None, typer.Option(help="Graphs to validate on.")] = None,
    test: Annotated[int | None, typer.Option(help="Graphs to test on.")] = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> None:
    """Generate a world of rules in Graphlog's format: labels follow, test paths do not occur in training."""
    from epignn.data.worlds import LIKE, WorldShape
    from epignn.tasks.world_files import generate_world

    options = {
        "classes": classes,
        "sequences": sequences,
        "mean_path": mean_path,
        "longest": longest,
        "mean_nodes": mean_nodes,
        "mean_edges": mean_edges,
        "pairs": pairs,
        "rules": rules,
        "train": train,
        "valid": valid,
        "test": test,
    }
    base = WorldShape() if like is None else lookup("world", str(like), {str(n): s for n, s in LIKE.items()})
    shape = replace(base, **{name: value for name, value in options.items() if value is not None})  # type: ignore[arg-type]
    with progress("graphs") as report:
        manifest = generate_world(shape, seed, out, overwrite, report)
    if as_json:
        emit_json(manifest)
        return
    rows = [(key, manifest["shape"].get(key, ""), value) for key, value in manifest["statistics"].items()]
    table(("", "asked for", "found"), rows, f"{out}: every label follows by the rules in config.json")
