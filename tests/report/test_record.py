"""Records: what they tell of a run, and the one file of a folder that holds them."""

import json
import multiprocessing
from pathlib import Path

import numpy as np
import pytest

from epignn.errors import BadFile
from epignn.report.migrate import main, migrate
from epignn.report.record import RECORDS, forget_peak, named_records, peak_mb, put_record, read_records, run_records


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell")
def test_the_memory_of_a_run_is_not_that_of_the_one_before():
    large = np.ones(40_000_000)
    before = peak_mb()
    assert before is not None
    assert before >= large.nbytes >> 20
    del large
    forget_peak()
    after = peak_mb()
    assert after is not None
    assert after < before - 250


def test_a_record_takes_the_place_of_an_earlier_one_of_its_name(tmp_path):
    for name, figure in (("b", 1), ("a", 2), ("b", 3)):
        path = put_record(tmp_path / "suite", name, {"figure": figure, "text": "line\u2028end\n"})
    assert [(one["record"], one["figure"]) for one in read_records(tmp_path / "suite")] == [("a", 2), ("b", 3)]
    assert [one["record"] for one in read_records(tmp_path / "suite", "b*")] == ["b"]
    assert path.read_text().count("\n") == 2
    assert [one.name for one in path.parent.iterdir()] == [RECORDS]
    assert read_records(tmp_path / "none") == []


def put_some(folder, process):
    for n in range(20):
        put_record(folder, f"{process}_{n}", {"process": process, "n": n, "filling": "x" * 5000})


def test_processes_that_write_at_once_lose_nothing(tmp_path):
    """Each reads all records and writes all of them: without turns, most would be lost."""
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=put_some, args=(tmp_path, p)) for p in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0] * 4
    assert set(named_records(tmp_path)) == {f"{p}_{n}" for p in range(4) for n in range(20)}


def test_what_two_branches_recorded_of_one_name_is_the_later(tmp_path):
    lines = [{"record": "a", "figure": 1}, {"record": "b", "figure": 2}, {"record": "a", "figure": 3}]
    (tmp_path / RECORDS).write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert {name: one["figure"] for name, one in named_records(tmp_path).items()} == {"a": 3, "b": 2}


@pytest.mark.parametrize("line", ["{", "<<<<<<< ours", "[1]", '{"variant": "rcc8"}', ""])
def test_a_line_that_is_no_record_is_told(tmp_path, line):
    (tmp_path / RECORDS).write_text('{"record": "a"}\n' + line + "\n")
    with pytest.raises(BadFile, match=f"{RECORDS}:2.*not a record"):
        named_records(tmp_path)


def test_records_of_an_earlier_version_are_taken_in(tmp_path):
    about = {"commit": "0123456789ab+", "python": "3.11.7", "figure": 1 / 3}
    folder = tmp_path / "results" / "rcc8"
    put_record(folder, "a", about | {"figure": 0})
    for name in ("a", "b"):
        (folder / f"{name}.json").write_text(json.dumps(about | {"label": name}, indent=1))
    (tmp_path / "results" / "bench_closure.json").write_text(json.dumps(about))
    with pytest.raises(BadFile, match=r"python -m epignn\.report\.migrate"):
        named_records(folder)
    assert migrate(tmp_path / "results") == {folder: 2}
    assert named_records(folder) == {name: {"record": name, **about, "label": name} for name in ("a", "b")}
    assert migrate(tmp_path / "results") == {}
    assert (tmp_path / "results" / "bench_closure.json").exists()


def test_what_cannot_be_taken_in_is_told_and_stays(tmp_path, capsys):
    good, bad = tmp_path / "a" / "one.json", tmp_path / "b" / "two.json"
    for path in (good, bad):
        path.parent.mkdir()
        path.write_text(json.dumps({"commit": "x", "python": "3", "record": ["\x1b[31m"]}))
    bad.write_text("{" * 5000)
    assert main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert named_records(good.parent) == {"one": {"record": "one", "commit": "x", "python": "3"}}
    assert bad.read_text() == "{" * 5000
    assert main([str(tmp_path / "none")]) == 2
    assert "no such folder" in capsys.readouterr().err


RUN = {
    "variant": "rcc8", "seed": 0, "experiment": {}, "training_seconds": 1.5, "peak_mb": None,
    "cells": [{"k": 2, "b": 1, "n": 9, "accuracy": 0.5, "ambiguous": {"n": 1, "right": 0}}],
}  # fmt: skip


@pytest.mark.parametrize(
    "change",
    [
        {"variant": ["rcc8"]},
        {"seed": "0"},
        {"seed": 10**40},
        {"cells": {"k": 2}},
        {"cells": [5]},
        {"cells": [{"k": 2, "b": 1, "n": 9}]},
        {"cells": [{**RUN["cells"][0], "accuracy": float("nan")}]},
        {"cells": [{**RUN["cells"][0], "ambiguous": {"n": 1}}]},
        {"training_seconds": None},
        {"experiment": []},
    ],
)
def test_a_run_that_no_table_could_show_is_told(tmp_path, change):
    put_record(tmp_path, "a", RUN)
    assert run_records(tmp_path) == [{"record": "a", **RUN}]
    (tmp_path / RECORDS).write_text(json.dumps({"record": "a", **RUN, **change}) + "\n")
    with pytest.raises(BadFile, match=f"{RECORDS}: 'a' is not a record of a run"):
        run_records(tmp_path)


def test_a_table_has_records_of_runs_alone(tmp_path):
    put_record(tmp_path, "a", {"figure": 1})
    with pytest.raises(BadFile, match="names no variant"):
        run_records(tmp_path)
