"""Rows of the benchmark's CSV files: columns by name, Python's lists, and what each mistake says."""

import csv
import io
import time

import pytest

from epignn.errors import BadFile
from epignn.formats.csvfile import FACTS, LABEL, MAX_CELL, Row, read_rows

HEADER = "edges,edge_labels,query_edge,query_label\n"
ROW = """"[(0, 1), (1, 2)]","['EC', 'DC']","(0, 2)",PO\n"""
PAIRS = "edges must be pairs of node numbers, such as [(0, 1), (1, 2)]; found "
READ = Row(2, [0, 1, 1, 2], ["EC", "DC"], [0, 2], "PO")


def rows(text: str, columns: tuple[str, ...] = FACTS) -> list[Row]:
    return list(read_rows(io.StringIO(text, newline=""), "f.csv", columns))


@pytest.mark.parametrize(
    "text",
    [
        HEADER + ROW,
        HEADER.replace("\n", "\r\n") + "\r\n" + ROW.replace("\n", "\r\n"),
        HEADER + ROW.replace(", ", ","),
        HEADER + ROW.replace("(", " ( ").replace(")", " ) ").replace("[", " [ "),
        HEADER + ROW.replace("(", "[").replace(")", "]"),
        HEADER + ROW.replace('"', "'", 0).replace("'EC'", '""EC""'),
        "," + HEADER + "7," + ROW,
        """query_label,other,query_edge,edge_labels,edges\nPO,?,"(0, 2)","['EC', 'DC']","[(0, 1), (1, 2)]"\n""",
    ],
)
def test_one_row_in_many_ways(text):
    [row] = rows(text, (*FACTS, LABEL))
    assert row[1:] == READ[1:]
    assert row.line == text.count("\n")


def test_the_label_may_be_absent():
    assert rows('edges,edge_labels,query_edge\n[],[],"(5, -6)"\n') == [Row(2, [], [], [5, -6], "")]
    with pytest.raises(BadFile, match=r"^f.csv:1: no column 'query_label'"):
        rows("edges,edge_labels,query_edge\n", (*FACTS, LABEL))


@pytest.mark.parametrize("names", [["it's"], ['a"b', "x"], ["back\\slash", "tab\t", "é", "\x1f"], ["a, b", "]"]])
def test_odd_names(names):
    text = io.StringIO()
    csv.writer(text).writerow([str([(0, 1)] * len(names)), str(names), "(0, 1)", "x"])
    [row] = rows(HEADER + text.getvalue())
    assert row.edge_labels == names


def test_cells_of_megabytes():
    edges = 200_000
    [row] = rows(HEADER + f'"{[(0, 1)] * edges}","{["EC"] * edges}","(0, 1)",DC\n')
    assert len(row.edge_labels) == edges
    with pytest.raises(BadFile, match=r"^f.csv:2: not a CSV file: field larger than field limit"):
        rows(HEADER + "x" * (MAX_CELL + 1))


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('"[(0, 1)"', "expected 4 columns, as in the first row, found 1."),
        (ROW.strip() + ",more", "expected 4 columns, as in the first row, found 5."),
        ('"[(0, 1)",[],"(0, 1)",x', PAIRS + "'[(0, 1)'."),
        ('"[(0, True)]",[],"(0, 1)",x', "edges must be pairs"),
        ('"[(0, true)]",[],"(0, 1)",x', "edges must be pairs"),
        ('"[(0, 1.5)]",[],"(0, 1)",x', "edges must be pairs"),
        ('"[(0, 01)]",[],"(0, 1)",x', "edges must be pairs"),
        ('"[(0, 1, 2)]",[],"(0, 1)",x', "edges must be pairs"),
        ('"[(0, 1],)]",[],"(0, 1)",x', "edges must be pairs"),
        ('"[(0, \'a\')]",[],"(0, 1)",x', "edges must be pairs"),
        (f'"[(0, {2**64})]",[],"(0, 1)",x', "edges must be pairs"),
        ("(" * 100_000 + ',[],"(0, 1)",x', PAIRS + "'(((("),
        ('"[(0, 1)]",[5],"(0, 1)",x', "edge_labels must be a list of names, such as ['EC', 'TPP']; found '[5]'."),
        ('"[(0, 1)]",EC,"(0, 1)",x', "edge_labels must be a list of names"),
        ('"[(0, 1)]","[\'\\xg\']","(0, 1)",x', "edge_labels must be a list of names"),
        ('[],"' + "[" * 100_000 + '","(0, 1)",x', "edge_labels must be a list of names"),
        ('"[(0, 1)]","[\'EC\']",0,x', "query_edge must be one pair of node numbers, such as (0, 2); found '0'."),
        ('[],[],"(0, 2), (1, 2)",x', "query_edge must be one pair"),
        ('"[(0, 1)]",[],"(0, 1)",x', "1 edges but 0 edge_labels; each edge needs one."),
        ('"[]"x,[],"(0, 1)",x', "not a CSV file: ',' expected after '\"'."),
    ],
)  # fmt: skip
def test_mistakes_are_told_with_file_and_line(row, message):
    with pytest.raises(BadFile) as caught:
        rows(HEADER + ROW + row + "\n" + ROW)
    assert str(caught.value).startswith(f"f.csv:3: {message}")
    assert (caught.value.file, caught.value.line) == ("f.csv", 3)


@pytest.mark.parametrize("text", ["", "\n", "edge,labels\n", "garbage"])
def test_a_missing_column_is_named(text):
    with pytest.raises(
        BadFile, match=r"^f.csv:1: no column 'edges'; the first row must name edges, edge_labels, q"
    ):
        rows(text)


@pytest.mark.parametrize(
    "cell", ["[" + "1," * 1_000_000 + "1]", "[" + "'\\x41'," * 200_000 + "]", "[" + "(0, " * 999_999]
)
def test_large_wrong_cells_are_refused_quickly(cell):
    start = time.process_time()
    for row in (f'"{cell}",[],"(0, 1)",x\n', f'[],"{cell}","(0, 1)",x\n', f'[],[],"{cell}",x\n'):
        with pytest.raises(BadFile, match=r"f.csv:2: "):
            rows(HEADER + row)
    assert time.process_time() - start < 5
