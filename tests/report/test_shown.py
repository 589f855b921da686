"""Tables of suites by the names of their folders."""

from pathlib import Path

import pytest

from epignn.errors import UnknownName
from epignn.report.record import put_record, read_records
from epignn.report.shown import record_dict, recorded_suites, suite_of, table_of
from epignn.report.suites import SUITES

RESULTS = Path(__file__).parents[2] / "results"


def test_suites_by_the_names_of_their_folders():
    assert suite_of("rcc8") is SUITES["rcc8"]
    assert suite_of("rcc8-models").title.endswith("every model on the same graphs")
    for name in ("rcc8-quick", "models", "-models", "ablations-models"):
        with pytest.raises(UnknownName):
            suite_of(name)


def test_a_folder_of_something_else_is_passed_over(tmp_path):
    (tmp_path / "rcc8").mkdir()
    (tmp_path / "other").mkdir()
    assert recorded_suites(tmp_path) == {}
    put_record(tmp_path / "rcc8", "x", {"variant": "rcc8"})
    assert recorded_suites(tmp_path) == {"rcc8": (SUITES["rcc8"], 1)}


def test_a_record_tells_the_command_that_gives_it():
    suite, count = recorded_suites(RESULTS)["rcc8"]
    records = read_records(RESULTS / "rcc8")
    assert len(records) == count
    record = next(one for one in records if (one["variant"], one["seed"]) == ("rcc8", 1))
    told = record_dict("rcc8", suite, record)
    assert told["command"] == 'epignn reproduce rcc8 --only "rcc8" --seed 1'
    accuracies = [cell["accuracy"] for cell in record["cells"]]
    assert told["average"] == pytest.approx(sum(accuracies) / len(accuracies))
    assert record_dict("rcc8", suite, {**record, "outside": True})["command"] == ""


def test_the_table_of_links():
    table = table_of(suite_of("kgc"), read_records(RESULTS / "kgc"))
    assert table.columns[0] == "split"
    assert len(table.rows) == 8
