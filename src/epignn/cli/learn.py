"""`epignn train`, `evaluate`, `predict` and `ask`: learnt models. Torch is loaded only when one runs."""

import csv
import io
import json
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.output import emit_json, progress, table, working
from epignn.errors import BadArgument, BadFile, EpignnError

if TYPE_CHECKING:
    from epignn.learn.checkpoint import Trained
    from epignn.learn.config import Experiment
    from epignn.learn.fit import Epoch

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ModelName = Annotated[str, typer.Argument(help="A run folder, a weights file, or the name of a shipped model.")]
NAMES = {"interval": "ia", "allen": "ia"}
LINKS = "Link prediction"


def train(
    what: Annotated[
        str,
        typer.Argument(
            help="An experiment (rcc8, ia, clutrr:db9b8f04, graphlog:world_32, …), a .toml file, or a folder of "
            "CSV or JSON Lines files. For link prediction: wn18rr:v1 … fb237:v4, a folder with train.txt, or a "
            "file of triples (.tsv)."
        ),
    ],
    out: Annotated[Path, typer.Option(help="The run folder; an interrupted run there goes on.")] = Path(
        "runs/model"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Of initial values, split and order.")] = 0,
    settings: Annotated[list[str], typer.Option("--set", help="Override a setting: --set model.facets=8.")] = [],
    calculus: Annotated[
        str, typer.Option(help="Whose relations a folder of files speaks of; none: its own.")
    ] = "rcc8",
    threads: Annotated[int, typer.Option(min=1, help="Cores to use; one is best for small models.")] = 1,
    tensorboard: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Write curves for TensorBoard here (an optional extra).")
    ] = None,
    preset: Annotated[str, typer.Option(help="For link prediction: best, paper, or a .toml file.")] = "best",
    as_json: Json = False,
) -> None:
    """Train a model: weights, config and the state to resume from go to a run folder."""
    from epignn.kgc.splits import is_task

    if is_task(what):
        from epignn.cli import kgc

        return kgc.train(what, out, seed, settings, preset, threads, as_json)
    import torch

    from epignn.learn.calibrate import calibrate, save_calibration
    from epignn.learn.checkpoint import save_config
    from epignn.learn.fit import fit, read_history
    from epignn.learn.sources import split, training_data
    from epignn.report.record import circumstances

    torch.set_num_threads(threads)
    experiment = _experiment(what, settings, calculus)
    ran: list[Epoch] = []
    with _curves(tensorboard, experiment) as curve:
        with progress("data") as report:
            data = training_data(experiment.data, report)
        graphs, validation = split(data, experiment.data, experiment.model, seed)
        with _epochs(experiment.name) as show:

            def keep(epoch: "Epoch") -> None:
                ran.append(epoch)
                show(epoch)
                curve(epoch)

            model = fit(experiment, graphs, validation, seed, out, keep)
    history = read_history(out)
    best = max(epoch["validation"] for epoch in history)
    record = {
        **circumstances(),
        "validation": best,
        "graphs": len(graphs),
        "command": " ".join(["epignn", *sys.argv[1:]]),
    }
    calibration = None
    if ran:
        save_config(out, experiment, graphs.relations, seed, record)
        if len(validation):
            calibration = calibrate(model, validation, experiment.training.temperature)
            save_calibration(out, calibration)
    if as_json:
        document = {"out": str(out), "epochs": len(history), "validation": best}
        emit_json({**document, "calibration": asdict(calibration) if calibration else None})
    elif ran:
        typer.echo(f"{out}: validation accuracy {best:.4f} after {len(history)} epoch{'s' * (len(history) > 1)}")
        if calibration:
            typer.echo(f"{out}: {calibration}")
    else:
        typer.echo(f"{out}: this run had ended already; choose another folder for a new one")


def _experiment(what: str, settings: list[str], calculus: str) -> "Experiment":
    from epignn.learn.config import load_experiment
    from epignn.learn.sources import folder_files

    folder = Path(what)
    if not folder.is_dir():
        return load_experiment(NAMES.get(what, what), settings)
    known = "" if calculus == "none" else calculus
    preset = load_experiment("ia" if known in (*NAMES, "ia") else "rcc8" if known else "clutrr", settings)
    files = tuple(folder_files(folder))
    return replace(preset, name=folder.name, data=replace(preset.data, calculus=known, source="", files=files))


def _curves(folder: Path | None, experiment: "Experiment") -> AbstractContextManager[Callable[["Epoch"], None]]:
    """What writes curves for TensorBoard, if a folder is named."""
    if folder is None:
        return nullcontext(lambda epoch: None)
    from epignn.learn.tensorboard import curves

    return curves(folder, experiment.training)


@contextmanager
def _epochs(name: str) -> Iterator[Callable[["Epoch"], None]]:
    """Live progress: a bar for people, a line an epoch otherwise."""
    if not sys.stderr.isatty():
        yield lambda e: typer.echo(
            f"{name} epoch {e.number}/{e.epochs} loss {e.loss:.4f} validation {e.validation:.4f} "
            f"{e.graphs_per_second:.0f} graphs/s {e.seconds_left:.0f} s left",
            err=True,
        )
        return
    from rich import progress as bars
    from rich.console import Console

    fields = "loss {task.fields[loss]} validation {task.fields[accuracy]} {task.fields[speed]} graphs/s"
    text = "{task.description} " + fields
    columns = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TextColumn(text), bars.TimeRemainingColumn())
    with bars.Progress(*columns, console=Console(stderr=True)) as shown:
        task = shown.add_task(name, total=None, loss="–", accuracy="–", speed="–")

        def show(e: "Epoch") -> None:
            shown.update(
                task,
                completed=e.number,
                total=e.epochs,
                loss=f"{e.loss:.4f}",
                accuracy=f"{e.validation:.4f}",
                speed=f"{e.graphs_per_second:.0f}",
            )

        yield show


def evaluate(
    model: ModelName,
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Benchmark files: CSV or JSON Lines, also gzipped. For link prediction: what `train` takes."
        ),
    ],
    negatives: Annotated[
        Path | None, typer.Option(help="For link prediction: stored negatives, written here if not there.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Accuracy of a model by file and (k, b), with 95 % intervals and the number of distinct problems.

    Of a link prediction model, the metrics of every protocol, beside baselines.
    """
    if model.endswith(".toml"):
        from epignn.cli.distil import evaluate_exact

        return evaluate_exact(Path(model), files, as_json)
    from epignn.kgc.store import is_run

    if is_run(model):
        from epignn.cli import kgc

        return kgc.evaluate(model, [str(file) for file in files], negatives, as_json)
    from epignn.learn.checkpoint import load_model

    trained = load_model(model)
    results = []
    with progress("files") as report:
        for number, file in enumerate(files):
            report(number, len(files))
            results.append(_evaluate_file(trained, file))
    if as_json:
        emit_json({"model": model, "results": results})
        return
    rows = [
        (
            Path(r["file"]).name,
            r["k"],
            r["b"],
            r["n"],
            r["distinct"],
            f"{r['accuracy']:.4f}",
            f"{r['low']:.4f}–{r['high']:.4f}",
        )
        for r in results
    ]
    table(("file", "k", "b", "n", "distinct", "accuracy", "95 % interval"), rows)


def _evaluate_file(trained: "Trained", file: Path) -> dict[str, Any]:
    from epignn.learn.collate import prepare_for
    from epignn.learn.evaluate import scores
    from epignn.learn.sources import read
    from epignn.report.figures import figures

    data = read(file, trained.experiment.data.calculus, trained.relations)
    try:
        graphs = prepare_for(trained.experiment.model, data)
    except EpignnError as error:
        raise BadFile(str(error), str(file)) from error
    right = int((scores(trained.model, graphs).argmin(1) == graphs.label).sum())
    return {"file": str(file), **figures(data, right)}


def predict(
    model: ModelName,
    file: Annotated[
        Path,
        typer.Argument(
            help="Facts, .csp or .json with --query A B; or a benchmark file, CSV or JSON Lines. For link "
            "prediction: a file of triples, whose entities may be new."
        ),
    ],
    out: Annotated[Path | None, typer.Option(help="Write here: .json, or CSV by any other name.")] = None,
    query: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help="The pair to ask about.")] = None,
    head: Annotated[str | None, typer.Option(help="For link prediction: of whom?", rich_help_panel=LINKS)] = None,
    relation: Annotated[
        str | None, typer.Option(help="Which relation? `R^-1` asks for heads.", rich_help_panel=LINKS)
    ] = None,
    queries: Annotated[
        Path | None, typer.Option(help="A head and a relation on each line.", rich_help_panel=LINKS)
    ] = None,
    top: Annotated[int, typer.Option(min=1, help="Answers to each question.", rich_help_panel=LINKS)] = 10,
    include_known: Annotated[
        bool, typer.Option("--include-known", help="Rank what the graph states too.", rich_help_panel=LINKS)
    ] = False,
    skip_unknown: Annotated[
        bool,
        typer.Option(
            "--skip-unknown", help="Pass over facts of relations new to the model.", rich_help_panel=LINKS
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Predict the relation of a pair, its probability and the runner-up, for every graph of a file.

    With a link prediction model and a file of triples: who is the tail of --head and --relation?
    """
    from epignn.kgc.store import is_run

    if is_run(model):
        from epignn.cli import kgc

        questions = kgc.questions_of(head, relation, queries)
        return kgc.predict(model, file, questions, top, include_known, skip_unknown, out, as_json)
    from epignn.learn.answer import graphs_of
    from epignn.learn.answer import predict as predict_graphs
    from epignn.learn.checkpoint import load_model
    from epignn.learn.sources import SUFFIXES, read

    trained = load_model(model)
    if file.name.endswith(SUFFIXES):
        if query is not None:
            raise BadArgument(f"{file.name} names its own pairs; leave --query out.")
        data = read(file, trained.experiment.data.calculus, trained.relations)
        pairs = [(str(h), str(t)) for h, t in zip(data.query_head.tolist(), data.query_tail.tolist(), strict=True)]
    elif query is None:
        raise BadArgument("which pair? Give --query A B; only benchmark files name their own.")
    else:
        data = graphs_of(trained, str(file), *query)
        pairs = [query] * len(data)
    with working("predicting"):
        found = predict_graphs(trained, data)
    rows = [
        {"row": number, "head": pair[0], "tail": pair[1], **vars(answer)}
        for number, (pair, answer) in enumerate(zip(pairs, found, strict=True))
    ]
    if as_json:
        emit_json({"model": model, "predictions": rows})
    if out is not None or not as_json:
        write_rows(rows, out, quiet=as_json)


def write_rows(rows: list[dict[str, Any]], out: Path | None, quiet: bool) -> None:
    """Write rows as CSV or JSON, to a file or, without one, on standard output."""
    if out is not None and out.suffix == ".json":
        text = json.dumps(rows, indent=2, ensure_ascii=False) + "\n"
    else:
        buffer = io.StringIO()
        writer = csv.DictWriter(buffer, list(rows[0]) if rows else ["row"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(
            {key: f"{value:.6f}" if isinstance(value, float) else value for key, value in row.items()}
            for row in rows
        )
        text = buffer.getvalue()
    if out is None:
        typer.echo(text, nl=False)
        return
    from epignn.learn.checkpoint import write_text

    write_text(out, text)
    if not quiet:
        typer.echo(f"{out}: {len(rows)} predictions")
