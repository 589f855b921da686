"""Link prediction on the command line: what `train`, `evaluate`, `predict` and `reproduce` do with triples."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from epignn.cli.output import emit_json, progress, table
from epignn.errors import BadArgument

if TYPE_CHECKING:
    from epignn.data.graph import Graph
    from epignn.kgc.answer import Answer
    from epignn.kgc.splits import Side, Task
    from epignn.kgc.train import Epoch


def train(
    what: str, out: Path, seed: int, settings: Sequence[str], preset: str, threads: int, as_json: bool
) -> None:
    """Train on a GraIL split, a folder with train.txt, or a file of triples."""
    import torch

    from epignn.kgc.config import load_experiment
    from epignn.kgc.reproduce import calibration_of
    from epignn.kgc.splits import load_task
    from epignn.kgc.store import RunConfig, save_config
    from epignn.kgc.suite import PRESETS, experiment_for
    from epignn.kgc.train import fit, read_history
    from epignn.report.record import circumstances

    if not preset.endswith(".toml") and preset not in PRESETS:
        raise BadArgument(f"--preset takes {' or '.join(PRESETS)}, or a .toml file, not {preset!r}.")
    torch.set_num_threads(threads)
    task = load_task(what, seed=seed)
    name = preset if preset.endswith(".toml") else experiment_for(what, preset)
    experiment = load_experiment(name, settings)
    _say_task(task)
    before = len(read_history(out))
    with _epochs(what) as show:
        model = fit(experiment, task.train, seed, out, show)
    history = read_history(out)
    best = max(history, key=lambda epoch: (epoch["validation"], epoch["epoch"]))
    calibration = calibration_of(model, task)
    record = {
        **circumstances(),
        "data": what,
        "validation": best["validation"],
        "calibration": calibration,
        "command": " ".join(["epignn", *sys.argv[1:]]),
    }
    save_config(out, RunConfig(experiment, task.train.graph.relations, seed, record, task.train.digest()))
    metric, patience = experiment.training.metric, experiment.training.patience
    early = len(history) < experiment.training.epochs
    if as_json:
        emit_json({"out": str(out), "epochs": len(history), "ended_early": early, "metric": metric, **record})
        return
    ended = f"; none of the last {patience} was better, so training ended" if early else ""
    ended += "" if len(history) > before else " (this run had ended already)"
    typer.echo(
        f"{out}: {metric} {best['validation']:.4f} on validation in epoch {best['epoch']} of {len(history)}{ended}"
    )


def _say_task(task: "Task") -> None:
    for note in task.notes:
        typer.echo(f"note: {note}", err=True)
    for name, side in (("train", task.train), ("test", task.test)):
        typer.echo(f"{name}: {_size(side)}", err=True)


def _size(side: "Side") -> str:
    graph = side.graph
    return (
        f"{len(graph.entities):,} entities, {len(graph.relations):,} relations, {len(graph.facts):,} facts, "
        f"{len(side.valid):,} validation and {len(side.test):,} test triples"
    )


@contextmanager
def _epochs(name: str) -> Iterator[Callable[["Epoch"], None]]:
    """Live progress: a bar for people, a line an epoch otherwise."""
    if not sys.stderr.isatty():
        yield lambda e: typer.echo(
            f"{name} epoch {e.number}/{e.epochs} loss {e.loss:.4f} validation {e.validation:.4f} "
            f"{e.heads_per_second:.0f} heads/s {e.seconds_left:.0f} s left",
            err=True,
        )
        return
    from rich import progress as bars
    from rich.console import Console

    text = "{task.description} loss {task.fields[loss]} validation {task.fields[metric]}"
    columns = (bars.BarColumn(), bars.MofNCompleteColumn(), bars.TextColumn(text), bars.TimeRemainingColumn())
    with bars.Progress(*columns, console=Console(stderr=True)) as shown:
        line = shown.add_task(name, total=None, loss="–", metric="–")

        def show(e: "Epoch") -> None:
            loss, metric = f"{e.loss:.4f}", f"{e.validation:.4f}"
            shown.update(line, completed=e.number, total=e.epochs, loss=loss, metric=metric)

        yield show


def evaluate(model: str, whats: Sequence[str], negatives: Path | None, as_json: bool) -> None:
    """Every protocol of link prediction, beside baselines, on the test graphs of some splits."""
    from epignn.kgc.baselines import BASELINES
    from epignn.kgc.evaluate import ModelScorer
    from epignn.kgc.measure import measure
    from epignn.kgc.splits import load_task
    from epignn.kgc.store import load_model

    trained = load_model(model)
    results: list[dict[str, Any]] = []
    for what in whats:
        task = load_task(what, seed=trained.config.seed)  # what was held out of a single file then
        side = _known_to(trained.config.relations, task)
        if not len(side.test):
            raise BadArgument(
                f"{what} has no test triples; a folder has them in test.txt, or in that of its _ind twin."
            )
        stored = _negatives(side, negatives)
        scorer = ModelScorer(trained.model, side.graph)
        typer.echo(f"{what}: {_size(side)}; heads are passed in chunks of {scorer.chunk}", err=True)
        with progress(what) as report:
            found = {"model": measure(scorer, side, stored, report)}
            found |= {name: measure(make(side.graph), side, stored) for name, make in BASELINES.items()}
        results.append({"data": what, "questions": 2 * len(side.test), "seed": stored.seed, "metrics": found})
    if as_json:
        emit_json({"model": model, "results": results})
        return
    for result in results:
        found = result["metrics"]
        columns = ("", *(name.replace("model", Path(model).name) for name in found))
        rows = [(metric, *(f"{figures[metric]:.4f}" for figures in found.values())) for metric in found["model"]]
        table(columns, rows, f"{result['data']}, {result['questions']:,} questions")


def _known_to(relations: tuple[str, ...], task: "Task") -> "Side":
    """The test side in the numbers of the model's relations."""
    import numpy as np

    from epignn.errors import unknown

    side = task.test
    if side.graph.relations == relations:
        return side
    used = np.unique(np.concatenate([triples[:, 1] for triples in (side.graph.facts, side.valid, side.test)]))
    number = {name: place for place, name in enumerate(relations)}
    for relation in used.tolist():
        if side.graph.relations[relation] not in number:
            raise unknown("relation", side.graph.relations[relation], relations)
    places = np.array([number.get(name, -1) for name in side.graph.relations], dtype=np.int32)

    def renumbered(triples: Any) -> Any:
        return np.stack([triples[:, 0], places[triples[:, 1]], triples[:, 2]], 1)

    graph = replace(side.graph, relations=relations, facts=renumbered(side.graph.facts))
    return replace(side, graph=graph, valid=renumbered(side.valid), test=renumbered(side.test))


def _negatives(side: "Side", path: Path | None) -> Any:
    """Stored negatives: read where the file is there, drawn and written where it is not."""
    from epignn.data.graph import both_sides
    from epignn.kgc.measure import stored_negatives
    from epignn.kgc.negatives import load, save

    if path is not None and path.exists():
        return load(path, both_sides(side.test, len(side.graph.relations)))
    drawn = stored_negatives(side)
    if path is not None:
        save(path, drawn)
    return drawn


def predict(
    model: str,
    file: Path,
    questions: Sequence[tuple[str, str]],
    top: int,
    include_known: bool,
    skip_unknown: bool,
    out: Path | None,
    as_json: bool,
) -> None:
    """The likeliest answers to (head, relation, ?) in a graph that may be new to the model."""
    from epignn.cli.learn import write_rows
    from epignn.kgc.answer import answer
    from epignn.kgc.splits import read_graph
    from epignn.kgc.store import load_model

    trained = load_model(model)
    graph, notes = read_graph(file, trained.config.relations, skip_unknown)
    for note in notes:
        typer.echo(f"note: {note}", err=True)
    with progress("heads") as report:
        found = answer(trained, graph, questions, top, include_known, report=report)
    rows = [_row(one) for one in found]
    if not include_known:
        _say_stated(graph, questions)
    if as_json:
        emit_json({"model": model, "graph": str(file), "answers": rows})
    if out is not None:
        write_rows(rows, out, quiet=as_json)
    elif not as_json and len(questions) == 1:
        cells = [
            (r["rank"], r["tail"], f"{r['probability']:.4f}", f"{r['score']:.3f}", r["path"] or "–") for r in rows
        ]
        table(("", "answer", "probability", "score", "supported by"), cells, f"({', '.join(questions[0])}, ?)")
    elif not as_json:
        write_rows(rows, None, quiet=False)


def _say_stated(graph: "Graph", questions: Sequence[tuple[str, str]]) -> None:
    """How many answers are left out because the graph states them."""
    from epignn.data.graph import Known

    known = Known([graph.facts], len(graph.entities), len(graph.relations))
    stated = sum(len(known.answers(graph.entity(h), graph.relation(r))) for h, r in questions)
    if stated:
        typer.echo(
            f"note: {stated:,} answers that the graph states are left out; --include-known ranks them", err=True
        )


def _row(one: "Answer") -> dict[str, Any]:
    return {**vars(one), "path": str(one.path) if one.path is not None else ""}


def questions_of(head: str | None, relation: str | None, file: Path | None) -> list[tuple[str, str]]:
    """What is asked: one head and relation, or a file with one a line, separated by a tab or by spaces."""
    if file is None:
        if head is None or relation is None:
            raise BadArgument(
                "which question? Give --head and --relation, or --queries FILE with both on each line."
            )
        return [(head, relation)]
    if head is not None or relation is not None:
        raise BadArgument("give --head and --relation, or --queries FILE, not both.")
    from epignn.formats.triples import read_pairs

    return read_pairs(file)


def reproduce(
    only: str | None,
    seeds: Sequence[int],
    results: Path,
    runs: Path,
    report: bool,
    quick: bool,
    threads: int,
    as_json: bool,
) -> None:
    """The link prediction table; `only` names a split, a preset, or both as `wn18rr:v1 best`."""
    import torch

    from epignn.errors import lookup
    from epignn.kgc.draw import draw
    from epignn.kgc.reproduce import protocols, recorded, rows
    from epignn.kgc.reproduce import reproduce as run_all
    from epignn.kgc.splits import SPLITS
    from epignn.kgc.suite import PRESETS

    torch.set_num_threads(threads)
    words = (only or "").split()
    for word in words:
        lookup("split or preset", word, dict.fromkeys([*SPLITS, *PRESETS]))
    splits = [word for word in words if word in SPLITS] or list(SPLITS[: 1 if quick else None])
    presets = [word for word in words if word in PRESETS] or list(PRESETS)
    if report:
        records = recorded(splits, presets, results)
    else:
        records = run_all(splits, presets, seeds, results, runs, quick, lambda text: typer.echo(text, err=True))
    picture = None if quick else draw(recorded(SPLITS, PRESETS, results), results / "kgc")
    columns, lines = rows(records)
    every = {preset: protocols(records, preset) for preset in presets}
    if as_json:
        shown = {preset: {"columns": names, "rows": figures} for preset, (names, figures) in every.items()}
        emit_json(
            {
                "table": "kgc",
                "metric": "grail_hits@10",
                "columns": columns,
                "rows": lines,
                "protocols": shown,
                "pictures": [str(picture)] if picture is not None else [],
            }
        )
        return
    table(columns, lines, "Hits@10 (%) among 50 stored negatives, inductive splits")
    for preset, (names, figures) in every.items():
        if figures:
            table(names, figures, f"Every protocol (%), {preset}")
    if picture is not None:
        typer.echo(f"picture: {picture}, and .svg")
