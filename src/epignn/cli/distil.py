"""`epignn distil`: the calculus or the rules that a model has learnt. Torch is loaded only when it runs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from epignn.cli.output import emit_json, progress, table, working
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.data.dataset import Dataset
    from epignn.learn.checkpoint import Trained

KINDS = ("auto", "calculus", "rules")
SHOWN = 10
"""Rules that are printed; the file has all."""
COUNTS = ("entailed", "open", "contradicted", "ambiguous")


def distil(
    model: Annotated[str, typer.Argument(help="A run folder, a weights file, or the name of a shipped model.")],
    more: Annotated[
        list[Path] | None, typer.Argument(metavar="[TRAIN]...", help="Training files, as after --data.")
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="TRAIN...",
            help="Training files; if left out, what the model was trained on, made or read anew.",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The file to write: calculus.toml, with calculus.certificate.json beside it, or rules.toml.",
        ),
    ] = None,
    weights_only: Annotated[
        bool, typer.Option("--weights-only", help="Go by the weights and the laws alone, without data.")
    ] = False,
    kind: Annotated[
        str, typer.Option(help="calculus, rules, or auto: a calculus if the model was trained on one.")
    ] = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Read the calculus, or the rules, off a model; exit code 1 if the table breaks a law."""
    from epignn.learn.checkpoint import load_model

    if kind not in KINDS:
        raise BadArgument(f"--kind must be {', '.join(KINDS)}, not {kind!r}.")
    files = [*(data or []), *(more or [])]
    if weights_only and files:
        raise BadArgument("--weights-only uses no data; leave --data out, or that.")
    trained = load_model(model)
    algebraic = bool(trained.experiment.data.calculus) if kind == "auto" else kind == "calculus"
    path = out or Path("calculus.toml" if algebraic else "rules.toml")
    if path.suffix != ".toml" or not path.parent.is_dir():
        raise BadArgument(f"--out must be a .toml file in a folder that is there, not {path}.")
    examples = None if weights_only else _examples(trained, files)
    (_calculus if algebraic else _rules)(trained, examples, path, as_json)


def _examples(trained: "Trained", files: list[Path]) -> "Dataset":
    """The training data: given files over the model's relations, or those it was trained on."""
    from epignn.data.dataset import Dataset
    from epignn.formats.readers import read_graphs
    from epignn.learn.sources import evidence, training_data

    if files:
        return Dataset.concat([read_graphs(file, trained.relations) for file in files])
    with progress("training data") as report:
        train, _ = training_data(trained.experiment.data, report)
    return evidence(train, trained.experiment.data, trained.seed)


def _calculus(trained: "Trained", data: "Dataset | None", out: Path, as_json: bool) -> None:
    from epignn.distil.calculus import distil_calculus
    from epignn.distil.files import calculus_text, certificate_path, certificate_text
    from epignn.distil.reading import read_weights
    from epignn.learn.checkpoint import write_text

    reading = read_weights(trained.model, trained.relations)
    source = f"read off the weights of {trained.name}, seed {trained.seed}"
    with _stages() as report:
        found = distil_calculus(reading, data, out.stem, source, report=report)
    write_text(out, calculus_text(found))
    write_text(certificate_path(out), certificate_text(found))
    certificate = found.certificate
    if as_json:
        emit_json({"model": trained.name, "out": str(out), "lawful": certificate.lawful, **certificate.to_dict()})
    else:
        pairs = len(found.calculus) ** 2
        typer.echo(f"{out}: {len(found.calculus)} relations, identity {certificate.identity[0]}, {pairs} cells")
        for line in certificate.lines():
            typer.echo(line)
    if not certificate.lawful:
        raise typer.Exit(1)


@contextmanager
def _stages() -> Iterator[Callable[[str, int, int], None]]:
    """A bar that counts the steps of all stages: so many cuts, then so many facts."""
    with progress("tables tried") as report:
        yield lambda what, done, total: report(done, total)


def _rules(trained: "Trained", data: "Dataset | None", out: Path, as_json: bool) -> None:
    from epignn.distil.horn import distil_rules
    from epignn.distil.rules_file import write_rules
    from epignn.learn.checkpoint import write_text

    training = trained.experiment.training
    temperature = training.temperature if training.loss == "cross_entropy" else 1.0
    source = f"read off the weights of {trained.name}, seed {trained.seed}"
    with working("reading walks"):
        found = distil_rules(trained.model, trained.relations, data, temperature, source)
    rules = found.rules
    write_text(out, write_rules(rules))
    shown = [rule for rule in rules.rules if rule.support]
    if as_json:
        emit_json(
            {
                "model": trained.name,
                "out": str(out),
                "rules": len(rules.rules),
                "shown": len(shown),
                "invented": list(rules.relations[rules.named :]),
                "walks": found.walks,
                "bodies_by_steps": found.steps,
            }
        )
        return
    typer.echo(f"{out}: {len(rules.rules)} rules, {len(shown)} of them shown by {found.walks} training walks")
    typer.echo(f"invented relations: {', '.join(rules.relations[rules.named :]) or 'none'}")
    rows = [(rules.describe(r), f"{r.weight:.2f}", r.support, f"{r.confidence:.3f}") for r in rules.rules[:SHOWN]]
    table(("rule", "weight", "support", "confidence"), rows)


def evaluate_exact(path: Path, files: list[Path], as_json: bool) -> None:
    """Evaluate a calculus or rules on files, as `epignn evaluate` does a model."""
    from epignn.distil.evaluate import exact_results

    with progress("files") as report:
        results = exact_results(path, files, report)
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
