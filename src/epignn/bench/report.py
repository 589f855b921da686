"""Tables and pictures from records alone."""

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from epignn.bench.suites import Suite

Record = dict[str, Any]


def by_variant(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records of the same row, over seeds."""
    groups: dict[str, list[Record]] = defaultdict(list)
    for record in records:
        groups[record["variant"]].append(record)
    return dict(groups)


def spread(values: Sequence[float]) -> str:
    """Mean and two standard deviations over seeds."""
    return f"{np.mean(values):.3f} ± {2 * np.std(values):.3f}"


def accuracy_of(record: Record, k: int, b: int) -> float:
    """The accuracy of a run on one cell."""
    return next(float(cell["accuracy"]) for cell in record["cells"] if (cell["k"], cell["b"]) == (k, b))


def average_of(record: Record) -> float:
    """The mean accuracy of a run over all cells."""
    return float(np.mean([cell["accuracy"] for cell in record["cells"]]))


def rows(suite: Suite, records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a suite's table; the last rows are exact closure and the paper."""
    hardest = max(suite.cells)
    columns = ["model", "seeds", "average", f"k={hardest[0]} b={hardest[1]}", "parameters", "training s"]
    table = []
    for variant, runs in by_variant(records).items():
        table.append(
            [
                variant,
                str(len(runs)),
                spread([average_of(run) for run in runs]),
                spread([accuracy_of(run, *hardest) for run in runs]),
                f"{runs[0]['parameters']:,}",
                f"{np.mean([run['training_seconds'] for run in runs]):.0f}",
            ]
        )
    exact = [cell["closure"] for record in records for cell in record["cells"]]
    table.append(["exact closure", "", f"{np.min(exact):.3f}", f"{np.min(exact):.3f}", "", ""])
    for name, figure in suite.paper.items():
        place = 2 if "average" in name else 3
        table.append([f"paper, {name}", "", *["", f"{figure:.2f}"][:: 1 if place == 3 else -1], "", ""])
    return columns, table


def markdown(columns: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """A table for a README."""
    lines = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in table)])


def draw(name: str, suite: Suite, records: Sequence[Record], folder: Path) -> list[Path]:
    """Accuracy by k for each number of branches, one picture a row of the table."""
    from epignn.bench.pictures import accuracy_by_k

    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for variant, runs in by_variant(records).items():
        curves = {
            f"b = {b}": [
                (k, float(np.mean([accuracy_of(run, k, b) for run in runs])))
                for k, other in suite.cells
                if other == b
            ]
            for b in sorted({b for _, b in suite.cells})
        }
        path = folder / f"{name}_{variant.replace(' ', '_').replace(',', '')}.png"
        accuracy_by_k(curves, f"{suite.title}: {variant}, mean of {len(runs)} seeds", path)
        paths.append(path)
    return paths
