"""Files of predictions: rows in order or by their ids, and what is refused, with its line."""

import gzip

import pytest

from epignn.errors import BadFile
from epignn.formats.predictions import holds_predictions, read_predictions


@pytest.fixture
def file(tmp_path):
    def write(text, name="told.csv"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
        return path

    return write


@pytest.mark.parametrize(
    "text",
    [
        "prediction\nDC\nEC\nPO\n",
        "\ufeffprediction,why\r\nDC,\r\nEC,x\r\n\r\nPO,\r\n",
        "id,prediction\n2,PO\n0,DC\n1, EC \n",
        "row,relation,probability\n0,DC,0.5\n1,EC,0.5\n2,PO,0.5\n",
        "relation,prediction\nX,DC\nX,EC\nX,PO\n",
    ],
)
def test_predictions_are_in_the_order_of_the_problems(file, text):
    for name in ("told.csv", "told.csv.gz"):
        assert read_predictions(file(text, name), 3) == ["DC", "EC", "PO"]
        assert holds_predictions(file(text, name))


def test_files_of_problems_are_told_apart(file):
    assert not holds_predictions(file(",edges,edge_labels,query_edge,query_label\n"))
    assert not holds_predictions(file("edges,edge_labels,query_edge,query_label,prediction\n"))
    assert not holds_predictions(file("id,story_edges,edge_types,query_edge,target,relation\n"))
    assert not holds_predictions(file("{}", "test.jsonl"))
    assert not holds_predictions(file(""))
    with pytest.raises(BadFile, match="cannot read it"):
        holds_predictions(file("").with_name("none.csv"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("answer\nDC\n", r"told.csv:1: no column 'prediction'; the first row must name it, found 'answer'"),
        ("", "told.csv:1: no column 'prediction'"),
        ("prediction\nDC\n", "told.csv: 1 predictions for 3 problems; give one for each"),
        ("prediction\n" + "DC\n" * 4, "4 predictions for 3 problems"),
        ("id,prediction\n0,DC\n1,\n2,PO\n", "told.csv:3: no prediction; every problem needs one"),
        ("id,prediction\n0,DC\n1\n2,PO\n", "told.csv:3: expected 2 columns, as in the first row, found 1"),
        ("id,prediction\n0,DC\n0,EC\n2,PO\n", "told.csv:3: a second prediction for problem 0"),
        ("id,prediction\n0,DC\n1,EC\n3,PO\n", "told.csv:4: the id '3' is no number of a problem.*from 0 to 2"),
        ("id,prediction\n0,DC\n-1,EC\n3,PO\n", "told.csv:3: the id '-1'"),
        ('prediction\n"DC\n', "told.csv:2: not a CSV file"),
    ],
)
def test_what_is_refused(file, text, message):
    with pytest.raises(BadFile, match=message):
        read_predictions(file(text), 3)
