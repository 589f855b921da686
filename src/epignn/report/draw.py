"""Which pictures a suite gets, from its records; how they look is left to `pictures`."""

from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from epignn.report import pictures
from epignn.report.suites import Suite, file_stem
from epignn.report.tables import (
    AVERAGE,
    Measure,
    Record,
    accuracy,
    by_variant,
    cell_name,
    distilled,
    figures,
    paper_figures,
    places_shown,
    training_seconds,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure


PANELS = 4
"""Up to so many rows of a table get a panel each."""


def draw(suite: Suite, records: Sequence[Record], folder: Path) -> list[Path]:
    """Accuracy and, of several models, parameter counts and training time: PNG files with an SVG beside each."""
    groups = by_variant(suite, records)
    seeds = _seeds(groups)
    branches, lengths = sorted({b for _, b in suite.cells}), sorted({k for k, _ in suite.cells})
    title = f"{suite.title}; {seeds}"
    is_grid = len(lengths) > 1 and set(suite.cells) == set(product(lengths, branches))
    if suite.others:
        found = {name: _means(suite, runs) for name, runs in groups.items()}
        exact = {f"{name}, distilled": _means(suite, runs, distilled) for name, runs in groups.items()}
        found |= {name: row for name, row in exact.items() if row}
        figure = pictures.cells(_best_first(found), title, "test cell")
    elif is_grid and (len(branches) == 1 or len(groups) <= PANELS):
        figure = _accuracy_by_k(suite, groups, lengths, branches, title)
    else:
        own = {name: _means(suite, runs) for name, runs in groups.items()}
        figure = pictures.accuracy_by_row(own, _paper_by_variant(suite), places_shown(suite), title)
    runs_by_row = {variant.name: variant.name if variant.folder else variant.run for variant in suite.variants}
    models = {runs_by_row.get(name, name): runs for name, runs in groups.items()}
    told = {name: runs[0].get("parameters") for name, runs in models.items()}
    parameters = {name: float(value) for name, value in told.items() if value is not None}
    spent = {name: training_seconds(runs) for name, runs in models.items()}
    seconds = {name: value for name, value in spent.items() if value is not None}
    drawn = {"accuracy": figure}
    if len(models) > PANELS:
        place = places_shown(suite)[0]
        reached = {name: _means(suite, runs)[place] for name, runs in models.items()}
        points = {name: (max(seconds[name], 0.1), reached[name]) for name in seconds}
        title = f"{suite.title}: accuracy and what it costs, {seeds}"
        drawn["accuracy_by_time"] = pictures.points(points, "seconds of one core to train", "accuracy", title)
    if len(models) > 1:
        drawn["parameters"] = pictures.bars(parameters, "parameters", f"{suite.title}: size of the models")
        time = f"{suite.title}: training time, {seeds}"
        drawn["training_time"] = pictures.bars(seconds, "seconds on one core", time)
    return [pictures.save(one, folder / f"{name}.png", also=(".svg",)) for name, one in drawn.items()]


def _seeds(groups: Mapping[str, list[Record]]) -> str:
    """How many runs a figure stands for."""
    counts = {len(runs) for runs in groups.values()}
    if counts == {1}:
        return "one seed"
    return f"mean of {counts.pop()} seeds" if len(counts) == 1 else "mean over seeds"


def _accuracy_by_k(
    suite: Suite, groups: Mapping[str, list[Record]], lengths: list[int], branches: list[int], title: str
) -> "Figure":
    """A grid of cells: a panel a row of the table, or, with one number of branches, one panel with all rows."""
    told = {name: [figures(suite, run) for run in runs] for name, runs in groups.items()}

    def curve(name: str, b: int) -> list[tuple[float, ...]]:
        return [(k, *(one[cell_name(k, b)] for one in told[name])) for k in lengths]

    if len(branches) > 1:
        panels = {name: {f"b = {b}": curve(name, b) for b in branches} for name in groups}
        return pictures.accuracy_panels(panels, title)
    (b,) = branches
    paper = {
        label: [(k, row[cell_name(k, b)]) for k in lengths if cell_name(k, b) in row]
        for label, row in paper_figures(suite).items()
    }
    axis = pictures.PATH_LENGTH if b else "hops"
    curves = {name: curve(name, b) for name in groups}
    return pictures.accuracy_panels({"": curves}, title, axis, {name: line for name, line in paper.items() if line})


def _means(suite: Suite, runs: Sequence[Record], measure: Measure = accuracy) -> dict[str, float]:
    """What runs tell on average, of every place that all of them tell."""
    told = [figures(suite, run, measure) for run in runs]
    shared = [place for place in told[0] if all(place in one for one in told)]
    return {place: float(np.mean([one[place] for one in told])) for place in shared}


def _best_first(rows: Mapping[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """Rows in order of their first figure where there is one, or of their average."""
    return dict(sorted(rows.items(), key=lambda row: -row[1].get(AVERAGE, next(iter(row[1].values())))))


def _paper_by_variant(suite: Suite) -> dict[str, dict[str, float]]:
    """The paper's figures for rows of the suite by the same name, and for others by their own."""
    return {label.removeprefix("paper, "): row for label, row in paper_figures(suite).items()}


def draw_vectors(
    suite: Suite, records: Sequence[Record], runs: Path, folder: Path, suffix: str = ""
) -> tuple[list[Path], list[str]]:
    """Heat maps of the learnt relation vectors: the first row of each experiment, its least seed.

    Args:
        suite: whose rows are drawn.
        records: of its runs.
        runs: where their models are kept.
        folder: for the pictures.
        suffix: of run folders' names.

    Returns:
        The pictures, and a note for each model that is no longer there.
    """
    from epignn.learn.checkpoint import WEIGHTS, load_model
    from epignn.learn.config import recorded

    groups = by_variant(suite, records)
    ours = [v for v in suite.variants if not any(text.startswith("model.kind") for text in v.settings)]
    there = [variant for variant in reversed(ours) if variant.name in groups]
    paths, missing = [], []
    for variant in reversed({variant.experiment: variant for variant in there}.values()):
        record = min(groups[variant.name], key=lambda one: int(one["seed"]))
        run = runs / f"{file_stem(variant.run)}_seed{record['seed']}{suffix}"
        if not (run / WEIGHTS).exists():
            missing.append(f"no heat map for {variant.run}: {run} holds no model.")
            continue
        trained = load_model(str(run))
        if trained.experiment != recorded(record["experiment"], str(run)):
            missing.append(f"no heat map for {variant.run}: the model in {run} has other settings than the record.")
            continue
        title = f"Learnt relation vectors: {variant.run}, seed {record['seed']}"
        figure = pictures.relation_vectors(trained.model, trained.relations, title)
        paths.append(pictures.save(figure, folder / f"vectors_{file_stem(variant.run)}.png", also=(".svg",)))
    return paths, missing
