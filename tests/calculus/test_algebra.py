"""Operations on relation sets: against their definitions, and on arrays against the scalar ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from epignn.calculus import CALCULI, load
from epignn.calculus.algebra import Calculus, derive, members
from epignn.errors import BadArgument, BadCalculus, UnknownName


@st.composite
def calculus_and_sets(draw, count):
    calculus = load(draw(st.sampled_from(list(CALCULI))))
    sets = [draw(st.integers(0, calculus.universal)) for _ in range(count)]
    return calculus, *sets


@given(calculus_and_sets(2))
def test_composition_is_the_union_over_members(drawn):
    calculus, left, right = drawn
    expected = 0
    for r in members(left):
        for s in members(right):
            expected |= calculus.composition[r][s]
    assert calculus.compose(left, right) == expected


@given(calculus_and_sets(3))
def test_laws_on_random_sets(drawn):
    calculus, r, s, t = drawn
    compose, converse = calculus.compose, calculus.converse
    assert converse(converse(r)) == r
    assert converse(compose(r, s)) == compose(converse(s), converse(r))
    assert not calculus.associative or compose(compose(r, s), t) == compose(r, compose(s, t))
    assert compose(r, calculus.identity_mask) == r == compose(calculus.identity_mask, r)
    assert compose(r | s, t) == compose(r, t) | compose(s, t)
    # Peirce: r∘s meets t exactly when t∘conv(s) meets r, exactly when conv(r)∘t meets s
    assert bool(compose(r, s) & t) == bool(compose(t, converse(s)) & r) == bool(compose(converse(r), t) & s)


def test_arrays_agree_with_scalars(calculus, rng):
    left = rng.integers(0, calculus.universal + 1, size=(40, 1), dtype=np.uint64)
    right = rng.integers(0, calculus.universal + 1, size=(1, 30), dtype=np.uint64)
    found = calculus.compose_array(left, right)
    expected = [[calculus.compose(int(a), int(b)) for b in right[0]] for a in left[:, 0]]
    np.testing.assert_array_equal(found, np.array(expected, dtype=np.uint64))
    converses = [calculus.converse(int(a)) for a in left[:, 0]]
    np.testing.assert_array_equal(calculus.converse_array(left[:, 0]), np.array(converses, dtype=np.uint64))


@given(calculus_and_sets(1))
def test_text_reads_back(drawn):
    calculus, mask = drawn
    if mask:
        assert calculus.parse(calculus.format(mask)) == mask
        assert calculus.parse(" | ".join(name.upper() for name in calculus.names(mask))) == mask


def test_unknown_relation_suggests_the_near_miss():
    with pytest.raises(UnknownName, match=r"Unknown rcc8 relation 'NTTP'. Did you mean 'NTPP'"):
        load("rcc8").parse("NTTP")


def test_unknown_calculus_suggests_the_near_miss():
    with pytest.raises(UnknownName, match=r"Unknown calculus 'rcc-8'. Did you mean 'rcc8'"):
        load("rcc-8")


def test_relations_that_differ_in_case_only_are_refused():
    with pytest.raises(BadCalculus, match="'d' and 'D' differ only in case"):
        Calculus("x", ("d", "D"), 0, (0, 1), ((1, 2), (2, 3)))


def test_derive_refuses_models_that_do_not_show_all_relations():
    with pytest.raises(BadArgument, match="do not show every relation"):
        derive("point", ("<", "=", ">"), lambda a, b: "<" if a < b else "=", range(2))


def test_compose_path():
    rcc8 = load("rcc8")
    path = [rcc8.parse(name) for name in ("tpp", "ntpp", "ntpp")]
    assert rcc8.format(rcc8.compose_path(path)) == "NTPP"
    assert rcc8.compose_path([]) == rcc8.identity_mask


def test_words_for_inverses_and_near_misses_that_are_never_the_opposite() -> None:
    allen = load("allen")
    for word, inverse in (("overlaps", "overlapped-by"), ("meets", "met_by"), ("starts", "Started by")):
        assert allen.parse_one(inverse) == allen.converse(allen.parse_one(word))
    for calculus in map(load, CALCULI):
        for word in (*calculus.relations, *calculus.aliases):
            for misspelt in (f"{word}x", word[:-1] + "_by", word.replace("e", "ee")):
                if calculus.knows(misspelt):
                    continue
                near = [calculus.parse_one(one) for one in calculus.near(misspelt)]
                assert len(near) < 2 or near[0] == near[1] or calculus.converse(near[0]) != near[1]
                assert not misspelt.endswith("by") or all(
                    one.casefold().endswith("by") for one in calculus.near(misspelt)
                )
