"""How pictures look. Functions give figures, `save` writes them; matplotlib is loaded only here.

Colours are those of Okabe and Ito, told apart by people of any colour vision; lines differ in their marks as well.
"""

from collections.abc import Mapping, Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from epignn.errors import BadFile

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from epignn.models.epignn import EpiGNN

Curves = Mapping[str, Sequence[Sequence[float]]]
"""Lines by name; a point is x, and y for each seed."""
Axis = tuple[Sequence[float], Sequence[tuple[float, str]]]
"""Where each line crosses an axis, from 0 to 1, and what is written at which height."""
Bands = Mapping[str, Sequence[tuple[float, float, float, float]]]
"""Lines by name; a point is x, y, and the ends of the interval of y."""
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
MARKS = ("o", "s", "^", "D", "v")
PATH_LENGTH = "path length k"
WIDE = 20
"""From this ratio of the largest value to the least on, an axis is logarithmic."""
KINDS = (".png", ".svg", ".pdf")


def check_name(path: Path) -> None:
    """Refuse a picture's name before the work for it is done.

    Raises:
        BadFile: for other formats than PNG, SVG and PDF.
    """
    if path.suffix not in KINDS:
        raise BadFile(f"a picture's name ends with {', '.join(KINDS)}.", str(path))


def save(figure: "Figure", path: Path, also: Sequence[str] = ()) -> Path:
    """Write a figure whole or not at all, in the format its name ends with, and beside it in others.

    Raises:
        BadFile: for other formats than PNG, SVG and PDF, or where it cannot be written.
    """
    from matplotlib import rc_context

    from epignn.files import make_folder, writing

    check_name(path)
    make_folder(path.parent)
    for suffix in (path.suffix, *also):
        undated = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(suffix, {})
        fixed = rc_context({"svg.fonttype": "none", "svg.hashsalt": "epignn"})
        with writing(path.with_suffix(suffix)) as part, fixed:
            figure.savefig(part, format=suffix[1:], dpi=130, metadata=undated)
    return path


def accuracy_by_k(curves: Curves, title: str) -> "Figure":
    """Accuracy against path length, a line a name."""
    return accuracy_panels({"": curves}, title)


def accuracy_panels(
    panels: Mapping[str, Curves], title: str, axis: str = PATH_LENGTH, reference: Curves | None = None
) -> "Figure":
    """Panels side by side on the same axes, with the same lines in each, or one panel.

    Args:
        panels: lines by panel; several seeds give their mean and a band from the least to the greatest.
        title: of the whole.
        axis: what x is.
        reference: published figures, as dashed lines, in every panel.
    """
    from matplotlib.ticker import FixedLocator

    columns = 3 if len(panels) in (3, 5, 6) else min(len(panels), 2)
    lines = -(-len(panels) // columns)
    figure = _figure({1: 7.5, 2: 9.0, 3: 11.0}[columns], 3.1 * lines + 1)
    grid = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False).flatten()
    published = reference or {}
    for axes in grid[len(panels) :]:
        axes.set_visible(False)
    for axes, (name, curves) in zip(grid, panels.items(), strict=False):
        styles = zip(cycle(COLOURS), cycle(MARKS), strict=False)
        for (label, points), (colour, mark) in zip((*curves.items(), *published.items()), styles, strict=False):
            _line(axes, label, np.array(points, dtype=float), colour, mark, dashed=label in published)
        axes.set_title(name, fontsize="medium")
        axes.set(xlabel=axis, ylabel="accuracy")
        axes.tick_params(labelbottom=True, labelleft=True)
        _plain(axes)
    points = [point for curves in (*panels.values(), published) for line in curves.values() for point in line]
    first = figure.axes[0]
    first.set_ylim(min(0.9, min(min(point[1:]) for point in points) - 0.03), 1.01)
    first.xaxis.set_major_locator(FixedLocator(sorted({point[0] for point in points})))
    figure.suptitle(title)
    _legend(figure, *first.get_legend_handles_labels())
    return figure


def _line(axes: Any, name: str, points: Any, colour: str, mark: str, dashed: bool) -> None:
    """The mean over seeds, and a band over all of them."""
    x, seeds = points[:, 0], points[:, 1:]
    style = {"linestyle": "--", "markerfacecolor": "white"} if dashed else {}
    axes.plot(x, seeds.mean(1), marker=mark, markersize=4.5, color=colour, label=name, **style)
    if seeds.shape[1] > 1:
        axes.fill_between(x, seeds.min(1), seeds.max(1), color=colour, alpha=0.15, linewidth=0)


def profiles(
    panels: Mapping[str, tuple[str, Bands]], title: str, least: float, reference: Sequence[str] = ()
) -> "Figure":
    """Accuracy against the size of problems, a panel each way to grow, with intervals as bands.

    Args:
        panels: what x is and the lines, by the name of the panel.
        title: of the whole.
        least: an accuracy that is marked.
        reference: names of lines that are dashed, without a band.
    """
    from matplotlib.ticker import MaxNLocator

    figure = _figure(9.0 if len(panels) > 1 else 7.5, 4.3)
    grid = figure.subplots(1, len(panels), sharey=True, squeeze=False).flatten()
    names = dict.fromkeys(name for _, lines in panels.values() for name in lines)
    styles = dict(zip(names, zip(cycle(COLOURS), cycle(MARKS), strict=False), strict=False))
    lowest = 0.9
    for axes, (name, (axis, lines)) in zip(grid, panels.items(), strict=True):
        axes.axhline(least, color="#999999", linewidth=0.8, linestyle=":")
        for label, points in lines.items():
            colour, mark = styles[label]
            x, y, low, high = np.array(points, dtype=float).T
            _line(axes, label, np.stack([x, y], 1), colour, mark, dashed=label in reference)
            if label not in reference:
                axes.fill_between(x, low, high, color=colour, alpha=0.15, linewidth=0)
            lowest = min(lowest, low.min() - 0.03)
        axes.set_title(name, fontsize="medium")
        axes.set(xlabel=axis, ylabel="accuracy")
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.tick_params(labelleft=True)
        _plain(axes)
    grid[0].set_ylim(max(0.0, lowest), 1.01)
    figure.suptitle(title)
    _legend(figure, *grid[0].get_legend_handles_labels())
    return figure


def accuracy_by_row(
    own: Mapping[str, Mapping[str, float]],
    published: Mapping[str, Mapping[str, float]],
    places: Sequence[str],
    title: str,
) -> "Figure":
    """Accuracies of many models at few places: a line a model, a full mark a place; hollow marks are published."""
    names = [*own, *(name for name in published if name not in own)]
    figure = _figure(8, 0.32 * len(names) + 1.5)
    axes = figure.add_subplot()
    for place, colour, mark in zip(places, cycle(COLOURS), cycle(MARKS), strict=False):
        for values, filled, label in ((own, True, place), (published, False, f"{place}, published")):
            at = [(values[name][place], row) for row, name in enumerate(names) if place in values.get(name, {})]
            if at:
                x, y = zip(*at, strict=True)
                face, size = (colour, 38) if filled else ("none", 95)
                axes.scatter(x, y, s=size, marker=mark, facecolor=face, edgecolor=colour, label=label)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(0, 1.03)
    axes.set_xlabel("accuracy")
    _plain(axes, along="x")
    axes.grid(axis="y", color="#eeeeee", linewidth=0.8)
    figure.suptitle(title)
    _legend(figure, *axes.get_legend_handles_labels())
    return figure


def bars(values: Mapping[str, float], axis: str, title: str) -> "Figure":
    """A bar a name, with its value; the axis is logarithmic where values are wide apart."""
    figure = _figure(8, 0.34 * len(values) + 1.3)
    axes = figure.add_subplot()
    drawn = axes.barh(list(values), list(values.values()), color=COLOURS[0], height=0.65)
    axes.bar_label(
        drawn, [f"{value:,.0f}" if value >= 10 else f"{value:.2g}" for value in values.values()], padding=3
    )
    positive = [value for value in values.values() if value > 0]
    if positive and max(positive) / min(positive) >= WIDE:
        axes.set_xscale("log")
        axes.set_xlim(min(positive) / 2, max(positive) * 4)
        axis += " (logarithmic)"
    else:
        axes.margins(x=0.12)
    axes.invert_yaxis()
    axes.set_xlabel(axis)
    _plain(axes, along="x")
    figure.suptitle(title)
    return figure


def points(values: Mapping[str, tuple[float, float]], across: str, up: str, title: str) -> "Figure":
    """Named points; the axis across is logarithmic, and a line leads from every point to its name at the side."""
    figure = _figure(9.5, max(6.5, 0.19 * len(values) + 1))
    axes = figure.add_subplot()
    axes.set(xscale="log", xlabel=f"{across} (logarithmic)", ylabel=up)
    for (name, (x, y)), colour, mark in zip(values.items(), cycle(COLOURS), cycle(MARKS), strict=False):
        axes.scatter([x], [y], color=colour, marker=mark, s=42, label=name, zorder=3)
    axes.margins(x=0.08, y=0.06)
    _plain(axes)
    figure.suptitle(title)
    low, high = axes.get_ylim()
    wanted = {name: (y - low) / (high - low) for name, (_, y) in values.items()}
    for (name, place), colour in zip(_spread(wanted).items(), cycle(COLOURS), strict=False):
        axes.annotate(
            name,
            values[name],
            (1.03, place),
            textcoords="axes fraction",
            va="center",
            fontsize="small",
            color=colour,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.5, "alpha": 0.6, "relpos": (0, 0.5)},
        )
    return figure


def _spread(wanted: Mapping[str, float]) -> dict[str, float]:
    """Heights between 0 and 1 for names that do not touch, each as near to the wanted one as those above let it."""
    gap = min(0.035, 1 / max(len(wanted) - 1, 1))
    order = sorted(wanted, key=lambda name: -wanted[name])
    found: dict[str, float] = {}
    above = 1 + gap
    for name in order:
        above = found[name] = min(wanted[name], above - gap)
    below = -gap
    for name in reversed(order):
        below = found[name] = max(found[name], below + gap)
    return {name: found[name] for name in wanted}


def cells(values: Mapping[str, Mapping[str, float]], title: str, across: str) -> "Figure":
    """Accuracy as a map: a row a model, a column a test cell, with the figures written in."""
    columns = list(dict.fromkeys(place for row in values.values() for place in row))
    grid = np.array([[row.get(place, np.nan) for place in columns] for row in values.values()])
    figure = _figure(min(2.6 + 0.46 * len(columns), 20), 0.27 * len(values) + 1.6)
    axes = figure.add_subplot()
    image = axes.imshow(grid, aspect="auto", cmap="viridis", vmin=0, vmax=1, interpolation="nearest")
    for (row, column), value in np.ndenumerate(grid):
        if np.isfinite(value):
            ink = "black" if value > 0.6 else "white"
            axes.text(column, row, f"{value:.2f}", ha="center", va="center", color=ink, fontsize=6.5)
    axes.set_xticks(range(len(columns)), columns, rotation=90 if len(columns) > 10 else 0, fontsize="small")
    axes.set_yticks(range(len(values)), list(values), fontsize="small")
    axes.tick_params(length=0)
    axes.set_xlabel(across)
    figure.suptitle(title)
    figure.colorbar(image, ax=axes, label="accuracy", fraction=0.03)
    return figure


def relation_vectors(model: "EpiGNN", relations: Sequence[str], title: str) -> "Figure":
    """The learnt relation vectors as a heat map: a row a relation, facets side by side."""
    vectors = model.relation_vectors().detach().numpy()
    count, facets, size = vectors.shape
    figure = _figure(min(max(7, 0.13 * facets * size + 2), 20), 0.27 * count + 1.5)
    axes = figure.add_subplot()
    distributions = bool(vectors.min() >= 0 and vectors.max() <= 1)
    bound = 1.0 if distributions else float(np.abs(vectors).max())
    image = axes.imshow(
        vectors.reshape(count, -1),
        aspect="auto",
        cmap="Blues" if distributions else "PuOr",
        vmin=0 if distributions else -bound,
        vmax=bound,
        interpolation="nearest",
    )
    for facet in range(1, facets):
        axes.axvline(facet * size - 0.5, color="black", linewidth=0.8)
    axes.set_yticks(range(count), relations)
    axes.set_xticks(np.arange(facets) * size + size / 2 - 0.5, [str(facet + 1) for facet in range(facets)])
    axes.tick_params(length=0)
    axes.set_xlabel(f"facet, {size} components each")
    figure.suptitle(title)
    figure.colorbar(image, ax=axes, label="probability" if distributions else "value")
    return figure


def parallel(axes: Mapping[str, Axis], values: Sequence[float], what: str, title: str) -> "Figure":
    """A line across parallel axes for each value, coloured by it; the last is on top.

    Args:
        axes: for each, where every line crosses it, and what is written beside it.
        values: of the lines.
        what: the values are.
        title: of the whole.
    """
    import matplotlib
    from matplotlib import cm, colors

    figure = _figure(1.6 * len(axes) + 4, 4.2)
    plot = figure.subplots()
    norm = colors.Normalize(min(values), max(*values, min(values) + 1e-9))
    crossed = np.array([heights for heights, _ in axes.values()]).T
    for line, value in zip(crossed, values, strict=True):
        plot.plot(range(len(axes)), line, color=matplotlib.colormaps["cividis"](norm(value)), linewidth=1.3)
    for place, (_, ticks) in enumerate(axes.values()):
        plot.axvline(place, color="#999999", linewidth=0.8, zorder=0)
        for height, text in ticks:
            plot.annotate(text, (place, height), fontsize="x-small", xytext=(3, 0), textcoords="offset points")
    plot.set_xticks(range(len(axes)), [name.replace(".", ".\n", 1) for name in axes], fontsize="small")
    plot.set_yticks([])
    plot.set_xlim(-0.1, len(axes) - 0.6)
    plot.spines[:].set_visible(False)
    figure.colorbar(cm.ScalarMappable(norm, "cividis"), ax=plot, label=what)
    figure.suptitle(title)
    return figure


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


INCHES_OF_LETTER = 0.07
"""About how wide a letter of a legend is."""


def _legend(figure: "Figure", handles: Sequence[Any], labels: Sequence[str]) -> None:
    """Below everything, where it hides nothing."""
    room = figure.get_figwidth() / (INCHES_OF_LETTER * (max(map(len, labels)) + 8))
    columns = max(1, min(len(labels), 4, int(room)))
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _plain(axes: Any, along: str = "y") -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(axis=along, color="#dddddd", linewidth=0.8)
    axes.set_axisbelow(True)
