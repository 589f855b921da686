"""Calculus files: round trips, and errors that name the law, the cell and what was expected."""

import pytest

from epignn.calculus import load
from epignn.calculus.toml import load_calculus, read_calculus, write_calculus
from epignn.errors import BadCalculus, BadFile, EpignnError


def test_round_trip(calculus):
    again = read_calculus(write_calculus(calculus), "x.toml")
    assert again == calculus
    for field in ("title", "source", "terms", "distinct", "associative", "many_sorted", "decides", "tractable"):
        assert getattr(again, field) == getattr(calculus, field)
    assert dict(again.aliases) == dict(calculus.aliases)


def test_a_file_loads_by_its_name(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(write_calculus(load("point")), encoding="utf-8")
    assert load(str(path)) == load("point")


RCC5 = write_calculus(load("rcc5"))


@pytest.mark.parametrize(
    ("old", "new", "error", "message"),
    [
        (
            '"PP" = "PP"',
            '"PP" = "PP PO"',
            BadCalculus,
            r"law '.*' fails at PP ∘ PP: expected .*, found PO\|PP",
        ),
        (
            '"DR" = "*"',
            '"DR" = "PO PP PPI EQ"',
            BadCalculus,
            r"law 'associativity' fails at .*associative = false",
        ),
        (
            '"PP" = "PPI"\n"PPI" = "PP"',
            '"PP" = "PPI"\n"PPI" = "PPI"',
            BadCalculus,
            "converse is an involution",
        ),
        ('identity = "EQ"', 'identity = "PO"', BadCalculus, "law 'identity is neutral' fails at PO ∘ "),
        (
            'identity = "EQ"',
            'identity = "EG"',
            BadFile,
            r"Unknown relation in identity 'EG'. Did you mean 'EQ'",
        ),
        ('identity = "EQ"', "", BadFile, "the key 'identity' is missing"),
        ('"DR" = "*"', "", BadFile, "the cell DR ∘ DR is missing"),
        ('name = "rcc5"', "name = 5", BadFile, "'name' must be a str"),
        ('name = "rcc5"', 'name = "rcc5"\nnmae = 1', BadFile, "Did you mean 'name'"),
        ('name = "rcc5"', 'name = "rcc5', BadFile, "not a TOML file"),
        ("decides = true", 'decides = "yes"', BadFile, "'decides' must be true or false"),
        (
            '"DR" = "*"',
            '"DR" = ""',
            BadCalculus,
            r"'compositions are not empty' fails at DR ∘ DR.*many_sorted = true",
        ),
        ("decides = true", 'terms = "insied"', BadFile, "Unknown alias in 'terms' 'insied'. Did you mean 'inside'"),
        ('"DR" = "DR"', "", BadFile, r"\[converse\] says nothing of DR"),
        ('relations = "DR', 'relations = "DR DR', BadFile, "listed twice"),
        ('"DR" = "*"', '"DR" = 3', BadFile, "the cell DR ∘ DR must be names"),
        ("tractable = [", "tractable = 3 # [", BadFile, "'tractable' must be a list"),
    ],
)
def test_errors(old, new, error, message):
    assert old in RCC5
    with pytest.raises(error, match=message) as caught:
        read_calculus(RCC5.replace(old, new, 1), "mine.toml")
    assert str(caught.value).startswith("mine.toml: ")


def test_files_that_are_not_text(tmp_path):
    with pytest.raises(BadFile, match="cannot read it"):
        load_calculus(tmp_path / "none.toml")
    with pytest.raises(BadFile, match="it is a folder"):
        load_calculus(tmp_path)
    bad = tmp_path / "bad.toml"
    bad.write_bytes(b"\xff\xfe\x00garbage" * 1000)
    with pytest.raises(EpignnError, match="not UTF-8"):
        load_calculus(bad)
