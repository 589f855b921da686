"""Reading triples: what is read, what is counted, and what is refused with the line."""

import gzip

import numpy as np
import pytest

from epignn.errors import BadFile
from epignn.formats.triples import Triples, read_pairs, read_triples


def written(tmp_path, content: bytes, name: str = "train.txt"):
    path = tmp_path / name
    path.write_bytes(content)
    return path


def test_tabs_spaces_gzip_and_byte_order_mark(tmp_path):
    expected = (("a b", "r", "c"), ("x", "r", "y"))
    text = b"a b\tr\tc\r\nx r  y\n"
    assert read_triples(written(tmp_path, text)).triples == expected
    assert read_triples(written(tmp_path, gzip.compress(text), "t.tsv.gz")).triples == expected
    assert read_triples(written(tmp_path, b"\xef\xbb\xbf" + text)).triples == expected
    assert read_triples(written(tmp_path, text.removesuffix(b"\n"))).lines.tolist() == [1, 2]


def test_blank_and_repeated_lines_are_counted(tmp_path):
    found = read_triples(written(tmp_path, b"a r b\n\n  \na r b\nb r a\n"))
    assert (len(found), found.blank, found.repeated, found.lines.tolist()) == (2, 2, 1, [1, 5])
    assert [note.split(": ")[1] for note in found.notes()] == [
        "2 blank lines passed over",
        "1 repeated lines passed over",
    ]


@pytest.mark.parametrize(
    ("content", "line", "says"),
    [
        (b"a r b\na r\n", 2, "this line has 2"),
        (b"a\tr\tb\t0.5\n", 1, "this line has 4"),
        (b"a r b\na\t\tb\n", 2, "empty"),
        ("a r b\nü r b\n".encode("latin-1"), 2, "not UTF-8 text"),
        ("a r b\n".encode("utf-16"), 1, "not UTF-8 text"),
        (b"a r b\nc\0d r e\n", 2, "not a text file"),
        (b"\n\n", 0, "no triples"),
    ],
)
def test_bad_lines_are_named(tmp_path, content, line, says):
    path = written(tmp_path, content)
    with pytest.raises(BadFile, match=says) as raised:
        read_triples(path)
    assert (raised.value.file, raised.value.line) == (str(path), line)


def test_cut_gzip_and_missing_file(tmp_path):
    whole = gzip.compress(b"a r b\n" * 500)
    with pytest.raises(BadFile, match="not a whole gzip file"):
        read_triples(written(tmp_path, whole[:-12], "t.tsv.gz"))
    with pytest.raises(BadFile, match=r"looks like gzip: name it \.gz"):
        read_triples(written(tmp_path, whole))
    with pytest.raises(BadFile, match="No such file"):
        read_triples(tmp_path / "none.txt")


@pytest.mark.parametrize("between", ["\t", " "])
def test_a_line_that_names_the_columns_is_no_triple(tmp_path, between):
    titled = written(tmp_path, between.join(("Subject", "predicate", "OBJECT")).encode() + b"\na r b\n")
    found = read_triples(titled)
    assert found.triples == (("a", "r", "b"),)
    assert found.lines.tolist() == [2]
    assert found.notes() == [f"{titled}: the first line names the columns and is no triple"]
    for other in (b"s p o\na r b\n", b"a r b\nhead relation tail\n", b"tail relation head\n"):
        plain = read_triples(written(tmp_path, other))
        assert (len(plain), plain.titled) == (len(other.splitlines()), False)


def test_commas_that_may_stand_between_columns_are_told(tmp_path):
    split = read_triples(written(tmp_path, b"e 0,knows well,e1\ne 1,knows well,e2\n"))
    assert "if commas stand between the columns" in split.notes()[0]
    for other in (b"a,b r c,d\na r b\n", b"a,1\tr,1\tb\n", b"a,b,c r d\ne r f\n"):
        assert not read_triples(written(tmp_path, other)).commas


@pytest.mark.parametrize("missing", [None, float("nan"), np.float32("nan")])
def test_rows_without_a_value_are_named(missing):
    with pytest.raises(BadFile, match="the triples:2: a column of this triple has no value"):
        Triples.of([("a", "r", "b"), ("a", "r", missing)])


def test_questions(tmp_path):
    assert read_pairs(written(tmp_path, b"a r\n\nb c\tr^-1\n")) == {1: ("a", "r"), 3: ("b c", "r^-1")}
    with pytest.raises(BadFile, match="3 columns") as raised:
        read_pairs(written(tmp_path, b"a r\na r b\n"))
    assert raised.value.line == 2
