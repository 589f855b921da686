"""Tables from hand-made records: every figure checked; the committed records all render."""

import json
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import pytest

from epignn.errors import BadArgument
from epignn.report.record import read_records
from epignn.report.suites import SUITES, Suite, Variant
from epignn.report.tables import cell_name, figures, markdown, notes, paper_figures, rows, spread

RESULTS = Path(__file__).resolve().parents[2] / "results"


def suite(cells, paper=(), names=("ours",)):
    return Suite("made", tuple(Variant(n, "rcc8") for n in names), tuple(cells), 1, MappingProxyType(dict(paper)))


def record(accuracies, variant="ours", seed=0, parameters=1234, seconds=10.0, **more):
    """A run; `accuracies` by cell, and what else every cell tells."""
    cells = [{"k": k, "b": b, "n": 100, "accuracy": a, **more} for (k, b), a in accuracies.items()]
    return {
        "variant": variant,
        "seed": seed,
        "parameters": parameters,
        "training_seconds": seconds,
        "cells": cells,
    }


GRID = suite([(2, 1), (2, 2), (9, 3)], {"average": 0.96, "k=9 b=3": 0.8})
HOPS = suite(
    [(5, 0), (6, 0)], {"EpiGNN-mul (paper) 5 hops": 0.99, "EpiGNN-mul (paper) 6 hops": 0.97, "R5 (x) 6 hops": 1}
)


def test_a_grid_shows_the_average_and_the_hardest_cell():
    runs = [
        record({(2, 1): 1.0, (2, 2): 0.9, (9, 3): 0.8}, seed=0, seconds=10, closure=1.0),
        record({(2, 1): 1.0, (2, 2): 0.9, (9, 3): 0.5}, seed=1, seconds=20, closure=1.0),
    ]
    columns, table = rows(GRID, runs)
    assert columns == ["model", "seeds", "average", "k=9 b=3", "parameters", "training s"]
    assert table == [
        ["ours", "2", "0.850 ± 0.100", "0.650 ± 0.300", "1,234", "15"],
        ["exact closure", "", "1.000", "1.000", "", ""],
        ["paper", "", "0.96", "0.80", "", ""],
    ]
    assert markdown(columns, table).splitlines()[2] == "| ours | 2 | 0.850 ± 0.100 | 0.650 ± 0.300 | 1,234 | 15 |"


def test_hops_are_columns_and_the_papers_rows_keep_their_names():
    columns, table = rows(HOPS, [record({(5, 0): 0.98, (6, 0): 0.9})])
    assert columns == ["model", "seeds", "average", "5 hops", "6 hops", "parameters", "training s"]
    assert table == [
        ["ours", "1", "0.940", "0.980", "0.900", "1,234", "10"],
        ["EpiGNN-mul (paper)", "", "0.98", "0.99", "0.97", "", ""],
        ["R5 (x)", "", "", "", "1.00", "", ""],
    ]


def test_one_test_file_has_no_average():
    one = suite([(0, 0)], {"EpiGNN-mul (paper) test": 0.914})
    columns, table = rows(one, [record({(0, 0): 0.92})])
    assert columns == ["model", "seeds", "test", "parameters", "training s"]
    assert [row[2] for row in table] == ["0.920", "0.914"]


def test_ambiguous_rows_are_counted_apart():
    cell = {"ambiguous": {"n": 20, "right": 5}}
    _, table = rows(HOPS, [record({(5, 0): 0.85, (6, 0): 0.45}, **cell)])
    assert table[0][:5] == ["ours", "1", "0.650", "0.850", "0.450"]
    assert table[1][:5] == ["ours, rows of one answer", "1", "0.750", "1.000", "0.500"]
    (note,) = notes(HOPS, [record({(5, 0): 0.85, (6, 0): 0.45}, **cell)])
    assert "20 of 100 (5 hops), 20 of 100 (6 hops)" in note
    none = [record({(5, 0): 0.85, (6, 0): 0.45}, ambiguous={"n": 0, "right": 0})]
    assert [row[0] for row in rows(HOPS, none)[1]][:2] == ["ours", "EpiGNN-mul (paper)"]
    assert notes(HOPS, none) == []


def test_what_was_distilled_has_a_row_of_its_own():
    runs = [record({(5, 0): 0.9, (6, 0): 0.8}, seed=seed, distilled=d) for seed, d in enumerate((1.0, 0.98))]
    _, table = rows(HOPS, runs)
    assert table[1][:5] == ["exact reasoning with the rules learnt by ours", "2", *["0.990 ± 0.020"] * 3]
    clear = [record({(5, 0): 0.9, (6, 0): 0.8}, distilled=0.9, distilled_clear=0.95)]
    name = "exact reasoning with the rules learnt by ours, rows of one answer"
    assert rows(HOPS, clear)[1][2][:5] == [name, "1", *["0.950"] * 3]
    del clear[0]["cells"][1]["distilled_clear"]
    assert rows(HOPS, clear)[1][2][:5] == [name, "1", "", "0.950", ""]
    clear[0]["cells"][1]["ambiguous"] = {"n": 0, "right": 0}
    assert rows(HOPS, clear)[1][2][:5] == [name, "1", "0.925", "0.950", "0.900"]
    known = [record({(5, 0): 0.9, (6, 0): 0.8}, distilled=1.0, closure=1.0)]
    assert rows(HOPS, known)[1][1][0] == "exact closure with the table learnt by ours"
    _, table = rows(HOPS, [runs[0], record({(5, 0): 0.9, (6, 0): 0.8}, seed=1)])
    assert not any("learnt by" in row[0] for row in table)


def test_exact_closure_is_shown_cell_by_cell_where_it_is_known():
    run = record({(5, 0): 0.9, (6, 0): 0.8})
    run["cells"][1]["closure"] = 0.75
    assert rows(HOPS, [run])[1][1] == ["exact closure", "", "", "", "0.750", "", ""]


def test_rows_follow_the_suite_and_leave_others_out():
    cells = {(5, 0): 0.9, (6, 0): 0.8}
    two = replace(HOPS, variants=(Variant("b", "rcc8"), Variant("a", "rcc8")))
    _, table = rows(two, [record(cells, "a"), record(cells, "other"), record(cells, "b")])
    assert [row[0] for row in table][:2] == ["b", "a"]
    assert "other" not in [row[0] for row in table]


def test_a_record_of_other_cells_is_refused():
    with pytest.raises(BadArgument, match=r"ours, seed 0, has no cell 6 hops.*run again"):
        rows(HOPS, [record({(5, 0): 0.9})])


def test_names_of_the_papers_figures():
    expanded = suite([(5, 8), (15, 8)], {"rcc8 k=15 b=8": 0.74, "k=5 b=8": 0.9, "rcc8 average": 0.5})
    assert paper_figures(expanded) == {"paper, rcc8": {"k=15 b=8": 0.74, "average": 0.5}, "paper": {"k=5 b=8": 0.9}}
    with pytest.raises(BadArgument, match="'k=7 b=1' ends with no cell"):
        paper_figures(suite([(5, 8)], {"k=7 b=1": 0.5}))


def test_cells_that_the_paper_names_are_columns():
    named = suite([(5, 1), (7, 2), (9, 3)], {"k=7 b=2": 0.5})
    assert rows(named, [record({(5, 1): 1, (7, 2): 0.5, (9, 3): 0})])[0][2:5] == ["average", "k=7 b=2", "k=9 b=3"]


def test_the_papers_figures_for_each_row_of_ours_stand_beside_it():
    paper = {"full average": 0.96, "full k=9 b=3": 0.8, "less average": 0.5}
    both = suite([(5, 1), (9, 3)], paper, ("full", "less"))
    runs = [record({(5, 1): 1.0, (9, 3): 0.5}, name) for name in ("full", "less")]
    columns, table = rows(both, runs)
    assert columns[2:6] == ["average", "k=9 b=3", "average, paper", "k=9 b=3, paper"]
    assert [row[:6] for row in table] == [
        ["full", "1", "0.750", "0.500", "0.96", "0.80"],
        ["less", "1", "0.750", "0.500", "0.50", ""],
    ]
    some = replace(both, paper=MappingProxyType({"full average": 0.96}))
    columns, table = rows(some, runs)
    assert "average, paper" not in columns
    assert table[-1][:3] == ["paper, full", "", "0.96"]


def test_spread_of_one_seed_claims_no_deviation():
    assert spread([0.5]) == "0.500"
    assert spread([0.4, 0.6]) == "0.500 ± 0.200"


@pytest.mark.parametrize("name", [name for name, suite in SUITES.items() if not suite.links])
def test_every_suite_and_its_committed_records_render(name):
    chosen = SUITES[name]
    records = [r for r in read_records(RESULTS / name) if r["variant"] in {v.name for v in chosen.variants}]
    columns, table = rows(chosen, records)
    assert all(len(row) == len(columns) for row in table)
    shown = {row[0]: row for row in table}
    for one in records:
        assert f"{one['parameters']:,}" in shown[one["variant"]]
        assert set(figures(chosen, one)) == {"average", *(cell_name(*cell) for cell in chosen.cells)}
    json.dumps(notes(chosen, records))
