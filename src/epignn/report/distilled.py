"""Tables and a picture of what distillation recovers, from records alone. matplotlib is loaded when it draws."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from statistics import fmean
from typing import Any

from epignn.report.pictures import COLOURS
from epignn.tasks.registry import find

Record = Mapping[str, Any]
Table = tuple[list[str], list[list[str]]]
LINES = {
    "equal": "cells right",
    "disjunctive": "cells with more than the truth",
    "excluding": "cells that exclude a truth",
    "by_weights": "cells right, weights and laws alone",
}
"""What the picture shows, by its key in a point."""


def _grouped(records: Sequence[Record], key: Any) -> list[tuple[Any, list[Record]]]:
    return [(value, list(group)) for value, group in groupby(sorted(records, key=key), key=key)]


def _cells(records: Sequence[Record], key: str) -> str:
    """Cells recovered by each seed, of how many."""
    found = [record[key]["equal"] for record in records]
    shown = str(found[0]) if len(set(found)) == 1 else ", ".join(map(str, found))
    return f"{shown} of {records[0][key]['cells']}"


def _accuracy(files: Sequence[Mapping[str, Any]]) -> str:
    """The lowest accuracy of any file, and how many problems all files have."""
    return f"{min(file['accuracy'] for file in files):.3f} of {sum(file['n'] for file in files):,}"


def calculus_table(records: Sequence[Record]) -> Table:
    """By preset: the cells recovered by each seed, and the lowest accuracy of exact closure on any file."""
    columns = [
        "model", "seeds", "cells, each seed", "by weights and laws alone", "seconds", "published files",
        "k up to 15, b up to 8", "k = 100",
    ]  # fmt: skip
    rows = []
    for name, runs in _grouped(records, lambda r: r["experiment"]["name"]):
        cells = [cell for run in runs for cell in run["cells"]]
        published = [file for run in runs for file in run["published"]]
        rows.append(
            [
                name,
                str(len(runs)),
                _cells(runs, "recovery"),
                _cells(runs, "recovery_by_weights"),
                f"{fmean(run['seconds'] for run in runs):.0f}",
                _accuracy(published) if published else "",
                _accuracy([cell for cell in cells if cell["k"] < 100]),
                _accuracy([cell for cell in cells if cell["k"] == 100]),
            ]
        )
    return columns, rows


def recovery_table(records: Sequence[Record]) -> Table:
    """By calculus, training graphs and share of wrong labels: cells recovered, and cells that exclude a truth."""
    columns = ["calculus", "training graphs", "wrong labels", "cells, each seed", "cells that exclude a truth"]

    def setting(record: Record) -> tuple[bool, str, int, float]:
        return record["calculus"] == "rcc8", record["calculus"], -record["graphs"], record["noise"]

    rows = []
    for (_, name, graphs, noise), runs in _grouped(records, setting):
        excluding = [run["recovery"]["excluding"] for run in runs]
        rows.append(
            [
                name,
                f"{-graphs:,}",
                f"{noise:.0%}" if noise else "none",
                f"{_cells(runs, 'recovery')} ({len(runs)} seed{'s' if len(runs) > 1 else ''})",
                "none" if not any(excluding) else ", ".join(map(str, excluding)),
            ]
        )
    return columns, rows


def rules_table(records: Sequence[Record]) -> Table:
    """By training set and hops: accuracy of distilled rules on rows with one answer, and the rows with several."""
    hops = sorted({_hops(file["file"]) for record in records for file in record["files"]})
    hops = [number for number in hops if number > min(map(_longest, records))]
    columns = ["trained on", "seeds", "rules", "average", *(f"{number} hops" for number in hops)]
    rows = []
    for _, runs in _grouped(records, lambda r: (-_longest(r), r["experiment"]["data"]["source"])):
        by_hops = {
            number: [file for run in runs for file in run["files"] if _hops(file["file"]) == number]
            for number in hops
            if number > _longest(runs[0])
        }
        clear = {number: fmean(file["unambiguous"] for file in files) for number, files in by_hops.items()}
        rows.append(
            [
                f"2 to {_longest(runs[0])} hops",
                str(len(runs)),
                f"{fmean(run['rules'] for run in runs):.0f}, {fmean(run['shown'] for run in runs):.0f} shown",
                f"{fmean(clear.values()):.3f}",
                *(_apart(clear[number], by_hops[number]) if number in clear else "" for number in hops),
            ]
        )
    return columns, rows


def _apart(share: float, files: Sequence[Mapping[str, Any]]) -> str:
    """The accuracy on rows with one answer; in brackets, how many have several and how many of them the label."""
    several = max(file["ambiguous"] for file in files)
    among = min(file["among"] for file in files)
    return f"{share:.3f}" + (
        f" (+{several})" if several == among > 0 else f" (+{several}, {among})" if several else ""
    )


def _hops(file: str) -> int:
    """`1.10_test.csv.gz` has 10 hops; `1.2,1.3_train.csv` up to 3."""
    return int(file.split("_")[0].rpartition(".")[2])


def _longest(record: Record) -> int:
    """The most hops of its training walks."""
    return max(_hops(name) for name in find(record["experiment"]["data"]["source"]).files if "train" in name)


def recovery(panels: Mapping[str, Sequence[Mapping[str, float]]], path: Path) -> None:
    """Shares of cells against the number of examples, or the share of wrong labels: a panel each.

    Args:
        panels: by the label of their x axis, points with `x` and a share for every key of `LINES`.
        path: the file to draw to.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    FigureCanvasAgg(figure)
    shown: Any = figure.subplots(1, len(panels), squeeze=False, sharey=True)[0]
    for axes, (title, points) in zip(shown, panels.items(), strict=True):
        ordered = sorted(points, key=lambda point: point["x"])
        x = [point["x"] for point in ordered]
        for colour, (key, label) in zip(COLOURS, LINES.items(), strict=False):
            style = "--" if key == "by_weights" else "-"
            axes.plot(x, [p[key] for p in ordered], style, marker="o", markersize=4, color=colour, label=label)
        if x and min(x) > 0 and max(x) / min(x) > 30:
            axes.set_xscale("log")
        axes.set(xlabel=title, ylim=(-0.03, 1.03))
        axes.set_xticks(x, [f"{value:,.0f}" if value >= 1 else f"{value:g}" for value in x])
        axes.set_xticks([], minor=True)
        axes.spines[["top", "right"]].set_visible(False)
        axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    shown[0].set_ylabel("share of cells")
    shown[0].legend(frameon=False, loc="center right")
    figure.savefig(path, dpi=130)
