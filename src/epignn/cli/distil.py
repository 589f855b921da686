"""`epignn distil`: the calculus or the rules that a model has learnt. Torch is loaded only when it runs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epignn.cli.output import emit_json, progress, say, table
from epignn.cli.workers import RayAddress, WorkersOption
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.distil.calculus import Distilled
    from epignn.distil.induce import DistilledRules
    from epignn.workers import Workers

SHOWN = 10
"""Rules that are printed; the file has all."""
COUNTS = ("entailed", "open", "contradicted", "ambiguous")


def distil(
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A run folder, a weights file, or the name of a shipped model.")
    ],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[TRAIN]...", help="Further training files, as after --data.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="TRAIN...",
            help="Training files that confirm or correct what the weights say. Default: the data that the model "
            "was trained on, generated or read again.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file to write. Default: calculus.toml (with calculus.certificate.json) or rules.toml; for "
            "links rules.tsv, or any .csv or .json.",
        ),
    ] = None,
    weights_only: Annotated[
        bool, typer.Option("--weights-only", help="Use no training data, only the weights and the laws of algebra.")
    ] = False,
    kind: Annotated[
        str,
        typer.Option(help="calculus, rules, or auto: a calculus if the model was trained on one, else rules."),
    ] = "auto",
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Write down what a model has learnt, for exact reasoning: a composition table, or rules.

    A calculus comes with a certificate: which laws it obeys, how many training labels it entails, and which of its
    entries are undecided. Exit code 1 if it breaks a law. Rules of links (`capital^-1, part of -> lies in`) come
    with how often they hold on the graph, and with the share of the model's first answers that they explain.
    """
    from epignn.distil.induce import DistilledRules
    from epignn.distil.learnt import KINDS, distil_trained, examples, kind_of, save, task_of
    from epignn.learn.checkpoint import load_model
    from epignn.workers import workers_of

    if kind not in ("auto", *KINDS):
        raise BadArgument(f"--kind must be auto, {' or '.join(KINDS)}, not {kind!r}.")
    files = [*(data or []), *(more or [])]
    if weights_only and files:
        raise BadArgument("--weights-only uses no data: leave out that, or --data.")
    trained = load_model(model)
    if trained.config.ranks:
        from epignn.cli.links import distil_rules

        if weights_only or kind not in ("auto", "rules"):
            raise BadArgument("what a model of links has learnt are rules, and a graph tells how often they hold.")
        with workers_of(workers, ray_address) as them:
            return distil_rules(trained, files, out or Path("rules.tsv"), as_json, them)
    task_of(trained)
    kind = kind_of(trained.experiment) if kind == "auto" else kind
    path = out or Path(f"{kind}.toml")
    if path.suffix != ".toml" or not path.parent.is_dir():
        raise BadArgument(f"--out must be a .toml file in a folder that is there, not {path}.")
    with progress("training data") as report:
        graphs = None if weights_only else examples(trained, files, report)
    with (
        workers_of(workers, ray_address) as them,
        progress("tables tried" if kind == "calculus" else "rules") as report,
    ):
        found = distil_trained(trained, graphs, kind, path.stem, report, them)
    save(found, path)
    if isinstance(found, DistilledRules):
        _show_rules(found, trained.name, path, as_json)
    else:
        _show_calculus(found, trained.name, path, as_json)


def _show_calculus(found: "Distilled", model: str, out: Path, as_json: bool) -> None:
    certificate = found.certificate
    if as_json:
        emit_json({"model": model, "out": str(out), "lawful": certificate.lawful, **certificate.to_dict()})
    else:
        count = len(found.calculus)
        say(f"{out}: a calculus of {count} relations, whose composition table has {count**2} cells")
        for line in certificate.lines():
            say(line)
    if not certificate.lawful:
        raise typer.Exit(1)


def _show_rules(found: "DistilledRules", model: str, out: Path, as_json: bool) -> None:
    rules = found.rules
    shown, invented = sum(rule.support > 0 for rule in rules.rules), rules.relations[rules.named :]
    if as_json:
        emit_json(
            {
                "model": model,
                "out": str(out),
                "rules": len(rules.rules),
                "shown": shown,
                "invented": list(invented),
                "walks": found.walks,
                "bodies_by_steps": found.steps,
            }
        )
        return
    say(f"{out}: {len(rules.rules)} rules; {found.walks} distinct training walks give examples of {shown} of them")
    say(f"invented relations: {', '.join(invented) or 'none'}")
    rows = [(rules.describe(r), f"{r.weight:.2f}", r.support, f"{r.confidence:.3f}") for r in rules.rules[:SHOWN]]
    table(("rule", "weight", "support", "confidence"), rows)


def evaluate_exact(path: Path, files: list[Path], as_json: bool, workers: "Workers") -> None:
    """Evaluate a calculus or rules on files, as `epignn evaluate` does a model."""
    from epignn.distil.evaluate import exact_results

    with progress("files") as report:
        results = exact_results(path, files, report, workers)
    if as_json:
        emit_json({"model": str(path), "results": results})
        return
    counts = [key for key in COUNTS if any(key in result for result in results)]
    rows = [
        (
            Path(r["file"]).name,
            *(r[key] for key in ("k", "b", "n", "distinct")),
            f"{r['accuracy']:.4f}",
            f"{r['low']:.4f}–{r['high']:.4f}",
            *(r[key] for key in counts),
        )
        for r in results
    ]
    table(("file", "k", "b", "n", "distinct", "accuracy", "95 % interval", *counts), rows)
