"""`calculus list | show | validate`."""

import json

from epignn.calculus import CALCULI, load
from epignn.calculus.meanings import meanings
from epignn.calculus.pictures import pictures
from epignn.calculus.toml import read_calculus


def test_list(epignn):
    documents = json.loads(epignn("calculus", "list", "--json").out)["calculi"]
    assert [document["name"] for document in documents] == list(CALCULI)
    text = epignn("calculus", "list").out
    assert all(name in text for name in CALCULI)


def test_show(epignn, calculus):
    document = json.loads(epignn("calculus", "show", calculus.name, "--json").out)
    for left, row in document["composition"].items():
        for right, names in row.items():
            composed = calculus.compose(calculus.parse(left), calculus.parse(right))
            assert tuple(names) == calculus.names(composed)
    assert read_calculus(epignn("calculus", "show", calculus.name, "--toml").out, "shown") == calculus
    text = epignn("calculus", "show", calculus.name).out
    assert "What two relations make together" in text
    for word, sentence in meanings(calculus).items():
        assert word in text
        assert sentence.format(a="a", b="b") in text
    assert all(picture in text for picture in pictures(calculus).values())


def test_kinship_tells_its_terms_and_their_direction(epignn, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    shown = epignn("calculus", "show", "kinship").out
    assert "father(a, b) says that b is the father of a" in shown
    assert "aunt = his-aunt|her-aunt" in shown
    assert "of a thing to itself: self; two names never mean the same thing" in shown
    assert "841 entries, too wide for here; --table lists them" in shown
    assert "∘ mother:" not in shown
    assert "  father ∘ mother: grandmother\n" in epignn("calculus", "show", "kinship", "--table").out
    listed = epignn("calculus", "list").out
    assert "daughter-in-law" in listed
    assert "his-" not in listed


def test_validate(epignn, tmp_path):
    path = tmp_path / "mine.toml"
    text = epignn("calculus", "show", "rcc5", "--toml").out
    path.write_text(text, encoding="utf-8")
    assert "obeys every law" in epignn("calculus", "validate", path).out
    assert json.loads(epignn("calculus", "validate", path, "--json").out)["valid"] is True
    assert '"PP" = "PP"' in text
    path.write_text(text.replace('"PP" = "PP"', '"PP" = "PP PPI"', 1), encoding="utf-8")
    ran = epignn("calculus", "validate", path)
    assert ran.code == 2
    assert "law '" in ran.err
    assert "PP ∘ PP" in ran.err
    assert "expected" in ran.err


def test_a_calculus_file_serves_everywhere(epignn, tmp_path):
    path, facts = tmp_path / "mine.toml", tmp_path / "facts.txt"
    path.write_text(
        epignn("calculus", "show", "point", "--toml").out.replace('"point"', '"mine"', 1), encoding="utf-8"
    )
    facts.write_text("<(a,b) <(b,c)", encoding="utf-8")
    ran = epignn("close", facts, "--calculus", path, "--query", "a", "c")
    assert ran.out.startswith("mine, 3 entities")
    assert ran.out.endswith("<(a, c)\n")
    assert load(str(path)).name == "mine"
