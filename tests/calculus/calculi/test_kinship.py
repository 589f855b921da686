"""Kinship as a calculus: the table anew, truth in families it was not derived from, words, and distinct names."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.calculi import kinship as module
from epignn.calculus.calculi.families import TERMS, simulate
from epignn.calculus.calculi.kinship import RELATIONS, derive_kinship, relation_matrix
from epignn.calculus.network import Network
from epignn.calculus.result import Answer
from epignn.calculus.solve.closure import close
from epignn.calculus.solve.incremental import Incremental
from epignn.calculus.solve.search import entails
from epignn.formats.facts import parse_facts
from epignn.formats.networks import as_networks, guess_calculus

KINSHIP = load("kinship")


def network(text: str) -> Network:
    return as_networks(parse_facts(text, "text"), KINSHIP, "text")[0]


def left(text: str, head: str, tail: str) -> str:
    return KINSHIP.format(close(network(text)).mask(head, tail))


# -- the table --


def test_the_shipped_table_is_derived_anew():
    anew = derive_kinship()
    assert anew == KINSHIP
    for field in ("title", "source", "terms", "associative", "many_sorted", "decides"):
        assert getattr(anew, field) == getattr(KINSHIP, field), field
    assert dict(anew.aliases) == dict(KINSHIP.aliases)


def test_other_families_show_nothing_new():
    assert derive_kinship(20, seed=1).composition == KINSHIP.composition


def test_families_are_not_simulated_to_load_it(monkeypatch):
    monkeypatch.setattr(module, "simulate", None)
    assert module.kinship() == KINSHIP


def test_compositions_are_empty_only_where_the_sexes_clash():
    man = {name: name.startswith("his") for name in RELATIONS}
    for r, first in enumerate(RELATIONS[1:], start=1):
        back = RELATIONS[KINSHIP.converses[r]]
        for s, second in enumerate(RELATIONS[1:], start=1):
            assert (KINSHIP.composition[r][s] == 0) == (man[back] != man[second]), (first, second)


def test_what_is_true_is_possible(rng):
    """In a family that the calculus has not seen, the relation of the ends is among those of every triple."""
    matrix = relation_matrix(simulate(rng, couples=6, generations=4))
    table = KINSHIP.composition_table
    a, b, c = rng.integers(0, len(matrix), (3, 20_000))
    assert (table[matrix[a, b], matrix[b, c]] >> matrix[a, c].astype(np.uint64) & np.uint64(1) == 1).all()


def test_closure_excludes_nothing_true(rng):
    """Some facts about people of a family: what holds of every other two of them is left."""
    sharpened = 0
    for _ in range(20):
        matrix = relation_matrix(simulate(rng, couples=3, generations=4))
        people = rng.choice(len(matrix), 8, replace=False).tolist()
        pairs = [rng.choice(people, 2, replace=False).tolist() for _ in range(12)]
        facts = [(str(a), 1 << int(matrix[a, b]), str(b)) for a, b in pairs]
        result = close(Network.of(KINSHIP, facts, list(map(str, people))))
        assert result.consistent
        for a in people:
            for b in people:
                found = result.mask(str(a), str(b))
                assert found >> int(matrix[a, b]) & 1
                sharpened += found.bit_count() == 1
    assert sharpened > 20 * 20  # more than what was said, and everybody himself


# -- words --


def test_every_term_is_read():
    assert set(TERMS) <= set(KINSHIP.terms)
    for term in TERMS:
        whose = [f"{whose}-{term}" for whose in ("his", "her") if f"{whose}-{term}" in RELATIONS]
        assert KINSHIP.names(KINSHIP.parse(term)) == tuple(whose)
        assert KINSHIP.words(KINSHIP.parse(term)) == (term,)


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("his-aunt|her-aunt", "aunt"),
        ("his-aunt", "his-aunt"),
        ("his-wife", "wife"),
        ("self|his-sister|her-sister|her-son", "self|sister|her-son"),
        ("uncle|his-aunt", "uncle|his-aunt"),
        ("*", "*"),
        ("≠", "≠"),
        ("∅", "∅"),
    ],
)
def test_sets_are_told_in_terms(names, said):
    mask = KINSHIP.parse(names)
    assert KINSHIP.format(mask) == said
    assert KINSHIP.parse(said) == mask


def test_other_calculi_have_base_relations_for_words():
    allen = load("allen")
    assert allen.words(allen.parse("before|m")) == allen.names(allen.parse("before|m")) == ("<", "m")
    assert not allen.knows("≠")


def test_facts_of_kinship_are_known_as_such():
    assert guess_calculus(["father", "daughter-in-law", "*"], "f") is KINSHIP


# -- what follows --


@pytest.mark.parametrize(
    ("facts", "answer"),
    [
        ("father(a, b). sister(b, c)", "aunt"),
        ("father(a, b). daughter(b, c)", "sister"),  # a and c are two names, so two people
        ("son(a, b). mother(b, c)", "wife"),
        ("wife(a, b). brother(b, x). father(x, c)", "his-father-in-law"),
        ("son(a, x). grandfather(x, c)", "father|father-in-law"),
    ],
)
def test_answers(facts, answer):
    assert left(facts, "a", "c") == answer


def test_names_are_distinct():
    assert close(network("self(a, b)")).answer is Answer.INCONSISTENT
    assert close(network("self(a, a)")).answer is Answer.CLOSED
    assert left("*(a, b)", "a", "b") == "≠"
    two_wives = close(network("wife(a, b). wife(a, c)"))
    assert [str(fact) for fact in two_wives.conflict] == ["wife(a, b)", "wife(a, c)"]
    assert entails(network("father(a, b). daughter(b, c)"), "a", "sister", "c").entailed


@pytest.mark.parametrize("backend", ["compiled", "plain"])
def test_names_that_arrive_are_distinct(backend):
    growing = Incremental(KINSHIP, backend)
    growing.add("a", "father", "b")
    growing.add("b", "daughter", "c")
    assert KINSHIP.format(growing.mask("a", "c")) == "sister"
    assert growing.add("d", "self", "a") is Answer.INCONSISTENT


def test_a_person_is_a_man_or_a_woman():
    clash = close(network("father(a, b). sister(c, b). son(b, d)"))
    assert [str(fact) for fact in clash.conflict] == ["father(a, b)", "sister(c, b)"]
