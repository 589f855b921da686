"""Every word of every shipped calculus has a sentence, and converses are told apart."""

import pytest

from epignn.calculus import CALCULI, load
from epignn.calculus.meanings import MEANINGS, meanings


@pytest.mark.parametrize("name", CALCULI)
def test_every_word_has_a_sentence_of_its_own(name):
    calculus = load(name)
    told = {word: text.format(a="A", b="B") for word, text in meanings(calculus).items()}
    assert set(told) == set(calculus.words(calculus.universal))
    assert len(set(told.values())) == len(told)
    assert all("A" in text and "B" in text for text in told.values())


def test_the_tables_name_the_relations_of_their_calculus():
    for name, table in MEANINGS.items():
        words = set(load(name).words(load(name).universal))
        assert set(table) == words or (name == "kinship" and set(table) < words)


def test_a_name_with_braces_is_a_name():
    from dataclasses import replace

    point = load("point")
    odd = replace(point, name="odd", relations=("{x}", "%s", "}"), aliases={})
    assert [text.format(a="A", b="B") for text in meanings(odd).values()] == ["A {x} B", "A %s B", "A } B"]
