"""Files of predictions made elsewhere: scored beside the files of problems, and recorded for the tables."""

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from epignn.calculus import load
from epignn.calculus.calculi.families import TERMS
from epignn.data.dataset import Dataset
from epignn.data.score import Score, score
from epignn.errors import BadArgument, BadFile, lookup
from epignn.files import open_text, readable
from epignn.formats.clutrr import COLUMNS as WALKS
from epignn.formats.predictions import holds_predictions, is_number, read_predictions
from epignn.formats.readers import read_graphs
from epignn.formats.star_csv import read_csv, read_problems
from epignn.report.record import circumstances, put_record, run_records
from epignn.report.suites import SUITES, file_stem
from epignn.report.tables import cell_name
from epignn.tasks.api import TEST_SEED, Report

Record = dict[str, Any]
NONE = "none"
"""In the place of a calculus: relations that belong to none."""


def score_files(
    files: Sequence[Path], calculus: str = "", report: Report | None = None
) -> tuple[list[Record], Score]:
    """Score predictions in files; what is told of each pair, and all of it together.

    Args:
        files: of problems and of predictions, one after the other or all of one kind first: the first file of
            predictions belongs to the first file of problems.
        calculus: whose relations the problems are about; `none` where they belong to none, found out if empty.
        report: called with how many pairs are done, and with all of them.

    Raises:
        BadArgument: there are not as many of one kind as of the other.
        BadFile: a file cannot be read, or predictions do not fit the problems.
    """
    pairs = paired(files)
    results = []
    for number, (problems, told) in enumerate(pairs):
        if report is not None:
            report(number, len(pairs))
        data = read(problems, calculus)
        predictions = _meant(read_predictions(told, len(data)), data)
        try:
            found = score(predictions, data)
        except BadArgument as error:
            raise BadFile(str(error), str(told)) from error
        results.append({"file": str(problems), "predictions": str(told), **found.cells[0]})
    return results, Score.of(results)


def paired(files: Sequence[Path]) -> list[tuple[Path, Path]]:
    """Files of problems, each with that of its predictions.

    Raises:
        BadArgument: there are not as many of one kind as of the other.
    """
    told = [holds_predictions(file) for file in files]
    predictions = [file for file, one in zip(files, told, strict=True) if one]
    problems = [file for file, one in zip(files, told, strict=True) if not one]
    if len(problems) != len(predictions):
        raise BadArgument(
            f"{len(problems)} files of problems and {len(predictions)} of predictions (these have a column "
            "'prediction'); give one for each."
        )
    return list(zip(problems, predictions, strict=True))


def read(path: Path, calculus: str = "") -> Dataset:
    """A file of problems of any kind, over all relations that an answer may name.

    Those are the relations of a calculus, all terms of kinship, or, where they belong to none, those of the file.
    """
    if calculus not in ("", NONE):
        return read_csv(path, load(calculus))
    if calculus == NONE or ".jsonl" in path.suffixes or _is_walks(path):
        found = read_graphs(path)
        return read_graphs(path, TERMS) if set(found.relations) <= set(TERMS) else found
    return read_problems(path)[1]


def _is_walks(path: Path) -> bool:
    with readable(str(path)), open_text(path) as lines:
        return WALKS[0] in next(lines, "")


def _meant(predictions: list[str], data: Dataset) -> list[str] | list[int]:
    """Predictions as names; as numbers, where all are numbers and no relation is called so."""
    if all(map(is_number, predictions)) and not set(predictions) & set(data.relations):
        return [int(text) for text in predictions]
    return predictions


def record(folder: Path, name: str, cells: Sequence[Record], seed: int = 0, **told: float | None) -> Path:
    """Write what a model outside epignn reaches, so that a table shows it.

    Args:
        folder: the records of a table, such as `results/rcc8`.
        name: of the model: its row of the table.
        cells: accuracy by k and b, as `score` tells it.
        seed: of the model's run; runs that differ in it alone are one row.
        told: what else is known, such as `parameters` and `training_seconds`; None where it is not.

    Raises:
        BadArgument: the table has other test sets, or another row of this name.
    """
    suite = lookup("table", folder.name, {name: one for name, one in SUITES.items() if not one.links})
    stem = file_stem(name)
    if not stem or Path(stem).name != stem:
        raise BadArgument(f"{name!r} cannot be the name of a row: pictures are called after it.")
    known = run_records(folder)
    if any(one["variant"] == name and not one.get("outside") for one in known) or name in (
        variant.name for variant in suite.variants
    ):
        raise BadArgument(f"{folder.name} has a row {name!r} of its own; choose another name.")
    _check_cells(folder.name, cells, known)
    plain = [{key: value for key, value in cell.items() if key not in ("file", "predictions")} for cell in cells]
    extra = {key: value for key, value in told.items() if value is not None}
    told_ = {"variant": name, "outside": True, "seed": seed, **extra, "cells": plain, **circumstances()}
    return put_record(folder, f"{stem}_seed{seed}", told_)


def _check_cells(table: str, cells: Sequence[Record], known: Sequence[Record]) -> None:
    """Refuse test sets that the other rows of a table were not tested on."""
    suite = SUITES[table]
    sizes = {(cell["k"], cell["b"]): (cell["n"], cell["distinct"]) for cell in cells}
    if len(sizes) != len(cells):
        twice = next(cell for cell, run in groupby(sorted((c["k"], c["b"]) for c in cells)) if len(list(run)) > 1)
        raise BadArgument(f"two files are of {cell_name(*twice)}; a table has one of each.")
    hint = _how_to_make(table)
    if missing := [cell_name(*cell) for cell in suite.cells if cell not in sizes]:
        more = f" and {len(missing) - 3} more" if len(missing) > 3 else ""
        raise BadArgument(f"the table {table} also tests {', '.join(missing[:3])}{more}. {hint}")
    told = [{(c["k"], c["b"]): (c["n"], c["distinct"]) for c in one["cells"]} for one in known if "cells" in one]
    same = [all(sizes[cell] == of.get(cell) for cell in suite.cells) for of in told]
    if told and not any(same):
        raise BadArgument(f"the other rows of {table} were tested on other problems. {hint}")


def _how_to_make(table: str) -> str:
    """The command that gives the test problems of a table, where they are generated."""
    suite = SUITES[table]
    calculi = sorted({row.experiment.partition("-")[0] for row in suite.variants} & {"rcc8", "ia"})
    if not calculi:
        return "Its test sets are those of its experiments: see `epignn data list`."
    k, b = (" ".join(map(str, sorted({cell[at] for cell in suite.cells}))) for at in (0, 1))
    return (
        f"Its test sets are made by: epignn generate {' or '.join(calculi)} --k {k} --b {b} "
        f"--per-label {suite.per_label} --seed {TEST_SEED} --out DIR"
    )
