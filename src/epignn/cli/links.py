"""Links on the command line: what `epignn evaluate`, `predict` and `distil` do with a model of links."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from epignn.cli.output import emit_json, emit_text, kept, progress, say, table
from epignn.errors import BadArgument, BadFile, UnknownName

if TYPE_CHECKING:
    from epignn.data.graph import Graph, Ints, Side
    from epignn.distil.links import LinkRules
    from epignn.learn.checkpoint import Trained
    from epignn.learn.protocols import Negatives, Outcome
    from epignn.reason.answers import LinkAnswer
    from epignn.reason.links import Links
    from epignn.workers import Workers

SHARD, SHARD_WITH_PATHS = 20_000, 1_000
"""About so many answers are written at once, which is what an interrupted command may lose."""
LIKELY = 0.01
"""Beside one question, support of less likely answers than this is told only where `--paths` asks for it."""
SHOWN = 3
"""Rules of each relation that are printed; the file has all."""


@dataclass(frozen=True)
class Asked:
    """What is asked of a model of links.

    Attributes:
        head, relation: one question.
        queries: a file of questions.
        every: all heads, with the relation or with all.
        top, include_known, least: which answers are told.
        paths: whether they are told with what supports them; None where they are shown.
    """

    head: str | None
    relation: str | None
    queries: Path | None
    every: bool
    top: int
    include_known: bool
    least: float
    paths: bool | None

    def __post_init__(self) -> None:
        ways = (self.every, self.queries is not None, self.head is not None)
        if sum(ways) > 1 or (self.queries is not None and self.relation is not None):
            raise BadArgument("give --head and --relation, or --queries FILE, or --all: not both.")
        if not any(ways) or (self.head is not None and self.relation is None):
            raise BadArgument(
                "which question? Give --head and --relation, or --queries FILE with both on each line, or --all."
            )

    def questions(self, graph: "Graph") -> "list[tuple[int, Ints]]":
        """The questions, by number."""
        from epignn.formats.triples import read_pairs
        from epignn.reason.links import by_first_head, every_question

        if self.every:
            return every_question(graph, [self.relation] if self.relation is not None else [])
        if self.queries is None:
            return by_first_head(graph, [(str(self.head), str(self.relation))])
        asked = read_pairs(self.queries)
        for line, question in asked.items():
            try:
                by_first_head(graph, [question])
            except UnknownName as error:
                raise BadFile(str(error), str(self.queries), line) from error
        return by_first_head(graph, asked.values())

    @property
    def explained(self) -> bool:
        """Whether paths are found: for one question, unless it is said otherwise."""
        return self.head is not None if self.paths is None else self.paths


def predict_links(
    links: "Links",
    file: Path,
    asked: Asked,
    out: Path | None,
    as_json: bool,
    workers: "Workers",
    code: Sequence[Path] = (),
) -> None:
    """The likeliest answers to (head, relation, ?) in a graph that may be new to the model."""
    graph, notes = links.graph(file)
    for note in notes:
        say(f"note: {note}", err=True)
    if any(model.answers is None for model in links.models):
        say(
            "note: no probabilities: a model is of an earlier version, or its training was interrupted and has not "
            "gone on",
            err=True,
        )
    questions = asked.questions(graph)
    if out is not None:
        _to_file(links, graph, questions, asked, file, out, as_json, workers, code)
    elif as_json:
        found = list(_rows(links, graph, questions, asked))
        emit_json({"model": links.name, "graph": str(file), "answers": [one.to_dict() for one in found]})
    elif asked.head is not None:
        _show(links, graph, questions, asked)
    else:
        _stream(links, graph, questions, asked)
    if asked.every:
        say(
            "note: a probability is that of a question which has an answer that the graph does not state; of all "
            "questions, most have none",
            err=True,
        )
    elif not asked.include_known and (stated := links.stated(graph, questions)):
        say(f"note: {stated:,} answers that the graph states are left out; --include-known ranks them", err=True)


def _rows(links: "Links", graph: "Graph", questions: "list[tuple[int, Ints]]", asked: Asked) -> "list[LinkAnswer]":
    finder = links.finder(graph) if asked.explained else None
    with progress("heads") as report:
        parts = links.answers(graph, questions, asked.top, asked.include_known, asked.least, report)
        return [one for part in parts for one in part.rows(finder)]


def _show(links: "Links", graph: "Graph", questions: "list[tuple[int, Ints]]", asked: Asked) -> None:
    """The answers to one question as a table, and what supports them below it."""
    found = _rows(links, graph, questions, asked)
    cells = [
        (one.rank, one.tail, "–" if one.probability is None else f"{one.probability:.4f}", f"{one.score:.3f}")
        for one in found
    ]
    table(
        ("", "answer", "probability", "score (higher is likelier)"), cells, f"({asked.head}, {asked.relation}, ?)"
    )
    if not found:
        say("note: no answer that the graph does not state already is so likely", err=True)
    supported = [one for one in found if one.path is not None]
    if told := [one for one in supported if asked.paths or _is_likely(one)] or supported[:1]:
        from epignn.distil.bodies import Bodies

        bodies, relation = Bodies(graph), int(questions[0][1][0])
        say("supported by")
        for one in told:
            assert one.path is not None
            say(f"{one.rank:>3}  {one.path}")
            body = tuple(graph.relation(step.relation) for step in one.path.steps)
            if body != (relation,):
                counts = bodies.counts(body, relation)
                said = f"holds for {counts.support:,} of the {counts.pairs:,} pairs that it joins in this graph"
                say(f"     {bodies.text(body, relation)}: {said}")
    if len(told) < len(supported):
        say("note: --paths tells what supports the unlikely answers, too", err=True)


def _is_likely(answer: "LinkAnswer") -> bool:
    """Whether its probability is worth a reason; where there are none, every answer is."""
    return answer.probability is None or answer.probability >= LIKELY


def _stream(links: "Links", graph: "Graph", questions: "list[tuple[int, Ints]]", asked: Asked) -> None:
    """The answers to many questions as CSV on standard output, as they are found."""
    from epignn.bridges.shards import csv_text
    from epignn.reason.sharded import columns_of

    finder = links.finder(graph) if asked.explained else None
    with progress("heads") as report:
        parts = links.answers(graph, questions, asked.top, asked.include_known, asked.least, report)
        for number, part in enumerate(parts):
            emit_text(csv_text(columns_of([part], finder), header=not number))


def _to_file(
    links: "Links",
    graph: "Graph",
    questions: "list[tuple[int, Ints]]",
    asked: Asked,
    file: Path,
    out: Path,
    quiet: bool,
    workers: "Workers",
    code: Sequence[Path],
) -> None:
    """Write the answers shard by shard; where it was interrupted, go on."""
    from epignn.bridges.shards import Shards
    from epignn.data.shared import arrays_of
    from epignn.files import sha256
    from epignn.learn.checkpoint import WEIGHTS, folder_of
    from epignn.locks import only_one
    from epignn.reason.sharded import Asked as AskedOf
    from epignn.reason.sharded import Asking, Part, write_part
    from epignn.workers import run

    if out.is_dir():
        raise BadArgument(f"{out} is a folder; give --out the name of a file in it.")
    paths = asked.explained and links.finder(graph) is not None
    size = SHARD_WITH_PATHS if paths else SHARD
    shards = _shards(questions, asked.top, size)
    about = {
        "models": [sha256(folder_of(model.name) / WEIGHTS) for model in links.models],
        "graph": sha256(file),
        "questions": [asked.head, asked.relation, asked.every, asked.queries and sha256(asked.queries)],
        "answers": [asked.top, asked.include_known, asked.least, paths, size],
        **({"pruned": links.pruned} if links.pruned < 1 else {}),
    }
    written = Shards(out, about)
    todo = [number for number in range(len(shards)) if not written.has(number)]
    before = sum(len(part) for part in shards) - sum(len(shards[number]) for number in todo)
    with only_one(written.folder, "predict"), kept(written.folder), progress("heads") as report:
        shared = workers.share(arrays_of(graph), written.folder)
        who = AskedOf.of(links, code, shared)
        asking = Asking(who, asked.top, asked.include_known, asked.least, paths, out.resolve(), about)
        done = before

        def take(place: int, rows: int) -> None:
            nonlocal done
            done += len(shards[todo[place]])
            report(done, len(questions))

        parts = [Part(asking, number, shards[number]) for number in todo]
        found = run(workers, write_part, parts, take=take).all("shards")
    written.join(len(shards))
    if not quiet:
        rest = "; the others were there" if before else ""
        say(f"{out}: {sum(found):,} answers to the questions of {len(questions):,} heads{rest}")
    else:
        emit_json({"model": links.name, "graph": str(file), "out": str(out), "heads": len(questions)})


def _shards(questions: "list[tuple[int, Ints]]", top: int, most: int) -> "list[list[tuple[int, Ints]]]":
    """Questions in parts of about as many answers."""
    found: list[list[tuple[int, Ints]]] = [[]]
    rows = 0
    for head, relations in questions:
        if rows >= most:
            found.append([])
            rows = 0
        found[-1].append((head, relations))
        rows += top * len(relations)
    return found


def evaluate_links(
    models: "Sequence[Links]",
    what: Sequence[str],
    negatives: Path | None,
    as_json: bool,
    workers: "Workers",
    code: Sequence[Path] = (),
) -> None:
    """Every protocol of link prediction, of one model or several, beside baselines, on the test graphs of tasks."""
    from epignn.data.figures import interval
    from epignn.reason.links import Links, baselines, negatives_of

    names = _short([links.name for links in models])
    together = Links(*(model for links in models for model in links.models))
    results: list[dict[str, Any]] = []
    for name in what:
        side, notes = together.side(name)
        for note in notes:
            say(f"note: {note}", err=True)
        stored = negatives_of(side, negatives)
        say(f"{name}: {side}", err=True)
        with progress(name) as report:
            first, *others = (_examined(links, side, stored, workers, code, report) for links in models)
        result: dict[str, Any] = {
            "data": name,
            "questions": 2 * len(side.test),
            "seed": stored.seed,
            "metrics": {"model": first.metrics(), **baselines(side, stored)},
            "mrr_interval": interval(first.by_triple())._asdict(),
        }
        if others:
            result["others"] = {name: one.metrics() for name, one in zip(names[1:], others, strict=True)}
            result["mrr_differences"] = {
                name: interval(one.by_triple() - first.by_triple(), -1.0)._asdict()
                for name, one in zip(names[1:], others, strict=True)
            }
        results.append(result)
    if as_json:
        emit_json({"model": models[0].name, "results": results})
        return
    for one in results:
        figures = {names[0]: one["metrics"]["model"], **one.get("others", {})}
        figures |= {name: values for name, values in one["metrics"].items() if name != "model"}
        rows = [(metric, *(f"{values[metric]:.4f}" for values in figures.values())) for metric in figures[names[0]]]
        table(("", *figures), rows, f"{one['data']}, {one['questions']:,} questions")
        found = one["mrr_interval"]
        by = f"by {one['questions'] // 2:,} test triples"
        say(f"95 % interval of the mrr of {names[0]}, {by}: {found['low']:.4f} to {found['high']:.4f}")
        for name, found in one.get("mrr_differences", {}).items():
            say(f"{name} against {names[0]}: {_difference(**found)}")


def _difference(mean: float, low: float, high: float) -> str:
    """How far a model is from another in mean reciprocal rank, and whether test triples tell the two apart."""
    apart = "" if low > 0 or high < 0 else "; these triples do not tell them apart"
    return f"mrr {mean:+z.4f}, 95 % interval {low:+z.4f} to {high:+z.4f}{apart}"


def _examined(
    links: "Links",
    side: "Side",
    negatives: "Negatives",
    workers: "Workers",
    code: Sequence[Path],
    report: Callable[[int, int], None],
) -> "Outcome":
    """The ranks of models; several workers share the heads."""
    from epignn.learn.protocols import examine
    from epignn.reason.sharded import examine_by

    if workers.count == 1:
        return examine(links.scorer(side.graph), side, negatives, report)
    with tempfile.TemporaryDirectory() as folder:
        return examine_by(workers, links, side, negatives, Path(folder), code, report)


def _short(names: Sequence[str]) -> list[str]:
    """The last parts of paths; the whole where two would be the same."""
    short = [",".join(Path(one).name for one in name.split(",")) for name in names]
    return short if len(set(short)) == len(short) else list(names)


def distil_rules(trained: "Trained", data: Sequence[Path], out: Path, as_json: bool, workers: "Workers") -> None:
    """Write the rules that a model of links has learnt, and tell how far they explain it."""
    from epignn.distil.links import distil_links, save_rules
    from epignn.tasks import task_of
    from epignn.tasks.api import LinkTask

    if len(data) > 1:
        raise BadArgument("rules of links are distilled on one graph; name one folder or file.")
    task = task_of(str(data[0])) if data else trained.experiment.data
    if not isinstance(task, LinkTask):
        raise BadArgument(f"{task.task} holds labelled graphs; {trained.name} predicts links.")
    if not data and task.task == "triples":
        raise BadArgument("this model was trained from Python; name the file of its triples after --data.")
    side = task.links(trained.seed).train
    with progress("relations") as report:
        found = distil_links(trained, side, report=report, workers=workers)
    save_rules(found, out)
    if as_json:
        rows = [rule.to_dict() for rule in found.rules]
        emit_json({"model": trained.name, "out": str(out), "check": vars(found.check), "rules": rows})
        return
    _show_rules(found, trained, out)


def _show_rules(found: "LinkRules", trained: "Trained", out: Path) -> None:
    check, shown, told = found.check, [], dict.fromkeys((rule.relation for rule in found.rules), 0)
    for rule in found.rules:
        told[rule.relation] += 1
        if told[rule.relation] <= SHOWN:
            counts = rule.counts
            shown.append((rule.text, f"{rule.score:.2f}", counts.support, f"{counts.confidence:.3f}"))
    table(("rule", "score", "support", "confidence"), shown, f"The strongest rules of {Path(trained.name).name}")
    say(f"{out}: {len(found.rules):,} rules for {len(told):,} relations")
    say(
        f"On {check.questions:,} held-out questions the model's first answer is that of its strongest rule in "
        f"{100 * check.explained:.0f} %, and that of some rule in {100 * check.reached:.0f} %. "
        f"MRR of the model {check.model_mrr:.3f}, of its rules {check.rules_mrr:.3f}."
    )
