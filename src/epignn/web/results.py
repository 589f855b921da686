"""What a worker tells of results: tables from records, by the same functions as `epignn reproduce --report`."""

from typing import Any

from epignn.errors import UnknownName
from epignn.report.record import run_records
from epignn.report.shown import record_dict, recorded_suites, suite_of, table_of
from epignn.web.errors import NotThere
from epignn.web.limits import Context

PICTURES = (".svg", ".png")


def results(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """The tables of which something is recorded."""
    found = recorded_suites(context.results) if context.results is not None else {}
    lines = [{"name": name, "title": suite.title, "records": records} for name, (suite, records) in found.items()]
    return {"suites": lines}


def table(request: dict[str, Any], context: Context) -> dict[str, Any]:
    """One of them, with its records and the names of its pictures."""
    name = request["suite"]
    try:
        suite = suite_of(name)
    except UnknownName as error:
        raise NotThere(str(error)) from error
    records = run_records(context.results / name) if context.results is not None else []
    if context.results is None or not records:
        raise NotThere(f"nothing is recorded of {name}.")
    shown = table_of(suite, records)
    pictures = sorted(path.name for path in (context.results / name).iterdir() if path.suffix in PICTURES)
    return {
        "title": suite.title,
        "columns": shown.columns,
        "rows": shown.rows,
        "notes": shown.notes,
        "records": [record_dict(name, suite, record) for record in records],
        "pictures": pictures,
    }
