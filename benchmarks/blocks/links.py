"""Link prediction: what models reach, what was tried, how time grows."""

import tomllib
from collections.abc import Callable
from typing import Any

from blocks.results import ROOT, CannotRender, Results, machine
from epignn.report.links import TITLES, differences, models, protocols
from epignn.report.links import rows as kgc_rows
from epignn.report.tables import CHANGED, markdown, uncommitted_note
from epignn.tasks import SPLITS


def kgc_table(metric: str) -> Callable[[Results], str]:
    """Link prediction by our presets, in percent, a row a split."""

    def block(results: Results) -> str:
        runs = results.runs("kgc")
        columns, lines = kgc_rows(runs, metric)
        seeds = columns.index("seeds")
        marked = any(line[seeds].endswith(CHANGED) for line in lines)  # peers have a table of their own
        return "\n\n".join([markdown(columns, lines), *(uncommitted_note(runs) if marked else [])])

    return block


def kgc_protocols(results: Results) -> str:
    """Link prediction, every metric under its own name."""
    return markdown(*protocols(results.runs("kgc")))


def links_models(table: str, *metrics: str) -> Callable[[Results], str]:
    """Link prediction by every model that is recorded in a table: a table for each metric."""

    def block(results: Results) -> str:
        runs, blocks = results.runs(table), []
        for metric in metrics:
            blocks += [f"{TITLES[metric]}:", markdown(*models(runs, metric))]
        commits = ", ".join(sorted({run["commit"] for run in runs if "figures" not in run}))
        return "\n\n".join([*blocks, *uncommitted_note(runs), f"One core; commits {commits}."])

    return block


def kgc_differences(results: Results) -> str:
    """Models against ours on the same test triples."""
    columns, lines = differences(results.runs("kgc"))
    if not lines:
        raise CannotRender("no record has the ranks of its test triples")
    return markdown(columns, lines)


def kgc_headline(results: Results) -> str:
    """What the best preset reaches in full ranking, beside NBFNet as published."""
    columns, lines = kgc_rows(results.runs("kgc"))
    if missing := set(SPLITS) - {line[0] for line in lines}:
        raise CannotRender(f"there is no record of {', '.join(sorted(missing))}")
    ours, theirs = columns.index("ours, best"), columns.index("NBFNet")

    def told(column: int) -> str:
        figures = [line[column].partition(" ")[0] for line in lines]
        return " and ".join(", ".join(figures[first : first + 4]) for first in (0, 4))

    return (
        "Mean reciprocal rank (%) among all entities on the inductive splits v1 to v4 of WN18RR and of FB15k-237: "
        f"{told(ours)}. NBFNet has, as published, {told(theirs)}."
    )


def kgc_sentence(results: Results) -> str:
    """How long the best preset trains, how much memory it takes, how fast it scores."""
    told = []
    for split in ("wn18rr:v1", "fb237:v1", "fb237:v4"):
        if here := [run for run in results.runs("kgc") if run["variant"] == f"{split} best"]:
            seconds, memory = (max(run[key] for run in here) for key in ("training_cpu_seconds", "peak_mb"))
            told.append(f"{split} {seconds:.0f} s ({here[0]['epochs']} epochs, {memory:,} MB)")
    record = results.bench("links")
    scored, preset = (record["figures"][f"fb237:v4, {which}"] for which in ("dim 128", "preset"))
    return (
        f"Training takes, of one core and at most: {', '.join(told)}. "
        f"Passes of dim {scored['dim']} that score all entities for all relations of {scored['heads']:,} heads of "
        f"fb237:v4 take {scored['score_seconds']:.1f} s of one core, {scored['score_seconds_all_cores']:.1f} s on "
        f"{record['cores']} cores, and {scored['score_peak_mb']:.0f} MB, in chunks of {scored['chunk']} heads; "
        f"with the rules and frequencies of its preset {preset['score_seconds']:.1f} s and "
        f"{preset['score_seconds_all_cores']:.1f} s."
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
    return markdown(columns, lines) + "\n\n" + machine(record)


GROWTH = {"seconds": ".2f", "peak_mb": ".0f"}


def kgc_kernel(results: Results) -> str:
    """How near the passes are to what the machine can do, and what they take on one core and on all, by width."""
    record = results.bench("links")
    columns = ["dim", "GFLOP a head", "forward, GFLOP/s", "matrix product, GFLOP/s", "gradient / forward"]
    columns += ["training 1,000 heads, s", f"on {record['cores']} cores", "MB"]
    columns += ["scoring 1,000 heads, s", f"on {record['cores']} cores", "MB"]
    lines = []
    for name, row in record["figures"].items():
        if not name.startswith("fb237:v4, dim"):
            continue
        trained = [1000 * row[f"train_seconds{cores}"] / row["trained"] for cores in ("", "_all_cores")]
        scored = [1000 * row[f"score_seconds{cores}"] / row["heads"] for cores in ("", "_all_cores")]
        kernel = [f"{row[key]:{form}}" for key, form in KERNEL.items()]
        memory = [f"{row[f'{part}_peak_mb']:.0f}" for part in ("train", "score")]
        seconds = [[f"{value:.1f}" for value in part] for part in (trained, scored)]
        lines.append([f"{row['dim']}", *kernel, *seconds[0], memory[0], *seconds[1], memory[1]])
    return markdown(columns, lines) + "\n\n" + machine(record)


KERNEL = {
    "gflop_a_head": ".2f",
    "forward_gflops_per_second": ".0f",
    "product_gflops_per_second": ".0f",
    "gradient_over_forward": ".1f",
}


def recipe_table(family: str) -> Callable[[Results], str]:
    """What was tried for links, and what each step gained over the one that it changes, on the same graph."""

    def block(results: Results) -> str:
        runs = results.runs("links-recipe", f"{family}-*")
        steps = tomllib.loads((ROOT / "benchmarks" / "recipes.toml").read_text(encoding="utf-8"))
        found = {name: [run for run in runs if run["step"] == name] for name in steps}
        columns = ["step", "what it changes", "MRR", "gain", "Hits@10", "seeds", "training, CPU s"]
        lines = []
        for name, own in found.items():
            if not own:
                continue
            before = [run for run in found.get(steps[name].get("of", ""), []) if run["split"] == own[0]["split"]]
            gain = f"{_mean(own, 'mrr') - _mean(before, 'mrr'):+.3f}" if before else ""
            seconds = sum(run["training_cpu_seconds"] for run in own) / len(own)
            about = f"{steps[name]['of']}: {steps[name]['about']}" if before else steps[name]["about"]
            shown = [f"{_mean(own, 'mrr'):.3f}", gain, f"{_mean(own, 'hits@10'):.3f}", str(len(own))]
            lines.append([name, about, *shown, f"{seconds:.0f}"])
        return markdown(columns, lines)

    return block


def _mean(runs: list[dict[str, Any]], metric: str) -> float:
    return sum(float(run["figures"][metric]) for run in runs) / len(runs)


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
    return markdown(columns, lines) + f"\n\n{machine(record)}"
