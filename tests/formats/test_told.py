"""Facts as commands are given them: text or a file, over a calculus or over a vocabulary."""

import pytest

from epignn.calculus import load
from epignn.errors import BadArgument, BadFile
from epignn.formats.told import Told

WORDS = ("mother", "son")


def test_text_and_files_give_the_same(tmp_path):
    text = "ec(a, b). ntpp|tpp(b, c)"
    path = tmp_path / "facts.txt"
    path.write_text(text)
    for told in (Told.read(text), Told.read(str(path))):
        assert str(told.network()) == "EC(a, b)\nTPP|NTPP(b, c)"
        assert told.network().calculus.name == "rcc8"
    assert (Told.read(text).file, Told.read(str(path)).file) == ("the facts", str(path))


def test_one_text_in_two_ways():
    told = Told.read("inside(a, b). disconnected(b, c)")
    assert told.known_to(load("rcc8"))
    assert str(told.network(load("rcc8")).fact(0)) == "TPP|NTPP(a, b)"
    facts = told.statements(("inside", "disconnected"))
    assert str(facts.fact(0)) == "inside(a, b)"
    assert not told.known_to(load("allen"))


def test_a_calculus_that_the_file_names_has_to_be_the_one(tmp_path):
    path = tmp_path / "facts.json"
    path.write_text('{"calculus": "rcc5", "facts": [["a", "PO", "b"]]}')
    told = Told.read(str(path))
    assert told.known_to(load("rcc5"))
    assert not told.known_to(load("rcc8"))
    path.write_text('{"calculus": "IA", "facts": [["a", "<", "b"]]}')
    assert Told.read(str(path)).known_to(load("allen"))


def test_any_relation_is_known_to_all():
    assert Told.read("*(a, b). ec(b, c)").known_to(load("rcc8"))


@pytest.mark.parametrize(
    ("facts", "error", "message"),
    [
        ("nothing", BadArgument, "'nothing' is neither a file nor facts"),
        ("# (only a comment)", BadFile, "no facts in it"),
        ("mother(a, b", BadFile, "the facts:1:"),
        ("mother(a, b)\nsun(b, c)", BadFile, "the facts:2:1: Unknown relation 'sun'"),
        ("son|mother(a, b)", BadFile, r"son\|mother"),
    ],
)
def test_what_cannot_be_read(facts, error, message):
    with pytest.raises(error, match=message):
        Told.read(facts).statements(WORDS)
