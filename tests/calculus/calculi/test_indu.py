"""INDU: its table does not grow with more places, and agrees with Allen's where durations are left out."""

import numpy as np
import pytest

from epignn.calculus import load
from epignn.calculus.calculi.indu import RELATIONS, WORDS, indu

INDU, ALLEN = load("indu"), load("allen")


def test_there_are_the_25_relations():
    assert len(RELATIONS) == 25
    assert {"b<", "b=", "b>", "s<", "si>", "eq="} <= set(RELATIONS)
    assert not {"s=", "d>", "eq<"} & set(RELATIONS)


def test_more_places_show_nothing_new():
    assert indu(16).composition == INDU.composition


def test_without_durations_it_is_allen():
    """What a composition says of the places alone is Allen's composition, joined over all durations."""
    words = {name: INDU.parse(WORDS.get(name, name)) for name in ALLEN.relations}

    def places(mask: int) -> set[str]:
        return {name for name, meant in words.items() if meant & mask}

    for a, b in ((a, b) for a in ALLEN.relations for b in ALLEN.relations):
        expected = set(ALLEN.names(ALLEN.compose(ALLEN.parse(a), ALLEN.parse(b))))
        assert places(INDU.compose(words[a], words[b])) == expected


@pytest.mark.parametrize("seed", range(3))
def test_intervals_of_real_numbers_obey_the_table(seed):
    rng = np.random.default_rng(seed)
    places = {signs: name for name, signs in zip(ALLEN.relations, _signs(), strict=True)}

    def relate(a, b):
        found = places[tuple(int(np.sign(x - y)) for x in a for y in b)]
        longer = int(np.sign(round((a[1] - a[0]) - (b[1] - b[0]), 9)))
        return INDU.parse(WORDS.get(found, found) + {-1: "<", 0: "=", 1: ">"}[longer])

    for _ in range(400):
        a, b, c = (tuple(np.sort(rng.choice(np.linspace(0, 1, 41), 2, replace=False))) for _ in range(3))
        assert INDU.compose(relate(a, b), relate(b, c)) & relate(a, c)


def _signs():
    from epignn.calculus.calculi.orders import ALLEN as signs

    return signs.values()
