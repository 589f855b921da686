"""Pictures of what distillation recovers, drawn with matplotlib, which is loaded only here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from epignn.report.pictures import COLOURS

LINES = {
    "equal": "cells right",
    "disjunctive": "cells with more than the truth",
    "excluding": "cells that exclude a truth",
    "by_weights": "cells right, weights and laws alone",
}
"""What is drawn, by its key in a point."""


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
