"""Tables from records alone.

A record is what one run left: its row of the table (`variant`), seed, parameters, seconds, and its accuracy on
every test cell. A cell may tell more: `closure`, the accuracy of exact closure; `distilled`, that of exact closure
with the table distilled from the same run; `ambiguous`, how many of its rows have several right answers, of which
the label is one, and how many of these the model got right; `distilled_clear`, as `distilled`, over the other rows;
`entailed`, the share of labels that follow by the calculus of kinship; `published`, the same of the published test
file of the cell, where it was at hand; `refused`, why there is no answer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from epignn.errors import BadArgument
from epignn.report.record import CHANGED
from epignn.report.suites import Suite

Record = dict[str, Any]
Measure = Callable[[dict[str, Any]], float | None]
"""What a test cell tells; None where it does not."""
AVERAGE = "average"
FILES = "published files"
"""The column of the mean accuracy on published test files."""
PUBLISHED = " (published)"
"""What stands behind the name of a row whose figures others have published; it stands below the row itself."""


def cell_name(k: int, b: int) -> str:
    """What a test cell is called.

    >>> cell_name(9, 3), cell_name(10, 0), cell_name(0, 0)
    ('k=9 b=3', '10 hops', 'test')
    """
    if not k:
        return "test"
    return f"k={k} b={b}" if b else f"{k} hops"


def by_variant(suite: Suite, records: Sequence[Record]) -> dict[str, list[Record]]:
    """Records of the same row, over seeds: rows in the order of the suite, then models from elsewhere."""
    others = [record["variant"] for record in records if suite.others or record.get("outside")]
    names = dict.fromkeys([*(variant.name for variant in suite.variants), *others])
    found = {name: [record for record in records if record["variant"] == name] for name in names}
    return {name: runs for name, runs in found.items() if runs}


def accuracy(cell: dict[str, Any]) -> float | None:
    """The share of all rows that the model got right."""
    return float(cell["accuracy"])


def unambiguous(cell: dict[str, Any]) -> float | None:
    """The same over rows that have one right answer; None where ambiguous rows were not counted."""
    if "ambiguous" not in cell or cell["n"] == cell["ambiguous"]["n"]:
        return None
    right = round(cell["accuracy"] * cell["n"]) - cell["ambiguous"]["right"]
    return float(right / (cell["n"] - cell["ambiguous"]["n"]))


def distilled(cell: dict[str, Any]) -> float | None:
    """The accuracy of exact closure with the table distilled from the model."""
    return cell.get("distilled")


def distilled_clear(cell: dict[str, Any]) -> float | None:
    """The same over rows that have one right answer: all of them, where none has several."""
    return cell.get("distilled_clear", None if cell.get("ambiguous", {"n": 1})["n"] else distilled(cell))


def closure(cell: dict[str, Any]) -> float | None:
    """The accuracy of exact closure with the true table, where one is known."""
    return cell.get("closure")


def entailed(cell: dict[str, Any]) -> float | None:
    """The share of labels that follow in every family, of kinship."""
    return cell.get("entailed")


def published_file(cell: dict[str, Any]) -> float | None:
    """The accuracy on the published test file of the cell, where it was at hand."""
    return float(cell["published"]["accuracy"]) if "published" in cell else None


def figures(suite: Suite, record: Record, measure: Measure = accuracy) -> dict[str, float]:
    """What a run tells of each cell and, if it tells of all, their average.

    Raises:
        BadArgument: the record lacks a cell of the suite.
    """
    cells = {(cell["k"], cell["b"]): cell for cell in record["cells"]}
    for k, b in suite.cells:
        if (k, b) not in cells:
            raise BadArgument(
                f"the record of {record['variant']}, seed {record['seed']}, has no cell {cell_name(k, b)}: it was "
                "made for other test sets. Remove it and run again."
            )
    values = {cell_name(*cell): measure(cells[cell]) for cell in suite.cells}
    known = {name: value for name, value in values.items() if value is not None}
    if len(known) == len(values):
        known[AVERAGE] = float(np.mean(list(known.values())))
    return known


def training_seconds(runs: Sequence[Record]) -> float | None:
    """What training took on average: processor seconds, which a busy machine does not change, of runs that tell."""
    told = [run["training_cpu_seconds"] for run in runs if "training_cpu_seconds" in run]
    told = told or [run["training_seconds"] for run in runs if "training_seconds" in run]
    return float(np.mean(told)) if told else None


def parameters(runs: Sequence[Record]) -> float | None:
    """How many numbers are learnt."""
    return runs[0].get("parameters")


def answers_per_second(runs: Sequence[Record]) -> float | None:
    """Test problems answered in a second of one core, where runs tell."""
    cells = [cell for run in runs for cell in run["cells"]]
    if not all("answer_cpu_seconds" in cell for cell in cells):
        return None
    return float(sum(cell["n"] for cell in cells) / max(sum(cell["answer_cpu_seconds"] for cell in cells), 1e-3))


def megabytes(runs: Sequence[Record]) -> float | None:
    """The most memory that training or testing took, where runs tell."""
    told = [run["peak_mb"] for run in runs if run.get("peak_mb") is not None and answers_per_second([run])]
    return float(max(told)) if told else None


COSTS: Mapping[str, Callable[[Sequence[Record]], float | None]] = {
    "parameters": parameters,
    "training s": training_seconds,
    "answers/s": answers_per_second,
    "MB": megabytes,
}
"""What a model costs, a column each; left out where no row tells."""


def spread(values: Sequence[float]) -> str:
    """Mean and two standard deviations over seeds."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    return f"{np.mean(values):.3f} ± {2 * np.std(values):.3f}"


def published(figure: float) -> str:
    """A figure as papers print it: two digits, or three.

    >>> published(0.8), published(0.914)
    ('0.80', '0.914')
    """
    return f"{figure:.3f}".removesuffix("0")


def paper_figures(suite: Suite) -> dict[str, dict[str, float]]:
    """The paper's figures by row and place; what stands before a place in a figure's name is its row.

    A row that names its source in brackets keeps its name; others are the paper's. A row that tells of all cells
    gets their average.
    """
    cells = [cell_name(*cell) for cell in suite.cells]
    found: dict[str, dict[str, float]] = {}
    for name, figure in suite.paper.items():
        place = next((place for place in (AVERAGE, *cells) if f" {name}".endswith(f" {place}")), None)
        if place is None:
            raise BadArgument(f"the paper's figure {name!r} ends with no cell of {suite.title!r}.")
        own = name.removesuffix(place).strip()
        label = own if "(" in own else f"paper, {own}" if own else "paper"
        found.setdefault(label, {})[place] = figure
    for row in found.values():
        if all(cell in row for cell in cells):
            row.setdefault(AVERAGE, float(np.mean([row[cell] for cell in cells])))
    return found


def places_shown(suite: Suite) -> list[str]:
    """The columns of accuracies: the average, then every cell if they differ in k alone, else the hardest.

    Cells that a figure of the paper names are shown in any case.
    """
    in_line = len({b for _, b in suite.cells}) == 1
    cells = suite.cells if in_line else (max(suite.cells),)
    named = {place for row in paper_figures(suite).values() for place in row}
    shown = [cell_name(*cell) for cell in suite.cells if cell in cells or cell_name(*cell) in named]
    return [AVERAGE, *shown] if len(suite.cells) > 1 else shown


def seeds_of(runs: Sequence[Record]) -> str:
    """How many runs a row stands for; with a `+` where the source of some had changes that were not committed."""
    return f"{len(runs)}{' ' + CHANGED if any(map(uncommitted, runs)) else ''}"


def uncommitted(run: Record) -> bool:
    """Whether the source that a run was made with had changes that were not committed."""
    return str(run.get("commit", "")).endswith(CHANGED)


def uncommitted_note(records: Sequence[Record]) -> list[str]:
    """What a mark behind the number of seeds means, where there is one."""
    if not any(map(uncommitted, records)):
        return []
    return [f"A `{CHANGED}` behind the seeds: some of these runs were made with changes that were not committed."]


def rows(suite: Suite, records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Columns and rows of a suite's table; the last rows are exact closure and the paper.

    Where the paper has figures for every row of ours, they stand in columns beside them instead.
    """
    places, beside = places_shown(suite), _paper_beside(suite)
    columns = places + [f"{place}, paper" for place in places if any(place in row for row in beside.values())]
    columns += [FILES] if _files(records) else []
    table: list[list[str]] = []

    def add(name: str, seeds: str, values: Mapping[str, str], runs: Sequence[Record] = ()) -> None:
        spent = [cost(runs) if runs else None for cost in costs.values()]
        told = ["" if value is None else f"{value:,.0f}" for value in spent]
        table.append([name, seeds, *(values.get(column, "") for column in columns), *told])

    groups = by_variant(suite, records)
    costs = {name: cost for name, cost in COSTS.items() if any(cost(runs) is not None for runs in groups.values())}
    others = {
        label: row for label, row in paper_figures(suite).items() if label.removeprefix("paper, ") not in beside
    }

    def add_published(label: str) -> None:
        add(label, "", {place: published(figure) for place, figure in others.pop(label).items()})

    for variant, runs in groups.items():
        papers = {f"{place}, paper": published(figure) for place, figure in beside.get(variant, {}).items()}
        add(variant, seeds_of(runs), _spreads(suite, runs) | papers | _on_files(runs), runs)
        if _ambiguous(runs) and not suite.others:
            add(f"{variant}, rows of one answer", seeds_of(runs), _spreads(suite, runs, unambiguous))
        if f"{variant}{PUBLISHED}" in others:
            add_published(f"{variant}{PUBLISHED}")
    for variant, runs in groups.items():
        if values := _spreads(suite, runs, distilled):
            name = f"{_reasoning(runs)} learnt by {variant}"
            add(name, seeds_of(runs), values)
            if any("distilled_clear" in cell for run in runs for cell in run["cells"]):
                add(f"{name}, rows of one answer", seeds_of(runs), _spreads(suite, runs, distilled_clear))
    if exact := _least(suite, [run for runs in groups.values() for run in runs], closure):
        add("exact closure", "", exact)
    if exact := _least(suite, [run for runs in groups.values() for run in runs], entailed):
        add("labels that follow in every family", "", exact)
    for label in list(others):
        add_published(label)
    return ["model", "seeds", *columns, *costs], table


def _files(records: Sequence[Record]) -> list[str]:
    """The cells whose published test files some records tell of."""
    told = {(cell["k"], cell["b"]) for one in records for cell in one.get("cells", ()) if "published" in cell}
    return [cell_name(*cell) for cell in sorted(told)]


def _on_files(runs: Sequence[Record]) -> dict[str, str]:
    """The mean over published test files, of runs that tell of any."""
    told = [[v for cell in run["cells"] if (v := published_file(cell)) is not None] for run in runs]
    means = [float(np.mean(values)) for values in told if values]
    return {FILES: spread(means)} if means else {}


def grid(suite: Suite, records: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """Every cell of a suite of several k and b: a row for each model and k, a column for each b, means over seeds.

    Published test files have columns of their own. There are no rows where a suite has no such cells.
    """
    lengths, branches = sorted({k for k, _ in suite.cells if k}), sorted({b for _, b in suite.cells})
    groups = by_variant(suite, records)
    ways = {"b = {}": accuracy, "b = {}, published": published_file}
    found = {
        (name, way, cell["k"], cell["b"]): [
            value
            for run in runs
            for one in run["cells"]
            if (one["k"], one["b"]) == (cell["k"], cell["b"]) and (value := measure(one)) is not None
        ]
        for name, runs in groups.items()
        for cell in runs[0]["cells"]
        for way, measure in ways.items()
    }
    used = [
        (way, b)
        for way in ways
        for b in branches
        if any(v for (_, w, _, c), v in found.items() if (w, c) == (way, b))
    ]
    if len(branches) < 2 or not lengths:
        return [], []
    lines = [
        [
            name,
            str(k),
            *(f"{np.mean(told):.3f}" if (told := found.get((name, way, k, b))) else "" for way, b in used),
        ]
        for name in groups
        for k in lengths
    ]
    return ["model", "k", *(way.format(b) for way, b in used)], lines


def _ambiguous(runs: Sequence[Record]) -> bool:
    """Whether some test rows have several right answers."""
    return any(cell.get("ambiguous", {}).get("n") for run in runs for cell in run["cells"])


def _paper_beside(suite: Suite) -> dict[str, dict[str, float]]:
    """The paper's figures by row of ours, if it has some for each; else none."""
    paper = paper_figures(suite)
    found = {variant.name: paper.get(f"paper, {variant.name}", {}) for variant in suite.variants}
    return found if all(found.values()) else {}


def _least(suite: Suite, runs: Sequence[Record], measure: Measure) -> dict[str, str]:
    """The least that any run tells of each place."""
    told = [figures(suite, run, measure) for run in runs]
    places = {place: [one[place] for one in told if place in one] for one in told for place in one}
    return {place: f"{min(values):.3f}" for place, values in places.items()}


def _reasoning(runs: Sequence[Record]) -> str:
    """How exact reasoning goes with what was distilled: where no calculus is known, by rules."""
    known = any("closure" in cell for run in runs for cell in run["cells"])
    return "exact closure with the table" if known else "exact reasoning with the rules"


def _spreads(suite: Suite, runs: Sequence[Record], measure: Measure = accuracy) -> dict[str, str]:
    """Mean and spread of a measure at every place that all runs tell."""
    told = [figures(suite, run, measure) for run in runs]
    return {place: spread([one[place] for one in told]) for place in told[0] if all(place in one for one in told)}


def notes(suite: Suite, records: Sequence[Record]) -> list[str]:
    """What a reader has to know besides: remarks, cells without answers, rows with several right answers."""
    counts = {
        cell_name(cell["k"], cell["b"]): (cell["ambiguous"]["n"], cell["n"])
        for record in records
        for cell in record["cells"]
        if cell.get("ambiguous", {}).get("n")
    }
    refused = {
        f"{record['variant']} at {cell_name(cell['k'], cell['b'])}: {cell['refused']}"
        for record in records
        for cell in record["cells"]
        if "refused" in cell
    }
    found = [
        *suite.remarks,
        *_apart(suite, records),
        *(f"No answer, counted as wrong: {one}" for one in sorted(refused)),
        *(
            [f"Column `{FILES}`: the mean over those that there are, {', '.join(files)}."]
            if (files := _files(records))
            else []
        ),
        *uncommitted_note(records),
    ]
    if not counts:
        return found
    told = ", ".join(f"{few} of {many} ({place})" for place, (few, many) in counts.items())
    return [*found, f"Test rows that have several right answers, the label being one of them: {told}."]


def _apart(suite: Suite, records: Sequence[Record]) -> list[str]:
    """Rows whose average is further from the published one than its spread, with what is known of the reason."""
    told, groups = [], by_variant(suite, records)
    for kind, published_row in paper_figures(suite).items():
        name = kind.removesuffix(PUBLISHED)
        if name not in groups or AVERAGE not in published_row or name not in suite.spreads:
            continue
        ours = np.mean([figures(suite, run).get(AVERAGE, np.nan) for run in groups[name]])
        theirs, spread_of = published_row[AVERAGE], suite.spreads[name]
        if abs(ours - theirs) > spread_of:
            why = suite.reasons.get(name, "the reason is not known")
            told.append(f"{name}: {ours:.2f} here, {theirs:.2f} ± {spread_of:.2f} published: {why}.")
    return told


def markdown(columns: Sequence[str], table: Sequence[Sequence[str]]) -> str:
    """A table for a README."""
    lines = ["| " + " | ".join(columns) + " |", "| --- |" + " ---: |" * (len(columns) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in table)])
