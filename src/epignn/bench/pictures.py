"""Pictures, drawn with matplotlib, which is loaded only here."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from epignn.models.epignn import EpiGNN

COLOURS = ("#1b6ca8", "#d1495b", "#66a182", "#edae49", "#8d6a9f", "#5c5c5c", "#2e4057", "#b56576")


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _plain(axes: Any) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis="y", color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)


def accuracy_by_k(curves: Mapping[str, Sequence[tuple[int, float]]], title: str, path: Path) -> None:
    """Accuracy against path length k, one line a name."""
    figure = _figure(7, 4)
    axes = figure.add_subplot()
    for colour, (name, points) in zip(COLOURS, curves.items(), strict=False):
        k, accuracy = zip(*points, strict=True)
        axes.plot(k, accuracy, marker="o", markersize=4, color=colour, label=name)
    axes.set(xlabel="path length k", ylabel="accuracy", title=title)
    lowest = min(accuracy for points in curves.values() for _, accuracy in points)
    axes.set_ylim(min(0.9, lowest - 0.05), 1.01)
    axes.set_xticks(sorted({k for points in curves.values() for k, _ in points}))
    axes.legend(frameon=False, loc="lower left")
    _plain(axes)
    figure.savefig(path, dpi=130)


def relation_vectors(model: "EpiGNN", relations: Sequence[str], title: str, path: Path) -> None:
    """The learnt relation vectors as a heat map: a row a relation, facets side by side."""
    vectors = model.relation_vectors().detach().numpy()
    count, facets, size = vectors.shape
    figure = _figure(max(6, 0.13 * facets * size + 1.5), 0.28 * count + 1.4)
    axes = figure.add_subplot()
    image = axes.imshow(
        vectors.reshape(count, -1), aspect="auto", cmap="Blues", vmin=0, vmax=1, interpolation="nearest"
    )
    for facet in range(1, facets):
        axes.axvline(facet * size - 0.5, color="black", linewidth=0.8)
    axes.set_yticks(range(count), relations)
    axes.set_xticks(np.arange(facets) * size + size / 2 - 0.5, [f"facet {f + 1}" for f in range(facets)])
    axes.tick_params(length=0)
    axes.set_title(title)
    figure.colorbar(image, ax=axes, shrink=0.8)
    figure.savefig(path, dpi=130)
