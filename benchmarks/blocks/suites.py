"""What models reach on graphs: blocks from the records of suites."""

import json
from collections.abc import Callable
from statistics import mean

from blocks.results import CannotRender, Results, machine
from epignn.report.distilled import calculus_table, recovery_table, rules_table
from epignn.report.models import ALL, kinds_of, suite_of_models
from epignn.report.profile import Holds
from epignn.report.suites import SUITES
from epignn.report.tables import (
    Measure,
    Record,
    accuracy,
    by_variant,
    distilled,
    figures,
    markdown,
    notes,
    rows,
)


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


def rcc8_table(results: Results) -> str:
    runs = results.runs("rcc8")
    commits = ", ".join(sorted({run["commit"] for run in runs}))
    return suite_table("rcc8")(results) + f"\n\n{machine({**runs[0], 'commit': commits})} One core."


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
    return f"{markdown(columns, rows)}\n\n{machine(record)}"


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
    return f"{markdown(columns, [line for _, line in lines])}\n\n{machine(record)}"


SHOWN = ("4", "9", "15", "30")
"""The path lengths of a profile whose accuracy is shown."""


def distil_table(results: Results) -> str:
    """Calculi recovered from trained models."""
    runs = [run for run in results.runs("distil") if "published" in run]
    return markdown(*calculus_table(runs)) + f"\n\n{machine(runs[0])}"


def recovered_table(results: Results) -> str:
    """Calculi recovered from fewer examples, from wrong labels, and other calculi."""
    return markdown(*recovery_table(results.runs("distil", "recovery_*")))


def distilled_rules(results: Results) -> str:
    """Kinship by distilled rules."""
    return markdown(*rules_table(results.runs("distil", "clutrr*")))
