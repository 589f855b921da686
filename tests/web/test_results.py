"""Tables of results by the server are those of `epignn reproduce --report`."""

import pytest

from epignn.report.record import read_records
from epignn.report.shown import suite_of, table_of
from tests.web.conftest import RESULTS


def test_every_folder_of_records_is_a_table(api):
    names = {suite["name"]: suite["records"] for suite in api.get("/api/results").json()["suites"]}
    assert {"rcc8", "rcc8-models", "kgc"} <= set(names)
    assert names == {name: len(read_records(RESULTS / name)) for name in names}


@pytest.mark.parametrize("name", ["rcc8", "clutrr-models", "kgc"])
def test_a_table_is_that_of_its_records(api, name):
    found = api.get(f"/api/results/{name}").json()
    records = read_records(RESULTS / name)
    table = table_of(suite_of(name), records)
    assert (found["columns"], found["rows"], found["notes"]) == (table.columns, table.rows, table.notes)
    for told, record in zip(found["records"], records, strict=True):
        assert (told["variant"], told["commit"], told.get("seed")) == (
            record["variant"],
            record["commit"],
            record.get("seed"),
        )
        assert told["command"].startswith(f"epignn reproduce {name.removesuffix('-models')}")


def test_pictures(api):
    names = api.get("/api/results/rcc8").json()["pictures"]
    assert "accuracy.png" in names
    answer = api.get("/api/results/rcc8/pictures/accuracy.png")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content == (RESULTS / "rcc8" / "accuracy.png").read_bytes()


@pytest.mark.parametrize(
    "path",
    ["nothing", "..", "%2e%2e", "rcc8-quick", "rcc8/pictures/nothing.svg", "rcc8/pictures/..%2f..%2fREADME.md",
     "rcc8/pictures/records.jsonl"],
)  # fmt: skip
def test_what_is_not_there(api, path):
    assert api.get(f"/api/results/{path}").status_code == 404
