"""The table of a suite from its records, as `epignn reproduce --report` and the page show it. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from epignn.errors import UnknownName, unknown
from epignn.report import links, tables
from epignn.report.models import ALL, GROUNDS, kinds_of, suite_of_models
from epignn.report.record import named_records
from epignn.report.suites import SUITES, Suite

Record = dict[str, Any]
OF_MODELS = "-models"
"""What stands behind the name of a table whose rows are models."""
ABOUT = ("variant", "seed", "commit", "epignn", "parameters", "epochs", "training_seconds", "cpu")


@dataclass(frozen=True)
class Table:
    """A table: columns, rows of text, and what a reader has to know besides."""

    columns: list[str]
    rows: list[list[str]]
    notes: list[str]


def table_of(suite: Suite, records: Sequence[Record]) -> Table:
    """The table of some records of a suite."""
    if suite.links:
        return Table(*links.rows(records), tables.uncommitted_note(records))
    return Table(*tables.rows(suite, records), tables.notes(suite, records))


def suite_of(name: str) -> Suite:
    """A suite by the name of its folder of records: `rcc8`, or `rcc8-models`.

    Raises:
        UnknownName: there is none.
    """
    if name in SUITES:
        return SUITES[name]
    base = name.removesuffix(OF_MODELS)
    if base == name or base not in GROUNDS:
        raise unknown("table", name, [*SUITES, *(f"{one}{OF_MODELS}" for one in GROUNDS)])
    return suite_of_models(base, kinds_of(ALL))


def recorded_suites(results: Path) -> dict[str, tuple[Suite, int]]:
    """All suites of which something is recorded, and how many records, by the names of their folders."""
    found = {}
    for folder in sorted(path for path in results.iterdir() if path.is_dir()):
        try:
            suite = suite_of(folder.name)
        except UnknownName:  # a folder of something else
            continue
        if records := len(named_records(folder)):
            found[folder.name] = suite, records
    return found


def record_dict(name: str, suite: Suite, record: Record) -> dict[str, Any]:
    """What a reader wants to know of a record: which run it is, what it reached, and the command that gives it."""
    told = {key: record[key] for key in ABOUT if key in record}
    if record.get("cells") and not suite.links:
        told["average"] = tables.figures(suite, record).get(tables.AVERAGE) or record["cells"][0]["accuracy"]
    return told | {"command": _command(name, record)}


def _command(name: str, record: Record) -> str:
    """The command that runs it again; a model from elsewhere has none."""
    if record.get("outside"):
        return ""
    base = name.removesuffix(OF_MODELS)
    seed = f" --seed {record['seed']}" if "seed" in record else ""
    models = " --models all" if base != name else ""
    return f'epignn reproduce {base}{models} --only "{record["variant"]}"{seed}'
