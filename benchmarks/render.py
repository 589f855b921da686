"""Fill the figures of README.md and of docs/ from the records under results/.

    python benchmarks/render.py [--check]

Each block between `begin NAME` and `end NAME` comments is replaced; `--check` only tells whether it is up to date.
A block that a page has is filled or is an error; one that none has is left out.
"""

import json
import re
import sys
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

from epignn.calculus import CALCULI, load
from epignn.calculus.vocabulary import unions, vocabulary
from epignn.learn.settings import Setting, all_settings
from epignn.report.distilled import calculus_table, recovery_table, rules_table
from epignn.report.models import ALL, GROUNDS, kinds_of, suite_of_models
from epignn.report.profile import Holds
from epignn.report.record import read_records
from epignn.report.suites import SUITES
from epignn.report.tables import (
    CHANGED,
    Measure,
    Record,
    accuracy,
    by_variant,
    distilled,
    figures,
    markdown,
    notes,
    rows,
    uncommitted_note,
)

ROOT = Path(__file__).resolve().parent.parent
MARK = re.compile(r"<!-- (begin|end) ([\w-]+) -->")


class CannotRender(Exception):
    """A block lacks its records, its function or one of its marks."""


@dataclass(frozen=True)
class Results:
    """The records that figures come from."""

    folder: Path

    def bench(self, name: str) -> dict[str, Any]:
        """The record of a benchmark."""
        path = self.folder / f"bench_{name}.json"
        if not path.exists():
            raise CannotRender(f"there is no record {path}")
        record: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return record

    def runs(self, name: str, pattern: str = "*") -> list[dict[str, Any]]:
        """The records of a folder; none at all is an error."""
        records = read_records(self.folder / name, pattern)
        if not records:
            raise CannotRender(f"there is no record {pattern} in {self.folder / name}")
        return records


def closure_sentence(results: Results) -> str:
    figures = results.bench("closure")["figures"]
    large, huge = figures["boxes_2000"], figures["map_100000"]
    return (
        f"Closing {large['regions']:,} regions with {large['facts']:,} facts takes {large['seconds']:.2g} s on one "
        f"core, {large['gqr_seconds'] / large['seconds']:.0f} times less than GQR, a solver in C++; a map of "
        f"{huge['regions']:,} regions {huge['seconds']:.2g} s."
    )


def closure_table(results: Results) -> str:
    record = results.bench("closure")
    lines = [
        "| network (RCC-8, single relations) | facts | algorithm | seconds | GQR 1501 |",
        "| --- | ---: | --- | ---: | ---: |",
    ]
    for name, row in record["figures"].items():
        boxes = name.startswith("boxes")
        what = f"{row['regions']:,} random boxes" if boxes else f"map of {row['regions']:,} regions"
        gqr = f"{row['gqr_seconds']:.2f}" if boxes else ""
        lines.append(
            f"| {what} | {row['facts']:,} | {'closure' if boxes else 'partial'} | {row['seconds']:.3f} | {gqr} |"
        )
    return "\n".join([*lines, "", _machine(record) + " GQR's figures are from another machine of that kind."])


def headlines(results: Results) -> str:
    """What the model, and exact reasoning with what it has learnt, reach beside the paper."""
    lines = []
    for suite, variant, cell, task, paper in HEADLINES:
        recorded = by_variant(SUITES[suite], results.runs(suite))
        runs = recorded[variant]
        exact = [run for how in ("exact", "with its rules") for run in recorded.get(f"{variant}, {how}", [])]

        def told(measure: Measure, runs: list[Record] = runs, suite: str = suite, cell: str = cell) -> str:
            return f"{mean(figures(SUITES[suite], run, measure)[cell] for run in runs):.3f}" if runs else ""

        published = [figure for name, figure in SUITES[suite].paper.items() if paper and name.startswith(paper)]
        shown = f"{mean(published):.{2 + (len(published) > 1)}f}" if published else ""
        seeds = f"{len(runs)}" if len(exact) in (0, len(runs)) else f"{len(runs)}, refined {len(exact)}"
        lines.append([task, told(accuracy), told(accuracy, exact), told(distilled), shown, seeds])
    columns = [
        "task, trained on small graphs",
        "the model",
        "set to what it learnt, or beside it",
        "exact reasoning with what it learnt",
        "paper",
        "seeds",
    ]
    return markdown(columns, lines)


HEADLINES = (
    ("rcc8", "rcc8", "average", "RCC-8, paths of 2 to 9 steps, 1 to 3 branches", "average"),
    ("rcc8", "rcc8", "k=9 b=3", "RCC-8, 9 steps, 3 branches", "k=9 b=3"),
    ("expanded", "rcc8", "k=15 b=8", "RCC-8, 15 steps, 8 branches", "rcc8 k=15 b=8"),
    ("ia", "ia", "average", "Intervals, paths of 2 to 9 steps, 1 to 3 branches", ""),
    ("expanded", "ia", "k=15 b=8", "Intervals, 15 steps, 8 branches", "ia k=15 b=8"),
    ("clutrr", "clutrr", "average", "CLUTRR, 5 to 10 hops after 2 to 4", "EpiGNN-mul (paper)"),
    ("clutrr-23", "clutrr-23", "average", "CLUTRR, 4 to 10 hops after 2 and 3", "EpiGNN-mul (paper"),
    ("families", "families", "100 hops", "Families, 100 hops after 2 to 4", ""),
    ("graphlog", "graphlog", "test", "Graphlog, world 32", "EpiGNN-mul (paper)"),
)
"""Suite, row, cell, what it is called, and how the names of the paper's figures begin."""


def generator_table(results: Results) -> str:
    record = results.bench("generator")
    lines = ["| generated cell | instances a second, proved and written |", "| --- | ---: |"]
    lines += [f"| {row['cell']} | {row['per_second']:,.0f} |" for row in record["figures"].values()]
    return "\n".join([*lines, "", _machine(record)])


def rcc8_table(results: Results) -> str:
    runs = results.runs("rcc8")
    commits = ", ".join(sorted({run["commit"] for run in runs}))
    return suite_table("rcc8")(results) + f"\n\n{_machine({**runs[0], 'commit': commits})} One core."


def suite_table(name: str) -> Callable[[Results], str]:
    """The table of a suite, and its notes."""

    def block(results: Results) -> str:
        if name not in SUITES:
            raise CannotRender(f"there is no suite {name!r}")
        runs = results.runs(name)
        return "\n\n".join([markdown(*rows(SUITES[name], runs)), *notes(SUITES[name], runs)])

    return block


def models_table(name: str) -> Callable[[Results], str]:
    """The table of all models that were recorded on the ground of a suite."""

    def block(results: Results) -> str:
        runs = results.runs(f"{name}-models")
        suite = suite_of_models(name, kinds_of(ALL))
        commits = ", ".join(sorted({run["commit"] for run in runs}))
        made = f"{runs[0]['cpu']}, one core; commits {commits}."
        return "\n\n".join([markdown(*rows(suite, runs)), *notes(suite, runs), made])

    return block


def kgc_table(results: Results) -> str:
    """Link prediction, Hits@10 in percent, a row a split."""
    from epignn.report.links import rows as kgc_rows

    runs = results.runs("kgc")
    columns, lines = kgc_rows(runs)
    marked = any(
        line[columns.index("seeds")].endswith(CHANGED) for line in lines
    )  # peers have a table of their own
    return "\n\n".join([markdown(columns, lines), *(uncommitted_note(runs) if marked else [])])


def kgc_protocols(results: Results) -> str:
    """Link prediction, every metric under its own name."""
    from epignn.report.links import protocols

    return markdown(*protocols(results.runs("kgc")))


def kgc_models(results: Results) -> str:
    """Link prediction by every model that is recorded: full ranking first, then what it took."""
    from epignn.report.links import TRAINING, models

    runs, blocks = results.runs("kgc"), []
    titles = {
        "mrr": "Mean reciprocal rank (%), full filtered ranking",
        "hits@10": "Hits@10 (%), full filtered ranking",
        "grail_hits@10": "Hits@10 (%) among 50 sampled negatives",
        TRAINING: "Processor seconds of training",
    }
    for metric, title in titles.items():
        blocks += [f"{title}:", markdown(*models(runs, metric))]
    commits = ", ".join(sorted({run["commit"] for run in runs if "experiment" in run}))
    return "\n\n".join([*blocks, *uncommitted_note(runs), f"One core; commits {commits}."])


def kgc_sentence(results: Results) -> str:
    """How long the best preset trains, how much memory it takes, how fast it scores."""
    told = []
    for split in ("wn18rr:v1", "fb237:v1", "fb237:v4"):
        if here := [run for run in results.runs("kgc") if run["variant"] == f"{split} best"]:
            seconds, memory = (max(run[key] for run in here) for key in ("training_cpu_seconds", "peak_mb"))
            told.append(f"{split} {seconds:.0f} s ({here[0]['epochs']} epochs, {memory:,} MB)")
    record = results.bench("links")
    scored = record["figures"]["fb237:v4"]
    return (
        f"Training takes, of one core and at most: {', '.join(told)}. "
        f"Scoring all entities for all relations of {scored['heads']:,} heads of fb237:v4 takes "
        f"{scored['score_seconds']:.1f} s and {scored['score_peak_mb']:.0f} MB, "
        f"in chunks of {scored['chunk']} heads."
    )


def kgc_growth(results: Results) -> str:
    """How time and memory grow with edges, heads and dim."""
    record = results.bench("links")
    columns = ["facts", "heads", "dim", "training s", "MB", "scoring s", "MB", "heads a chunk"]
    lines = [
        [
            *(f"{row[key]:,}" for key in ("facts", "heads", "dim")),
            *(f"{row[f'{part}_{key}']:{form}}" for part in ("train", "score") for key, form in GROWTH.items()),
            f"{row['chunk']:,}",
        ]
        for row in record["figures"].values()
        if "facts" in row
    ]
    return markdown(columns, lines) + "\n\n" + _machine(record)


def kgc_kernel(results: Results) -> str:
    """How near the passes are to what the machine can do, and how long an epoch takes."""
    record = results.bench("links")
    columns = ["dim", "GFLOP a head", "forward, GFLOP/s", "matrix product, GFLOP/s", "gradient / forward"]
    columns += ["training, s a head", "MB", "scoring 1,000 heads, s", "MB"]
    lines = [
        [
            f"{row['dim']}",
            f"{row['gflop_a_head']:.2f}",
            f"{row['forward_gflops_per_second']:.0f}",
            f"{row['product_gflops_per_second']:.0f}",
            f"{row['gradient_over_forward']:.1f}",
            f"{row['train_seconds'] / row['trained']:.4f}",
            f"{row['train_peak_mb']:.0f}",
            f"{row['score_seconds']:.1f}",
            f"{row['score_peak_mb']:.0f}",
        ]
        for name, row in record["figures"].items()
        if name.startswith("fb237:v4")
    ]
    return markdown(columns, lines) + "\n\n" + _machine(record)


def recipe_table(family: str) -> Callable[[Results], str]:
    """What was tried for links on graphs cut out of a training graph, and what each step gained."""

    def block(results: Results) -> str:
        runs = results.runs("links-recipe", f"{family}-*")
        steps = tomllib.loads((ROOT / "benchmarks" / "recipes.toml").read_text(encoding="utf-8"))
        found = {name: [run for run in runs if run["step"] == name] for name in steps}
        columns = ["step", "what it changes", "MRR", "gain", "Hits@10", "seeds", "training, CPU s"]
        lines = []
        for name, own in found.items():
            if not own:
                continue
            before = found.get(steps[name].get("of", ""), [])
            gain = f"{_mean(own, 'mrr') - _mean(before, 'mrr'):+.3f}" if before else ""
            seconds = sum(run["training_cpu_seconds"] for run in own) / len(own)
            about = f"{steps[name]['of']}: {steps[name]['about']}" if before else steps[name]["about"]
            shown = [f"{_mean(own, 'mrr'):.3f}", gain, f"{_mean(own, 'hits@10'):.3f}", str(len(own))]
            lines.append([name, about, *shown, f"{seconds:.0f}"])
        return markdown(columns, lines)

    return block


def _mean(runs: list[dict[str, Any]], metric: str) -> float:
    return sum(float(run["figures"][metric]) for run in runs) / len(runs)


GROWTH = {"seconds": ".2f", "peak_mb": ".0f"}


def distil_table(results: Results) -> str:
    """Calculi recovered from trained models."""
    runs = [run for run in results.runs("distil") if "published" in run]
    return markdown(*calculus_table(runs)) + f"\n\n{_machine(runs[0])}"


def recovered_table(results: Results) -> str:
    """Calculi recovered from fewer examples, from wrong labels, and other calculi."""
    return markdown(*recovery_table(results.runs("distil", "recovery_*")))


def distilled_rules(results: Results) -> str:
    """Kinship by distilled rules."""
    return markdown(*rules_table(results.runs("distil", "clutrr*")))


def words_table(name: str) -> Callable[[Results], str]:
    """The words of a calculus, with what they mean."""

    def block(results: Results) -> str:
        calculus = load(name)
        columns, lines = vocabulary(calculus)
        several = [
            f"`{word}` stands for {' or '.join(meant.split('|'))}" for word, meant in unions(calculus).items()
        ]
        code = [column in ("relation", "picture") for column in columns]
        cells = [[f"`{cell}`" if as_is else cell for as_is, cell in zip(code, line, strict=True)] for line in lines]
        table = markdown(columns, cells).replace("---:", "---")
        return f"{table}\n\n{'; '.join(several)}." if several else table

    return block


def settings_tables(results: Results) -> str:
    """Every setting, a table for each class that holds some; what one shares with an earlier one is told once."""
    parts: list[str] = []
    told: dict[str, list[Setting]] = {}
    for what, entries in all_settings().items():
        title, part = what.replace(" ", ": ", 1), what.split()[0]
        alike = {other: set(entries) & set(told[other]) for other in told if other.startswith(f"{part}:")}
        base = max(alike, key=lambda other: len(alike[other]), default="")
        told[title] = entries
        shared = alike.get(base, set()) if len(alike.get(base, ())) > 1 else set()
        own = [s for s in entries if s not in shared]
        lines = [[f"`{s.key}`", f"`{s.default}`" if s.default else "", s.meaning.replace("|", "or")] for s in own]
        table = markdown(["setting", "default", "meaning"], lines).replace("---:", "---") if own else ""
        named = ", ".join(f"`{s.key.partition('.')[2]}`" for s in entries if s in shared)
        also = f"As in *{base}*: {named}." if shared else ""
        parts.append("\n\n".join(filter(None, [f"## {title}", also, table])))
    return "\n\n".join(parts)


def calibration_sentence(results: Results) -> str:
    """What calibration did to the shipped models."""
    shown = []
    for name in ("rcc8", "allen"):
        found = json.loads((ROOT / "src" / "epignn" / "weights" / name / "calibration.json").read_text())
        before, after = (found[when]["calibration_error"] for when in ("before", "after"))
        graphs = found.get("questions", found.get("graphs"))  # as earlier versions called them
        shown.append(f"{before:.4f} → {after:.4f} ({name}, {graphs:,} validation graphs)")
    return f"Of the shipped models, its expected error before and after: {', '.join(shown)}."


def model_sentence(results: Results) -> str:
    record = results.bench("model")
    figures = record["figures"]
    fused, native, plain, published = (
        figures[f"step_{kind}"]["milliseconds"] for kind in ("fused", "native", "numpy", "published")
    )
    return (
        f"A training step of 128 graphs takes {fused:.2f} ms in one call of the compiled kernels, {native:.2f} ms "
        f"by kernels between which torch works, {plain:.0f} ms by plain torch; the published code took "
        f"{published:.0f} ms. Inference at k = 9, b = 3: "
        f"{figures['inference_k9_b3']['graphs_per_second']:,.0f} graphs a second. {_machine(record)}"
    )


def limits_table(results: Results) -> str:
    record = results.bench("limits")
    about = {
        "pair": ("close a chain, one pair of it (`--query`)", "facts"),
        "close": ("close a chain, all pairs", "facts"),
        "mixed": ("the same with a fact `ec\\|ntpp` beside it", "facts"),
        "explain": ("explain the ends of a chain", "facts"),
        "network": ("explain a pair of 300 entities", "facts"),
        "neural": ("explain what the shipped model says of the ends of a chain", "facts"),
        "conflict": ("which facts clash, in one circle (`--algorithm partial`)", "facts"),
    }
    lines = []
    for name, told in record["figures"].items():
        what, size = name.split()
        question, unit = about[what]
        took = f"{told['seconds']:.2g}", f"{told['memory_mb']:,.0f} MB"
        lines.append([question, f"{int(size):,} {unit}", *took])
    return markdown(["question", "size", "CPU seconds", "memory"], lines) + f"\n\n{_machine(record)}"


def serve_sentence(results: Results) -> str:
    record = results.bench("serve")
    full, paced = record["figures"].values()
    return (
        f"Fifty clients that close and explain networks of 30 regions, with a search beside them, get "
        f"{full['requests_per_second']:.0f} answers a second on two cores. At "
        f"{paced['requests_per_second']:.0f} requests a second half of the answers take "
        f"{paced['p50_seconds'] * 1000:.0f} ms, and 99 of 100 at most "
        f"{paced['p99_seconds'] * 1000:.0f} ms. {_machine(record)}"
    )


def files_table(results: Results) -> str:
    record = results.bench("files")
    figures = record["figures"]
    lines = [["start and answer a small question", f"{figures['start']['seconds']:.2f}", ""]]
    for name, row in figures.items():
        if name.startswith("close_"):
            whole = ", ".join(f"{row[way]:.2f}" for way in ("query", "summary", "json"))
            gqr = f"; GQR {row['gqr_seconds']:.2f}" if "gqr_seconds" in row else ""
            boxes = f"{int(name.removeprefix('close_')):,} boxes"
            lines.append(
                [
                    f"close {boxes}: alone; by command, for one answer, the summary, JSON",
                    f"{row['closure']:.2f}; {whole}{gqr}",
                    "",
                ]
            )
        elif name.startswith("read_"):
            what = {"read_table": "facts as CSV"}.get(name, name.removeprefix("read_"))
            lines.append(
                [f"read {row['rows']:,} {what}", f"{row['seconds']:.1f}", f"{row['peak_mb'] / 1000:.1f} GB"]
            )
    lines.append([f"compare {figures['relate']['regions']:,} polygons", f"{figures['relate']['seconds']:.0f}", ""])
    return (
        markdown(["from a file to an answer", "seconds of one core", "memory"], lines) + f"\n\n{_machine(record)}"
    )


def stream_sentence(results: Results) -> str:
    record = results.bench("stream")
    figures = record["figures"]["stream_300"]
    return (
        f"{figures['steps']:,} facts that come and go on 300 entities take {figures['seconds']:.0f} s of one core, "
        f"{figures['factor']:.0f} times less than closing anew after each. {_machine(record)}"
    )


def workers_table(results: Results) -> str:
    """How much faster two workers are, for each kind of work."""
    record = results.bench("workers")
    columns = ["work", "one worker, s", "two, s", "times as fast", "processor seconds, one", "two"]
    keys = ("workers_1_seconds", "workers_2_seconds", "faster", "workers_1_cpu_seconds", "workers_2_cpu_seconds")
    lines = [[kind, *(f"{row[key]:.2f}" for key in keys)] for kind, row in record["figures"].items()]
    return markdown(columns, lines) + f"\n\n{_machine(record)}{_busy(record)}"


def parallel_table(results: Results) -> str:
    """How long a step takes by one process and by two that share it."""
    record = results.bench("parallel")
    columns = ["a step", "parameters", "one process, ms", "two, ms", "times as fast"]
    columns += ["processor ms of one", "of each of two", "times less"]
    lines = []
    for name, row in record["figures"].items():
        cells = [name, f"{row['parameters']:,}"]
        for kind in ("seconds", "cpu_seconds"):
            alone, together = row[f"alone_{kind}"], row[f"together_{kind}"]
            cells += [f"{1000 * alone:.1f}", f"{1000 * together:.1f}", f"{alone / together:.2f}"]
        lines.append(cells)
    return markdown(columns, lines) + f"\n\n{_machine(record)}{_busy(record)}"


def large_graph(results: Results) -> str:
    """A pass over a large graph, and what follows from it for all heads, with the arithmetic."""
    record = results.bench("large_graph")
    row = record["figures"]["large_graph"]
    cores, each = row["machines"] * row["cores"], row["pass_cpu_seconds"]
    hours = each * row["entities"] / cores / 3600
    everybody = f"{row['machines']} machines of {row['cores']} cores"
    told = (
        f"A generated graph of {row['facts']:,} facts and {row['entities']:,} entities is opened in "
        f"{row['opened_seconds']:.2g} s. Scoring all entities for all {row['relations']} relations and their "
        f"inverses, of {row['heads']:,} heads, took {each:.2g} s of one core a head, and "
        f"{row['peak_mb'] / 1000:.1f} GB in all. This was measured. Extrapolated, not measured: all heads on "
        f"{everybody} take {row['entities']:,} × {each:.2g} s / ({row['machines']} × {row['cores']}) = "
        f"{hours:.2g} hours"
    )
    if "pruned_cpu_seconds" in row:
        pruned = row["pruned_cpu_seconds"]
        told += (
            f"; by passes that follow at most {100 * row['pruned_share']:.2g} % of the entities, which take "
            f"{pruned:.2g} s a head (measured on {row['pruned_heads']:,}), "
            f"{pruned * row['entities'] / cores / 3600:.2g} hours"
        )
    return f"{told}. {_machine(record)}{_busy(record)}"


def pruned_table(results: Results) -> str:
    """What pruned passes lose on validation triples, and how much faster they are."""
    record = results.bench("pruned")
    columns = ["graph", "share of entities", "Hits@10 by passes alone", "MRR", "processor seconds", "times less"]
    columns += ["Hits@10 of the preset", "MRR"]
    lines = []
    for graph, by_share in record["figures"].items():
        for share, row in by_share.items():
            spent = row["cpu_seconds"]
            cells = [graph, share, f"{row['passes_hits@10']:.3f}", f"{row['passes_mrr']:.3f}", f"{spent:.1f}"]
            less = by_share["1"]["cpu_seconds"] / spent
            lines.append([*cells, f"{less:.1f}", f"{row['hits@10']:.3f}", f"{row['mrr']:.3f}"])
    return markdown(columns, lines) + f"\n\n{_machine(record)}"


def _busy(record: dict[str, Any]) -> str:
    """What a reader has to know of a machine that did other work besides."""
    load = max(row.get("load", 0.0) for row in record["figures"].values())
    if load <= record["cores"]:
        return ""
    return (
        f" Other work ran beside it (load up to {load:.0f} on {record['cores']} cores), so that times are too long."
    )


def verified_table(results: Results) -> str:
    """How far runs agreed with their records."""
    columns = [
        "table",
        "row",
        "seed",
        "recorded",
        "now",
        "cells equal",
        "largest difference",
        "recorded by",
        "now by",
    ]
    lines = [
        [
            run["table"],
            run["row"],
            str(run["seed"]),
            f"{run['recorded']:.3f}",
            f"{run['now']:.3f}",
            f"{run['equal']} of {run['cells']}",
            f"{run['largest']:.3f}",
            run["of"],
            run["commit"],
        ]
        for run in results.runs("verified")
    ]
    return markdown(columns, lines)


def ceilings_table(results: Results) -> str:
    """What labels determine: how far clashes among them let anybody come."""
    record = results.bench("ceilings")
    columns = ["problems", "rows of one answer", "best by clashes", "labels of frequent training walks that agree"]
    rows = [
        [name, *(f"{row[key]:.3f}" if key in row else "" for key in ("one_answer", "clashes", "often"))]
        for name, row in record["figures"].items()
    ]
    return f"{markdown(columns, rows)}\n\n{_machine(record)}"


def profile_table(results: Results) -> str:
    """How far models hold beyond their training graphs."""
    path = results.folder / "profile_rcc8.json"
    if not path.exists():
        raise CannotRender(f"there is no record {path}")
    record = json.loads(path.read_text(encoding="utf-8"))
    plan = record["plan"]
    columns = ["model", f"{plan['least']} holds up to k, b = {plan['b']}", f"accuracy by k = {', '.join(SHOWN)}"]
    lines = []
    for model in record["models"]:
        reached = {str(cell["k"]): f"{cell['accuracy']:.2f}" for cell in model["by_k"]}
        shown = ", ".join(reached.get(k, "–") for k in SHOWN)
        lines.append((model["holds"]["k"] or 0, [model["name"], str(Holds(**model["holds"])), shown]))
    lines.sort(key=lambda line: -line[0])
    return f"{markdown(columns, [line for _, line in lines])}\n\n{_machine(record)}"


SHOWN = ("4", "9", "15", "30")
"""The path lengths of a profile whose accuracy is shown."""


def _machine(record: dict[str, Any]) -> str:
    return f"{record['cpu']}, {record['cores']} cores, Python {record['python']}, commit {record['commit']}."


BLOCKS: dict[str, Callable[[Results], str]] = {
    "headlines": headlines,
    "closure-sentence": closure_sentence,
    "limits-table": limits_table,
    "serve-sentence": serve_sentence,
    "files-table": files_table,
    "stream-sentence": stream_sentence,
    "workers-table": workers_table,
    "parallel-table": parallel_table,
    "large-graph": large_graph,
    "pruned-table": pruned_table,
    "closure-table": closure_table,
    "generator-table": generator_table,
    "model-sentence": model_sentence,
    "rcc8-profile": profile_table,
    "rcc8-table": rcc8_table,
    "ia-table": suite_table("ia"),
    "expanded-table": suite_table("expanded"),
    "long-table": suite_table("long"),
    "beyond-counting-table": suite_table("beyond-counting"),
    "rounds-table": suite_table("rounds"),
    "ablations-table": suite_table("ablations"),
    "unconstrained-table": suite_table("unconstrained"),
    "verified-table": verified_table,
    "clutrr-table": suite_table("clutrr"),
    "clutrr23-table": suite_table("clutrr-23"),
    "graphlog-table": suite_table("graphlog"),
    "families-table": suite_table("families"),
    "worlds-table": suite_table("worlds"),
    "ceilings-table": ceilings_table,
    "paths-table": suite_table("paths"),
    "differences-table": suite_table("differences"),
    "kgc-table": kgc_table,
    "distil-table": distil_table,
    "recovery-table": recovered_table,
    "rules-table": distilled_rules,
    "calibration-sentence": calibration_sentence,
    "settings": settings_tables,
    "kgc-protocols": kgc_protocols,
    "kgc-models": kgc_models,
    "kgc-sentence": kgc_sentence,
    "kgc-growth": kgc_growth,
    "kgc-kernel": kgc_kernel,
    "recipe-fb": recipe_table("fb"),
    "recipe-wn": recipe_table("wn"),
    **{f"words-{name}": words_table(name) for name in CALCULI},
    **{f"{name}-models": models_table(name) for name in GROUNDS},
}


def render(text: str, folder: Path) -> str:
    """The text with every block it has filled from the records of a folder.

    Raises:
        CannotRender: a block has no records or is unknown, or marks do not come in pairs.
    """
    results = Results(folder)
    marks = list(MARK.finditer(text))
    if len(marks) % 2 or len({mark[2] for mark in marks}) * 2 != len(marks):
        raise CannotRender("every block has one begin mark and one end mark")
    parts, at = [], 0
    for begin, end in zip(marks[::2], marks[1::2], strict=True):
        name = begin[2]
        if (begin[1], end[1], end[2]) != ("begin", "end", name):
            raise CannotRender(f"after {begin[0]} comes {end[0]}")
        if name not in BLOCKS:
            raise CannotRender(f"unknown block {name!r}; known: {', '.join(BLOCKS)}")
        parts += [text[at : begin.end()], "\n", BLOCKS[name](results), "\n"]
        at = end.start()
    return "".join([*parts, text[at:]])


def main() -> None:
    stale = []
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
        text = path.read_text(encoding="utf-8")
        try:
            rendered = render(text, ROOT / "results")
        except CannotRender as error:
            sys.exit(f"{path.name}: {error}")
        if text != rendered:
            stale.append(path.name)
            if "--check" not in sys.argv:
                path.write_text(rendered, encoding="utf-8")
    if "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; python benchmarks/render.py" if stale else 0)


if __name__ == "__main__":
    main()
