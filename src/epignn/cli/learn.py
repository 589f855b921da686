"""`epignn evaluate` and `predict`: learnt models in use. Torch is loaded only when one runs."""

import csv
import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from epignn.cli.output import emit_json, emit_text, progress, say, table
from epignn.cli.workers import RayAddress, WorkersOption
from epignn.errors import BadArgument
from epignn.files import name_a_file

if TYPE_CHECKING:
    from epignn.learn.checkpoint import Trained
    from epignn.workers import Workers

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
ModelName = Annotated[
    str, typer.Argument(metavar="MODEL", help="A run folder, a weights file, or the name of a shipped model.")
]
Device = Annotated[str, typer.Option(help="Where the model runs: cpu, cuda, mps, or auto for the best there is.")]
Code = Annotated[
    list[Path],
    typer.Option(
        "--code",
        metavar="FILE.py",
        help="The Python file with the class of the model, task or objective. It is executed.",
    ),
]
LINKS = "Link prediction"
Pruned = Annotated[
    float,
    typer.Option(
        min=0.0001,
        max=1,
        metavar="SHARE",
        help="Look only at this share of all entities, those nearest to the head: faster on large graphs, but "
        "below 1 not exact.",
        rich_help_panel=LINKS,
    ),
]


def evaluate(
    what: Annotated[
        list[str],
        typer.Argument(
            metavar="MODEL... DATA...",
            help="Models: run folders, weights files or names of shipped models; several are compared, and those "
            "with a comma between (A,B) answer together. Then files of labelled graphs: CSV or JSON Lines, also "
            "gzipped. For models of links: wn18rr:v1 …, a folder with test.txt, or a file of triples.",
        ),
    ],
    negatives: Annotated[
        Path | None,
        typer.Option(
            help="Rank among the wrong answers (negatives) of this file; if there is none, draw and write them.",
            rich_help_panel=LINKS,
        ),
    ] = None,
    pruned: Pruned = 1.0,
    device: Device = "cpu",
    code: Code = [],
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Measure how often models are right on files of labelled graphs, with 95 % intervals.

    For models of links: the metrics of every protocol, beside those of scorers that learn nothing; and whether
    the test triples tell several models apart.
    """
    from epignn.workers import workers_of

    if what[0].endswith(".toml") and len(what) > 1:
        from epignn.cli.distil import evaluate_exact

        with workers_of(workers, ray_address) as them:
            return evaluate_exact(Path(what[0]), [Path(file) for file in what[1:]], as_json, them)
    from epignn.learn.checkpoint import is_model, load_model

    count = max(1, next((n for n, name in enumerate(what) if not is_model(name)), len(what)))
    names, data = what[:count], what[count:]
    if not data:
        raise BadArgument(f"what shall {what[-1]} be evaluated on? Name the data after the models.")

    trained = [[load_model(one, device, code) for one in several(name)] for name in names]
    if trained[0][0].config.ranks:
        from epignn.cli.links import evaluate_links
        from epignn.reason.links import Links

        with workers_of(workers, ray_address) as them:
            links = [Links(*models, pruned=pruned) for models in trained]
            return evaluate_links(links, data, negatives, as_json, them, code)
    if any(len(models) > 1 for models in trained):
        raise BadArgument("models of links answer together; others are compared: put spaces between them.")
    with workers_of(workers, ray_address) as them:
        _evaluate_graphs([models[0] for models in trained], data, code, them, as_json)


def _evaluate_graphs(
    models: "Sequence[Trained]", data: Sequence[str], code: Sequence[Path], workers: "Workers", as_json: bool
) -> None:
    """The accuracy of models on files of labelled graphs."""
    from epignn.learn.checkpoint import Kept
    from epignn.learn.evaluate import Asked, evaluate_asked
    from epignn.workers import run

    kept_models = [Kept.of(model, code) for model in models]
    asked = [Asked(model, Path(file)) for file in data for model in kept_models]
    with progress("files") as report:
        results = run(workers, evaluate_asked, asked, report).all("files")
    if len(models) == 1:
        results = [{key: value for key, value in result.items() if key != "model"} for result in results]
    if as_json:
        emit_json({"model": models[0].name, "results": results})
        return
    columns = ("k", "b", "n", "distinct")
    rows = [
        (
            *([Path(r["model"]).name] if len(models) > 1 else []),
            Path(r["file"]).name,
            *(r[column] for column in columns),
            f"{r['accuracy']:.4f}",
            f"{r['low']:.4f}–{r['high']:.4f}",
        )
        for r in results
    ]
    table((*(["model"] if len(models) > 1 else []), "file", *columns, "accuracy", "95 % interval"), rows)


def predict(
    model: Annotated[
        str,
        typer.Argument(
            metavar="MODEL",
            help="A run folder, a weights file, or the name of a shipped model. Models of links with a comma "
            "between (A,B) answer together, by the mean of their normalised scores.",
        ),
    ],
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="Facts, .csp or .json with --query A B; or a file of labelled graphs, CSV or JSON Lines. For a "
            "model of links: a file of triples, whose entities may be new.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="Write here: .json, for links also .parquet, or CSV by any other name."),
    ] = None,
    query: Annotated[tuple[str, str] | None, typer.Option(metavar="A B", help="The pair to ask about.")] = None,
    head: Annotated[
        str | None, typer.Option(help="The entity that links start from.", rich_help_panel=LINKS)
    ] = None,
    relation: Annotated[
        str | None,
        typer.Option(
            help="The relation of the links; R^-1 asks for the entities that have R to --head.",
            rich_help_panel=LINKS,
        ),
    ] = None,
    queries: Annotated[
        Path | None,
        typer.Option(
            help="A file of questions: a head and a relation on each line. Answers come by head.",
            rich_help_panel=LINKS,
        ),
    ] = None,
    every: Annotated[
        bool,
        typer.Option(
            "--all",
            help="Ask every entity about every relation, or about --relation. With --out, the same command goes "
            "on where it was interrupted.",
            rich_help_panel=LINKS,
        ),
    ] = False,
    top: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Answers to each question.", rich_help_panel=LINKS)
    ] = 10,
    least: Annotated[
        float,
        typer.Option(min=0, max=1, help="Leave out answers that are less likely than this.", rich_help_panel=LINKS),
    ] = 0.0,
    paths: Annotated[
        bool | None,
        typer.Option(
            "--paths/--no-paths",
            help="Tell the facts that support each answer. By default for --head alone, since it takes time, and "
            "there for likely answers.",
            rich_help_panel=LINKS,
        ),
    ] = None,
    include_known: Annotated[
        bool,
        typer.Option(
            "--include-known", help="Also rank answers that the graph states already.", rich_help_panel=LINKS
        ),
    ] = False,
    pruned: Pruned = 1.0,
    device: Device = "cpu",
    code: Code = [],
    workers: WorkersOption = "1",
    ray_address: RayAddress = None,
    as_json: Json = False,
) -> None:
    """Predict which relation holds, how likely it is, and the runner-up; or, for models of links, who is linked.

    A file of labelled graphs is answered graph by graph. In a file of triples, --head and --relation ask one
    question.
    """
    from epignn.learn.checkpoint import load_model
    from epignn.workers import workers_of

    trained, *others = (load_model(name, device, code) for name in several(model))
    if trained.config.ranks:
        from epignn.cli.links import Asked, predict_links
        from epignn.reason.links import Links

        asked = Asked(head, relation, queries, every, top, include_known, least, paths)
        with workers_of(workers, ray_address) as them:
            if them.count > 1 and out is None:
                raise BadArgument("several workers write shards of a file: name it by --out.")
            links = Links(trained, *others, pruned=pruned)
            return predict_links(links, file, asked, out, as_json, them, code)
    if others:
        raise BadArgument("models of links answer together; ask others one after the other.")
    from epignn.reason.neural import Neural
    from epignn.reason.predicted import chances_by
    from epignn.tasks.own import SUFFIXES, read

    neural = Neural.of(trained)
    if file.is_dir():
        raise BadArgument(f"{file} is a folder. {name_a_file(file)}")
    if file.name.endswith(SUFFIXES):
        if query is not None:
            raise BadArgument(f"{file.name} names its own pairs; leave --query out.")
        data = read(file, trained.experiment.calculus, trained.relations)
        pairs = [(str(h), str(t)) for h, t in zip(data.query_head.tolist(), data.query_tail.tolist(), strict=True)]
    elif query is None:
        raise BadArgument("which pair? Give --query A B; only files of labelled graphs name their own.")
    else:
        data = neural.graphs(str(file), *query)
        pairs = [query] * len(data)
    with workers_of(workers, ray_address) as them, progress("graphs") as report:
        found = chances_by(them, neural, data, code, report)
    rows = [
        {"row": number, "head": pair[0], "tail": pair[1], **chances}
        for number, (pair, chances) in enumerate(zip(pairs, found, strict=True))
    ]
    if as_json:
        emit_json({"model": model, "predictions": rows})
    if out is not None or not as_json:
        write_rows(rows, out, quiet=as_json)


def several(name: str) -> list[str]:
    """The models that a name with commas means; a path that is there is one, whatever it is called."""
    return [name] if Path(name).exists() else name.split(",")


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
        emit_text(text)
        return
    from epignn.files import write_text

    write_text(out, text)
    if not quiet:
        say(f"{out}: {len(rows)} predictions")
